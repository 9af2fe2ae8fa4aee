"""The list of rows of two lines: what is drawn, where the highlight goes, and what stays where it is."""

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.content import Content

from subtitle_rag.tui.shared.rows.row_list import Row, RowList


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.made: list[str] = []

    def compose(self) -> ComposeResult:
        yield RowList[str]("rows")

    @property
    def list(self) -> RowList[str]:
        return self.query_one(RowList)

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self.told.append(f"at {self.list.cursor_key}")

    @on(RowList.RowClicked)
    def _clicked(self) -> None:
        self.told.append("clicked")

    def row(self, id: str) -> Row:
        self.made.append(id)
        return Content(f"{id} 줄"), Content(f"{id} 아래")


def ids(count: int) -> dict[str, str]:
    return {id: id for id in (f"{number:03d}" for number in range(count))}


def lines(app: Shown) -> list[str]:
    return [app.list.render_line(y).text.rstrip() for y in range(app.list.size.height)]


async def test_only_rows_that_are_seen_are_made() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.put(ids(100), app.row)
        await pilot.pause()
        assert lines(app)[:4] == ["000 줄", "000 아래", "001 줄", "001 아래"]
        assert set(app.made) == set(ids(5))
        assert list(app.list.rows) == list(ids(100))


async def test_the_highlight_is_kept_in_sight_and_stops_at_the_ends() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.put(ids(20), app.row)
        app.list.focus()
        await pilot.press("j")
        await pilot.press("end")
        await pilot.pause()
        assert (app.list.cursor_key, lines(app)[-1]) == ("019", "019 아래")
        await pilot.press("j", "ㅏ")
        assert app.list.cursor_key == "018"
        await pilot.press("home", "k")
        await pilot.pause()
        assert (app.list.cursor_key, lines(app)[0]) == ("000", "000 줄")
        assert app.told == ["at 001", "at 019", "at 018", "at 000"]


async def test_other_rows_leave_the_list_where_it_is_as_far_as_there_are_any() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.put(ids(20), app.row)
        app.list.cursor = 9
        await pilot.pause()
        seen = lines(app)
        assert (seen[0], seen[-1]) == ("005 줄", "009 아래")
        app.list.put({f"b{id}": f"b{id}" for id in ids(12)}, app.row)
        await pilot.pause()
        assert (app.list.cursor_key, lines(app)) == ("b009", [f"b{line}" for line in seen])
        app.list.put(ids(3), app.row)
        await pilot.pause()
        assert (app.list.cursor_key, lines(app)[0], lines(app)[6:]) == ("002", "000 줄", [""] * 4)
        app.list.put({}, app.row)
        assert (app.list.cursor_key, app.list.row_count, set(lines(app))) == ("", 0, {""})
        app.list.move(1)
        assert app.list.cursor is None


async def test_a_row_of_the_same_id_is_made_anew_when_rows_are_put_again() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)):
        app.list.put(ids(1), app.row)
        assert lines(app)[:2] == ["000 줄", "000 아래"]
        app.list.put(ids(1), lambda _id: (Content("다른 줄"), Content("다른 아래")))
        assert lines(app)[:2] == ["다른 줄", "다른 아래"]


async def test_a_click_chooses_and_says_so_and_below_the_rows_nothing_is() -> None:
    app = Shown()
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.put(ids(3), app.row)
        await pilot.pause()
        await pilot.click(RowList, offset=(2, 3))
        await pilot.click(RowList, offset=(2, 8))
        await pilot.pause()
        assert (app.list.cursor_key, app.told) == ("001", ["at 001", "clicked"])
        plain = app.list.render_line(4)
        await pilot.hover(RowList, offset=(2, 5))
        assert app.list.hovered == 2
        assert app.list.render_line(4) != plain
        await pilot.hover(RowList, offset=(2, 9))
        assert app.list.hovered is None


@pytest.mark.parametrize(
    ("said", "drawn"),
    [
        ("가나다라마", "가나다라마"),
        ("가나다라마바", "가나다라 …"),
        ("a가나다라마", "a가나다라…"),
        ("aaaaaaaaaa", "aaaaaaaaaa"),
        ("aaaaaaaaaaa", "aaaaaaaaa…"),
        ("자체는 10점에", "자체는 10…"),
        ("자체는 100점에", "자체는 …"),
        ("추가 1,500원", "추가 …"),
    ],
)
async def test_a_long_line_ends_in_an_ellipsis_within_its_cells(said: str, drawn: str) -> None:
    app = Shown()
    async with app.run_test(size=(10, 4)) as pilot:
        app.list.put({"one": "one"}, lambda _id: (Content.assemble((said[:3], "bold"), (said[3:], "red")), Content("")))
        await pilot.pause()
        strip = app.list.render_line(0)
        assert (strip.text.rstrip(), strip.cell_length) == (drawn, 10)
