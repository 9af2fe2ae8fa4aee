"""Videos that did not come: why, when they are asked for again, and the keys that ask now or open the page."""

import shutil
import time
from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing import player
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.library.library_tables import VideoTable
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.youtube import Caption, Clip, StandIn
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    Outside,
    drawn_by,
    library_of,
    press,
    row_cells,
    run_command,
    running,
    settle,
    titles,
    toasts,
    until,
)
from tests.tui.test_youtube import KITCHEN, clips, kitchen

BROKEN = b'{"events": ['
WEEK = 7 * 24 * 3600


def broken() -> Clip:
    return Clip("broken00000", "깨진 자막", captions=[Caption(body=BROKEN)])


def members(number: int = 0) -> Clip:
    return Clip(f"members{number:04d}", f"회원만 {number}", state="members_only")


def detail(app: SubtitleApp) -> list[str]:
    return str(app.screen.query_one("#detail", Static).content).splitlines()


def keys(app: SubtitleApp) -> set[str]:
    return {*"rfㄱㄹ"} & set(app.screen.active_bindings)


@pytest.mark.campaign(part="app")
async def test_a_retry_that_ends_for_another_reason_shows_that_one(hasty: Runtime, youtube: StandIn) -> None:
    clip = members()
    youtube.add(kitchen(*clips(1), clip))
    async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
        screen = await brought(pilot, app)
        screen.tables.videos.cursor = titles(app).index(clip.title)
        await press(pilot, "r")
        assert states(app)[clip.title] == "members only · r tries again"
        clip.state = "geo_blocked"
        await press(pilot, "r")
        assert "geo_blocked" in {state.failure for state in hasty.library.videos()}
        await until(pilot, lambda: "members" not in states(app)[clip.title], 5)


def states(app: SubtitleApp) -> dict[str, str]:
    """Titles with their states."""
    table = app.screen.query_one(VideoTable)
    rows = [row_cells(table, at) for at in range(table.row_count)]
    return {row[0]: row[-1] for row in rows}


async def brought(pilot: AppPilot, app: SubtitleApp) -> LibraryScreen:
    """What the channel has, and the cursor in the table of videos."""
    await settle(pilot)
    app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
    await settle(pilot)
    if not isinstance(app.screen, LibraryScreen):
        await press(pilot, "ctrl+l")
    await to_videos(pilot, app)
    return library_of(app)


async def to_videos(pilot: AppPilot, app: SubtitleApp) -> None:
    """Go from the field into the table of videos, past the channels."""
    tables = library_of(app).tables
    await press(pilot, "tab", "tab")
    assert tables.videos.has_focus


async def put_on(pilot: AppPilot, app: SubtitleApp, title: str) -> None:
    library_of(app).tables.videos.cursor = titles(app).index(title)
    await pilot.pause()


class TestTelling:
    @pytest.mark.campaign(part="app")
    async def test_a_failure_says_why_when_it_is_asked_for_again_and_by_which_keys(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        youtube.add(kitchen(*clips(1), broken(), members()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "깨진 자막")
            why, then, _hint = detail(app)
            assert why.startswith("! ")
            assert "깨진 자막" in why
            assert "asked again " in then
            assert then.endswith(" · r asks again now")
            assert {"r", "ㄱ", "f", "ㄹ"} == keys(app)
            assert detail(app)[0][:40] in drawn_by(app)

    @pytest.mark.campaign(part="app")
    async def test_what_every_channel_has_some_of_is_no_alarm(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(1), members()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "회원만 0")
            why, then = detail(app)
            assert why.startswith("– ")
            assert then.lstrip().startswith("not asked again by itself · ")
            assert "failed" not in drawn_by(app)

    @pytest.mark.campaign(part="app")
    async def test_a_video_that_is_there_has_nothing_told_and_nothing_retried(
        self, hasty: Runtime, youtube: StandIn
    ) -> None:
        youtube.add(kitchen(*clips(1), members()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "국수 삶기 0편")
            assert detail(app) == []
            assert {"f", "ㄹ"} == keys(app)
            youtube.clear()
            await press(pilot, "r")
            assert youtube.count() == 0


class TestRetrying:
    @pytest.mark.campaign(part="app")
    async def test_r_asks_for_this_video_now_and_for_no_other(self, hasty: Runtime, youtube: StandIn) -> None:
        clip = broken()
        youtube.add(kitchen(*clips(1), clip, members()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "깨진 자막")
            clip.captions[:] = [Caption()]
            youtube.clear()
            await press(pilot, "ㄱ")
            assert toasts(app)[-2:] == ["Requested again: 깨진 자막", "1 new video can be searched now."]
            assert {asked.video for asked in youtube.requests if asked.video} == {"broken00000"}
            assert (hasty.library.counts().searchable, hasty.library.counts().failed) == (2, 1)
            await until(pilot, lambda: detail(app) == [])
            chosen = library_of(app).tables.row.video
            assert chosen
            assert chosen.video.title == "깨진 자막"

    @pytest.mark.campaign(part="app")
    async def test_what_is_refused_once_more_says_so_and_waits_longer(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(1), broken()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "깨진 자막")
            before = hasty.library.sources.stage("broken00000")
            await press(pilot, "r")
            assert toasts(app)[-1] == "There is nothing new. ! 1 failed"
            after = hasty.library.sources.stage("broken00000")
            assert before
            assert after
            assert (before.tries, after.tries) == (1, 2)

    @pytest.mark.campaign(part="app")
    async def test_it_is_asked_for_in_the_languages_of_its_list(self, hasty: Runtime, youtube: StandIn) -> None:
        clip = Clip("english0000", "영어 영상", captions=[Caption("en", body=BROKEN)])
        youtube.add(kitchen(*clips(1), clip))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            options = SourceOptions(languages=("en", "ko"))
            hasty.library.sources.follow(parse_address(KITCHEN).url, name="느린 부엌", channel_id=None, options=options)
            await brought(pilot, app)
            await put_on(pilot, app, "영어 영상")
            clip.captions[:] = [Caption("en")]
            await press(pilot, "r")
            track = hasty.library.track("english0000")
            assert track
            assert track.language == "en"

    @pytest.mark.campaign(part="app")
    async def test_it_waits_for_the_job_that_is_under_way(self, hasty: Runtime, youtube: StandIn) -> None:
        clip = broken()
        youtube.add(kitchen(*clips(1), clip))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "깨진 자막")
            clip.captions[:] = [Caption()]
            youtube.add(Clip("another0000", "다른 영상"))
            hold = youtube.hold("timedtext")
            app.jobs.start(JobRequest(sources=(parse_address("https://youtu.be/another0000"),)))
            await until(pilot, hold.arrived.is_set)
            await pilot.press("r", "r")
            await until(pilot, lambda: "+1 waiting" in drawn_by(app))
            hold.release()
            await settle(pilot)
            assert hasty.library.counts().searchable == 3

    @pytest.mark.campaign(part="app")
    async def test_a_caption_file_is_read_again(self, empty: Runtime, tmp_path: Path) -> None:
        folder = tmp_path / "자막"
        folder.mkdir()
        for file in SAMPLE.glob("*sample-0001*"):
            shutil.copy(file, folder)
        damaged = folder / "망가짐.srt"
        damaged.write_text("자막이 아닌 글", encoding="utf-8")
        async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest((folder,)))
            await settle(pilot)
            await press(pilot, "ctrl+l")
            await to_videos(pilot, app)
            await put_on(pilot, app, "망가짐")
            assert {"r", "ㄱ", "f", "ㄹ"} == keys(app)
            damaged.write_text("1\n00:00:01,000 --> 00:00:04,000\n국수를 삶습니다\n", encoding="utf-8")
            await press(pilot, "r")
            assert empty.library.counts().failed == 0
            assert toasts(app)[-1] == "1 video can be searched now."


class TestOpening:
    @pytest.mark.campaign(part="app")
    async def test_the_page_opens_in_the_browser(self, hasty: Runtime, youtube: StandIn, outside: Outside) -> None:
        youtube.add(kitchen(*clips(1), members()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "회원만 0")
            await run_command(pilot, "video.open")
            await settle(pilot)
            assert [(one["name"], one["link"]) for one in outside.played] == [
                ("browser", "https://youtu.be/members0000?t=0")
            ]
            assert toasts(app)[-1] == "Opened in the browser: 회원만 0"

    @pytest.mark.campaign(part="app")
    async def test_where_nothing_can_be_shown_the_link_is_copied_and_told(
        self, hasty: Runtime, youtube: StandIn, outside: Outside, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(player, "can_show", lambda: False)
        youtube.add(kitchen(*clips(1)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await run_command(pilot, "video.open")
            await settle(pilot)
            assert outside.played == []
            assert "https://youtu.be/noodles0000?t=0" in toasts(app)[-1]
            assert app.clipboard == "https://youtu.be/noodles0000?t=0"


class TestFilter:
    @pytest.mark.campaign(part="app")
    async def test_f_shows_only_what_failed_the_alarms_first(self, hasty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(2), members(0), members(1), broken()))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await press(pilot, "ㄹ")
            assert titles(app)[0] == "깨진 자막"
            assert sorted(titles(app)[1:]) == ["회원만 0", "회원만 1"]
            assert "All videos · 3 failed videos" in drawn_by(app)
            await pilot.press("f")
            await pilot.pause()
            assert len(titles(app)) == 5

    @pytest.mark.campaign(part="app")
    async def test_it_ends_with_the_last_failure(self, hasty: Runtime, youtube: StandIn) -> None:
        clip = broken()
        youtube.add(kitchen(*clips(1), clip))
        async with running(SubtitleApp(hasty), size=(80, 24)) as (app, pilot):
            await brought(pilot, app)
            await pilot.press("f")
            await pilot.pause()
            assert titles(app) == ["깨진 자막"]
            assert detail(app)[0][:20] in drawn_by(app)
            clip.captions[:] = [Caption()]
            await press(pilot, "r")
            await until(pilot, lambda: len(titles(app)) == 2)
            assert "f" not in keys(app)

    @pytest.mark.campaign(part="app")
    async def test_an_announced_video_tells_its_day(self, hasty: Runtime, youtube: StandIn) -> None:
        starts = int(time.time()) + WEEK
        youtube.add(kitchen(*clips(1), Clip("upcoming000", "다음 주", state="upcoming", starts_at=starts)))
        async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
            await brought(pilot, app)
            await put_on(pilot, app, "다음 주")
            why, then = detail(app)
            assert why.startswith("– ")
            day = time.localtime(starts)
            told = time.strftime("%m-%d" if day.tm_year == time.localtime().tm_year else "%Y-%m-%d", day)
            assert f"asked again {told}" in then


@pytest.mark.campaign(part="app")
async def test_a_video_says_why_it_has_the_captions_that_it_has(hasty: Runtime, youtube: StandIn) -> None:
    greeting = Caption(kind="manual", lines=((0, 2_000, "안녕하세요 [/red]"),))
    sparse = Clip("sparse00001", "인사만 쓴 영상", captions=[greeting, Caption()], duration=14)
    youtube.add(kitchen(*clips(1), sparse))
    async with running(SubtitleApp(hasty), size=(120, 40)) as (app, pilot):
        await brought(pilot, app)
        await put_on(pilot, app, sparse.title)
        (line,) = detail(app)
        assert line.startswith("· The automatic captions (ko, 46 syllables) were taken")
        assert app.screen.query_one("#detail").display
        (other,) = set(titles(app)) - {sparse.title}
        await put_on(pilot, app, other)
        assert detail(app) == []
