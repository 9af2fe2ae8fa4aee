"""The table of videos: what differs is changed, and the cursor stays on its video."""

import time
from dataclasses import replace
from datetime import date

import pytest
from textual.app import App, ComposeResult

from subtitle_rag.domain import Video
from subtitle_rag.library.rows import VideoState
from subtitle_rag.tui.widgets.library_tables import SHORT_STATE, VideoTable, video_state_text
from tests.tui.conftest import row_cells


class Shown(App[None]):
    def compose(self) -> ComposeResult:
        yield VideoTable()


def state(number: int) -> VideoState:
    own = Video(f"video{number:06d}", f"제목 {number}", "UC1", "채널", published=date(2026, 1, 1))
    return VideoState(own, 0, 0, True, None, {}, None)


def titles(table: VideoTable) -> list[str]:
    return [row_cells(table, at)[0] for at in range(table.row_count)]


async def test_new_videos_enter_in_their_places_and_the_cursor_stays_on_its_video() -> None:
    app = Shown()
    async with app.run_test(size=(120, 20)) as pilot:
        table = app.query_one(VideoTable)
        table.fill([state(number) for number in range(1, 6)])
        table.go_to(3)
        await pilot.pause()
        chosen = table.cursor_key
        ready = replace(state(5), due=False, windows=3, searchable=3)
        table.fill([state(0), ready, *(state(number) for number in range(1, 5)), state(9)])
        await pilot.pause()
        assert titles(table) == [f"제목 {number}" for number in (0, 5, 1, 2, 3, 4, 9)]
        assert (table.cursor_key, table.cursor) == (chosen, 5)
        assert row_cells(table, 1)[-2:] == ["3", "✓ searchable"]


async def test_videos_that_left_are_taken_out_and_narrow_terminals_show_the_state() -> None:
    app = Shown()
    async with app.run_test(size=(120, 20)) as pilot:
        table = app.query_one(VideoTable)
        table.fill([state(number) for number in range(5)])
        table.go_to(2)
        await pilot.pause()
        table.fill([state(number) for number in (4, 2)])
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert titles(table) == ["제목 4", "제목 2"]
        assert table.cursor_key == "video000002"
        assert row_cells(table, 0) == ["제목 4", "채널", "… waiting"]
        table.fill([])
        await pilot.pause()
        assert (table.row_count, table.cursor_key) == (0, "")


def test_what_is_on_its_way_says_how_far_it_has_come() -> None:
    assert video_state_text(replace(state(0), due=False, windows=8, searchable=3)) == "… 3 of 8 searchable"


@pytest.mark.parametrize("width", [30, 36, 56, 68, 90, 100, 120])
async def test_a_state_is_cut_with_a_mark_and_never_by_the_edge(width: int) -> None:
    app = Shown()
    async with app.run_test(size=(width, 20)) as pilot:
        table = app.query_one(VideoTable)
        await pilot.pause()
        failed = replace(state(1), due=False, failure="no_captions", retry_at=int(time.time()) + 9 * 86_400)
        table.show([failed], same_channel=False)
        said = video_state_text(failed)
        drawn = table.render_line(1).text.rstrip()
        assert drawn.endswith(said) or (drawn.endswith("…") and drawn.split(" – ")[1].rstrip("…") in said)
        assert drawn.startswith(" 제목 1 ")


async def test_titles_get_the_cells_that_no_reason_needs() -> None:
    app = Shown()
    async with app.run_test(size=(120, 20)) as pilot:
        table = app.query_one(VideoTable)
        await pilot.pause()
        table.show([state(1)], same_channel=True)
        wide = table._widths["title"]
        table.show([replace(state(1), due=False, failure="private")], same_channel=True)
        assert wide - table._widths["title"] == 44 - SHORT_STATE
