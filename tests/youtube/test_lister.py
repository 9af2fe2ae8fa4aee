"""How far lists are read: what is new is found, what is known ends it, and what was interrupted is read on."""

import threading
from datetime import date

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.events import Found, Listed, VideoDone
from subtitle_rag.captions.addresses import Source, parse_address
from subtitle_rag.youtube.fetcher import FetchRequest, RunOptions
from subtitle_rag.youtube.youtube import Listing, YouTube
from tests.stand_ins.youtube import BetweenVideos, Clip, Playlist
from tests.support.invented import came_true
from tests.youtube.desk import (
    HANDLE,
    OWNER,
    QUICK,
    UPLOADS,
    Clock,
    Desk,
    changes,
    channel,
    clip,
    clips,
    fetched,
    report,
    silent,
    spoken,
)

VIDEOS = f"{HANDLE}/videos"


def watched(desk: Desk) -> list[str]:
    return [asked.video for asked in desk.youtube.asked("watch")]


def test_a_channel_whose_lists_name_nothing_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def listing(_youtube: YouTube, source: Source, *_options: object) -> Listing:
        return Listing(source.url, "빈 채널", f"UC{OWNER}", [iter(())], by_date=True)

    monkeypatch.setattr(YouTube, "listing", listing)
    total = report(desk.run(HANDLE))
    assert (total.found, total.failed) == (0, 0)
    assert [(notice.code, notice.details) for notice in total.notices] == [("empty_tab", {"title": "빈 채널"})]


@pytest.mark.campaign(part="lists")
def test_a_channel_of_250_videos_costs_four_requests_to_list(desk: Desk) -> None:
    desk.youtube.add(channel(*silent(250)))
    assert report(desk.run(HANDLE)).found == 250
    assert desk.asked == {"tab": 1, "playlist": 1, "browse": 2}
    assert len(desk.states) == 250
    desk.sync()
    assert desk.asked == {"playlist": 1}


@pytest.mark.campaign(part="lists")
def test_a_tab_of_250_videos_costs_ten_requests_to_list(desk: Desk) -> None:
    """One of them asks how many videos there are."""
    desk.youtube.add(channel(*silent(250)))
    desk.run(VIDEOS)
    assert desk.asked == {"tab": 1, "playlist": 1, "browse": 8}
    assert len(desk.states) == 250
    desk.sync()
    assert desk.asked == {"tab": 1}


@pytest.mark.campaign(part="lists")
def test_new_videos_are_found_below_what_always_stands_above(desk: Desk) -> None:
    """Announced broadcasts and videos for members are known, and newer than what is new."""
    above = [clip(number, state="upcoming") for number in range(300, 305)] + silent(5, 305)
    made = channel(*above, *silent(90))
    desk.youtube.add(made)
    desk.run(VIDEOS)
    made.clips[10:10] = clips(1, 200)
    desk.sync()
    assert watched(desk) == ["slowcook200"]


@pytest.mark.parametrize("above", [1, 2, 5])
def test_new_videos_of_a_small_channel_are_found_below_what_stands_above(desk: Desk, above: int) -> None:
    made = channel(*silent(above), clip(100))
    desk.youtube.add(made)
    desk.run(HANDLE)
    made.clips.insert(above, clip(101))
    desk.sync()
    assert desk.done == {"slowcook100", "slowcook101"}


@pytest.mark.campaign(part="lists")
def test_more_new_videos_than_a_page_holds_are_all_found(desk: Desk) -> None:
    made = channel(*silent(60))
    desk.youtube.add(made)
    desk.run(VIDEOS)
    made.clips[:0] = [*silent(40, 200), *clips(2, 300)]
    desk.sync()
    assert desk.asked == fetched(2, tab=1, browse=2)
    assert len(desk.states) == 102


@pytest.mark.parametrize("limit", [None, 50])
@pytest.mark.campaign(part="lists")
def test_a_sync_that_is_interrupted_below_many_new_videos_is_gone_on_with(desk: Desk, limit: int | None) -> None:
    made = channel(*silent(60))
    desk.youtube.add(made)
    desk.run(VIDEOS, limit=limit)
    made.clips[:0] = [*silent(33, 200), *clips(2, 300)]
    (followed,) = desk.place.library.sources.followed()
    events = desk.fetcher.run([FetchRequest(parse_address(followed.url), followed.options)])
    for _event in zip(events, range(2 * 32), strict=False):
        pass
    events.close()
    desk.sync()
    assert desk.done == {"slowcook300", "slowcook301"}
    desk.sync()
    assert desk.asked == {"tab": 1}


@pytest.mark.campaign(part="lists")
def test_reading_stops_after_thirty_known_in_a_row(desk: Desk) -> None:
    made = channel(*silent(95))
    desk.youtube.add(made)
    desk.run(VIDEOS)
    made.clips[15:15] = clips(1, 300)
    made.clips[45:45] = clips(1, 301)  # below 29 that are known
    made.clips[76:76] = clips(1, 302)  # below 30
    desk.sync()
    assert watched(desk) == ["slowcook300", "slowcook301"]


def test_the_first_video_is_fetched_before_the_second_page_is_asked_for(desk: Desk) -> None:
    desk.youtube.add(channel(clip(1), *silent(29, 100), clip(2)))
    desk.run(VIDEOS)
    video = ["watch", "timedtext"]
    assert [asked.kind for asked in desk.youtube.requests] == ["tab", "playlist", *video, "browse", *video]


def test_what_is_listed_is_due_before_the_next_page_is_there(desk: Desk) -> None:
    """The pause after a video is used to read on; the library says at once what there is to come."""
    desk.youtube.add(channel(*clips(61)))
    desk.settings = BetweenVideos(pause=60, rest=0)
    hold = desk.youtube.hold("browse")
    running = threading.Thread(target=lambda: desk.run(VIDEOS))
    running.start()
    try:
        assert hold.arrived.wait(20)
        assert came_true(lambda: len(desk.states) == 30)
        assert sorted(desk.states.values()) == ["done", *["due"] * 29]
        assert desk.youtube.count("watch") == 1
    finally:
        desk.stop.set()
        hold.release()
        running.join(20)
    assert not running.is_alive()


@pytest.mark.campaign(part="lists")
def test_an_interrupted_list_is_read_to_its_end_by_the_next_run(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(5), *silent(28, 100), *clips(2, 200)))
    events = desk.events(VIDEOS)
    done = 0
    for event in events:
        done += isinstance(event, VideoDone)
        if done == 3:
            break
    events.close()  # type: ignore[attr-defined]
    assert len(desk.states) == 3
    made = desk.report(VIDEOS)
    assert desk.asked == fetched(4, tab=1, playlist=1, browse=1)
    assert (made.found, made.new, made.unchanged) == (35, 4, 3)
    assert len(desk.done) == 7
    desk.sync()
    assert desk.asked == {"tab": 1}


@pytest.mark.campaign(part="lists")
def test_a_list_refused_on_its_second_page_is_read_on_after_the_rest(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(3), *silent(30, 100), *clips(2, 200)))
    desk.youtube.refuse("browse")
    events = desk.run(VIDEOS)
    assert desk.asked == fetched(5, tab=2, playlist=2, browse=2)
    made = report(events)
    assert (made.found, made.new, made.unchanged, made.failed) == (35, 5, 0, 30)
    assert [event.videos for event in events if isinstance(event, Found)][-1] == 35


@pytest.mark.campaign(part="lists")
def test_a_list_refused_for_an_impatient_run_is_read_to_its_end_by_the_next_one(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(3), *silent(30, 100), *clips(2, 200)))
    desk.youtube.refuse("browse")
    made = desk.report(VIDEOS, run_options=RunOptions(patient=False))
    assert made.blocked
    assert made.blocked.code == "rate_limited"
    assert len(desk.states) == 30
    desk.sync()
    assert desk.asked == fetched(2, tab=1, playlist=1, browse=1)
    assert len(desk.states) == 35


@pytest.mark.campaign(part="lists")
@pytest.mark.parametrize("body", [b"{}", b"", b'{"onResponseReceivedActions": []}'])
def test_a_page_that_cannot_be_read_is_not_the_end_of_a_list(desk: Desk, body: bytes) -> None:
    desk.youtube.add(channel(*silent(31), clip(100)))
    desk.youtube.refuse("browse", 200, times=3, body=body)
    ended = desk.report(VIDEOS)
    assert [failure.code for failure in ended.failures if failure.code != "members_only"] == ["yt_dlp_outdated"]
    assert len(desk.states) == 30
    desk.youtube.forgive()
    desk.sync()
    assert desk.done == {"slowcook100"}


def test_a_list_that_cannot_be_read_on_leaves_no_work_that_it_has_named(desk: Desk, clock: Clock) -> None:
    desk.youtube.add(channel(*clips(1), *silent(28), *clips(2, 100)))
    desk.settings = BetweenVideos(pause=60, rest=0)
    desk.youtube.refuse("browse", 200, body=b"")
    ended = desk.report(VIDEOS)
    assert ended.blocked is None
    assert desk.done == {"slowcook000", "slowcook100"}


@pytest.mark.campaign(part="lists")
def test_what_was_listed_and_not_fetched_is_fetched_by_a_sync(desk: Desk) -> None:
    """Even where the list does not show it any more."""
    made = channel(*clips(3), *silent(60, 100))
    desk.youtube.add(made)
    desk.settings = BetweenVideos(pause=60, rest=0)
    for event in desk.events(VIDEOS):
        if isinstance(event, Listed) and event.video == clips(3)[2].id:
            break
    assert sorted(desk.states.values())[:3] == ["done", "due", "due"]
    left = made.clips[1:3]
    del made.clips[1:3]
    desk.youtube.add(*left)
    desk.settings = QUICK
    desk.sync()
    assert len(desk.done) == 3


def test_a_limit_takes_the_newest_and_a_sync_reaches_no_further_down(desk: Desk) -> None:
    made = channel(*clips(60))
    desk.youtube.add(made)
    assert desk.report(HANDLE, limit=4).found == 4
    assert desk.asked == fetched(4, tab=1, playlist=1)
    desk.sync()
    assert desk.asked == {"playlist": 1}
    made.clips[:0] = clips(6, 100)
    desk.sync()
    assert sorted(watched(desk)) == [each.id for each in clips(6, 100)]
    assert len(desk.states) == 10


@pytest.mark.campaign(part="lists")
@pytest.mark.parametrize("limit", [1, 3, 8])
def test_a_limit_that_several_lists_share_holds_for_a_sync_too(desk: Desk, limit: int) -> None:
    made = channel(*clips(20), *clips(20, 100, kind="stream"))
    desk.youtube.add(made)
    desk.run(HANDLE, tabs=("videos", "streams"), limit=limit)
    assert len(desk.states) == limit
    desk.sync()
    assert len(desk.states) == limit
    made.clips[:0] = clips(1, 50)
    desk.sync()
    assert "slowcook050" in desk.done
    assert len(desk.states) == limit + 1


def test_a_wider_limit_lists_anew_and_fetches_the_rest(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(60)))
    desk.run(HANDLE, limit=3)
    desk.run(HANDLE, limit=5)
    assert watched(desk) == ["slowcook003", "slowcook004"]


def aged(number: int, published: str) -> Clip:
    """A video whose age the list tells wrongly."""
    return clip(number, published=f"{published}T09:00:00+09:00", age="1 hour ago")


def test_since_asks_for_nothing_that_the_list_shows_to_be_older(desk: Desk) -> None:
    new, old = clip(1, age="2 days ago"), clip(2, age="3 years ago")
    new.published = f"{date.today()}T09:00:00+09:00"
    desk.youtube.add(channel(new, old))
    day = date.today().replace(year=date.today().year - 1, day=1)
    assert desk.report(HANDLE, since=day).found == 1
    assert desk.asked == fetched(1, tab=1, playlist=1)
    assert desk.states == {"slowcook001": "done"}


def test_since_is_decided_by_the_exact_date_where_the_list_leaves_it_open(desk: Desk) -> None:
    """The list's "3 weeks ago" never drops what may be new enough, and the video's own date costs one asking."""
    desk.youtube.add(channel(aged(1, "2026-05-02"), aged(2, "2025-01-01")))
    made = desk.report(HANDLE, since=date(2026, 1, 1))
    assert desk.states == {"slowcook001": "done"}
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 2, "timedtext": 1}
    assert (made.new, made.failed) == (1, 0)
    desk.sync()
    assert desk.asked == {"playlist": 1}


def test_other_wishes_list_anew(desk: Desk) -> None:
    desk.youtube.add(channel(aged(1, "2026-05-02"), aged(2, "2025-01-01")))
    desk.run(HANDLE, since=date(2026, 1, 1))
    desk.run(HANDLE)
    assert watched(desk) == ["slowcook002"]
    assert desk.done == {"slowcook001", "slowcook002"}


@pytest.mark.campaign(part="lists")
def test_since_stops_reading_below_a_page_of_older_videos(desk: Desk) -> None:
    old = clips(200, 10, age="4 years ago")
    desk.youtube.add(channel(clip(1, published=f"{date.today()}T00:00:00+09:00", age="1 day ago"), *old))
    desk.run(VIDEOS, since=date(date.today().year - 1, 1, 1))
    assert desk.asked == fetched(1, tab=1, browse=1)
    desk.sync()
    assert desk.asked == {"tab": 1}
    assert desk.states == {"slowcook001": "done"}


def test_since_keeps_what_is_in_the_library(desk: Desk) -> None:
    desk.youtube.add(channel(aged(1, "2025-01-01")))
    desk.run(HANDLE)
    desk.run(HANDLE, since=date(2026, 1, 1), run_options=RunOptions(refresh=True))
    assert desk.done == {"slowcook001"}
    assert desk.place.sound()


def test_match_takes_only_the_titles_that_it_fits(desk: Desk) -> None:
    made = channel(clip(1, title="멸치 국수"), clip(2, title="만두"), clip(3, title="비빔국수 LIVE"))
    desk.youtube.add(made)
    assert desk.report(HANDLE, match="국수|live").found == 2
    assert desk.asked == fetched(2, tab=1, playlist=1)
    assert desk.done == {"slowcook001", "slowcook003"}
    made.clips[:0] = [clip(4, title="찐만두"), clip(5, title="콩국수")]
    desk.sync()
    assert desk.asked == fetched(1, playlist=1)


def test_a_title_that_the_list_translates_is_judged_by_its_original(desk: Desk) -> None:
    noodles = clip(1, title="멸치 국수", flat_title="Anchovy noodles")
    dumplings = clip(2, title="찐만두", flat_title="Steamed dumplings")
    desk.youtube.add(channel(noodles, dumplings))
    desk.run(HANDLE, match="국수")
    assert desk.asked == {"tab": 1, "playlist": 1, "watch": 2, "timedtext": 1}
    assert desk.states == {"slowcook001": "done"}
    desk.run(HANDLE, match="국수")
    assert desk.asked == {"playlist": 1}


def test_a_pattern_that_is_none_is_told_before_videos_are_asked_for(desk: Desk) -> None:
    desk.youtube.add(channel(clip(1)))
    with pytest.raises(UsageError) as refused:
        desk.run(HANDLE, match="(국수")
    assert refused.value.code == "bad_pattern"
    assert desk.youtube.count("watch") == 0


def test_a_removed_video_does_not_come_back(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.run(HANDLE)
    desk.place.indexer.remove(["slowcook001"])
    desk.sync()
    assert desk.asked == {"playlist": 1}
    assert desk.done == {"slowcook000"}


def test_a_removed_video_stays_away_when_other_videos_or_languages_are_wished_for(desk: Desk) -> None:
    made = channel(*clips(3))
    desk.youtube.add(made, Playlist("PLslowkitchen01", "모음", made.clips[:2]))
    desk.run(HANDLE, match="국수")
    desk.run("PLslowkitchen01")
    desk.place.indexer.remove(["slowcook001"])
    made.clips.append(clip(7, title="만두"))
    assert changes(desk.run(HANDLE, languages=("ko", "en")))["slowcook007"] == "new"
    assert desk.asked == fetched(1, playlist=1)
    desk.run("PLslowkitchen01", languages=("ko", "en"))
    assert desk.asked == {"playlist": 1}
    assert desk.done == {"slowcook000", "slowcook002", "slowcook007"}
    assert changes(desk.run("slowcook001")) == {"slowcook001": "new"}
    assert changes(desk.run(HANDLE))["slowcook001"] == "unchanged"


def test_a_removed_video_comes_with_a_source_that_is_followed_anew(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(2)))
    desk.run(HANDLE)
    desk.place.indexer.remove(["slowcook001"])
    desk.place.library.sources.unfollow([source.id for source in desk.place.library.sources.followed()])
    assert changes(desk.run(HANDLE))["slowcook001"] == "new"


def test_a_video_of_another_source_is_no_news_and_is_not_asked_for_again(desk: Desk) -> None:
    made = channel(*clips(3))
    desk.youtube.add(made, Playlist("PLslowkitchen01", "모음", made.clips[:1]))
    desk.run("PLslowkitchen01")
    events = desk.run(UPLOADS)
    assert desk.asked == fetched(2, playlist=1)
    assert changes(events) == {"slowcook000": "unchanged", "slowcook001": "new", "slowcook002": "new"}


def test_a_stop_ends_the_reading_of_a_list_that_has_nothing_to_fetch(desk: Desk) -> None:
    desk.youtube.add(channel(*clips(250, captions=spoken("국수"))))
    desk.stop.set()
    events = desk.run(VIDEOS, match="만두")
    assert desk.youtube.count() <= 1
    assert report(events).found == 0
