"""Lists that end early, and how long a list takes: what one list leaves out another one may have."""

import random
import time
from dataclasses import replace
from typing import Any

import pytest

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.events import FetchEstimate, IndexEvent, ListCutShort
from subtitle_rag.youtube.estimate import cut_short_text, estimate_text
from subtitle_rag.youtube.fetcher import RunOptions
from tests.stand_ins.youtube import Clip, Playlist
from tests.support.cases import cases
from tests.youtube.desk import HANDLE, UPLOADS, Clock, Desk, channel, clip, clips, fetched, rests, silent

VIDEOS = f"{HANDLE}/videos"


def ids(some: list[Clip]) -> set[str]:
    return {each.id for each in some}


def cut_short(events: list[IndexEvent]) -> list[tuple[int, int]]:
    return [(event.listed, event.counted) for event in events if isinstance(event, ListCutShort)]


def estimates(events: list[IndexEvent]) -> list[FetchEstimate]:
    return [event for event in events if isinstance(event, FetchEstimate)]


def unlisted(desk: Desk) -> int:
    (followed,) = desk.place.library.sources.followed()
    return followed.unlisted


def members(count: int, first: int = 0, kind: str = "video") -> list[Clip]:
    """Videos that are listed and cost nothing, with ids for more than a thousand."""
    return [
        Clip(f"m{number:010d}", f"회원 {number}", state="members_only", kind=kind)  # type: ignore[arg-type]
        for number in range(first, first + count)
    ]


@pytest.mark.campaign(part="lists")
def test_what_a_tab_leaves_out_comes_from_the_list_of_its_uploads(desk: Desk) -> None:
    made = channel(*members(120), *clips(2))
    made.left_out = {"videos": ids(made.clips[60:])}
    desk.youtube.add(made)
    events = desk.run(VIDEOS)
    assert desk.done == {"slowcook000", "slowcook001"}
    assert len(desk.states) == 122
    assert desk.asked == fetched(2, tab=1, playlist=1, browse=1 + 1)
    assert (cut_short(events), unlisted(desk)) == ([], 0)
    desk.sync()
    assert desk.asked == {"tab": 1}


@pytest.mark.campaign(part="lists")
def test_what_the_uploads_of_more_than_5000_videos_leave_out_comes_from_the_tabs(desk: Desk) -> None:
    made = channel(
        *members(150, 5_000, "short"), *members(4_900), *clips(2), Clip("stream00001", "방송", kind="stream")
    )
    made.left_out = {"UU": ids(made.clips[5_000:])}
    desk.youtube.add(made)
    events = desk.run(HANDLE)
    assert desk.done == {"slowcook000", "slowcook001", "stream00001"}
    assert len(desk.states) == 5_053
    assert desk.asked == fetched(3, tab=1 + 3, playlist=1, browse=49 + 163 + 4)
    assert (cut_short(events), unlisted(desk)) == ([], 0)
    desk.sync()
    assert desk.asked == {"playlist": 1}


@pytest.mark.campaign(part="lists")
def test_without_a_list_of_its_own_a_tab_is_compared_with_all_uploads(desk: Desk) -> None:
    over = Clip("stream00001", "방송", kind="stream")
    made = channel(*silent(40), *clips(2, 100), Clip("short000001", "짧게", kind="short"), over)
    made.left_out = {"videos": {"slowcook101"}, "UULF": "*"}
    desk.youtube.add(made)
    events = desk.run(VIDEOS)
    assert desk.done == {"slowcook100", "slowcook101"}
    assert not {"short000001", "stream00001"} & desk.states.keys()
    assert cut_short(events) == []


def test_the_other_list_is_read_only_as_far_as_something_is_missing(desk: Desk) -> None:
    made = channel(clip(100), *silent(95))
    made.left_out = {"UU": {"slowcook100"}}
    desk.youtube.add(made)
    desk.run(HANDLE)
    assert desk.done == {"slowcook100"}
    assert desk.asked == fetched(1, tab=1 + 3, playlist=1)


def test_the_address_of_the_uploads_is_compared_too(desk: Desk) -> None:
    made = channel(*clips(3))
    made.left_out = {"UU": {"slowcook002"}}
    desk.youtube.add(made)
    desk.run(UPLOADS)
    assert desk.done == {"slowcook000", "slowcook001", "slowcook002"}


@pytest.mark.campaign(part="lists")
def test_what_no_list_has_is_said_once_and_stays_in_the_status(desk: Desk) -> None:
    made = channel(*clips(2), *silent(40, 100))
    made.left_out = {"UU": {"slowcook001"}, "videos": {"slowcook001"}}
    desk.youtube.add(made)
    events = desk.run(HANDLE)
    assert cut_short(events) == [(41, 42)]
    assert unlisted(desk) == 1
    assert cut_short(desk.sync()) == []
    assert desk.asked == {"playlist": 1}
    assert unlisted(desk) == 1
    made.left_out = {}
    desk.run(HANDLE, run_options=RunOptions(refresh=True))
    assert unlisted(desk) == 0


def test_a_playlist_says_what_it_hides(desk: Desk) -> None:
    some = clips(3)
    desk.youtube.add(channel(*some), Playlist("PLslowkitchen01", "모음", some, count=5))
    (short,) = [event for event in desk.run("PLslowkitchen01") if isinstance(event, ListCutShort)]
    assert (short.source, short.listed, short.counted) == ("모음", 3, 5)
    assert "counts 5 videos in 모음 and lists 3" in cut_short_text(short)
    assert cut_short(desk.sync()) == []


def test_a_video_that_stands_twice_on_a_playlist_is_not_missing(desk: Desk) -> None:
    some = clips(3)
    desk.youtube.add(channel(*some), Playlist("PLslowkitchen01", "모음", [*some, some[0]], count=4))
    assert cut_short(desk.run("PLslowkitchen01")) == []


@pytest.mark.parametrize("options", [{"limit": 5}, {"match": "삶기 1"}])
def test_a_list_that_is_not_read_to_its_end_is_compared_with_none(desk: Desk, options: dict[str, Any]) -> None:
    made = channel(*clips(5), *silent(40, 100))
    desk.youtube.add(made)
    desk.run(HANDLE, **options)
    assert "browse" not in desk.asked
    assert desk.asked["tab"] == 1
    assert unlisted(desk) == 0


@pytest.mark.campaign(part="lists")
def test_a_second_list_that_youtube_does_not_give_fails_nothing(desk: Desk) -> None:
    made = channel(*silent(35), *clips(1, 100))
    made.left_out = {"UU": "*", "UULF": "*"}
    desk.youtube.add(made)
    events = desk.run(VIDEOS)
    assert desk.done == {"slowcook100"}
    assert cut_short(events) == []


@pytest.mark.campaign(part="lists")
def test_a_block_at_the_second_list_rests_and_goes_on(desk: Desk, clock: Clock) -> None:
    made = channel(*silent(40), *clips(2, 100))
    made.left_out = {"UU": {"slowcook101"}}
    desk.youtube.add(made)
    desk.youtube.refuse(None, after=5, times=2, headers={"Retry-After": "60"})
    assert rests(desk.run(HANDLE)) == [("rate_limited", True)]
    assert desk.done == {"slowcook100", "slowcook101"}


# --- time ---


def test_the_shipped_pauses_stay_below_300_videos_an_hour(
    desk: Desk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """yt-dlp's wiki names that many for guests. Counted is what is waited for, without the network's time."""
    shipped = desk.settings = YoutubeSettings()
    monkeypatch.setattr(random, "uniform", lambda low, high: (low + high) / 2)
    monkeypatch.setattr(time, "sleep", clock.waits.append)
    desk.youtube.add(channel(*clips(12)))
    desk.run(HANDLE)
    each_s = sum(clock.waits) / 11  # the first one waits for nothing
    assert 3_600 / each_s < 300
    assert each_s == pytest.approx(shipped.video_s, rel=0.1)
    assert 3_600 / shipped.video_s < 300


def test_the_estimate_comes_before_the_first_video(desk: Desk) -> None:
    desk.settings = replace(desk.settings, pause=16)
    desk.youtube.add(channel(*clips(1_200 // 10)))
    events = desk.events(HANDLE)
    first = next(iter(events))
    events.close()  # type: ignore[attr-defined]
    assert first == FetchEstimate("느린 부엌", 120, 120 * 25, at_most=False)
    assert desk.asked == {"tab": 1, "playlist": 1}


def test_what_is_there_is_not_estimated_again(desk: Desk) -> None:
    made = channel(*clips(4))
    desk.youtube.add(made)
    events = desk.events(HANDLE)
    for event in events:
        if len(desk.done) == 2:
            break
        del event
    events.close()  # type: ignore[attr-defined]
    assert [each.videos for each in estimates(desk.run(HANDLE))] == [2]
    assert estimates(desk.sync()) == []


@pytest.mark.parametrize(
    ("options", "videos", "at_most"),
    [({"limit": 3}, 3, False), ({"limit": 30}, 6, False), ({"match": "국수"}, 6, True)],
)
def test_options_bound_the_estimate(desk: Desk, options: dict[str, Any], videos: int, at_most: bool) -> None:
    desk.youtube.add(channel(*clips(6)))
    (estimate,) = estimates(desk.run(HANDLE, **options))
    assert (estimate.videos, estimate.at_most) == (videos, at_most)


@pytest.mark.campaign(part="lists")
def test_a_long_tab_is_estimated_by_its_uploads_and_a_short_one_once_it_is_read(desk: Desk) -> None:
    made = channel(*clips(35), Clip("short000001", "짧게", kind="short"), Clip("short000002", "짧게", kind="short"))
    desk.youtube.add(made)
    assert next(iter(desk.events(VIDEOS, match="없는 제목"))) == FetchEstimate("느린 부엌", 35, 0, at_most=True)


def test_a_channel_that_counts_nothing_is_estimated_once_it_is_read(desk: Desk) -> None:
    made = channel(*clips(4), counts=False)
    desk.youtube.add(made)
    desk.settings = replace(desk.settings, pause=1)
    desk.stop = Clock()
    assert [each.videos for each in estimates(desk.run(UPLOADS))] == [3]


@cases(
    ("videos", "seconds", "text"),
    [
        (2, 25, "about 2 videos, fetched in less than a minute"),
        (99, 1_238, "about 99 videos, fetched in about 21 min"),
        (1_203, 15_037, "about 1,200 videos, fetched in about 4 h"),
        (1_290, 16_125, "about 1,300 videos, fetched in about 4 h 30 min"),
        (5_234, 65_425, "about 5,200 videos, fetched in about 18 h"),
        (20_000, 250_000, "about 20,000 videos, fetched in about 3 days"),
    ],
)
def test_the_estimate_is_told_in_round_numbers(videos: int, seconds: int, text: str) -> None:
    assert estimate_text(FetchEstimate("느린 부엌", videos, seconds, at_most=False)) == text
    assert estimate_text(FetchEstimate("느린 부엌", videos, seconds, at_most=True)).startswith("at most ")
