"""What becomes of a video by what each player client of YouTube is told, as a guest and with an account's cookies."""

import itertools
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.youtube.fetcher import RunOptions
from subtitle_rag.youtube.refusals import FINAL
from tests.stand_ins.youtube import Caption, Channel
from tests.support.cases import cases
from tests.youtube.desk import HANDLE, Clock, Desk, changes, channel, clip, fetched, rests

WEB, HEADSET, TV = "WEB", "VISIONOS", "TVHTML5"
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


def outcome(desk: Desk, video_id: str) -> tuple[str, int]:
    """What became of the video, or why the queue rests, and the requests that it cost."""
    events = desk.run(video_id, run_options=RunOptions(patient=False))
    resting = rests(events)
    return resting[0][0] if resting else changes(events)[video_id], desk.youtube.count()


@pytest.mark.campaign(part="lists")
@cases("case", CASES)
def test_each_video_comes_by_the_client_that_is_given_it(desk: Desk, account: bool, case: str) -> None:
    """Each in a channel of its own: the client that served is remembered by channel."""
    video, *expected = CASES[case]
    number = list(CASES).index(case)
    made = clip(number, **video)
    desk.youtube.add(Channel(f"UC{number:022d}", f"@부엌{number}", "느린 부엌", [made]))
    desk.place.library.sources.end_rest()
    assert outcome(desk, made.id) == expected[account]


HALF = b'<script>var ytInitialPlayerResponse = {"playabilityStatus": {"status": "OK", "playab'
FAULTS: dict[str, dict[str, Any]] = {
    "429": {"status": 429},
    "403": {"status": 403},
    "404": {"status": 404},
    "503": {"status": 503},
    "an empty body": {"status": 200},
    "a page about consent": {"status": 200, "body": b"<html><form action='https://consent.youtube.com/save'></form>"},
    "changed HTML": {"status": 200, "body": b"<html><script>var ytOther = {};</script></html>"},
    "half a JSON": {"status": 200, "body": HALF},
    "a list where an object was": {"status": 200, "body": b"[]"},
    "a broken connection": {"close": True},
    "an answer that breaks off": {"cut": 100},
}
PLACES: dict[str, dict[str, Any]] = {
    "the page": {"kind": "watch"},
    "a headset": {"kind": "player", "client": HEADSET},
    "a television": {"kind": "player", "client": TV},
    "the track": {"kind": "timedtext"},
}
BROKEN = ("503", "a broken connection", "an answer that breaks off")


def code_of(place: str, fault: str) -> str:
    """What becomes of a video while a fault lasts."""
    match place, fault:
        case "a headset", _:
            return "done"
        case "a television", fault:
            return "rate_limited" if fault == "429" else "captions_withheld"
        case _, "429" | "403":
            return "rate_limited"
        case _, fault if fault in BROKEN:
            return "network"
        case "the page", fault:
            return "not_served" if fault == "404" else "done"
        case _, fault:
            is_unsent = fault in ("an empty body", "a page about consent", "changed HTML")
            return "caption_blocked" if is_unsent else "caption_damaged"


LEGS = [
    *((place, fault) for place in ("the page", "the track") for fault in FAULTS),
    *((place, fault) for place in ("a headset", "a television") for fault in ("429", "503", "half a JSON")),
]


@pytest.mark.parametrize(("place", "fault"), LEGS)
def test_a_fault_of_one_leg_loses_no_video(desk: Desk, place: str, fault: str) -> None:
    """The page withholds the tracks, and the headset is not for kids, so that all legs are needed."""
    desk.youtube.add(channel(*[clip(number, kids=True, **TOKEN) for number in range(2)]))
    desk.youtube.refuse(**PLACES[place], **FAULTS[fault], times=None)
    events = desk.run(HANDLE, run_options=RunOptions(patient=False))
    code = code_of(place, fault)
    assert set(desk.states.values()) == {code}
    assert rests(events) == ([(code, False)] if code in ("rate_limited", "network") else [])
    assert all(state.retry_at for state in desk.place.library.videos() if state.failure)
    desk.youtube.forgive()
    desk.sync(RunOptions(include_due=True, retry=True))
    assert set(desk.states.values()) == {"done"}


@pytest.mark.parametrize("status", [429, 403])
def test_what_has_come_stays_where_everything_is_refused(desk: Desk, status: int) -> None:
    desk.youtube.add(channel(*[clip(number) for number in range(6)]))
    desk.youtube.refuse(None, status, times=None, after=2 + 2 * 3)
    desk.run(HANDLE, run_options=RunOptions(patient=False))
    refused = 1 if status == 429 else 2  # whether 403 is of one video, another one shows
    assert sorted(desk.states.values()) == ["done"] * 3 + ["rate_limited"] * refused
    assert desk.youtube.count() == 2 + 2 * 3 + 3 * refused  # without a page yt-dlp asks for its parts
    desk.youtube.forgive()
    desk.sync(RunOptions(include_due=True, retry=True))
    assert sorted(desk.states.values()) == ["done"] * 6


@pytest.mark.campaign(part="lists")
def test_videos_made_for_kids_rest_no_queue(desk: Desk) -> None:
    made = [clip(number, kids=True, captions=[Caption(exp="xpe")]) for number in range(8)]
    desk.youtube.add(channel(*made, clip(99)))
    events = desk.run(HANDLE)
    assert rests(events) == []
    assert sorted(desk.states.values()) == ["captions_withheld"] * 8 + ["done"]


@pytest.mark.campaign(part="lists")
def test_the_client_that_had_a_channels_captions_is_asked_first_from_then_on(desk: Desk) -> None:
    site = channel(*[clip(number, kids=True, **TOKEN) for number in range(3)])
    desk.youtube.add(site)
    desk.run(HANDLE)
    assert [asked.client for asked in desk.youtube.asked("player")] == [HEADSET, TV, TV, TV]
    assert desk.asked == fetched(3, tab=1, playlist=1, player=4)
    site.clips.insert(0, clip(7, kids=True, **TOKEN))
    desk.sync()  # another run
    assert desk.asked == fetched(1, playlist=1, player=1)
    site.clips.insert(0, clip(8))
    desk.sync()
    site.clips.insert(0, clip(9, states={TV: "unavailable"}))
    desk.sync()  # the page has its tracks
    assert desk.asked == fetched(1, playlist=1, player=1)
    site.clips.insert(0, clip(10))
    desk.sync()
    assert desk.asked == fetched(1, playlist=1)


def test_a_client_that_is_shut_costs_no_video(desk: Desk) -> None:
    """As YouTube shut a client in August."""
    desk.youtube.site.token_clients = frozenset({WEB})
    desk.youtube.add(channel(*[clip(number) for number in range(5)]))
    desk.youtube.refuse("player", 403, client=HEADSET, times=None)
    assert rests(desk.run(HANDLE)) == []
    assert set(desk.states.values()) == {"done"}
    assert desk.asked == fetched(5, tab=1, playlist=1, player=6)


def test_a_javascript_runtime_changes_no_number_of_requests(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deno = tmp_path / "deno"
    deno.write_text("#!/bin/sh\necho deno 2.6.0\n")
    deno.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    desk.youtube.add(channel(clip(1, kids=True, **TOKEN), clip(2)))
    desk.run(HANDLE)
    assert desk.asked == fetched(2, tab=1, playlist=1, player=3)


@pytest.mark.campaign(part="lists")
def test_a_channel_of_200_mixed_videos_with_every_fault_loses_none_that_plays(desk: Desk, clock: Clock) -> None:
    """Every case by turns; every third video meets one fault, once, in every place by turns."""
    mixed = [(name, *case[:2]) for name, case in CASES.items() if name != "all are taken for robots"]
    faults = itertools.cycle(itertools.product(PLACES.values(), FAULTS.values()))
    made, expected = [], {}
    for number in range(200):
        _name, video, (code, _requests) = mixed[number % len(mixed)]
        made.append(clip(number, **video))
        expected[made[-1].id] = "done" if code == "new" else code
        if number % 3 == 0:
            place, fault = next(faults)
            desk.youtube.refuse(**place, **fault, video=made[-1].id)
    site = channel(*made)
    desk.youtube.add(site)
    events = desk.run(HANDLE, *[each.id for each in made if each not in site.listed])
    ended = desk.states
    assert set(ended) == set(expected)
    assert {code for code, _goes_on in rests(events)} <= {"rate_limited", "network"}
    assert all(goes_on for _code, goes_on in rests(events))
    assert {id for id, code in ended.items() if code in FINAL and code != expected[id]} == set()
    open_ = {state.video.id for state in desk.place.library.videos() if state.failure and state.retry_at}
    assert {id for id, code in ended.items() if code != expected[id]} <= open_
    assert desk.youtube.count() <= 4 * len(made)
    desk.youtube.forgive()
    desk.sync(RunOptions(include_due=True, retry=True))
    assert desk.states == expected
