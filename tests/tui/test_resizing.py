"""Other sizes of the terminal while something is under way: the query, the highlight and what is shown stay."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from subtitle_rag.base.domain.events import VideoDone, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.search.filter_screen import FilterScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.progress.status_bars import JobBar
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.ollama import Model, StandIn
from tests.tui.asking import MODEL, QUESTION, opened, said, without_contexts
from tests.tui.conftest import (
    Answers,
    AppPilot,
    MakeApp,
    drawn_by,
    library_of,
    press,
    running,
    scene,
    settle,
    typed,
    until,
)

SIZES = ((200, 60), (80, 24), (60, 16), (40, 10), (120, 40))
CHICKEN = "소스 찍어 먹는 치킨"


async def through(pilot: AppPilot, sizes: tuple[tuple[int, int], ...] = SIZES) -> AsyncIterator[SubtitleApp]:
    """The app at each size, as soon as it is drawn so; its footer is there wherever the screen has one."""
    app = pilot.app
    for size in sizes:
        await pilot.resize_terminal(*size)
        await until(pilot, lambda size=size: app.screen.size == size)  # type: ignore[misc]
        await pilot.pause()
        for footer in app.screen.query(KeyBar):
            assert footer.region.bottom == size[1], (size, footer.region)
            assert footer.region.height == 1
            assert drawn_by(app).split("\n")[-1].strip(), size
        yield app


@asynccontextmanager
async def closed() -> AsyncIterator[threading.Event]:
    """A gate that holds a thread of the app until it is set, at the latest with the end of the test."""
    gate = threading.Event()
    try:
        yield gate
    finally:
        gate.set()


class TestSearching:
    @pytest.mark.campaign(part="app")
    async def test_while_a_search_is_under_way(self, app_of: MakeApp, runtime: Runtime) -> None:
        begun = threading.Event()

        def answer(query: Query) -> SearchResult:
            if query.raw == "치킨 소스":
                begun.set()
                gate.wait()
            return SearchResult(query, ("bm25",), tuple(scene(n) for n in range(1, 9)), {})

        app = app_of(scenes=[])
        runtime.__dict__["searcher"] = Answers(answer)
        async with running(app, "치킨", size=(120, 40)) as (_, pilot), closed() as gate:
            await pilot.press("down", "down")
            app.search_screen.query_line.insert_text_at_cursor(" 소스")
            await until(pilot, begun.is_set)
            async for _app in through(pilot):
                assert app.search_screen.query_line.value == "치킨 소스"
                assert app.search_screen.results.text == "치킨"
                assert app.search_screen.scenes.cursor == 2
            gate.set()
            await settle(pilot)
            assert app.search_screen.results.text == "치킨 소스"
            assert app.search_screen.scenes.cursor == 2

    @pytest.mark.campaign(part="app")
    async def test_the_list_and_the_preview_keep_their_scene_in_sight(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await typed(pilot, CHICKEN)
            await press(pilot, *["down"] * 6)
            chosen = app.search_screen.scenes.value
            assert chosen
            async for _app in through(pilot):
                await settle(pilot)
                screen = app.search_screen
                assert screen.query_line.value == CHICKEN
                assert screen.scenes.value == chosen
                assert self.in_sight(app)
                assert ("▶" in drawn_by(app)) is screen.preview.display is (app.size.width >= 100)

    @staticmethod
    def in_sight(app: SubtitleApp) -> bool:
        """The highlighted row is among those that are drawn."""
        scenes = app.search_screen.scenes
        return 0 <= scenes.cursor_line < scenes.size.height

    async def test_the_end_of_a_long_query_stays_in_sight(self, app_of: MakeApp) -> None:
        async with running(app_of(), " ".join([CHICKEN] * 6) + " 끝말", size=(80, 24)) as (app, pilot):
            assert "끝말" in drawn_by(app).splitlines()[1]  # though the counter has taken some of the room
            await pilot.resize_terminal(60, 24)
            await settle(pilot)
            assert "끝말" in drawn_by(app).splitlines()[1]

    @pytest.mark.parametrize(("key", "kind"), [("f1", HelpScreen), ("f", FilterScreen)])
    @pytest.mark.campaign(part="app")
    async def test_with_a_page_over_it(self, app_of: MakeApp, key: str, kind: type) -> None:
        async with running(app_of(), size=(80, 24)) as (app, pilot):
            await typed(pilot, CHICKEN)
            await press(pilot, "down", key)
            assert isinstance(app.screen, kind)
            chosen = app.search_screen.scenes.value
            async for _app in through(pilot):
                assert isinstance(app.screen, kind)
                (page,) = app.screen.children
                assert app.screen.region.contains_region(page.region), app.size
                assert page.region.area
            await press(pilot, "escape")
            assert app.screen is app.search_screen
            assert (app.search_screen.query_line.value, app.search_screen.scenes.value) == (CHICKEN, chosen)
            assert "▶" in drawn_by(app)


def held(gate: threading.Event) -> Iterator[object]:
    """The events of a job that stands in its middle until it is let go."""
    for at in range(3):
        yield VideoDone(f"v{at}", f"{at}편", "new", 4)
    yield Progress("captions", 4, 9)
    yield VideoFailed("v9", "깨진 자막", "no_cues", {"path": "깨진.srt"})
    gate.wait()


class TestLibrary:
    @pytest.mark.campaign(part="app")
    async def test_while_a_job_runs(self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot), closed() as gate:
            monkeypatch.setattr("subtitle_rag.workflows.pipeline.run_request", lambda *_arguments: held(gate))
            await press(pilot, "ctrl+l")
            app.jobs.start(JobRequest((Path("/nowhere"),)))
            await until(pilot, lambda: app.job and app.job.failures)
            await pilot.press("tab", "tab", "down")
            screen = library_of(app)
            chosen, focused = screen.tables.videos.cursor_key, app.focused
            assert focused is screen.tables.videos
            async for _app in through(pilot):
                assert (screen.tables.videos.cursor_key, app.focused) == (chosen, focused)
                assert screen.tables.videos.value
                title = screen.tables.videos.value.video.title[:4]
                await until(pilot, lambda title=title: title in drawn_by(app))  # type: ignore[misc]
                assert "4/9" in drawn_by(app), app.size
            gate.set()
            await until(pilot, lambda: not app.jobs.busy)


class TestAnswers:
    @pytest.mark.campaign(part="app")
    async def test_while_an_answer_comes(self, app_of: MakeApp, runtime: Runtime) -> None:
        with StandIn() as ollama:
            ollama.add(Model(MODEL))
            ollama.answer("배추는 40포기입니다 [1].")
            hold = ollama.hold()
            app = without_contexts(runtime, app_of, ollama)()
            async with running(app, size=(120, 40)) as (_, pilot):
                screen = await opened(pilot)
                await pilot.press("enter")
                await until(pilot, hold.arrived.is_set)
                async for _app in through(pilot):
                    assert isinstance(app.screen, AnswerScreen)
                    assert screen.page.dialogue.running
                    assert screen.question.value == QUESTION
                    assert QUESTION[:8] in drawn_by(app), app.size
                hold.release()
                await until(pilot, lambda: not screen.page.dialogue.running)
                await settle(pilot)
                assert "배추는 40포기입니다 [1]." in said(screen)


async def test_the_line_of_a_job_leaves_out_whole_what_does_not_fit(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 30)) as (app, pilot):
        app.job = Job("자막", captions=Progress("captions", 40, 60), windows=Progress("windows", 128, 593))
        line = app.search_screen.query_one(JobBar)
        await until(pilot, lambda: str(line.content) == "Reading captions  Videos 40/60  Windows 128/593  ██░░░░░░░░")
        await pilot.resize_terminal(52, 20)
        await until(pilot, lambda: str(line.content) == "Reading captions  Videos 40/60  Windows 128/593")
        await pilot.resize_terminal(40, 20)
        await until(pilot, lambda: str(line.content) == "Reading captions  Videos 40/60")
