"""The table of thousands of rows: only what is seen is drawn, by keys and by mouse, in cells."""

from collections.abc import Iterable
from typing import ClassVar

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.binding import BindingType

from subtitle_rag.tui.keys.commands import ENTER, in_widget
from subtitle_rag.tui.shared.rows.row_table import RowParts, RowTable, row_content


class Numbers(RowTable[tuple[int, str]]):
    BINDINGS: ClassVar[list[BindingType]] = [in_widget(ENTER)]

    def __init__(self) -> None:
        super().__init__("numbers", lambda value: str(value[0]))
        self.made = 0

    def parts(self, value: tuple[int, str]) -> RowParts:
        self.made += 1
        return RowParts(value[1], str(value[0]))


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        yield Numbers()

    @on(RowTable.CursorMoved)
    def _told(self, message: RowTable.CursorMoved) -> None:
        self.told.append((type(message).__name__, message.table.cursor_key))


def rows(numbers: Iterable[int], name: str = "행") -> list[tuple[int, str]]:
    return [(number, f"{name} {number}") for number in numbers]


def lines(table: Numbers) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.scrollable_content_region.height)]


@pytest.mark.campaign(part="app")
async def test_only_the_rows_that_are_seen_are_made() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        table = app.query_one(Numbers)
        table.fill(rows(range(50_000)))
        await pilot.pause()
        table.focus()
        await pilot.press("end", "up", "pageup", "home", "pagedown")
        await pilot.pause()
        assert (table.row_count, table.cursor, table.cursor_key) == (50_000, 9, "9")
        assert table.made < 1_000


@pytest.mark.parametrize(
    ("parts", "width", "drawn"),
    [
        (RowParts("한글", "7"), 12, "한글       7"),
        (RowParts("한글로 된 긴 이름", "2019-08-17"), 24, "한글로 된…    2019-08-17"),
        (RowParts("한글로 된 긴 이름"), 24, "한글로 된 긴 이름       "),
        (RowParts("한글로 된 긴 이름", "받지 못한 긴 까닭이 있습니다"), 24, "한글로 된…    받지 못한…"),
        (RowParts("a", "받지 못한 긴 까닭이 있습니다"), 24, "a   받지 못한 긴 까닭이…"),
        (RowParts("a\x1b[31m\u202eb\n", "3"), 12, "a[31mb     3"),
    ],
)
def test_the_left_part_has_all_the_room_that_the_right_one_leaves(parts: RowParts, width: int, drawn: str) -> None:
    assert row_content(parts, width).plain.rstrip() == drawn.rstrip()


async def test_the_cursor_stays_on_its_row_and_tells_where_it_is() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        table = app.query_one(Numbers)
        table.fill(rows(range(100)))
        table.cursor = 60
        await pilot.pause()
        assert lines(table)[-1].split() == ["행", "60", "60"]
        app.told.clear()
        table.fill(rows([*range(500, 520), *range(100)], "다른"))
        await pilot.pause()
        assert (table.cursor_key, table.cursor, table.value) == ("60", 80, (60, "다른 60"))
        assert any(line.split()[-1:] == ["60"] for line in lines(table))
        table.fill(rows(range(3)))
        await pilot.pause()
        assert (table.cursor_key, app.told[-1]) == ("2", ("CursorMoved", "2"))
        table.fill([])
        await pilot.pause()
        assert (table.cursor_key, table.value, app.told[-1]) == ("", None, ("CursorMoved", ""))


async def test_enter_and_a_second_click_choose() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        table = app.query_one(Numbers)
        table.fill(rows(range(100)))
        table.focus()
        await pilot.press("pagedown", "pagedown", "enter")
        assert app.told[-1] == ("Selected", table.cursor_key)
        row = table.scroll_offset.y + 2  # no border is drawn without the app's style
        app.told.clear()
        await pilot.click(Numbers, offset=(3, 2))
        assert (table.cursor, app.told) == (row, [("CursorMoved", str(row))])
        await pilot.click(Numbers, offset=(3, 2))
        assert app.told[-1] == ("Selected", str(row))
