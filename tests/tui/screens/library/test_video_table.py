"""The table of videos: what differs is changed, and the cursor stays on its video."""

from dataclasses import replace
from datetime import date

import pytest
from textual.app import App, ComposeResult

from subtitle_rag.base.domain.values import Video
from subtitle_rag.library.rows import VideoState
from subtitle_rag.tui.screens.library.library_tables import VideoTable, is_alarm, video_state_text
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
        table.cursor = 3
        await pilot.pause()
        chosen = table.cursor_key
        ready = replace(state(5), due=False, windows=3, searchable=3)
        table.fill([state(0), ready, *(state(number) for number in range(1, 5)), state(9)])
        await pilot.pause()
        assert titles(table) == [f"제목 {number}" for number in (0, 5, 1, 2, 3, 4, 9)]
        assert (table.cursor_key, table.cursor) == (chosen, 5)
        assert row_cells(table, 1) == ["제목 5", "2026-01-01"]
        assert row_cells(table, 0) == ["제목 0", "waiting"]
        table.shows_channel = True
        assert row_cells(table, 1) == ["제목 5", "채널 · 2026-01-01"]
        table.fill([])
        await pilot.pause()
        assert (table.row_count, table.cursor_key) == (0, "")


@pytest.mark.parametrize(
    ("changes", "said", "alarm"),
    [
        ({"windows": 3, "searchable": 3}, "", False),
        ({"windows": 8, "searchable": 3}, "indexing 3/8", False),
        ({"due": True}, "waiting", False),
        ({"failure": "no_captions"}, "no captions · y transcribes it", False),
        ({"failure": "members_only"}, "members only · r tries again", False),
        ({"failure": "network"}, "no connection · r tries again", True),
    ],
)
def test_only_what_cannot_be_searched_has_a_state_with_the_key_that_mends_it(
    changes: dict[str, object], said: str, alarm: bool
) -> None:
    video = replace(state(1).video, url="https://x", source="")
    own = replace(state(1), **{"due": False, "video": video, **changes})  # type: ignore[arg-type]
    assert video_state_text(own) == said
    assert is_alarm(own) is alarm
