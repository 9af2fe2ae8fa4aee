"""The caret of a field stands where the terminal draws a composition."""

import pytest
from textual import events
from textual.geometry import Offset

from subtitle_rag.tui.widgets.text_field import MAX_PASTED, TextField
from tests.tui.conftest import MakeApp, settle, typed


@pytest.mark.parametrize("size", [(120, 40), (40, 12)])
async def test_a_composition_begins_at_the_caret(app_of: MakeApp, size: tuple[int, int]) -> None:
    app = app_of("ko", scenes=[])
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        field = app.search_screen.query_line
        assert app.cursor_position == field.content_region.offset
        await typed(pilot, "한글 검색")
        assert app.cursor_position == field.content_region.offset + Offset(9, 0)
        await pilot.press("left")
        assert app.cursor_position == field.content_region.offset + Offset(7, 0)
        await typed(pilot, "가" * 60)
        await pilot.press("end")
        assert field.content_region.contains(*app.cursor_position)


def test_a_pasted_text_is_cut_before_anything_reads_it() -> None:
    pasted = events.Paste("가" * 50_000)
    TextField("", "field")._on_paste(pasted)
    assert len(pasted.text) == MAX_PASTED
