"""NO_COLOR: what is chosen, marked, out of date or wrong can be told by attributes, whatever the shades."""

import pytest
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import Confirmation
from subtitle_rag.tui.shared.rows.row_table import RowTable
from tests.tui.conftest import MakeApp, press, running, scene, settle, typed, until

SIZE = (120, 40)
ATTRIBUTES = ("bold", "reverse", "underline", "italic", "dim")


@pytest.fixture(autouse=True)
def without_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def attributes(style: Style | None) -> frozenset[str]:
    return frozenset(name for name in ATTRIBUTES if style and getattr(style, name))


def drawn(app: SubtitleApp, word: str) -> list[frozenset[str]]:
    """The attributes of each place on the screen that holds the word."""
    strips = app.screen._compositor.render_strips()
    return [attributes(part.style) for strip in strips for part in strip if word in part.text]


def at(strip: Strip, x: int) -> frozenset[str]:
    """The attributes of one cell."""
    return attributes(next(iter(strip.crop(x, x + 1))).style)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark"])
@pytest.mark.campaign(part="app")
async def test_the_chosen_scene_its_marks_and_old_scenes_can_be_told(
    app_of: MakeApp, unhurried: None, theme: str
) -> None:
    scenes = [scene(1, "치킨 하나"), scene(2, "치킨 둘"), scene(3, "치킨 셋")]
    async with running(app_of(scenes=scenes), size=SIZE) as (app, pilot):
        app.theme = theme
        await typed(pilot, "치킨")
        await press(pilot, "enter")
        await pilot.press("down")
        await pilot.pause()
        assert "reverse" in drawn(app, " 둘")[0]
        assert "reverse" not in drawn(app, " 하나")[0] | drawn(app, " 셋")[0]
        assert all("bold" in found for found in drawn(app, "치킨") if found)
        assert "bold" in drawn(app, "치킨")[1]
        await pilot.press(*"또")
        await pilot.pause()
        assert app.search_screen.query_one("#found").has_class("-stale")
        assert "italic" in drawn(app, " 하나")[0]


@pytest.mark.campaign(part="app")
async def test_the_row_of_a_table_can_be_told(app_of: MakeApp) -> None:
    async with running(app_of(), size=SIZE) as (app, pilot):
        await press(pilot, "ctrl+l")
        tables = [table for table in app.screen.query(RowTable) if table.display]
        assert tables
        for table in tables:
            region = table.region
            strips = app.screen._compositor.render_strips()
            chosen = {y for y in range(region.y, region.bottom) if "reverse" in at(strips[y], table.content_region.x)}
            # the videos have no cursor while the channels have the focus
            has_cursor = table.has_focus or table.id != "videos"
            assert chosen == ({table.content_region.y + (table.cursor or 0)} if has_cursor else set())


async def test_a_failure_is_bold_and_news_is_not(app_of: MakeApp) -> None:
    async with running(app_of(), size=SIZE, notifications=True) as (app, pilot):
        app.notify("새 소식", markup=False)
        app.notify("큰일", markup=False, severity="warning")
        await until(pilot, lambda: drawn(app, "큰일"))
        assert drawn(app, "새 소식")
        assert not any("bold" in found for found in drawn(app, "새 소식"))
        assert all("bold" in found for found in drawn(app, "큰일"))


async def test_of_two_buttons_only_the_one_with_the_focus_is_solid(app_of: MakeApp) -> None:
    async with running(app_of(), size=(80, 24)) as (app, pilot):
        confirmation = Confirmation("Remove", Content("Really?"), "Take it away", "Keep it")
        app.push_screen(ConfirmScreen(confirmation, lambda: None))
        await settle(pilot)
        parts = [part for strip in app.screen._compositor.render_strips() for part in strip]
        style_of = {
            word: part.style for part in parts for word in ("Really", "Take it", "Keep it") if word in part.text
        }
        shades = {word: style.bgcolor for word, style in style_of.items() if style}
        assert shades["Take it"] == shades["Really"]
        assert "reverse" in attributes(style_of["Keep it"])
        assert "reverse" not in attributes(style_of["Take it"])
