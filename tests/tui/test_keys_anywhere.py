"""Keys that work anywhere: answers, library and history above any screen or dialog; Ctrl+S, Ctrl+C; a double click."""

import pytest

from subtitle_rag.tui.screens.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.library_screen import LibraryScreen
from subtitle_rag.tui.widgets import text_field
from subtitle_rag.tui.widgets.text_field import LATE_S
from tests.tui.conftest import MakeApp, Outside, at_once, press, running, scene, settle, toasts


@pytest.mark.campaign(part="app")
async def test_function_keys_work_in_every_screen_and_dialog(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()])) as (app, pilot):
        for key, kind, height in (
            ("f4", LibraryScreen, 2),
            ("f1", None, 3),
            ("f3", AnswerScreen, 2),
            ("f4", LibraryScreen, 2),
            ("f6", None, 3),
            ("f3", AnswerScreen, 2),
            ("f4", LibraryScreen, 2),
        ):
            await press(pilot, key)
            assert kind is None or isinstance(app.screen, kind), key
            assert len(app.screen_stack) == height, key


async def test_a_query_that_becomes_a_question_is_replaced_by_typing(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_field, "LATE_S", 0.0)
    async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
        await press(pilot, "f3")
        assert isinstance(app.screen, AnswerScreen)
        assert app.screen.question.selected_text == "치킨"
        await pilot.press("왜")
        assert app.screen.question.value == "왜"


@pytest.mark.parametrize("key", ["f3", "f4", "tab"])
async def test_a_syllable_that_comes_after_the_key_stays_with_its_word(app_of: MakeApp, key: str) -> None:
    async with running(app_of(scenes=[scene()]), "치") as (app, pilot):
        at_once(app, key, "킨")
        await settle(pilot)
        assert app.search_screen.query_line.value == "치킨"
        if answers := app.wiring.navigation.answers:
            assert answers.question.selected_text == answers.question.value == "치킨"
        elif isinstance(app.screen, LibraryScreen):
            assert app.screen.field.path.value == ""


@pytest.mark.campaign(part="app")
async def test_a_syllable_is_the_commands_of_its_keys(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()]), size=(120, 40)) as (app, pilot):
        await press(pilot, "f4")
        assert isinstance(app.screen, LibraryScreen)
        videos = app.screen.tables.videos
        videos.focus()
        await pilot.pause(LATE_S)
        await pilot.press("ㅓ", "j")
        assert videos.cursor == 2
        await pilot.press("커")  # z has nothing to bring back, j goes down
        await settle(pilot)
        assert videos.cursor == 3


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
