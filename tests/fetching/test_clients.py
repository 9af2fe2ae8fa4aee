"""What becomes of a video by what each player client of YouTube is told, as a guest and with an account's cookies."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.fetching import RunOptions
from tests.fetching.desk import Desk, changes, clip, rests
from tests.stand_ins.youtube import Caption

WEB, HEADSET, TV = "WEB", "VISIONOS", "TVHTML5"
ID = "slowcook001"
COOKIES = """# Netscape HTTP Cookie File
.youtube.com\tTRUE\t/\tTRUE\t1999999999\tLOGIN_INFO\tnobody
.youtube.com\tTRUE\t/\tTRUE\t1999999999\tSAPISID\tnobody
"""
TOKEN = {"captions": [Caption(exp="xpe", clients=frozenset({WEB})), Caption(clients=frozenset({HEADSET, TV}))]}
"""Tracks that the page's own client is given for a token only."""
TV_ONLY = {"captions": [Caption(clients=frozenset({TV}))]}
EMPTY = {"captions": [Caption(exp="new", clients=frozenset({WEB})), Caption(clients=frozenset({HEADSET, TV}))]}
"""A track that is empty for the page's own client, which yt-dlp does not foresee."""

CASES: dict[str, tuple[Mapping[str, Any], tuple[str, int], tuple[str, int]]] = {
    # the video, then outcome and requests: as a guest, with cookies
    "a normal video": ({}, ("new", 2), ("new", 2)),
    "made for kids": ({"kids": True}, ("new", 2), ("new", 2)),
    "embedding forbidden": ({"embeddable": False}, ("new", 2), ("new", 2)),
    "kids, embedding forbidden": ({"kids": True, "embeddable": False}, ("new", 2), ("new", 2)),
    "tokens": (TOKEN, ("new", 3), ("new", 3)),
    "tokens, made for kids": (TOKEN | {"kids": True}, ("new", 4), ("new", 3)),
    "tokens, embedding forbidden": (TOKEN | {"embeddable": False}, ("new", 3), ("new", 3)),
    "tokens everywhere": ({"captions": [Caption(exp="xpe")]}, ("captions_withheld", 3), ("captions_withheld", 2)),
    "an empty track": (EMPTY, ("new", 4), ("new", 4)),
    "tracks of one client only": (TV_ONLY, ("new", 4), ("new", 3)),
    "no captions": ({"captions": []}, ("no_captions", 3), ("no_captions", 2)),
    "no captions, made for kids": ({"captions": [], "kids": True}, ("no_captions", 3), ("no_captions", 2)),
    "captions of another language": ({"captions": [Caption("en")]}, ("no_captions", 1), ("no_captions", 1)),
    "a headset is refused": ({"states": {HEADSET: "unavailable"}}, ("new", 2), ("new", 2)),
    "a headset is taken for a robot": ({"states": {HEADSET: "bot_check"}}, ("new", 2), ("new", 2)),
    "only the page is taken for a robot": ({"states": {WEB: "bot_check"}}, ("new", 3), ("new", 3)),
    "all are taken for robots": ({"state": "bot_check"}, ("bot_check", 3), ("bot_check", 2)),
    "removed": ({"state": "deleted"}, ("not_found", 1), ("not_found", 1)),
    "private": ({"state": "private"}, ("private", 1), ("private", 1)),
    "private, shared with the account": ({"state": "private", "opens_to_accounts": True}, ("private", 1), ("new", 2)),
    "for members": ({"state": "members_only"}, ("members_only", 1), ("members_only", 1)),
    "for members, of whom the account is one": (
        {"state": "members_only", "opens_to_accounts": True},
        ("members_only", 1),
        ("new", 2),
    ),
    "for adults": ({"state": "age_restricted"}, ("age_restricted", 3), ("age_restricted", 5)),
    "for adults, of whom the account is one": (
        {"state": "age_restricted", "opens_to_accounts": True},
        ("age_restricted", 3),
        ("new", 2),
    ),
    "for adults, but embedded for all": (
        {"state": "age_restricted", "states": {"WEB_EMBEDDED_PLAYER": "public"}},
        ("new", 4),
        ("new", 6),
    ),
    "not in this country": ({"state": "geo_blocked"}, ("geo_blocked", 1), ("geo_blocked", 1)),
    "to be paid for": ({"state": "paid"}, ("payment_required", 1), ("payment_required", 1)),
    "live": ({"state": "live", "kind": "stream"}, ("live", 1), ("live", 1)),
    "announced": ({"state": "upcoming"}, ("upcoming", 1), ("upcoming", 1)),
    "a short": ({"kind": "short"}, ("new", 2), ("new", 2)),
}


@pytest.fixture(params=["guest", "cookies"])
def account(request: pytest.FixtureRequest, desk: Desk, tmp_path: Path) -> bool:
    if request.param == "cookies":
        (tmp_path / "cookies.txt").write_text(COOKIES)
        desk.settings = replace(desk.settings, cookie_file=str(tmp_path / "cookies.txt"))
    return bool(request.param == "cookies")


def outcome(desk: Desk) -> tuple[str, int]:
    """What became of the video, or why the queue rests, and the requests that it cost."""
    events = desk.run(ID, run_options=RunOptions(patient=False))
    resting = rests(events)
    return resting[0][0] if resting else changes(events)[ID], desk.youtube.count()


@pytest.mark.parametrize("case", CASES)
def test_each_video_comes_by_the_client_that_is_given_it(desk: Desk, account: bool, case: str) -> None:
    video, *expected = CASES[case]
    desk.youtube.add(clip(1, **video))
    assert outcome(desk) == expected[account]
