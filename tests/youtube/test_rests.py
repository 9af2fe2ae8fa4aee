"""Where YouTube refuses whoever asks: requests are repeated ever slower, then the queue rests and goes on by itself."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import FetchError
from subtitle_rag.base.domain.events import IndexEvent, Resting
from subtitle_rag.base.domain.values import Video
from subtitle_rag.youtube.fetcher import RESTS, RunOptions
from tests.stand_ins.youtube import BetweenVideos, Caption, Channel, StandIn
from tests.support.invented import caption_folder
from tests.youtube.desk import HANDLE, QUICK, UPLOADS, Clock, Desk, channel, clip, clips, fetched, report, rests

VIDEOS = f"{HANDLE}/videos"
IMPATIENT = RunOptions(patient=False)


def test_a_track_that_is_refused_for_ever_ends_the_run_after_its_rests(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.settings = replace(QUICK, rest=3_600)
    desk.youtube.refuse("timedtext", times=None)
    before = int(time.time())
    events = desk.run(HANDLE)
    assert desk.youtube.count("timedtext") == 5 * (1 + RESTS)
    assert desk.youtube.count("watch") == 1 + RESTS
    assert rests(events) == [("rate_limited", True)] * RESTS + [("rate_limited", False)]
    assert [round(wait / 3_600) for wait in clock.waits if wait > 60] == [1, 2, 4]
    blocked = report(events).blocked
    assert blocked
    assert blocked.until >= before + 3_600
    state = desk.state("slowcook000")
    assert state.failure == "rate_limited"
    assert state.retry_at
    assert state.retry_at >= before + 3_600


def test_a_video_that_comes_between_two_refusals_makes_the_next_rest_a_first_one(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(3)))
    desk.settings = replace(QUICK, rest=3_600)
    for refused in ("slowcook000", "slowcook002"):
        desk.youtube.refuse("timedtext", times=5, video=refused)
    events = desk.run(HANDLE)
    assert rests(events) == [("rate_limited", True)] * 2
    assert [round(wait / 3_600) for wait in clock.waits if wait > 60] == [1, 1]
    assert len(desk.done) == 3


def test_a_long_wait_that_youtube_names_is_a_rest_and_no_repetition(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(1)))
    desk.youtube.refuse("timedtext", headers={"Retry-After": "900"})
    before = time.time()
    events = desk.run(HANDLE)
    (rest,) = [event for event in events if isinstance(event, Resting)]
    assert before + 900 <= rest.until <= before + 903
    assert [900 <= wait <= 902 for wait in clock.waits] == [True]
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 2, "timedtext": 2}
    assert desk.done == {"slowcook000"}


def test_a_date_can_be_what_youtube_names(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(1)))
    stamp = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 31))
    desk.youtube.refuse("timedtext", headers={"Retry-After": stamp})
    desk.run(HANDLE)
    assert [29 <= wait <= 32 for wait in clock.waits] == [True]
    assert desk.done == {"slowcook000"}


@pytest.mark.parametrize(
    ("kind", "asked", "rested"),
    [
        ("watch", {"watch": 2, "next": 1, "player": 1, "timedtext": 1}, [("rate_limited", True)]),
        ("player", {"watch": 1, "timedtext": 1}, []),
    ],
)
def test_one_refusal_costs_one_rest_at_most(
    desk: Desk, clock: Clock, kind: str, asked: dict[str, int], rested: list[tuple[str, bool]]
) -> None:
    """Without its page a video has no date and no chapters; with it the player is not asked."""
    desk.youtube.add(channel(clip(1)))
    desk.youtube.refuse(kind, headers={"Retry-After": "1"})
    events = desk.run(VIDEOS)
    assert desk.asked == asked | {"tab": 1}
    assert rests(events) == rested
    assert report(events).failed == 0


def test_a_block_of_everything_is_waited_out_as_long_as_youtube_says(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(2)))
    events = iter(desk.events(HANDLE))
    while not desk.done:
        next(events)
    desk.youtube.refuse(None, times=None, headers={"Retry-After": "1200"})
    before = time.time()
    rest = next(event for event in events if isinstance(event, Resting))
    assert (rest.code, rest.goes_on) == ("rate_limited", True)
    assert before + 1200 <= rest.until <= before + 1205
    desk.youtube.forgive()
    assert report(list(events)).blocked is None
    assert len(desk.done) == 2


def test_a_time_that_youtube_names_again_and_again_is_believed_once(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(1)))
    desk.settings = replace(QUICK, rest=3_600)
    desk.youtube.refuse("watch", times=None, headers={"Retry-After": "30"})
    assert rests(desk.run(HANDLE)) == [("rate_limited", True)] * RESTS + [("rate_limited", False)]
    assert [round(wait / 3_600) for wait in clock.waits if wait > 60] == [2, 4]


def test_a_block_of_the_first_list_is_waited_out_too(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.youtube.refuse(None, times=2, headers={"Retry-After": "1200"})
    events = desk.run(HANDLE)
    assert rests(events) == [("rate_limited", True)]
    assert len(desk.done) == 2


@pytest.mark.parametrize(("state", "code"), [("bot_check", "bot_check"), ("session_limit", "rate_limited")])
def test_a_video_that_is_refused_because_of_who_asks_is_a_rest(desk: Desk, clock: Clock, state: Any, code: str) -> None:
    made = channel(*clips(2, state=state))
    desk.youtube.add(made)
    desk.settings = replace(QUICK, rest=1_800)
    events = desk.run(VIDEOS)
    assert rests(events) == [(code, True)] * RESTS + [(code, False)]
    assert desk.asked == {"tab": 1, "watch": 1 + RESTS, "player": 2 * (1 + RESTS)}
    assert desk.place.library.sources.rest()[1] == code
    for each in made.clips:
        each.state = "public"
    desk.settings = QUICK
    assert rests(desk.sync()) == [(code, True)]
    assert len(desk.done) == 2


@pytest.mark.campaign(part="lists")
def test_empty_answers_are_repeated_and_the_third_video_in_a_row_is_a_rest(desk: Desk, clock: Clock) -> None:
    made = channel(*clips(4, captions=[Caption(body=b"")]))
    desk.youtube.add(made)
    desk.settings = replace(QUICK, rest=600)
    events: list[IndexEvent] = []
    for event in desk.events(VIDEOS):
        events.append(event)
        if isinstance(event, Resting):
            break
    assert desk.asked == {"tab": 1, "watch": 3, "player": 6, "timedtext": 21}
    assert [state for _id, state in sorted(desk.states.items())] == ["caption_blocked"] * 3
    assert all(state.retry_at for state in desk.place.library.videos())
    for each in made.clips:
        each.captions = [Caption()]
    desk.sync()
    assert desk.done == {"slowcook003"}  # each of the others has its own time
    desk.sync(RunOptions(retry=True, include_due=True))
    assert len(desk.done) == 4


def test_one_empty_answer_is_no_refusal(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(1)))
    desk.youtube.refuse("timedtext", 200)
    assert report(desk.run(HANDLE)).failures == []
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 1, "player": 1, "timedtext": 2}


@pytest.mark.campaign(part="lists")
@pytest.mark.parametrize("kind", ["playlist", "watch", "player", "browse"])
def test_a_server_in_trouble_stops_nothing_for_long(desk: Desk, kind: str) -> None:
    desk.youtube.add(channel(*clips(101, state="members_only"), clip(200)))
    desk.youtube.refuse(kind, 503, times=2)
    events = desk.run(HANDLE)
    assert report(events).blocked is None
    assert all(code == "network" for code, _goes_on in rests(events))
    assert desk.done == {"slowcook200"}


def test_a_server_that_goes_and_comes_back_is_waited_for(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(4)))
    desk.settings = replace(QUICK, rest=3_600)
    events: list[IndexEvent] = []
    for event in desk.events(HANDLE):
        events.append(event)
        if len(desk.done) == 2 and not rests(events):
            desk.youtube.stop()
        if isinstance(event, Resting):
            assert event.until - time.time() <= 60  # a broken way mends itself sooner than a block
            desk.youtube.start()
    assert rests(events) == [("network", True)]
    assert desk.done == {each.id for each in clips(4)}
    assert report(events).failures == []
    assert desk.place.library.sources.rest() == (0, "")


def test_a_server_that_stays_away_ends_the_run_and_the_next_one_begins_at_once(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.youtube.stop()
    events = desk.run(HANDLE)
    assert rests(events) == [("network", True)] * RESTS + [("network", False)]
    desk.youtube.start()
    assert rests(desk.run(HANDLE)) == []
    assert len(desk.done) == 2


def blocked(desk: Desk) -> None:
    """A run that was refused, and a rest of an hour that is remembered."""
    desk.youtube.add(channel(*clips(2)))
    desk.settings = replace(QUICK, rest=3_600)
    desk.youtube.refuse("timedtext", times=5)
    assert rests(desk.run(HANDLE, run_options=IMPATIENT)) == [("rate_limited", False)]
    desk.youtube.forgive()


def test_an_impatient_run_ends_at_once_while_a_rest_lasts(desk: Desk) -> None:
    blocked(desk)
    events = desk.run(HANDLE, run_options=IMPATIENT)
    assert desk.asked == {}
    assert rests(events) == [("rate_limited", False)]
    ended = report(events).blocked
    assert ended
    assert ended.until > time.time() + 3_500


def test_a_patient_run_waits_for_the_end_of_the_rest(desk: Desk, clock: Clock) -> None:
    blocked(desk)
    assert rests(desk.run(HANDLE)) == [("rate_limited", True)]
    assert 3_500 < clock.waits[0] <= 3_601
    assert len(desk.done) == 2
    assert desk.place.library.sources.rest() == (0, "")


def test_a_run_that_retries_does_not_wait_for_the_end_of_a_rest(desk: Desk) -> None:
    blocked(desk)
    assert rests(desk.run(HANDLE, run_options=RunOptions(patient=False, retry=True))) == []
    assert len(desk.done) == 2
    assert rests(desk.run(HANDLE, run_options=IMPATIENT)) == []


def test_a_stop_ends_a_rest_at_once(desk: Desk) -> None:
    blocked(desk)
    events: list[IndexEvent] = []
    running = threading.Thread(target=lambda: events.extend(desk.events(HANDLE)))
    running.start()
    running.join(0.1)
    assert running.is_alive()
    desk.stop.set()
    running.join(10)
    assert not running.is_alive()
    assert report(events).new == 0
    assert desk.place.library.sources.rest()[0] > time.time() + 3_500


def test_a_stop_ends_the_waiting_for_a_refused_track_at_once(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.youtube.refuse("timedtext", times=None, headers={"Retry-After": "50"})
    running = threading.Thread(target=lambda: desk.run(HANDLE))
    running.start()
    while not desk.youtube.count("timedtext"):
        running.join(0.01)
    desk.stop.set()
    running.join(10)
    assert not running.is_alive()
    assert desk.youtube.count("timedtext") == 1


@pytest.mark.campaign(part="lists")
def test_one_video_that_is_refused_for_ever_keeps_nobody_from_the_others(desk: Desk, clock: Clock) -> None:
    """As it is with a translated track, which YouTube refuses where it gives all others."""
    desk.youtube.add(channel(*clips(4)))
    desk.settings = replace(QUICK, rest=3_600)
    desk.youtube.refuse("timedtext", times=None, video="slowcook001")
    events = desk.run(HANDLE)
    assert desk.states == {f"slowcook{number:03d}": "rate_limited" if number == 1 else "done" for number in range(4)}
    assert rests(events)[0] == ("rate_limited", True)
    assert [asked.video for asked in desk.youtube.asked("watch")][:4] == [each.id for each in clips(4)]
    desk.sync()
    assert desk.youtube.count("watch") >= 1
    assert len(desk.done) == 3


ONE_ALONE = {
    "500": {"status": 500},
    "403": {"status": 403},
    "it hangs up": {"close": True},
}


@pytest.mark.parametrize("how", ONE_ALONE.values(), ids=ONE_ALONE)
def test_a_video_that_is_refused_alone_goes_behind_the_others(desk: Desk, clock: Clock, how: dict[str, Any]) -> None:
    desk.youtube.add(channel(*clips(5)))
    desk.youtube.refuse(None, times=None, video="slowcook001", **how)
    events = desk.run(VIDEOS, run_options=IMPATIENT)
    assert rests(events) == []
    assert desk.done == {each.id for each in clips(5)} - {"slowcook001"}
    assert [failure.video for failure in report(events).failures] == ["slowcook001"]
    watched = [asked.video for asked in desk.youtube.asked("watch")]
    assert list(dict.fromkeys(watched)) == [each.id for each in clips(5)]
    assert watched[-1] == "slowcook001", "it is asked for once more, behind the others"
    assert desk.state("slowcook001").retry_at


@pytest.mark.parametrize("how", ONE_ALONE.values(), ids=ONE_ALONE)
def test_a_refusal_that_another_video_confirms_ends_the_run(desk: Desk, clock: Clock, how: dict[str, Any]) -> None:
    desk.youtube.add(channel(*clips(5)))
    desk.youtube.refuse("watch", times=None, **how)
    desk.youtube.refuse("player", times=None, **how)
    desk.youtube.refuse("next", times=None, **how)
    events = desk.run(VIDEOS, run_options=IMPATIENT)
    assert [goes_on for _code, goes_on in rests(events)] == [False]
    assert {asked.video for asked in desk.youtube.asked("watch")} == {"slowcook000", "slowcook001"}
    assert report(events).blocked
    desk.youtube.forgive()
    desk.sync(RunOptions(retry=True, include_due=True))
    assert len(desk.done) == 5


def test_what_was_refused_before_comes_behind_what_nobody_has_asked_for(desk: Desk, clock: Clock) -> None:
    """Two that are refused for ever end each run, but not before the others are here."""
    desk.youtube.add(channel(*clips(6)))
    for number in (1, 2):
        desk.youtube.refuse(None, 403, times=None, video=f"slowcook00{number}")
    desk.run(VIDEOS, run_options=IMPATIENT)
    clock.waits.append(86_400)
    desk.sync(RunOptions(patient=False, include_due=True))
    assert desk.done == {each.id for each in clips(6)} - {"slowcook001", "slowcook002"}


def test_a_list_that_is_refused_alone_keeps_no_other_from_being_read(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(2)), Channel(f"UC{'b' * 22}", "@빠른부엌", "빠른 부엌", clips(2, 10)))
    for kind in ("playlist", "browse"):
        desk.youtube.refuse(kind, 500, times=None)
    addresses = f"https://www.youtube.com/playlist?list={UPLOADS}", "https://www.youtube.com/@빠른부엌/videos"
    events = desk.run(*addresses, run_options=IMPATIENT)
    assert rests(events) == []
    assert desk.done == {"slowcook010", "slowcook011"}
    assert [failure.code for failure in report(events).failures] == ["network"]


def test_a_run_of_one_refused_video_ends_as_blocked(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(clip(1)))
    desk.youtube.refuse(None, 403, times=None, video="slowcook001")
    assert report(desk.run(VIDEOS, run_options=IMPATIENT)).blocked


PAGE = b"<!DOCTYPE html><html><head><title>Sorry...</title></head><body>automated queries</body></html>"


def test_a_web_page_in_place_of_every_track_is_a_block(desk: Desk, clock: Clock) -> None:
    made = channel(*clips(35, captions=[Caption(body=PAGE)]))
    desk.youtube.add(made)
    events = desk.run(VIDEOS, run_options=IMPATIENT)
    assert rests(events) == [("caption_blocked", False)]
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 3, "player": 6, "timedtext": 9}
    for each in made.clips:
        each.captions = [Caption()]
    desk.sync(RunOptions(retry=True, include_due=True))
    assert len(desk.done) == 35


def test_a_web_page_in_place_of_one_track_is_of_this_video_alone(desk: Desk, clock: Clock) -> None:
    made = channel(*clips(3))
    made.clips[0].captions = [Caption(body=PAGE)]
    desk.youtube.add(made)
    events = desk.run(VIDEOS, run_options=IMPATIENT)
    assert rests(events) == []
    assert desk.done == {"slowcook001", "slowcook002"}


def test_a_folder_is_indexed_while_a_run_rests(desk: Desk, clock: Clock, tmp_path: Path) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.youtube.refuse("timedtext", times=5)
    folder = caption_folder(tmp_path / "captions", 1, minutes=1)
    done = 0
    for event in desk.events(HANDLE):
        if isinstance(event, Resting):
            done = desk.place.report(folder).new
    assert done == 1
    assert len(desk.done) == 3


@pytest.mark.campaign(part="lists")
def test_five_failures_that_nobody_knows_end_the_run(desk: Desk, clock: Clock, youtube: StandIn) -> None:
    """YouTube has changed, and only a newer yt-dlp can help."""
    youtube.add(channel(*clips(7)))
    youtube.refuse("watch", 200, times=None, body=b"<html></html>")
    youtube.refuse("player", 200, times=None, body=b"{}")
    youtube.refuse("next", 200, times=None, body=b"{}")
    events = desk.run(VIDEOS)
    assert rests(events) == [("yt_dlp_outdated", False)]
    assert sum(state == "yt_dlp_outdated" for state in desk.states.values()) == 5
    assert youtube.count("watch") == 5


def test_a_failure_of_the_door_itself_is_raised(desk: Desk, make_missing: Callable[[], None]) -> None:
    make_missing()
    with pytest.raises(FetchError) as refused:
        desk.run(HANDLE)
    assert refused.value.code == "cookies_unreadable"
    assert desk.asked == {}
    assert desk.states == {}


@pytest.fixture
def make_missing(desk: Desk, tmp_path: Path) -> Callable[[], None]:
    def make() -> None:
        desk.settings = replace(QUICK, cookie_file=str(tmp_path / "none.txt"))

    return make


def test_the_pauses_lie_between_one_video_and_the_next(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(4)))
    desk.settings = BetweenVideos(pause=5, rest=0)
    desk.run(HANDLE)
    assert desk.asked == fetched(4, tab=1, playlist=1)
    assert len(clock.waits) == 3
    assert all(4.5 < wait <= 10 for wait in clock.waits)
    assert len(set(clock.waits)) == 3


@pytest.mark.parametrize("rest", [3_600, 7 * 86_400])
def test_a_rest_of_a_wrong_clock_is_over(desk: Desk, rest: int) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.settings = replace(QUICK, rest=rest)
    longest = max(rest, 86_400)
    desk.place.library.sources.put_rest(int(time.time()) + longest - 60, "rate_limited")
    assert rests(desk.run(HANDLE, run_options=IMPATIENT)) == [("rate_limited", False)]
    desk.place.library.sources.put_rest(int(time.time()) + longest + 60, "rate_limited")
    assert rests(desk.run(HANDLE, run_options=IMPATIENT)) == []
    assert len(desk.done) == 2
    assert desk.place.library.sources.rest() == (0, "")


def test_a_retry_of_a_wrong_clock_is_due(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sources, now = desk.place.library.sources, int(time.time())
    sources.put_refused(clip_video("slowcook000"), "no_captions", {}, now + 3_600)
    monkeypatch.setattr(time, "time", lambda: now + 400 * 86_400)
    sources.put_refused(clip_video("slowcook001"), "no_captions", {}, now + 401 * 86_400)
    sources.put_refused(clip_video("slowcook002"), "private", {}, None)
    assert sources.due(now) == ["slowcook001"]


def clip_video(id: str) -> Video:
    return Video(id, id, "c", "c")
