"""The caret of a field stands where the terminal draws a composition."""

import pytest
from textual import events
from textual.geometry import Offset

from subtitle_rag.tui.shared.fields.text_field import MAX_PASTED, TextField
from tests.tui.conftest import MakeApp, press, running, scene, settle, typed


@pytest.mark.parametrize("size", [(120, 40), (40, 12)])
async def test_a_composition_begins_at_the_caret(app_of: MakeApp, size: tuple[int, int]) -> None:
    async with running(app_of("ko", scenes=[]), size=size) as (app, pilot):
        field = app.search_screen.query_line
        assert app.cursor_position == field.content_region.offset
        await typed(pilot, "한글 검색")
        assert app.cursor_position == field.content_region.offset + Offset(9, 0)
        await pilot.press("left")
        assert app.cursor_position == field.content_region.offset + Offset(7, 0)
        await typed(pilot, "가" * 60)
        await pilot.press("end")
        assert field.content_region.contains(*app.cursor_position)


async def test_a_composition_for_a_list_is_drawn_at_the_list(app_of: MakeApp) -> None:
    async with running(app_of("ko"), "치킨") as (app, pilot):
        await pilot.press("tab")
        assert app.cursor_position == app.search_screen.scenes.region.offset
        await pilot.press("slash")
        assert app.cursor_position == app.search_screen.query_line.content_region.offset + Offset(4, 0)


def test_a_pasted_text_is_cut_before_anything_reads_it() -> None:
    pasted = events.Paste("가" * 50_000)
    TextField("", "field")._on_paste(pasted)
    assert len(pasted.text) == MAX_PASTED


BURSTS = [
    (("backspace", "간"), "시간"),
    (("backspace", "backspace", "바", "backspace", "밥"), "밥"),
    (("left", "도"), "시도장"),
    (("home", "새", "end", "님"), "새시장님"),
    (("home", "delete", "도"), "도장"),
    (("shift+left", "가"), "시가"),
]


@pytest.mark.parametrize(("keys", "text"), BURSTS)
async def test_keys_of_one_burst_edit_in_their_order(app_of: MakeApp, keys: tuple[str, ...], text: str) -> None:
    """As a telephone's keyboard sends each step of a syllable: the deletion of the last one, and the next."""
    async with running(app_of("ko", scenes=[]), "시장") as (app, pilot):
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot)
        assert app.search_screen.query_line.value == text


SHELL = [
    (("ctrl+a", "새", "space"), "새 시장 국수 맛집"),
    (("home", "ctrl+e", "들"), "시장 국수 맛집들"),
    (("ctrl+w", "집"), "시장 국수 집"),
    (("ctrl+w", "ctrl+w", "떡"), "시장 떡"),
    (("space", *"before:2026-05-01", "ctrl+w"), "시장 국수 맛집 "),
    (("shift+left", "ctrl+w"), "시장 국수 맛"),
    (("left", "left", "ctrl+u"), "맛집"),
    (("ctrl+a", "right", "right", "ctrl+k"), "시장"),
]
FIELDS = {
    "#query": (),
    "#path": ("ctrl+l",),
    "#question": ("escape", "a"),
    "#words": ("tab", "t", "slash"),
    "#wanted": ("escape", "f"),
}


@pytest.mark.parametrize("selector", FIELDS)
async def test_keys_of_a_shell_edit_in_every_field_and_are_no_commands(app_of: MakeApp, selector: str) -> None:
    async with running(app_of(scenes=[scene()]), "치킨", size=(120, 40)) as (app, pilot):
        await press(pilot, *FIELDS[selector])
        screen, field = app.screen, app.screen.query_one(selector, TextField)
        assert field.has_focus
        for keys, text in SHELL:
            field.replace_value("시장 국수 맛집")
            await press(pilot, *keys)
            assert (keys, field.value, app.screen) == (keys, text, screen)
