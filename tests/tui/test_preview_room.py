"""The preview has its room at every size of the terminal: beside the list, below it, or over it by a key."""

from collections.abc import Iterator

import pytest

from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.widgets.preview_pane import PreviewPlacement, choose_preview_room
from tests.stand_ins.ollama import Model, StandIn
from tests.tui.asking import ANSWER, MODEL, ask, asking, without_contexts
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, press, running, settle, toasts, typed, until

BESIDE, BELOW, OVER = PreviewPlacement
CHICKEN = "소스 찍어 먹는 치킨"


@pytest.mark.parametrize(
    ("width", "height", "search", "answers"),
    [
        (80, 24, OVER, OVER),
        (60, 40, BELOW, BELOW),
        (90, 45, BELOW, BELOW),
        (99, 30, BELOW, OVER),
        (99, 29, OVER, OVER),
        (100, 29, BESIDE, OVER),
        (120, 40, BESIDE, BESIDE),
        (1, 1, OVER, OVER),
    ],
)
def test_each_size_has_its_room(width: int, height: int, search: PreviewPlacement, answers: PreviewPlacement) -> None:
    assert choose_preview_room(width, height, beside_rows=0, below_rows=30) is search
    assert choose_preview_room(width, height, beside_rows=30, below_rows=40) is answers


def footer(pilot: AppPilot) -> str:
    return drawn_by(pilot.app).split("\n")[-1]


async def resized(pilot: AppPilot, width: int, height: int) -> None:
    await pilot.resize_terminal(width, height)
    await until(pilot, lambda: pilot.app.screen.size == (width, height))
    await settle(pilot)


@pytest.mark.campaign(part="app")
async def test_where_there_is_no_room_a_key_opens_it_over_the_list(app_of: MakeApp) -> None:
    async with running(app_of(), size=(80, 24), notifications=True) as (app, pilot):
        screen = app.search_screen
        await press(pilot, "f8")
        assert toasts(app) == ["No scene is chosen yet."]
        assert not screen.preview.display
        await typed(pilot, CHICKEN)
        assert "F8 Preview" in footer(pilot)
        rows = drawn_by(app)
        assert "▶" not in rows
        await press(pilot, "f8")
        assert screen.preview.region == screen.scenes.region == screen.results.region
        assert "F8 Close" in footer(pilot)
        assert "▶" in drawn_by(app)
        assert "places in this video" in drawn_by(app)
        for part in (screen.query_one("#about"), screen.preview.transcript):
            # in the last column is the list's bar: its edge would cut syllables
            assert part.scrollable_content_region.right < 80
        await pilot.press("down")  # the highlight moves under it
        await settle(pilot)
        assert screen.scenes.cursor == 1
        assert screen.scenes.value
        assert screen.scenes.value.jump_url
        assert screen.scenes.value.jump_url in drawn_by(app)
        assert screen.query_line.has_focus
        for widget in (screen.preview.transcript, screen.query_line):  # the covered list is no stop
            await pilot.press("tab")
            assert app.focused is widget
        await press(pilot, "escape")
        assert "▶" not in drawn_by(app)
        assert screen.query_line.value == CHICKEN
        screen.scenes.focus()
        await press(pilot, "f8")
        assert screen.query_line.has_focus
        await pilot.press("escape")
        await pilot.press("f8")
        await typed(pilot, " 소스")  # who types looks at the list
        assert "▶" not in drawn_by(app)
        assert "F8 Preview" in footer(pilot)


@pytest.mark.campaign(part="app")
async def test_a_narrow_and_tall_screen_shows_it_below_the_list(app_of: MakeApp) -> None:
    async with running(app_of(), size=(60, 40)) as (app, pilot):
        await typed(pilot, CHICKEN)
        screen = app.search_screen
        scenes, preview = screen.scenes.region, screen.preview.region
        assert (scenes.bottom, scenes.x, preview.x) == (preview.y, 0, 0)
        assert (scenes.width, preview.width) == (60, 60)
        assert min(scenes.height, preview.height) > 15
        assert "▶" in drawn_by(app)
        assert "F8" not in footer(pilot)
        await press(pilot, "f8")
        assert screen.scenes.region == screen.results.region
        assert "F8 Preview" in footer(pilot)
        await pilot.press("f8")
        await resized(pilot, 60, 30)
        await resized(pilot, 120, 40)
        assert screen.pane.room is BESIDE
        assert screen.preview.region.x == screen.scenes.region.right


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        serving.add(Model(MODEL))
        yield serving


@pytest.mark.campaign(part="app")
async def test_an_answer_has_it_over_or_below_its_scenes(app_of: MakeApp, runtime: Runtime, ollama: StandIn) -> None:
    ollama.answer(ANSWER)
    async with asking(without_contexts(runtime, app_of, ollama)(), size=(80, 24)) as (pilot, screen):
        await ask(pilot, screen)
        app = pilot.app
        assert not screen.preview.region
        answer = drawn_by(app)
        assert "40포기" in answer
        await press(pilot, "f8")
        assert screen.preview.region == screen.query_one("#answered").region
        assert "▶" in drawn_by(app)
        assert "40포기입니다" not in drawn_by(app)
        await press(pilot, "escape")
        assert drawn_by(app) == answer
        await resized(pilot, 60, 44)
        assert screen.sources.region.bottom == screen.preview.region.y
        assert screen.preview.region.bottom == 43
        assert "40포기" in drawn_by(app)
        await resized(pilot, 110, 24)
        await press(pilot, "f8")
        assert screen.preview.region == screen.sources.region
        assert "40포기입니다" in drawn_by(app)
