"""The first screen in trouble: half-typed filters, broken doors, hostile titles and captions."""

import shutil

import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.log_file import logging_to
from subtitle_rag.korean.morphemes import ANALYZER
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.tui.app import SubtitleApp
from tests.index.test_outdated_index import EARLIER, NEWER, analyzer, index, put_analyzer
from tests.support.invented import end_hosts
from tests.tui.conftest import (
    Answers,
    MakeApp,
    hint,
    press,
    running,
    scene,
    shown,
    toasts,
    typed,
    until,
)


class TestFailures:
    async def test_a_half_typed_filter_waits_quietly_and_enter_says_it_aloud(self, app_of: MakeApp) -> None:
        async with running(app_of(), "치킨") as (app, pilot):
            await typed(pilot, " after:20")
            assert "Write it as 2026-05-31." in hint(app)
            assert toasts(app) == []
            assert app.search_screen.scenes.row_count
            await press(pilot, "enter")
            assert "20 is not a valid date for after." in toasts(app)[0]
            await typed(pilot, "26-01-01")
            assert hint(app) == ""

    @pytest.mark.campaign(part="app")
    async def test_an_unknown_channel_is_told_under_the_query(self, app_of: MakeApp) -> None:
        async with running(app_of(), "치킨 channel:[b]없는") as (app, _):
            assert "There is no channel" in hint(app)
            assert app.is_running

    @pytest.mark.campaign(part="app")
    async def test_an_unexpected_failure_goes_to_the_log_and_the_app_stays(
        self, app_of: MakeApp, runtime: Runtime
    ) -> None:
        app = app_of(scenes=[scene()])
        paths = runtime.settings.paths
        with logging_to(paths.log, "app"):
            async with running(app) as (_, pilot):

                def explode(query: Query) -> SearchResult:
                    raise ZeroDivisionError("뜻밖 [red]")

                runtime.__dict__["searcher"] = Answers(explode)
                await typed(pilot, "치킨")
                assert "ZeroDivisionError" in hint(app)
                log = (paths.log / "app.log").read_text(encoding="utf-8")
                assert "in explode: raise ZeroDivisionError" in log
                assert "치킨" not in log
                runtime.__dict__["searcher"] = Answers(lambda query: SearchResult(query, (), (scene(),), {}))
                await typed(pilot, " 소스")
                assert app.search_screen.scenes.row_count == 1

    @pytest.mark.campaign(part="app")
    async def test_a_busy_index_keeps_what_is_shown(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):

            def busy(query: Query) -> SearchResult:
                raise BusyError("index_unreachable", reason="gone")

            runtime.__dict__["searcher"] = Answers(busy)
            await typed(pilot, " 소스")
            assert "did not answer" in hint(app)
            assert app.search_screen.scenes.row_count == 1

    async def test_an_index_that_breaks_under_a_search_becomes_a_calm_page_that_can_be_left(
        self, app_of: MakeApp, runtime: Runtime
    ) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):

            def broken(query: Query) -> SearchResult:
                raise AppError("index_orphaned", path="/tmp/[b]x", n=3)

            whole = runtime.__dict__["searcher"]
            runtime.__dict__["searcher"] = Answers(broken)
            await typed(pilot, "치킨")
            assert "/tmp/[b]x is empty" in shown(app, "#notice")
            assert "subtitle-rag rebuild" in shown(app, "#notice")
            runtime.__dict__["searcher"] = whole
            await press(pilot, "ctrl+r")
            assert app.search_screen.results.text == "치킨"

    @pytest.mark.hosts
    async def test_an_index_of_an_earlier_version_is_searched_and_made_again(self, filled: Runtime) -> None:
        home = filled.settings.paths.config.parent
        end_hosts([index(home)])
        put_analyzer(home, EARLIER)
        with Runtime(filled.settings) as later:
            async with running(SubtitleApp(later), "치킨 소스") as (app, pilot):
                assert app.search_screen.scenes.row_count
                await until(pilot, lambda: analyzer(home) == ANALYZER)
                await typed(pilot, " 치킨")
                assert app.search_screen.scenes.row_count

    @pytest.mark.hosts
    async def test_an_index_of_a_newer_version_is_a_calm_page_that_says_update(self, filled: Runtime) -> None:
        home = filled.settings.paths.config.parent
        end_hosts([index(home)])
        put_analyzer(home, NEWER)
        with Runtime(filled.settings) as earlier:
            async with running(SubtitleApp(earlier)) as (app, pilot):
                assert "was made by a newer subtitle-rag" in shown(app, "#notice")
                assert "Update subtitle-rag." in shown(app, "#notice")
                await press(pilot, "ctrl+r")
                assert "Update subtitle-rag." in shown(app, "#notice")
        assert analyzer(home) == NEWER

    async def test_a_damaged_index_is_made_anew_by_the_key_of_the_page(self, filled: Runtime) -> None:
        home = filled.settings.paths.config.parent
        end_hosts([index(home)])
        shutil.rmtree(index(home))
        with Runtime(filled.settings) as later:
            async with running(SubtitleApp(later)) as (app, pilot):
                page = shown(app, "#notice")
                assert "Ctrl+R makes it" in page
                assert "subtitle-rag rebuild" not in page, "advice for the command line"
                await pilot.press("ctrl+r")
                await until(pilot, lambda: app.context.opening.ready)
                await typed(pilot, "치킨 소스")
                assert app.search_screen.scenes.row_count

    @pytest.mark.parametrize(("language", "said"), [("en", "is damaged"), ("ko", "Ctrl+R")])
    @pytest.mark.campaign(part="app")
    async def test_a_damaged_library_is_a_calm_page(self, empty: Runtime, language: str, said: str) -> None:
        path = empty.settings.paths.library
        path.parent.mkdir(parents=True)
        path.write_bytes(b"this is no database at all" * 100)
        async with running(SubtitleApp(empty)) as (app, pilot):
            assert said in shown(app, "#notice")
            await typed(pilot, "치킨")
            await press(pilot, "enter", "ctrl+y", "ctrl+l", "escape")
            assert app.is_running
