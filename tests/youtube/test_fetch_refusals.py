"""What YouTube refuses of single videos: each is told, remembered with the time to ask again, and stops nothing."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from subtitle_rag.base.domain.events import VideoFailed
from subtitle_rag.youtube.fetcher import RunOptions
from subtitle_rag.youtube.refusals import DAY, HOUR, RULES, WEEK
from tests.stand_ins.youtube import Caption, Clip
from tests.stand_ins.youtube_clips import State
from tests.youtube.desk import HANDLE, QUICK, Desk, changes, channel, clip, clips, fetched, report, rests

VIDEOS = f"{HANDLE}/videos"


def moved(clip: Clip, state: State, **changes: Any) -> None:
    clip.state = state
    for name, value in changes.items():
        setattr(clip, name, value)


@pytest.mark.parametrize(("state", "code"), [("deleted", "not_found"), ("age_restricted", "age_restricted")])
def test_what_is_refused_for_good_is_asked_for_once(desk: Desk, state: State, code: str) -> None:
    desk.youtube.add(clip(1, state=state), clip(2))
    events = desk.run("slowcook001", "slowcook002")
    assert desk.asked["watch"] == 2
    assert desk.youtube.count("timedtext") == 1
    assert changes(events) == {"slowcook001": code, "slowcook002": "new"}
    assert rests(events) == []
    refused = desk.state("slowcook001")
    assert (refused.failure, refused.retry_at) == (code, None)
    assert report(events).failures[0].details["version"]
    desk.sync()
    assert desk.asked == {}


def test_nothing_that_is_refused_stalls_a_channel(desk: Desk) -> None:
    states: tuple[State, ...] = ("age_restricted", "geo_blocked", "members_only", "upcoming", "live")
    made = [Clip(f"state-{state:-<5.5}", f"국수 {state}", state=state) for state in states]
    desk.youtube.add(channel(*[each for pair in zip(made, clips(5), strict=True) for each in pair]))
    ended = desk.report(HANDLE)
    assert (ended.new, ended.failed, ended.blocked) == (5, 5, None)
    told = {failure.title.split()[1]: failure.code for failure in ended.failures}
    assert told == {state: state for state in states}
    assert desk.youtube.count("watch") == 5 + 2  # the list itself says the rest
    again = desk.sync()
    assert desk.asked == {"playlist": 1}
    assert report(again).failures == []


def test_videos_that_vanish_after_they_were_listed_stall_nothing(desk: Desk) -> None:
    made = channel(*clips(4))
    desk.youtube.add(made)
    events = iter(desk.events(VIDEOS))
    while not desk.done:
        next(events)
    moved(made.clips[1], "private")
    moved(made.clips[2], "deleted")
    list(events)
    assert desk.states == {
        "slowcook000": "done",
        "slowcook001": "private",
        "slowcook002": "not_found",
        "slowcook003": "done",
    }


def test_what_is_announced_costs_nothing_until_it_begins(desk: Desk) -> None:
    begins = int(time.time()) + 7_300
    made = channel(clip(1, state="upcoming", starts_at=begins), clip(2))
    desk.youtube.add(made)
    events = desk.run(HANDLE)
    assert desk.asked == fetched(1, tab=1, playlist=1)
    assert changes(events) == {"slowcook001": "upcoming", "slowcook002": "new"}
    assert desk.state("slowcook001").retry_at == begins
    assert [event.details["retry_at"] for event in events if isinstance(event, VideoFailed)] == [begins]
    assert report(desk.sync()).failures == []
    assert desk.asked == {"playlist": 1}
    moved(made.clips[0], "public")
    assert changes(desk.sync())["slowcook001"] == "new"
    assert desk.asked == fetched(1, playlist=1)


def test_what_is_announced_and_named_by_its_own_address_is_asked_for_when_it_begins(desk: Desk) -> None:
    now = int(time.time())
    desk.youtube.add(clip(1, state="upcoming", kind="stream", starts_at=now + 7_300))
    assert changes(desk.run("slowcook001")) == {"slowcook001": "upcoming"}
    assert desk.asked == {"watch": 1}
    again = desk.state("slowcook001").retry_at
    assert again
    assert abs(again - now - 7_200) <= 5


def test_a_live_broadcast_comes_by_itself_when_it_is_over(desk: Desk) -> None:
    made = channel(clip(1, kind="stream", state="live"), clip(2, kind="stream"))
    desk.youtube.add(made)
    before = int(time.time())
    desk.run(f"{HANDLE}/streams")
    assert desk.asked == fetched(1, tab=1)
    assert desk.states == {"slowcook001": "live", "slowcook002": "done"}
    again = desk.state("slowcook001").retry_at
    assert again
    assert 3 * HOUR <= again - before <= 3 * HOUR + 5
    moved(made.clips[0], "was_live", live_chat=True)
    desk.sync()
    assert desk.asked == fetched(1, tab=1)
    assert len(desk.done) == 2


@pytest.mark.parametrize(("days", "seconds"), [(3, WEEK), (1, 6 * HOUR)])
def test_a_video_without_captions_has_a_week_or_a_few_hours_while_it_is_new(
    desk: Desk, days: int, seconds: int
) -> None:
    published = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S+00:00")
    made = channel(clip(1, captions=[], published=published))
    desk.youtube.add(made)
    before = int(time.time())
    assert changes(desk.run(HANDLE)) == {"slowcook001": "no_captions"}
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 1, "player": 2}
    again = desk.state("slowcook001").retry_at
    assert again
    assert before <= again - seconds <= time.time() + 1


def test_the_time_to_ask_again_doubles_with_every_try(desk: Desk) -> None:
    desk.youtube.add(channel(clip(1, captions=[])))
    waits = []
    for _try in range(4):
        before = int(time.time())
        desk.run(HANDLE, run_options=RunOptions(retry=True))
        again = desk.state("slowcook001").retry_at
        assert again
        waits.append(round((again - before) / DAY))
    assert waits == [7, 14, 28, 30]


def test_what_failed_is_asked_for_again_when_its_time_has_come(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    made = channel(clip(1, captions=[]), clip(2, state="age_restricted"))
    desk.youtube.add(made)
    desk.run(HANDLE)
    made.clips[0].captions = [Caption()]
    desk.sync()
    assert desk.asked == {"playlist": 1}
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + WEEK + 10)
    desk.sync()
    assert desk.asked == fetched(1, playlist=1)
    assert desk.states == {"slowcook001": "done", "slowcook002": "age_restricted"}


def test_a_retry_asks_for_everything_that_failed(desk: Desk) -> None:
    made = channel(clip(1, captions=[]), clip(2, state="age_restricted"), clip(3, state="members_only"))
    desk.youtube.add(made)
    desk.run(HANDLE)
    for each in made.clips:
        moved(each, "public", captions=[Caption()])
    desk.sync(RunOptions(retry=True, include_due=True))
    assert desk.asked == fetched(3, playlist=1)
    assert len(desk.done) == 3


def test_leftovers_are_what_is_due_of_no_source_that_is_named(desk: Desk) -> None:
    lone = clip(1, captions=[])
    desk.youtube.add(lone, channel(clip(2)))
    desk.run("slowcook001")
    lone.captions = [Caption()]
    desk.run(HANDLE, run_options=RunOptions(retry=True))
    assert desk.states == {"slowcook001": "no_captions", "slowcook002": "done"}
    desk.run(HANDLE, run_options=RunOptions(retry=True, include_due=True))
    assert desk.states == {"slowcook001": "done", "slowcook002": "done"}


def test_a_member_with_cookies_asks_for_what_is_for_members(desk: Desk, tmp_path: Any) -> None:
    cookies = tmp_path / "cookies.txt"
    cookies.write_text("# Netscape HTTP Cookie File\n")
    desk.settings = replace(QUICK, cookie_file=str(cookies))
    desk.youtube.add(channel(clip(1, state="members_only")))
    desk.run(HANDLE)
    assert desk.youtube.count("watch") == 1
    desk.sync()
    assert desk.asked == {"playlist": 1}
    desk.settings = QUICK


def test_what_the_list_opens_to_all_comes_by_itself(desk: Desk) -> None:
    early = clip(1, state="members_only")
    desk.youtube.add(channel(early, clip(2)))
    assert changes(desk.run(HANDLE)) == {"slowcook001": "members_only", "slowcook002": "new"}
    desk.sync()
    assert desk.asked == {"playlist": 1}
    moved(early, "public")
    assert changes(desk.sync())["slowcook001"] == "new"
    assert desk.asked == fetched(1, playlist=1)


def test_what_was_private_and_is_listed_again_is_asked_for_after_a_day_and_ever_less_often(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = channel(clip(1), clip(2))
    desk.youtube.add(made)
    desk.youtube.add(clip(1, state="private"))  # its page is private, whatever the list shows
    assert changes(desk.run(HANDLE))["slowcook001"] == "private"
    now, refused, days = time.time, {"playlist": 1, "watch": 1}, 0.5
    monkeypatch.setattr(time, "time", lambda: now() + days * DAY)
    for days, asked in ((0.5, False), (1.5, True), (1.6, False), (2.5, True), (3.5, False), (4.5, True)):
        desk.sync()
        assert desk.asked == (refused if asked else {"playlist": 1}), days
    desk.youtube.site.loose[0].state = "public"
    days = 8.5
    assert changes(desk.sync())["slowcook001"] == "new"


def test_what_its_own_page_keeps_for_members_is_not_asked_for_whenever_a_list_names_it(desk: Desk) -> None:
    desk.youtube.add(clip(1, state="members_only"), channel(clip(1), clip(2)))  # the list shows no badge
    desk.run("slowcook001")
    desk.run(HANDLE)
    assert desk.asked == fetched(1, tab=1, playlist=1)
    assert desk.states["slowcook001"] == "members_only"


def test_what_one_list_opens_and_the_page_refuses_is_asked_for_once(desk: Desk) -> None:
    made = channel(clip(1, state="members_only"), clip(2))
    desk.youtube.add(made)
    desk.run(HANDLE)
    made.clips[0] = clip(1)
    desk.youtube.add(clip(1, state="members_only"))
    assert changes(desk.sync())["slowcook001"] == "members_only"
    assert desk.asked == {"playlist": 1, "watch": 1}
    desk.sync()
    assert desk.asked == {"playlist": 1}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<!DOCTYPE html><html><body>Sorry</body></html>", "caption_blocked"),
        (b'{"wireMagic": "pb3", "events": [', "caption_damaged"),
        (b'{"wireMagic": "pb3", "events": []}', "no_captions"),
    ],
)
def test_a_track_that_is_none_is_no_video_without_end(desk: Desk, body: bytes, code: str) -> None:
    desk.youtube.add(channel(clip(1, captions=[Caption(body=body)]), clip(2)))
    events = desk.run(HANDLE)
    damaged = {"player": 2, "timedtext": 4} if code.startswith("caption_") else {}
    assert desk.asked == fetched(2, tab=1, playlist=1) | damaged  # another client's track can be whole
    assert changes(events) == {"slowcook001": code, "slowcook002": "new"}
    again = desk.state("slowcook001").retry_at
    assert again
    assert abs(again - time.time() - (RULES[code].delay_s or 0)) < 5
    assert desk.place.sound()
