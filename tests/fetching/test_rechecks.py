"""Videos that an earlier version gave up, on the word of whichever player client spoke first."""

import time

import pytest

from subtitle_rag.fetching import RunOptions
from subtitle_rag.fetching.fetcher import RECHECKS
from subtitle_rag.library.migrations import MIGRATIONS
from tests.fetching.desk import HANDLE, Desk, changes, channel, clip, clips

SYNC = RunOptions(include_due=True)
DAY = 86_400


def give_up(desk: Desk, *codes: str, stated: bool = False) -> None:
    """Leave the videos of the channel as version 13 of the library had them: refused for good, by yt-dlp's word or,
    `stated`, by the list's; then bring the library up to date."""
    sources = desk.place.library.sources
    for made, code in zip(desk.youtube.site.channels[0].clips, codes, strict=False):
        video = desk.state(made.id).video
        details = {"title": video.title, "retry_at": None}
        if not stated:
            details |= {"reason": "This video is not available", "version": "2026.10.26"}
        sources.put_refused(video, code, details, None)
    (step,) = (step for step in MIGRATIONS if "recheck" in step[0])
    for statement in step:
        desk.place.library.database.change(statement)


@pytest.fixture
def listed(desk: Desk) -> Desk:
    """A channel whose videos are listed, and not fetched."""
    made = channel(*clips(60, state="upcoming"))
    desk.youtube.add(made)
    desk.run(HANDLE)
    for each in made.clips:
        each.state = "public"
    return desk


def test_what_an_earlier_version_gave_up_comes_behind_all_that_is_new_and_some_at_a_time(listed: Desk) -> None:
    give_up(listed, *["not_found", "age_restricted", "private", "geo_blocked", "members_only"] * 12)
    listed.youtube.site.channels[0].clips.insert(0, clip(900))
    listed.sync(SYNC)
    asked = [each.video for each in listed.youtube.asked("watch")]
    assert asked[0] == "slowcook900"
    assert len(asked) == 1 + RECHECKS
    assert len(listed.done) == 1 + RECHECKS
    assert len(listed.place.library.sources.rechecks(int(time.time()) + 99 * DAY, 999)) == 60 - RECHECKS


def test_the_times_of_the_checks_are_spread_over_days(listed: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up(listed, *["not_found"] * 60)
    now, days = time.time(), [0]
    monkeypatch.setattr(time, "time", lambda: now + days[0] * DAY + 60)
    for days[0], done in enumerate((25, 50, 60, 60)):
        listed.sync(SYNC)
        listed.sync(SYNC)  # no more on the same day
        assert len(listed.done) == done


def test_what_the_page_itself_refuses_is_final_then(listed: Desk) -> None:
    give_up(listed, "not_found", "not_found")
    listed.youtube.site.channels[0].clips[0].state = "deleted"
    assert changes(listed.sync(SYNC))["slowcook000"] == "not_found"
    assert listed.state("slowcook000").retry_at is None
    assert not listed.state("slowcook000").is_recheck
    listed.sync(SYNC)
    assert listed.youtube.asked("watch") == []


def test_what_a_list_has_stated_or_ends_by_itself_is_no_such_case(listed: Desk) -> None:
    give_up(listed, "members_only", stated=True)
    give_up(listed, "no_captions", "live")
    assert listed.place.library.sources.rechecks(int(time.time()) + 99 * DAY, 999) == []


def test_a_retry_of_all_takes_them_at_once(listed: Desk) -> None:
    give_up(listed, *["not_found"] * 60)
    listed.sync(RunOptions(include_due=True, retry=True))
    assert len(listed.done) == 60


def test_a_refusal_of_this_machine_ends_the_checks_and_loses_none(listed: Desk) -> None:
    give_up(listed, *["not_found"] * 60)
    listed.youtube.refuse("watch", 429, times=None, after=10)
    listed.sync(RunOptions(include_due=True, patient=False))
    assert len(listed.done) == 10
    assert listed.youtube.count("watch") == 11
    listed.youtube.forgive()
    listed.sync(RunOptions(include_due=True, retry=True))
    assert len(listed.done) == 60
