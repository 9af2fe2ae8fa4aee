"""The preview has its room at every size of the terminal: beside the list, or in its place by a key."""

from collections.abc import Iterator

import pytest

from tests.stand_ins.ollama import Model, StandIn
from tests.tui.asking import MODEL
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, press, running, settle, toasts, typed, until

CHICKEN = "소스 찍어 먹는 치킨"


def footer(pilot: AppPilot) -> str:
    return drawn_by(pilot.app).split("\n")[-1]


async def resized(pilot: AppPilot, width: int, height: int) -> None:
    await pilot.resize_terminal(width, height)
    await until(pilot, lambda: pilot.app.screen.size == (width, height))
    await settle(pilot)


@pytest.mark.campaign(part="app")
async def test_where_there_is_no_room_a_key_opens_it_in_the_place_of_the_list(app_of: MakeApp) -> None:
    async with running(app_of(), size=(80, 24), notifications=True) as (app, pilot):
        screen = app.search_screen
        screen.action_toggle_preview()
        await settle(pilot)
        assert toasts(app) == ["No scene is chosen yet."]
        assert not screen.preview.display
        await typed(pilot, CHICKEN)
        rows = drawn_by(app)
        assert "▶" not in rows
        await press(pilot, "down", "p")
        assert screen.preview.region == screen.scenes.region == screen.results.region
        assert "▶" in drawn_by(app)
        assert screen.preview.transcript.has_focus
        await pilot.press("down")  # through the lines
        await settle(pilot)
        assert screen.scenes.cursor == 1
        for widget in (screen.query_line, screen.preview.transcript):  # the covered list is no stop
            await pilot.press("tab")
            assert app.focused is widget
        await press(pilot, "escape")
        assert "▶" not in drawn_by(app)
        assert screen.scenes.has_focus
        await press(pilot, "p", "p")
        assert screen.scenes.has_focus
        await press(pilot, "p", "left")
        assert screen.scenes.has_focus
        await press(pilot, "p", "slash")
        await typed(pilot, " 소스")  # who types looks at the list
        assert "▶" not in drawn_by(app)
        assert screen.query_line.has_focus


@pytest.mark.campaign(part="app")
async def test_the_keyboard_stays_with_the_list_when_the_preview_loses_its_room(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 40)) as (app, pilot):
        await typed(pilot, CHICKEN)
        screen = app.search_screen
        assert screen.preview.region.x == screen.scenes.region.right
        await press(pilot, "down", "right")
        assert screen.preview.transcript.has_focus
        await resized(pilot, 100, 20)
        assert bool(screen.results.is_open)
        assert screen.preview.transcript.has_focus
        await resized(pilot, 99, 30)
        assert not bool(screen.results.is_open)
        assert screen.scenes.has_focus
        assert screen.scenes.region == screen.results.region


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        serving.add(Model(MODEL))
        yield serving
