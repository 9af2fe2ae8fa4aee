"""A typed query stays: Esc takes one thing at a time, a cleared query comes back, a page above leaves it alone."""

import pytest
from textual.command import CommandPalette

from subtitle_rag.tui.screens.search.search_page import ClearedQuery
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from tests.tui.conftest import MakeApp, at_once, commands, press, press_each, running, settle, typed


@pytest.mark.parametrize(
    ("values", "cleared"),
    [
        (["치", "치킨", ""], "치킨"),
        (["치킨", "치", ""], ""),  # taken out letter by letter
        (["치킨", "", "소", ""], "치킨"),
        ([""], ""),
    ],
)
def test_a_query_counts_as_cleared_if_it_goes_at_once(values: list[str], cleared: str) -> None:
    query = ClearedQuery()
    for value in values:
        query.note(value)
    assert query.text == cleared


async def test_a_cleared_query_comes_back_by_one_key(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        await press(pilot, "escape", "escape")
        assert app.search_screen.query_line.typed == ""
        await press(pilot, "up")
        assert app.search_screen.query_line.typed == "치킨"
        assert app.search_screen.results.text == "치킨"


async def test_escape_closes_the_page_and_leaves_the_query(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        for opening in ("ctrl+l", "a", "m", "t", "comma", "question_mark"):
            app.search_screen.scenes.focus()
            await settle(pilot)
            at_once(app, opening, "escape")
            await settle(pilot)
            assert isinstance(app.screen, SearchScreen), opening
            assert app.search_screen.query_line.typed == "치킨", opening


async def test_typing_behind_a_page_begins_another_query(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        await press_each(pilot, "ctrl+l", "escape")
        assert app.search_screen.query_line.selected_text == "치킨"
        await pilot.press("소")
        assert app.search_screen.query_line.value == "소"


async def test_typing_behind_a_dialog_goes_on_with_the_query(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(100, 30)) as (app, pilot):
        await press_each(pilot, "escape", "f", "escape", "slash")
        await pilot.press("소")
        assert app.search_screen.query_line.value == "치킨소"


@pytest.mark.campaign(part="app")
async def test_the_palette_keeps_its_order_and_never_quits_first(app_of: MakeApp) -> None:
    async with running(app_of("ko"), size=(100, 40)) as (app, pilot):
        titles = commands(app)
        assert titles[0] != "끝내기"
        assert titles[-1] == "끝내기"
        await typed(pilot, "치킨")
        await press(pilot, "enter", "escape")
        assert "찾기: 최근 검색 지우기" in commands(app)
        assert commands(app)[0] == titles[0]
        await press(pilot, "ctrl+p", *"점검")
        assert isinstance(app.screen, CommandPalette)
        await press(pilot, "enter")
        assert app.screen.query("#all-checks")
        await press(pilot, "escape")
        assert commands(app)[0] == titles[0]
