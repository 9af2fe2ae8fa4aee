"""A first hour and a seventh day: scripts of keys through the whole app, each step with what it has to bring."""

from dataclasses import replace

import pytest
from textual.screen import Screen

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.dialogs.export_screen import ExportScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.marks.marks_screen import MarksScreen
from subtitle_rag.tui.screens.settings.settings_screen import SettingsScreen
from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen
from tests.tui.conftest import SAMPLE, AppPilot, Outside, drawn_by, library_of, press_each, running, settle, until

pytestmark = pytest.mark.campaign(part="app")

QUERY = "소스에 찍어 먹는 치킨"
SIZES = [(60, 20), (80, 24), (120, 40)]


async def write(pilot: AppPilot, text: str) -> None:
    await pilot.press(*text)
    await settle(pilot)


def shows(app: SubtitleApp, kind: type[Screen[None]] | type[ExportScreen]) -> bool:
    return isinstance(app.screen, kind)


@pytest.fixture
def own(empty: Runtime) -> Runtime:
    empty.settings = replace(empty.settings, llm=replace(empty.settings.llm, hosts=()))
    return empty


@pytest.mark.parametrize("size", SIZES)
async def test_a_first_hour_and_a_seventh_day(own: Runtime, outside: Outside, size: tuple[int, int]) -> None:
    async with running(SubtitleApp(own), size=size) as (app, pilot):
        await first_hour(pilot, app, outside)
        await pilot.press("ctrl+q")
    app.wait_for_threads(1)  # as `tui.run` does
    async with running(SubtitleApp(own), size=size) as (later, pilot):
        await seventh_day(pilot, later)
        await pilot.press("ctrl+q")
    later.wait_for_threads(1)
    async with running(SubtitleApp(own), size=size) as (last, pilot):
        await next_day(pilot, last)


async def first_hour(pilot: AppPilot, app: SubtitleApp, outside: Outside) -> None:
    # an empty library says so, on the page of answers too, and takes captions from where it is
    await settle(pilot)
    assert shows(app, LibraryScreen)
    await press_each(pilot, "escape", "escape")
    assert "The library is empty." in drawn_by(app)
    await press_each(pilot, "a")
    assert shows(app, AnswerScreen)
    assert "The library is empty." in drawn_by(app)
    await press_each(pilot, "ctrl+l")
    library = library_of(app)
    library.field.path.value = str(SAMPLE)
    await settle(pilot)
    await press_each(pilot, "enter")
    await until(pilot, lambda: (counts := app.search_screen.page.counts) and counts.searchable == 75)
    # a scene is found, played, marked, and exported by letters
    await press_each(pilot, "escape", "escape")
    await write(pilot, QUERY)
    await until(pilot, lambda: app.search_screen.results.scenes.row_count)
    await press_each(pilot, "enter", "enter")
    assert len(outside.played) == 1
    await press_each(pilot, "j", "space", "e")
    assert shows(app, ExportScreen)
    await press_each(pilot, "escape", "m")
    assert shows(app, MarksScreen)
    assert "Marks · 1 scene" in drawn_by(app)
    await press_each(pilot, "escape", "t")
    assert shows(app, TranscriptScreen)
    # settings from a list by a letter, the Korean layout's too
    await press_each(pilot, "escape", "comma")
    assert shows(app, SettingsScreen)
    await press_each(pilot, "j", "enter", "down", "enter", "d", "escape")
    assert not app.runtime.settings.tui.theme
    # a cleared query comes back
    await press_each(pilot, "slash", "escape", "escape")
    assert app.search_screen.query_line.value == ""
    await press_each(pilot, "up")
    assert app.search_screen.query_line.value == QUERY


async def seventh_day(pilot: AppPilot, app: SubtitleApp) -> None:
    # the last search is offered; then another one
    await settle(pilot)
    assert app.search_screen.page.recent.queries[0] == QUERY
    await write(pilot, "캠핑")
    await until(pilot, lambda: app.search_screen.results.text == "캠핑")
    await press_each(pilot, "enter")
    assert app.search_screen.query_line.value == "캠핑"
    # pages open from a list by their letters
    await press_each(pilot, "l")
    assert shows(app, LibraryScreen)
    await press_each(pilot, "escape", "a")
    assert shows(app, AnswerScreen)


async def next_day(pilot: AppPilot, app: SubtitleApp) -> None:
    """The last searches are offered."""
    await settle(pilot)
    assert app.search_screen.query_line.value == ""
    assert app.search_screen.page.recent.queries[:2] == ["캠핑", QUERY]
