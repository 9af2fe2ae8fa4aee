"""Where was I: the app opens with its last search, and Alt with arrows goes back and forth among searches."""

from collections.abc import Iterator

import pytest

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.state.search_positions import SearchPosition, SearchTrail, read_last_position, store_last_position
from tests.tui.conftest import MakeApp, press, running, typed


@pytest.fixture
def forgetful(runtime: Runtime) -> Iterator[Runtime]:
    """The shared library, whose last search is of no other test."""
    yield runtime
    store_last_position(runtime.library, None)


def query(place: SearchPosition | None) -> str | None:
    return place.query if place else None


def test_a_trail_goes_back_and_forth() -> None:
    trail = SearchTrail()
    assert trail.go(-1, None) is None
    trail.visit(SearchPosition("가"))
    trail.visit(SearchPosition("나"))
    assert query(trail.go(-1, SearchPosition("다"))) == "나"
    assert query(trail.go(-1, SearchPosition("나", "scene", 4))) == "가"
    assert trail.go(-1, SearchPosition("가")) is None
    assert trail.go(1, SearchPosition("가")) == SearchPosition("나", "scene", 4)
    assert query(trail.go(1, SearchPosition("나"))) == "다"
    assert trail.go(1, SearchPosition("다")) is None


def test_another_query_ends_the_way_forth() -> None:
    trail = SearchTrail()
    trail.visit(SearchPosition("가"))
    assert query(trail.go(-1, SearchPosition("나"))) == "가"
    assert trail.go(1, SearchPosition("라")) is None
    assert query(trail.go(-1, SearchPosition("라"))) == "가"


def test_an_empty_field_goes_to_the_last_position() -> None:
    trail = SearchTrail()
    trail.visit(SearchPosition("가"))
    assert query(trail.go(-1, None)) == "가"


async def test_the_app_opens_with_the_search_and_scene_of_before(app_of: MakeApp, forgetful: Runtime) -> None:
    async with running(app_of(), "치킨", size=(80, 24)) as (app, pilot):
        await press(pilot, "down", "down")
        chosen = app.search_screen.scenes.cursor_key
        assert app.search_screen.scenes.cursor == 2
        app.exit()
    app.wait_for_threads(5)
    assert query(read_last_position(forgetful.library)) == "치킨"

    async with running(app_of(), size=(80, 24)) as (app, pilot):
        search = app.search_screen
        assert search.query_line.typed == "치킨"
        assert search.scenes.cursor_key == chosen
        assert search.query_line.selected_text == "치킨"  # typing begins another search
        await pilot.press("소")
        assert search.query_line.typed == "소"


async def test_an_app_that_was_left_without_a_query_opens_without_one(app_of: MakeApp, forgetful: Runtime) -> None:
    store_last_position(forgetful.library, SearchPosition("치킨"))
    async with running(app_of(), size=(80, 24)) as (app, pilot):
        assert app.search_screen.query_line.typed == "치킨"
        await press(pilot, "escape")
        app.exit()
    app.wait_for_threads(5)
    assert read_last_position(forgetful.library) is None


async def test_alt_with_arrows_returns_to_the_scene_of_a_search(app_of: MakeApp) -> None:
    async with running(app_of(), size=(80, 24)) as (app, pilot):
        search = app.search_screen
        await typed(pilot, "치킨")
        await pilot.press("down")
        chosen = search.scenes.cursor_key
        await pilot.press("escape")
        await typed(pilot, "국수")
        await press(pilot, "alt+left")
        assert search.query_line.typed == "치킨"
        assert search.scenes.cursor_key == chosen
        await press(pilot, "alt+right")
        assert search.query_line.typed == "국수"
