"""The mouse over the rows of scenes: it selects text and copies it, and the right button offers the scene's actions."""

from rich.cells import cell_len
from textual.geometry import Offset
from textual.widgets import OptionList

from subtitle_rag.tui.screens.dialogs.scene_menu import SceneMenu
from subtitle_rag.tui.shared.scenes.scene_list import SceneList
from tests.tui.conftest import MakeApp, Outside, drawn_by, press, running, scene, settle, toasts


async def test_selected_text_of_rows_is_copied_on_release(app_of: MakeApp, outside: Outside) -> None:
    app = app_of(scenes=[scene(1, "소스에 찍어요"), scene(2, "국물을 마셔요")])
    async with running(app, "치킨", size=(80, 24)) as (_, pilot):
        await pilot.mouse_down("#scenes", offset=(12, 2))
        await pilot.hover("#scenes", offset=(18, 2))
        await pilot.hover("#scenes", offset=(20, 5))
        await pilot.mouse_up("#scenes", offset=(20, 5))
        await settle(pilot)
        [copied] = outside.copied
        assert "찍어요" in copied
        assert "국물" in copied
        assert toasts(app)[-1] == "The selected text is copied."
        assert not outside.played
        assert app.search_screen.scenes.cursor == 0  # a drag is no click


async def test_lines_tell_the_places_of_their_letters_to_the_mouse(app_of: MakeApp) -> None:
    app = app_of(scenes=[scene(1, "소스에 찍어요"), scene(2, "국물을 마셔요")])
    async with running(app, "치킨", size=(80, 24)):
        shown = app.search_screen.scenes
        corner = shown.content_region.offset
        found = app.screen.get_widget_and_offset_at(corner.x + 10, corner.y + 1)
        assert found == (shown, Offset(letter_at(shown, 10, 1), 1))


def letter_at(shown: SceneList, cell: int, line: int) -> int:
    """Return the number of the letter in a cell."""
    text = shown.render_line(line).text
    return next(at for at in range(len(text)) if cell_len(text[: at + 1]) > cell)


async def test_the_right_button_offers_what_can_be_done_with_the_scene(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), "치킨", size=(80, 24)) as (app, pilot):
        await pilot.click("#scenes", offset=(12, 5), button=3)
        await settle(pilot)
        assert isinstance(app.screen, SceneMenu)
        assert app.search_screen.query_one(SceneList).cursor == 1
        rows = app.screen.query_one(OptionList)
        ids = [option.id for option in rows.options]
        assert ids[0] == "scene.play"
        assert {"scene.copy", "scene.mark", "scene.export", "app.transcript"} <= set(ids)
        assert "Copy" in drawn_by(app)
        rows.highlighted = ids.index("scene.copy")
        await press(pilot, "enter")
        assert app.search_screen.is_current
        assert len(outside.copied) == 1
