"""Leaving while a job runs: asked once."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.messages import LibraryOpened
from subtitle_rag.tui.shared.progress.status_bars import JobBar
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.youtube import Channel, Clip, StandIn, stand_in
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, running, settle, until
from tests.tui.screens.library.test_removal import open_library

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
    settings = YoutubeSettings(pause=0, rest=3600)
    unindexed.settings = replace(unindexed.settings, youtube=settings)
    return unindexed


async def begun(pilot: AppPilot, app: SubtitleApp, *errands: JobRequest) -> None:
    """The first of them rests, the others wait for it."""
    await until(pilot, lambda: app.context.opening.ready)
    for errand in errands:
        app.jobs.start(errand)
    await until(pilot, lambda: app.job and app.job.resting)


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


@pytest.mark.campaign(part="app")
async def test_news_that_come_when_the_screens_have_gone_harm_nothing(app_of: MakeApp) -> None:
    app = app_of()
    async with app.run_test() as pilot:
        await settle(pilot)
    assert app.screen_stack == []
    app._footer_state = ()
    app.refresh_keys()


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
