"""The lines of a transcript: what is drawn, where the cursor goes, and how many lines there may be."""

import pytest
from rich._wrap import divide_line
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection

from subtitle_rag.base.domain.values import clock
from subtitle_rag.tui.shared import spoken_lines
from subtitle_rag.tui.shared.scenes import transcript_list
from subtitle_rag.tui.shared.scenes.transcript_lines import TranscriptLines, video_lines
from subtitle_rag.tui.shared.scenes.transcript_list import TranscriptList

LINES = [(number * 2_000, f"{number}번째 줄입니다") for number in range(20_000)]


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[int] = []

    def compose(self) -> ComposeResult:
        yield TranscriptList()

    @property
    def list(self) -> TranscriptList:
        return self.query_one(TranscriptList)

    def content(self, lines: spoken_lines.SpokenLines, matched: int | None = None) -> TranscriptLines:
        own = video_lines(lines, {}, matched)

        def words(index: int):  # type: ignore[no-untyped-def]
            self.made.append(index)
            return own.words(index)

        return TranscriptLines(lines, words, matched)


def rows(app: Shown) -> list[str]:
    return [app.list.render_line(y).text.rstrip() for y in range(app.list.size.height)]


async def test_of_twelve_hours_only_the_lines_in_sight_are_drawn() -> None:
    app = Shown()
    async with app.run_test(size=(60, 20)) as pilot:
        app.list.put(app.content(LINES, 9_000), at=9_000)
        app.list.focus()
        await pilot.pause()
        assert rows(app)[6] == f"▶{clock(LINES[9_000][0]).rjust(7)}  9000번째 줄입니다"
        await pilot.press("end", "k", "home", "j", "ㅓ")
        assert app.list.line == LINES[2]
        assert len(set(app.made)) < 200


async def test_long_lines_are_wrapped_and_the_cursor_stays_in_sight() -> None:
    app = Shown()
    async with app.run_test(size=(30, 8)) as pilot:
        app.list.put(app.content([(at * 1_000, "가나다 라마바 사아자 차카타 파하") for at in range(50)]))
        app.list.focus()
        await pilot.pause()
        assert rows(app)[:2] == ["    0:00  가나다 라마바", "          사아자 차카타 파하"]
        app.list.go_to(0)
        for _each in range(30):
            app.list.move(1)
            await pilot.pause()
            assert any(clock(app.list.cursor * 1_000) in row for row in rows(app))  # type: ignore[operator]
        await pilot.resize_terminal(60, 8)
        await pilot.pause()
        assert any(clock(30_000) in row for row in rows(app))


async def test_rows_of_a_line_are_counted_once_also_if_the_list_is_hidden_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[tuple[str, int]] = []

    def divide(text: str, cells: int) -> list[int]:
        counted.append((text, cells))
        return divide_line(text, cells)

    monkeypatch.setattr(transcript_list, "divide_line", divide)
    app = Shown()
    lines = [(at * 1_000, f"{at} 가나다 라마바 사아자 차카타 파하") for at in range(50)]
    async with app.run_test(size=(30, 8)) as pilot:
        app.list.put(app.content(lines))
        await pilot.pause()
        for is_shown in (False, True):
            app.list.display = is_shown
            await pilot.pause()
            app.list.put(app.content(lines))
            await pilot.pause()
        assert rows(app)[:2] == ["    0:00  0 가나다 라마바", "          사아자 차카타 파하"]
        assert len(counted) == len(set(counted))
        assert {text for text, _cells in counted} == {text for _start, text in lines}


async def test_words_of_a_neighbour_have_no_time_and_no_cursor() -> None:
    app = Shown()
    async with app.run_test(size=(40, 8)) as pilot:
        lines = [(None, "앞"), (1_000, "하나"), (2_000, "둘"), (None, "뒤")]
        app.list.put(TranscriptLines(lines, app.list._content.words, 1))
        app.list.focus()
        await pilot.pause()
        for key, line in (("k", lines[1]), ("end", lines[2]), ("j", lines[2])):
            await pilot.press(key)
            assert app.list.line == line


async def test_lines_above_that_are_still_to_come_have_their_room() -> None:
    app = Shown()
    async with app.run_test(size=(40, 12)) as pilot:
        app.list.put(app.content(LINES[5:7], 0), hold=True)
        await pilot.pause()
        before = rows(app)
        assert before[4].startswith("▶")
        app.list.put(app.content(LINES[:40], 5))
        await pilot.pause()
        assert rows(app)[4] == before[4]


async def test_what_the_mouse_selects_is_text() -> None:
    app = Shown()
    async with app.run_test(size=(40, 8)) as pilot:
        app.list.put(app.content(LINES[:4]), at=0)
        await pilot.pause()
        selected = app.list.get_selection(Selection(Offset(10, 1), Offset(13, 2)))
        assert selected == ("1번째 줄입니다\n    0:04  2번째", "\n")


class TestFind:
    LINES = ((0, "치킨 소스에 찍어"), (1_000, "Chicken"), (2_000, "먹는 치 킨"))

    @pytest.mark.parametrize(
        ("typed", "places"),
        [
            ("치킨", {0: [(0, 2)], 2: [(3, 6)]}),
            ("치킨 소", {0: [(0, 4)]}),
            ("chICK", {1: [(0, 5)]}),
            ("치킨ㅅ", {0: [(0, 2)], 2: [(3, 6)]}),  # the next syllable is being composed
            ("치", {0: [(0, 1)], 2: [(3, 4)]}),
            (".", {}),
            (" ", {}),
        ],
    )
    def test_spaces_and_letter_cases_do_not_matter(
        self, typed: str, places: dict[int, list[spoken_lines.Span]]
    ) -> None:
        assert spoken_lines.find_spoken(self.LINES, typed) == places

    def test_a_line_is_found_by_its_time(self) -> None:
        assert [spoken_lines.line_at(self.LINES, at) for at in (-5, 0, 1_500, 99_000)] == [0, 0, 1, 2]


async def test_lines_that_come_while_the_list_is_hidden_have_their_rows_once_it_is_shown() -> None:
    app = Shown()
    async with app.run_test(size=(30, 8)) as pilot:
        await pilot.pause()
        app.list.display = False
        await pilot.pause()
        app.list.put(app.content([(at * 1_000, "가나다 라마바 사아자") for at in range(50)]))
        app.list.display = True
        await pilot.pause()
        assert [row.strip()[:4] for row in rows(app)[::2]] == ["0:00", "0:01", "0:02", "0:03"]
