"""The last searches on the calm page: made by whoever acts on them, taken with the arrows and Enter, and forgotten."""

from dataclasses import replace

import pytest
from textual.widgets import Static

from subtitle_rag.base.config.settings import SearchSettings
from subtitle_rag.library.app_state import last_place, note_search, recent_searches
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.search.empty_state_page import ReadyQueryList
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.search_text import place_label
from subtitle_rag.workflows.sample_library import EXAMPLES
from tests.tui.conftest import (
    MakeApp,
    Outside,
    commands,
    drawn_by,
    press,
    press_each,
    running,
    settle,
    shown,
    typed,
    until,
)

CHICKEN = "치킨 소스"
FORGET = "Find: forget recent searches"


def listed(app: SubtitleApp) -> list[str]:
    """The searches on the calm page."""
    return [row for row in rows(app) if not row.startswith("Play on")]


def rows(app: SubtitleApp) -> list[str]:
    """What the list on the calm page shows."""
    choices = app.search_screen.query_one(ReadyQueryList)
    return [str(option.prompt) for option in choices.options] if choices.display and choices.region else []


@pytest.fixture
def searched(runtime: Runtime) -> list[str]:
    """Searches of days past, the newest first."""
    for text in ('"찍어 먹" -광고', "캠핑 텐트", CHICKEN):
        note_search(runtime.library, text)
    return [CHICKEN, "캠핑 텐트", '"찍어 먹" -광고']


class TestMade:
    @pytest.mark.campaign(part="app")
    async def test_what_is_only_typed_is_not_kept(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await press(pilot, *CHICKEN)
            await press(pilot, "down")
            assert app.search_screen.scenes.row_count
            assert recent_searches(runtime.library) == []

    @pytest.mark.parametrize("keys", [("enter", "enter"), ("ctrl+y", "escape")], ids=["plays", "copies"])
    @pytest.mark.campaign(part="app")
    async def test_who_plays_or_copies_a_scene_has_searched(
        self, app_of: MakeApp, runtime: Runtime, outside: Outside, keys: tuple[str, ...]
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await typed(pilot, CHICKEN)
            await press_each(pilot, *keys)
            assert outside.played or outside.copied
            assert recent_searches(runtime.library) == [CHICKEN]
            await press(pilot, "escape")
            assert listed(app) == [CHICKEN]
            assert "Recent searches" in shown(app, "#notice")

    @pytest.mark.usefixtures("unhurried")
    @pytest.mark.campaign(part="app")
    async def test_so_has_who_presses_enter_to_search_even_too_early(
        self, app_of: MakeApp, runtime: Runtime, outside: Outside
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (_, pilot):
            await press(pilot, *CHICKEN, "enter")
            assert recent_searches(runtime.library) == [CHICKEN]
            assert outside.played == []

    async def test_half_a_filter_is_no_search(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(), "치킨 after:20", size=(120, 40)) as (_, pilot):
            await press(pilot, "enter")
            assert recent_searches(runtime.library) == []

    async def test_nothing_is_kept_or_shown_where_the_settings_say_so(
        self, app_of: MakeApp, runtime: Runtime, searched: list[str], outside: Outside
    ) -> None:
        app = app_of()
        runtime.settings = replace(runtime.settings, search=SearchSettings(remember=False))
        async with running(app, size=(120, 40)) as (_, pilot):
            assert not set(searched) & set(listed(app))
            await typed(pilot, "꽃게")
            await press(pilot, "enter", "enter")
            assert len(outside.played) == 1
            assert recent_searches(runtime.library) == searched


class TestList:
    @pytest.mark.campaign(part="app")
    async def test_arrows_go_there_and_enter_searches_at_once(
        self, app_of: MakeApp, searched: list[str], outside: Outside, unhurried: None
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            assert listed(app) == searched
            await press(pilot, "down", "down", "enter")
            screen = app.search_screen
            assert screen.query_line.value == screen.results.text == "캠핑 텐트"
            assert screen.scenes.row_count
            assert screen.query_line.has_focus
            await press(pilot, "enter")
            assert screen.scenes.has_focus
            assert outside.played == []  # neither Enter that searched plays anything
            await press(pilot, "enter")
            assert len(outside.played) == 1
            await press(pilot, "escape")
            assert listed(app) == ["캠핑 텐트", CHICKEN, '"찍어 먹" -광고']
            assert screen.page.ready_queries.highlighted_choice is None

    async def test_enter_on_the_calm_page_does_nothing_by_itself(
        self, app_of: MakeApp, searched: list[str], outside: Outside
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            for keys in (["enter"], ["down", "up", "enter"], ["down", "escape", "enter"], ["up", "enter"]):
                await press(pilot, *keys)
                assert app.search_screen.query_line.value == ""
                assert listed(app) == searched
            assert outside.played == []

    @pytest.mark.campaign(part="app")
    async def test_who_types_on_leaves_the_list(self, app_of: MakeApp, searched: list[str], unhurried: None) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await press(pilot, "down", *"꽃게", "enter")
            assert app.search_screen.results.text == "꽃게"

    async def test_a_click_searches_too(self, app_of: MakeApp, searched: list[str], outside: Outside) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await pilot.click(ReadyQueryList, offset=(2, 2))
            await settle(pilot)
            assert app.search_screen.results.text == '"찍어 먹" -광고'
            assert app.search_screen.query_line.has_focus
            assert outside.played == []

    @pytest.mark.campaign(part="app")
    async def test_markup_and_control_characters_are_text(self, app_of: MakeApp, runtime: Runtime) -> None:
        hostile = "[bold red]치킨[/] \u202e\x1b[31m"
        note_search(runtime.library, hostile)
        async with running(app_of(), size=(80, 24)) as (app, _):
            assert listed(app) == ["[bold red]치킨[/] [31m"]
            assert "\x1b" not in drawn_by(app)

    @pytest.mark.parametrize("size", [(80, 24), (200, 60)])
    @pytest.mark.campaign(part="app")
    async def test_it_is_five_long_and_the_page_follows_the_highlight(
        self, app_of: MakeApp, runtime: Runtime, size: tuple[int, int]
    ) -> None:
        for number in range(12):
            note_search(runtime.library, f"장면 {number:02}")
        async with running(app_of("ko"), size=size) as (app, pilot):
            assert listed(app) == [f"장면 {number:02}" for number in range(11, 6, -1)]
            await press(pilot, *["down"] * 20)
            choice = app.search_screen.page.ready_queries.highlighted_choice
            assert choice
            assert choice.query == "장면 07"
            assert "장면 07" in drawn_by(app)

    async def test_they_are_forgotten_from_the_palette(
        self, app_of: MakeApp, runtime: Runtime, searched: list[str]
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            assert FORGET in commands(app)
            (forget,) = (each for each in app.get_system_commands(app.screen) if each.title == FORGET)
            for keys, kept in ((["enter"], 3), (["left", "enter"], 0)):
                forget.callback()
                await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and app.focused)
                question = str(app.screen.query_one("#confirm Static", Static).content)
                assert question == "3 recent searches will be removed."
                await press(pilot, *keys)
                assert len(recent_searches(runtime.library)) == kept
            assert recent_searches(runtime.library) == []
            assert "Recent searches" not in shown(app, "#notice")
            assert FORGET not in commands(app)


class TestStart:
    async def test_who_has_not_searched_gets_two_searches_that_find_something(
        self, app_of: MakeApp, runtime: Runtime
    ) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: len(listed(app)) == 2)
            for query in listed(app):
                assert runtime.searcher.search(parse_query(query)).scenes
            await press(pilot, "down", "enter")
            assert app.search_screen.scenes.row_count

    @pytest.mark.parametrize("query", EXAMPLES)
    def test_those_of_the_sample_find_something(self, runtime: Runtime, query: str) -> None:
        scenes = runtime.searcher.search(parse_query(query)).scenes
        assert scenes
        assert scenes[0].highlights

    async def test_the_last_place_is_offered_and_plays_on(
        self, app_of: MakeApp, runtime: Runtime, outside: Outside
    ) -> None:
        async with running(app_of(), "소스", size=(120, 40)) as (app, pilot):
            await press(pilot, "enter", "enter")
            scene = app.search_screen.scenes.value
            assert scene
            await until(pilot, lambda: last_place(runtime.library))
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: rows(app)[-1:] == [place_label(scene.video.title, scene.at_ms)])
            await press(pilot, *["down"] * 9, "enter")
            await until(pilot, lambda: len(outside.played) == 2)
