"""The line of keys at the bottom: each can be clicked, and the mouse is told what a key does."""

from typing import TYPE_CHECKING

import pytest
from textual.binding import Binding

from subtitle_rag.tui.screens.library_screen import LibraryScreen
from subtitle_rag.tui.widgets.footer import KeyBar, KeyHint, fitting
from tests.tui.conftest import MakeApp, drawn_by, press, running, settle, typed

if TYPE_CHECKING:
    from subtitle_rag.tui.app import SubtitleApp


def column(bar: KeyBar, description: str) -> int:
    """Where a key's description begins on the line."""
    return str(bar.render()).index(description)


def hint(key: str, description: str, importance: int = 2) -> KeyHint:
    return KeyHint(key, key, description, "", True, importance)


class TestFitting:
    hints = (
        hint("f1", "도움말", 3),
        hint("a", "first", 1),
        hint("b", "second", 1),
        hint("c", "third"),
        hint("q", "끝", 3),
    )

    @pytest.mark.parametrize(("width", "keys"), [(45, "f1 a b c q"), (44, "f1 a c q"), (35, "f1 a c q")])
    def test_of_equally_important_keys_the_last_is_left_out_first(self, width: int, keys: str) -> None:
        assert " ".join(each.key for each in fitting(self.hints, width)) == keys

    @pytest.mark.parametrize(("width", "keys"), [(34, "f1 c q"), (25, "f1 q"), (16, "f1"), (10, "q"), (0, "")])
    def test_the_important_ones_stay_longest(self, width: int, keys: str) -> None:
        assert " ".join(each.key for each in fitting(self.hints, width)) == keys

    def test_a_long_one_leaves_its_room_to_shorter_ones(self) -> None:
        long, short = hint("Ctrl+Y", "Copy link"), hint("F3", "New", 1)
        assert fitting((long, short), long.cells - 1) == [short]
        assert fitting((short, long), long.cells) == [long]


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


async def test_the_key_under_the_mouse_is_marked_and_told(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 30)) as (app, pilot):
        app.screen._bindings.key_to_bindings["f9"] = [Binding("f9", "app.bell", "Ring", tooltip="Rings the bell")]
        app.screen.refresh_bindings()
        await settle(pilot)
        bar = app.screen.query_one(KeyBar)
        await pilot.hover(KeyBar, offset=(column(bar, "Ring"), 0))
        assert [hint.key for hint in bar.hints if hint is bar.hovered] == ["f9"]
        assert str(bar.tooltip) == "Rings the bell"
        await pilot.hover("#calm")
        assert bar.tooltip is None


async def test_of_two_keys_for_one_action_the_first_is_shown(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 30)) as (app, pilot):
        app.screen._bindings.key_to_bindings["f10"] = [Binding("f10", "run('app.library')", "Again")]
        app.screen.refresh_bindings()
        await settle(pilot)
        actions = [hint.description for hint in app.screen.query_one(KeyBar).hints]
        assert len(actions) == len(set(actions))
        assert "Library" not in actions or "Again" not in actions


class TestKeysOfScenes:
    """A key that needs a scene is named where there is one."""

    KEYS = frozenset({"Play", "Copy link", "Transcript", "List", "Mark", "Export"})

    @staticmethod
    def named(app: "SubtitleApp") -> set[str]:
        return {hint.description for hint in app.screen.query_one(KeyBar).hints}

    @pytest.mark.campaign(part="app")
    async def test_a_search_screen_names_them_while_it_lists_scenes(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            assert not self.named(app) & self.KEYS
            await typed(pilot, "치킨")
            assert self.named(app) >= self.KEYS
            await press(pilot, "escape")
            assert not self.named(app) & self.KEYS

    async def test_the_preview_that_is_hidden_comes_back_by_its_key_only_for_a_scene(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(70, 24)) as (app, pilot):
            assert "Preview" not in self.named(app)
            await typed(pilot, "치킨")
            assert "Preview" in self.named(app)

    async def test_an_answer_is_copied_once_there_is_one(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            await press(pilot, "f3")
            assert {"Ask/play"} <= self.named(app)
            assert "Copy answer" not in self.named(app)

    async def test_marks_have_keys_once_there_are_marks(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            await press(pilot, "ctrl+l")
            assert self.named(app) == {"Help", "Back", "Quit"}
