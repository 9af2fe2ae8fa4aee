"""Letters as commands, in both modes of the keyboard."""

import pytest

from subtitle_rag.korean.keyboard import JAMO_BY_KEY, hangul, latin
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.navigation import PagesApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.dialogs.export_screen import ExportScreen
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.marks.marks_screen import MarksScreen
from subtitle_rag.tui.screens.overview.overview_screen import OverviewScreen
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from subtitle_rag.tui.screens.settings.settings_screen import SettingsScreen
from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen
from subtitle_rag.tui.shared import source_field
from subtitle_rag.tui.shared.fields.text_field import TextField
from tests.tui.conftest import MakeApp, Outside, press, running, settle


def test_the_table_of_the_keyboard_is_one() -> None:
    """The letters of commands come from the layout that also mends words typed in the wrong mode."""
    assert JAMO_BY_KEY["t"] == "ㅅ"
    assert JAMO_BY_KEY["m"] == "ㅡ"
    assert hangul("gks") == "한"
    assert all(latin(JAMO_BY_KEY[key]) == key for key in "abcdefghijklmnopqrstuvwxyz")
    written = {key for id in keymap.declarations() for key in keymap.keys(id) if "ㄱ" <= key <= "ㅣ"}
    assert written
    assert written <= set(JAMO_BY_KEY.values())


def test_no_letter_of_the_app_is_taken_by_a_screen_or_its_widgets() -> None:
    """Textual asks the app's keys first, so a screen's own letter would never be pressed."""
    kinds = keymap.declarations()
    of_app = {
        key: id
        for id, places in kinds.items()
        if PagesApp in places
        for key in keymap.keys(id)
        if len(keymap.key_text(key)) == 1
    }
    elsewhere = {
        (key, id)
        for id, places in kinds.items()
        if any(place is not PagesApp for place in places)
        for key in keymap.keys(id)
        if key in of_app and of_app[key] != id
    }
    assert elsewhere == set()


@pytest.mark.campaign(part="app")
async def test_a_letter_opens_from_the_list_in_both_modes(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        for letter, opened in (
            ("t", TranscriptScreen),
            ("o", OverviewScreen),
            ("a", AnswerScreen),
            ("l", LibraryScreen),
            ("m", MarksScreen),
            ("comma", SettingsScreen),
            ("question_mark", HelpScreen),
            ("e", ExportScreen),
        ):
            for key in (letter, JAMO_BY_KEY.get(letter, letter)):
                app.search_screen.scenes.focus()
                await settle(pilot)
                await press(pilot, key)
                assert isinstance(app.screen, opened), key
                while not isinstance(app.screen, SearchScreen):
                    await press(pilot, "escape")
        assert app.search_screen.query_line.value == "치킨"


@pytest.mark.campaign(part="app")
async def test_letters_are_typed_into_a_field(app_of: MakeApp) -> None:
    async with running(app_of(), size=(100, 30)) as (app, pilot):
        await pilot.press("t", "a", "l", "ㅁ", "question_mark")
        assert app.search_screen.query_line.value == "talㅁ?"
        assert app.screen is app.search_screen


@pytest.mark.campaign(part="app")
async def test_mark_preview_and_player_have_letters_beside_the_list(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), "치킨", size=(120, 30)) as (app, pilot):
        await press(pilot, "tab")
        search = app.search_screen
        displays = [search.preview.display]
        for key in ("p", "ㅔ"):
            await press(pilot, key)
            displays.append(search.preview.display)
        assert displays == [True, False, True]
        await press(pilot, "c")
        assert len(outside.copied) == 1


@pytest.mark.campaign(part="app")
async def test_the_slash_goes_to_the_field_of_the_page_else_to_the_search(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        app.search_screen.scenes.focus()
        await press(pilot, "o")
        assert type(app.screen).__name__ == "OverviewScreen"
        await press(pilot, "slash")
        assert type(app.screen).__name__ == "SearchScreen"
        assert app.search_screen.query_line.has_focus
        app.search_screen.scenes.focus()
        await press(pilot, "m")
        assert type(app.screen).__name__ == "MarksScreen"
        assert not app.screen.query_one(TextField).has_focus
        await press(pilot, "slash")
        assert type(app.screen).__name__ == "MarksScreen"
        assert app.screen.query_one(TextField).has_focus
        assert app.screen.query_one(TextField).value == ""


@pytest.mark.campaign(part="app")
async def test_a_letter_in_a_dialog_is_no_command_of_the_app(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        await press(pilot, "tab", "question_mark")
        await press(pilot, "l", "a")
        assert isinstance(app.screen, HelpScreen)
        await press(pilot, "escape")
        assert isinstance(app.screen, BaseScreen)


@pytest.mark.campaign(part="app")
async def test_a_letter_without_effect_is_not_typed_into_the_query(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        await pilot.press("tab", "x")  # no job to stop
        assert app.search_screen.scenes.has_focus
        assert app.search_screen.query_line.value == "치킨"


@pytest.mark.campaign(part="app")
async def test_a_slash_is_typed_into_a_field_though_it_is_a_key(
    filled: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_field, "look", lambda text, _stop: source_field.read(text))  # not through the whole disk
    async with running(SubtitleApp(filled, show_times=False), size=(100, 30)) as (app, pilot):
        await press(pilot, "ctrl+l")
        await pilot.press("slash", *"home", "slash", "question_mark")
        assert isinstance(app.screen, LibraryScreen)
        assert app.screen.field.path.value == "/home/?"
