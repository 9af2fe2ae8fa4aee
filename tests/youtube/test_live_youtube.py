"""The real YouTube, for machines with a network: `pytest -m youtube` ends with a table of what was checked.

The stand-in cannot show what the real one answers. A case without an address of its own takes one from the environment.
"""

import os
from collections.abc import Callable
from dataclasses import replace

import pytest

from subtitle_rag.base.config.settings import YoutubeSettings
from tests.stand_ins.youtube import QUICK, Caption, Channel, Clip, stand_in
from tests.support.youtube_cases import LiveCase, Row, row_of, table

SITE = "https://www.youtube.com"
COOKIES = "SUBTITLE_RAG_TEST_YOUTUBE_COOKIES_FROM"
"""A browser, as in `cookies_from_browser`."""
CASES = (
    LiveCase("guest", f"{SITE}/@YouTubeKorea/videos"),
    LiveCase("cookies", f"{SITE}/@YouTubeKorea/videos", cookies=True),
    LiveCase("kids", f"{SITE}/@Pinkfong/videos", languages=("en", "ko")),
    LiveCase("kids, cookies", f"{SITE}/@Pinkfong/videos", languages=("en", "ko"), cookies=True),
    LiveCase("embedding forbidden", ""),
    LiveCase("embedding forbidden, cookies", "", cookies=True),
    LiveCase("long playlist", f"{SITE}/@newskbs", "500 entries", entries=500),
    LiveCase("members", "", "members_only"),
    LiveCase("live", f"{SITE}/@ytnnews24/live", "live"),
    LiveCase("Shorts", f"{SITE}/@YouTubeKorea/shorts"),
    LiveCase("--lang en", f"{SITE}/@TED/videos", languages=("en",)),
)


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Callable[[Row], None]:
    """Put a row into the table at the end of the run."""
    return lambda row: record_property("youtube", row.cells)


@pytest.mark.youtube
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_real_youtube(case: LiveCase, note: Callable[[Row], None]) -> None:
    address = os.environ.get(case.variable) or case.address
    browser = os.environ.get(COOKIES, "")
    missing = case.variable if not address else COOKIES if case.cookies and not browser else ""
    if missing:
        note(Row(case.name, outcome=f"not checked: {missing} is not set"))
        pytest.skip(f"{missing} is not set")
    row = row_of(case, address, YoutubeSettings(cookies_from_browser=browser if case.cookies else ""))
    note(row)
    assert row.outcome == case.expected


def test_the_table_tells_case_video_client_track_requests_and_outcome() -> None:
    tracks = [Caption(exp="xpe", clients=frozenset({"WEB"})), Caption(clients=frozenset({"TVHTML5"}))]
    made = [
        Clip("slowcook001", "국수", tracks, kids=True),
        Clip("slowcook002", "만두", state="members_only"),
        Clip("slowcook003", "전", state="live", kind="stream"),
        Clip("slowcook004", "떡", kind="short"),
    ]
    cases = [
        (LiveCase("kids", ""), "slowcook001"),
        (LiveCase("members", "", "members_only"), "@느린부엌/videos"),
        (LiveCase("live", "", "live"), "@느린부엌/live"),
        (LiveCase("Shorts", ""), "@느린부엌/shorts"),
        (LiveCase("long playlist", "", "4 entries", entries=4), "@느린부엌"),
    ]
    with stand_in() as youtube:
        youtube.add(Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", made))
        rows = [row_of(case, address, replace(QUICK)) for case, address in cases]
    assert [row.outcome for row in rows] == [case.expected for case, _address in cases]
    assert table([row.cells for row in rows]) == [
        "case           video        client      track     requests  outcome",
        "-------------  -----------  ----------  --------  --------  ------------",
        "kids           slowcook001  tv_samsung  ko asr 4  4         captions",
        "members        slowcook002                        0         members_only",
        "live           slowcook003                        0         live",
        "Shorts         slowcook004  web         ko asr 4  2         captions",
        "long playlist                                     2         4 entries",
    ]
