"""The line of keys at the bottom: each can be clicked, and the mouse is told what a key does."""

from typing import TYPE_CHECKING

import pytest

from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.shared.fields.footer import MOST, KeyBar, KeyHint, fitting
from tests.tui.conftest import MakeApp, drawn_by, press, running, settle, typed

if TYPE_CHECKING:
    from subtitle_rag.tui.app import SubtitleApp


def column(bar: KeyBar, description: str) -> int:
    """Where a key's description begins on the line."""
    return str(bar.render()).index(description)


def hint(id: str, description: str) -> KeyHint:
    return KeyHint(id, "k", "k", description, "", True)


class TestFitting:
    hints = (
        hint("scene.play", "Play"),
        hint("app.ask", "Ask"),
        hint("app.library", "Library"),
        hint("screen.back", "Back"),
        hint("app.help", "도움말"),
    )
    cells = (8, 7, 11, 8, 10)

    @pytest.mark.parametrize(
        ("width", "left"),
        [
            (44, "scene.play app.ask app.library screen.back app.help"),
            (43, "scene.play app.ask screen.back app.help"),
            (32, "scene.play screen.back app.help"),
            (25, "scene.play screen.back"),
            (15, "scene.play"),
            (7, ""),
        ],
    )
    def test_the_last_go_first_but_for_help_and_the_way_back(self, width: int, left: str) -> None:
        assert tuple(each.cells for each in self.hints) == self.cells
        assert " ".join(each.id for each in fitting(self.hints, width)) == left


async def test_no_key_is_cut_and_the_mouse_finds_none_that_is_left_out(app_of: MakeApp) -> None:
    async with running(app_of("ko"), "치킨", size=(63, 24)) as (app, _):
        bar = app.screen.query_one(KeyBar)
        drawn = "".join(f" {each.key_label} {each.description} " for each in bar.shown_hints)
        assert drawn_by(app).split("\n")[-1].rstrip() == drawn.rstrip()
        assert 0 < len(bar.shown_hints) < len(bar.hints)
        at = [bar.hint_at(x) for x in range(63)]
        assert list(dict.fromkeys(at)) == [*bar.shown_hints, None]
        assert at.count(None) == 63 - sum(each.cells for each in bar.shown_hints)


async def test_a_click_presses_the_key_that_is_drawn_there(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 30)) as (app, pilot):
        bar = app.screen.query_one(KeyBar)
        await pilot.click(KeyBar, offset=(column(bar, "Library"), 0))
        await settle(pilot)
        assert isinstance(app.screen, LibraryScreen)


async def test_a_click_beside_the_keys_does_nothing(app_of: MakeApp) -> None:
    async with running(app_of(), size=(200, 30)) as (app, pilot):
        before = app.screen
        bar = before.query_one(KeyBar)
        assert bar.hint_at(199) is None
        await pilot.click(KeyBar, offset=(199, 0))
        await settle(pilot)
        assert app.screen is before


async def test_hangul_takes_two_cells_in_front_of_the_keys_behind_it(app_of: MakeApp) -> None:
    async with running(app_of("ko"), size=(120, 30)) as (app, _):
        bar = app.screen.query_one(KeyBar)
        cells = 0
        for hint in bar.hints:
            assert bar.hint_at(cells) == bar.hint_at(cells + hint.cells - 1) == hint
            cells += hint.cells
        assert bar.hint_at(cells) is None
        assert (
            "".join(f" {hint.key_label} {hint.description} " for hint in bar.hints)[:40]
            in drawn_by(app).split("\n")[-1]
        )


@pytest.mark.parametrize("key", ["question_mark", "ctrl+p", "e"])
async def test_under_a_dialog_no_keys_of_the_page_are_drawn(app_of: MakeApp, key: str) -> None:
    async with running(app_of(), "치킨", size=(120, 30)) as (app, pilot):
        await press(pilot, "enter")
        page, bar = app.screen, app.screen.query_one(KeyBar)
        assert drawn_by(app).split("\n")[-1].strip() == str(bar.render()).strip() != ""
        await press(pilot, key)
        assert app.screen is not page
        assert not drawn_by(app).split("\n")[-1].strip()
        await press(pilot, "escape")
        assert app.screen is page
        assert drawn_by(app).split("\n")[-1].strip() == str(bar.render()).strip() != ""


async def test_the_key_under_the_mouse_is_marked_and_told(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 30)) as (app, pilot):
        bar = app.screen.query_one(KeyBar)
        await pilot.hover(KeyBar, offset=(column(bar, "Library"), 0))
        assert bar.hovered
        assert bar.hovered.id == "app.library"
        assert str(bar.tooltip) == "library: videos, new captions"
        await pilot.hover("#calm")
        assert bar.tooltip is None


def shown(app: "SubtitleApp") -> str:
    """The keys and words of the footer."""
    return "  ".join(f"{hint.key_label} {hint.description}" for hint in app.screen.query_one(KeyBar).hints)


class TestWhatHoldsNow:
    """At most seven acts, in one order, and none that a field would take for text."""

    @pytest.mark.campaign(part="app")
    async def test_the_search_shows_what_works_where_the_keyboard_is(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            calm = "Enter Search  Ctrl+L Library  ↓ Choose  Esc Menu  Ctrl+P Commands  F1 Help  Ctrl+Q Quit"
            assert shown(app) == calm
            await press(pilot, "escape")
            assert shown(app) == "a Ask  l Library  m Marks  , Settings  / Search  ↓ Choose  ? Help"
            await press(pilot, "slash")
            await typed(pilot, "치킨")
            assert shown(app) == "Enter Search  Ctrl+L Library  ↓ Scenes  Ctrl+P Commands  F1 Help  Ctrl+Q Quit"
            await press(pilot, "enter")
            assert shown(app) == "Enter Play  Space Mark  t Transcript  a Ask  e Export  l Library  ? Help"

    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            ("t", "Enter Play  Space Mark  c Copy  n Next match  / Find  Esc Back  ? Help"),
            ("m", "Esc Back  ? Help"),
            ("comma", "Enter Change  r Open again  d Default  Esc Back  ? Help"),
        ],
    )
    @pytest.mark.campaign(part="app")
    async def test_a_page_shows_its_own_acts(self, app_of: MakeApp, key: str, expected: str) -> None:
        async with running(app_of(), "치킨", size=(120, 30)) as (app, pilot):
            await press(pilot, "enter", key)
            assert shown(app) == expected

    def test_all_footers_are_of_commands_and_name_seven_at_most(self) -> None:
        kinds = {kind for kinds in keymap.declarations().values() for kind in kinds if issubclass(kind, BaseScreen)}
        assert len(kinds) > 5
        for kind in kinds:
            for footer in (kind.FOOTER, kind.FIELD_FOOTER):
                assert set(footer.split()) <= COMMANDS.keys(), kind
            assert 0 < len(kind.FOOTER.split()) <= MOST, kind
