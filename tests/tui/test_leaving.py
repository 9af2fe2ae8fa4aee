"""Leaving while a job runs: asked once, and what is not done is there again at the next start."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.config.settings import YoutubeSettings
from subtitle_rag.library.app_state import put_unfinished_jobs, unfinished_jobs
from subtitle_rag.requests import JobRequest
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.messages import LibraryOpened
from subtitle_rag.tui.state.job_queue import restore_unfinished
from subtitle_rag.tui.widgets.status_bars import JobBar
from tests.stand_ins.youtube import Channel, Clip, StandIn, stand_in
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, running, settle, until
from tests.tui.test_removal import open_library

KITCHEN = JobRequest(sources=(parse_address("https://www.youtube.com/@느린부엌"),))
LIST = JobRequest(sources=(parse_address("https://www.youtube.com/playlist?list=PL" + "c" * 32),))
SHORTS = JobRequest(sources=(parse_address("https://www.youtube.com/@느린부엌/shorts"),))


@pytest.fixture
def youtube() -> Iterator[StandIn]:
    """A YouTube that refuses everything: whatever asks it rests for an hour."""
    with stand_in() as serving:
        serving.add(Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", [Clip("noodles0000", "국수")]))
        serving.refuse(None, 429, times=None)
        yield serving


@pytest.fixture
def resting(unindexed: Runtime, youtube: StandIn) -> Runtime:
    settings = YoutubeSettings(pause_min=0, pause_max=0, pause_request=0, back_off=0, rest=3600)
    unindexed.settings = replace(unindexed.settings, youtube=settings)
    return unindexed


async def begun(pilot: AppPilot, app: SubtitleApp, *errands: JobRequest) -> None:
    """The first of them rests, the others wait for it."""
    await until(pilot, lambda: app.context.opening.ready)
    for errand in errands:
        app.jobs.start(errand)
    await until(pilot, lambda: app.job and app.job.resting)
    await until(pilot, lambda: restore_unfinished(app.runtime.library) == list(errands))


def bar(app: SubtitleApp) -> str:
    shown = app.search_screen.query_one(JobBar)
    return str(shown.content) if shown.display else ""


class TestAsking:
    @pytest.mark.campaign(part="app")
    async def test_it_is_asked_once_and_escape_lets_the_job_go_on(self, resting: Runtime) -> None:
        async with running(SubtitleApp(resting), size=(80, 24)) as (app, pilot):
            await begun(pilot, app, KITCHEN, LIST)
            await pilot.press("ctrl+q")
            await pilot.pause()
            assert isinstance(app.screen, ConfirmScreen)
            drawn = drawn_by(app)
            for told in (
                "A job is running.",
                "Resting until",
                "1 job waits for it.",
                "Ctrl+Q stops it and quits",
                "Esc",
            ):
                assert told in drawn
            await pilot.press("escape")
            assert app.is_running
            assert app.jobs.busy
            assert ConfirmScreen not in map(type, app.screen_stack)
            await pilot.press("ctrl+q", "enter")  # the harmless button
            assert app.is_running
            await pilot.press("ctrl+q", "left", "enter")
        assert not app.is_running

    @pytest.mark.campaign(part="app")
    async def test_the_key_pressed_twice_leaves(self, resting: Runtime) -> None:
        async with running(SubtitleApp(resting)) as (app, pilot):
            await begun(pilot, app, KITCHEN)
            await pilot.press("ctrl+q", "ctrl+q")
        assert not app.is_running

    @pytest.mark.campaign(part="app")
    async def test_without_a_job_nothing_is_asked(self, unindexed: Runtime) -> None:
        async with running(SubtitleApp(unindexed)) as (app, pilot):
            await pilot.press("ctrl+q")
        assert not app.is_running


class TestNothingIsLost:
    @pytest.mark.campaign(part="app")
    async def test_what_ran_and_what_waited_comes_back_held_and_ctrl_r_goes_on(
        self, resting: Runtime, youtube: StandIn
    ) -> None:
        async with running(SubtitleApp(resting)) as (first, pilot):
            await begun(pilot, first, KITCHEN, LIST, SHORTS)
            await pilot.press("ctrl+q", "ctrl+q")
        first.wait_for_threads(5)
        youtube.clear()
        async with running(SubtitleApp(resting), size=(120, 40)) as (again, pilot):
            assert bar(again) == "Unfinished from last time: @느린부엌  +2 waiting  Ctrl+R resumes"
            assert not youtube.requests
            assert restore_unfinished(resting.library) == [KITCHEN, LIST, SHORTS]
            await pilot.press("ctrl+r")
            await until(pilot, lambda: again.job and again.job.resting)
            assert again.job
            assert (again.job.source, again.job.waiting) == ("@느린부엌", 2)
            assert again.jobs.queue.unfinished == (KITCHEN, LIST, SHORTS)

    @pytest.mark.campaign(part="app")
    async def test_it_is_kept_while_it_runs_for_whoever_ends_the_process(self, resting: Runtime) -> None:
        """As a process that is killed leaves it: another connection reads what has been written so far."""
        async with running(SubtitleApp(resting)) as (app, pilot):
            await begun(pilot, app, KITCHEN, LIST)
            with Runtime(resting.settings) as other:
                assert restore_unfinished(other.library) == [KITCHEN, LIST]
            app.exit()

    @pytest.mark.campaign(part="app")
    async def test_what_is_done_is_kept_no_more(self, empty: Runtime, tmp_path: Path) -> None:
        file = tmp_path / "편.vtt"
        file.write_text("WEBVTT\n\n00:01.000 --> 00:05.000\n자 이제 소스를 만들어 볼게요\n", encoding="utf-8")
        async with running(SubtitleApp(empty)) as (app, pilot):
            app.jobs.start(JobRequest((file,)))
            await until(pilot, lambda: app.job and app.job.ended)
            await settle(pilot)
            assert unfinished_jobs(empty.library) == []

    @pytest.mark.campaign(part="app")
    async def test_an_errand_held_is_kept_and_a_second_start_holds_it_once(self, resting: Runtime) -> None:
        put_unfinished_jobs(resting.library, [KITCHEN.to_record(), KITCHEN.to_record()])
        for _start in range(2):
            async with running(SubtitleApp(resting)) as (app, _):
                assert app.jobs.queue.stopped == [KITCHEN]
                app.exit()
            assert restore_unfinished(resting.library) == [KITCHEN]

    async def test_what_cannot_be_read_any_more_is_left_out(self, resting: Runtime) -> None:
        foreign = json.loads(json.dumps(KITCHEN.to_record())) | {"source": {"url": "https://x.invalid/", "tabs": []}}
        foreign["source"]["playlist"] = None
        put_unfinished_jobs(resting.library, [foreign, LIST.to_record()])
        assert restore_unfinished(resting.library) == [LIST]


@pytest.mark.campaign(part="app")
async def test_news_that_come_when_the_screens_have_gone_harm_nothing(app_of: MakeApp) -> None:
    app = app_of()
    async with app.run_test() as pilot:
        await settle(pilot)
    assert app.screen_stack == []
    app._footer_state = ()
    app.refresh_keys()


@pytest.mark.parametrize(
    "errand",
    [
        JobRequest(),
        KITCHEN,
        LIST,
        SHORTS,
        JobRequest((Path("/한 글/폴더"), Path("b.vtt"))),
        JobRequest(sources=(parse_address("https://www.youtube.com/watch?v=noodles0000&list=PL" + "c" * 32),)),
        JobRequest(sources=(replace(parse_address("https://www.youtube.com/@느린부엌"), tabs=("videos", "streams")),)),
    ],
)
def test_an_errand_is_read_as_it_was_written(errand: JobRequest) -> None:
    assert JobRequest.from_record(json.loads(json.dumps(errand.to_record()))) == errand


class TestWhileItCloses:
    @pytest.mark.campaign(part="app")
    async def test_a_late_message_finds_no_screens_and_harms_nothing(self, runtime: Runtime) -> None:
        """Screens lose their widgets before the app stops reading its messages."""
        app, counts = SubtitleApp(runtime), runtime.library.counts()

        async def post_counts() -> None:
            for videos in range(1_000, 4_000):
                app.post_message(LibraryOpened(replace(counts, videos=videos)))
                await asyncio.sleep(0)

        async with running(app, size=(120, 40)) as (_, pilot):
            await open_library(pilot)
            posting = asyncio.create_task(post_counts())
        await posting
        assert not app.is_running
