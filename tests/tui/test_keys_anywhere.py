"""Keys that work anywhere, and a double click."""

import pytest

from subtitle_rag.tui import key_router
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from tests.tui.conftest import MakeApp, Outside, at_once, press, running, scene, settle, toasts


@pytest.mark.campaign(part="app")
async def test_pages_open_from_one_another(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
        await press(pilot, "enter")
        for key, kind, height in (
            ("l", LibraryScreen, 2),
            ("f1", HelpScreen, 3),
            ("escape", LibraryScreen, 2),
            ("tab", LibraryScreen, 2),
            ("a", AnswerScreen, 2),
            ("ctrl+l", LibraryScreen, 2),
        ):
            await press(pilot, key)
            assert isinstance(app.screen, kind), key
            assert len(app.screen_stack) == height, key


async def test_a_query_that_becomes_a_question_is_replaced_by_typing(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_router, "LATE_S", 0.0)
    async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
        await press(pilot, "escape", "a")
        assert isinstance(app.screen, AnswerScreen)
        assert app.screen.question.selected_text == "치킨"
        await pilot.press("왜")
        assert app.screen.question.value == "왜"


@pytest.mark.parametrize("key", ["ctrl+l", "tab"])
async def test_a_syllable_that_comes_after_the_key_stays_with_its_word(app_of: MakeApp, key: str) -> None:
    async with running(app_of(scenes=[scene()]), "치") as (app, pilot):
        at_once(app, key, "킨")
        await settle(pilot)
        assert app.search_screen.query_line.value == "치킨"
        if isinstance(app.screen, LibraryScreen):
            assert app.screen.field.path.value == ""


async def test_ctrl_c_says_how_to_quit(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()])) as (app, pilot):
        await pilot.press("ctrl+c")
        assert toasts(app) == ["Ctrl+Q quits."]


@pytest.mark.campaign(part="app")
async def test_a_double_click_plays(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), "치킨", size=(120, 30)) as (_, pilot):
        await pilot.click("#scenes", offset=(5, 2))
        await settle(pilot)
        assert not outside.played
        await pilot.click("#scenes", offset=(5, 2), times=2)
        await settle(pilot)
        assert len(outside.played) == 1
