"""The table of thousands of rows: only what is seen is drawn, by keys and by mouse, in cells."""

from collections.abc import Iterable

import pytest
from textual import on
from textual.app import App, ComposeResult

from subtitle_rag.tui.keys import bindings
from subtitle_rag.tui.widgets.row_table import Column, RowTable


class Numbers(RowTable[tuple[int, str]]):
    BINDINGS = bindings("screen.enter")

    def __init__(self) -> None:
        columns = {"name": Column("이름", self._text_of), "number": Column("수", self._number_of, is_number=True)}
        super().__init__("numbers", columns, self._number_of)
        self.made = 0

    def _text_of(self, value: tuple[int, str]) -> str:
        self.made += 1
        return value[1]

    def _number_of(self, value: tuple[int, str]) -> str:
        return str(value[0])

    def fixed_widths(self, width: int) -> dict[str, int]:
        return {"number": 5}


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
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


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
        assert (table.row_count, table.cursor, table.cursor_key) == (50_000, 8, "8")
        assert table.made < 1_000


async def test_cells_are_as_wide_as_their_columns_in_hangul_too() -> None:
    app = Shown()
    async with app.run_test(size=(24, 6)) as pilot:
        table = app.query_one(Numbers)
        table.fill([(7, "한글"), (12345678, "한글로 된 긴 이름"), (3, "a\x1b[31m\u202eb\n")])
        await pilot.pause()
        assert lines(table)[:4] == [
            " 이름              수",
            " 한글               7",
            " 한글로 된 긴…  1234…",
            " a[31mb             3",
        ]
        assert {strip.cell_length for strip in map(table.render_line, range(6))} == {24}


async def test_the_cursor_stays_on_its_row_and_tells_where_it_is() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        table = app.query_one(Numbers)
        table.fill(rows(range(100)))
        table.go_to(60)
        await pilot.pause()
        assert table.render_line(table.size.height - 1).text.split() == ["행", "60", "60"]
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
        top = table.scroll_offset.y
        app.told.clear()
        await pilot.click(Numbers, offset=(3, 2))
        assert (table.cursor, app.told) == (top + 1, [("CursorMoved", str(top + 1))])
        await pilot.click(Numbers, offset=(3, 2))
        assert app.told[-1] == ("Selected", str(top + 1))
        app.told.clear()
        await pilot.click(Numbers, offset=(3, 0))
        assert app.told == []
