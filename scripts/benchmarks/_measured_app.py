#!/usr/bin/env python3
"""The app as it is, which also tells a benchmark when it has drawn what, and how long its event loop was held.

    python scripts/benchmarks/_measured_app.py HOME GAPS

After the frame that shows something new it writes a mark, which no terminal shows. `GAPS` gets a line for each time in
which the loop did nothing else for longer than `HELD_S`: when that ended (monotonic clock) and how long it was.
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from subtitle_rag.base.garbage import tune_garbage_collector
from subtitle_rag.tui import prepare_textual

tune_garbage_collector()
prepare_textual()

from textual import on

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library import library_screen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.search import search_screen
from subtitle_rag.tui.shared import messages
from subtitle_rag.tui.shared.scenes.grouped_scenes import GroupedSceneList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen
    from textual.strip import Strip

    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import VideoState
    from subtitle_rag.search.scenes import Scene

BEAT_S = 0.005
HELD_S = 0.01


class MeasuredList(GroupedSceneList):
    def fill(self, scenes: "Sequence[Scene]", keep: str | None, **options: Any) -> None:
        assert isinstance(self.app, MeasuredApp)
        self.app.scenes_coming()
        super().fill(scenes, keep, **options)

    def render_line(self, y: int) -> "Strip":
        assert isinstance(self.app, MeasuredApp)
        self.app.list_drawn()
        return super().render_line(y)


class MeasuredLibrary(LibraryScreen):
    def _show_rows(self, rows: "tuple[list[VideoState], list[ChannelState]]") -> None:
        assert isinstance(self.app, MeasuredApp)
        super()._show_rows(rows)
        self.app.mark_soon("videos")


class MeasuredApp(SubtitleApp):
    gaps = Path(os.devnull)
    _coming: tuple[str, ...] = ()
    """Marks of scenes in the list that are not drawn yet."""
    _due: tuple[str, ...] = ()
    """Marks of what the next frame shows."""

    async def on_load(self) -> None:
        self._gaps_file = self.gaps.open("a", encoding="ascii", buffering=1)
        self._beat(time.monotonic())

    def _beat(self, expected_at: float) -> None:
        now = time.monotonic()
        if now - expected_at > HELD_S:
            self._gaps_file.write(f"{now:.4f} {now - expected_at:.4f}\n")
        asyncio.get_running_loop().call_later(BEAT_S, self._beat, now + BEAT_S)

    def _display(self, screen: "Screen[object]", renderable: Any) -> None:
        super()._display(screen, renderable)
        self._mark()

    def scenes_coming(self) -> None:
        self._coming = (*self._coming, f"scenes {self.search_screen.query_line.typed}")

    def list_drawn(self) -> None:
        self._due, self._coming = (*self._due, *self._coming), ()

    def _mark(self) -> None:
        marks, self._due = self._due, ()
        for text in marks:
            assert self._driver
            self._driver.write(f"\x1b]7777;{text.encode().hex()}\x07")

    def mark_soon(self, text: str) -> None:
        self._due = (*self._due, text)
        self.screen.call_after_refresh(self._mark)  # if nothing had to be drawn

    @on(messages.ScenesFound)
    def _scenes_found(self) -> None:
        self.screen.call_after_refresh(self._same_scenes)

    def _same_scenes(self) -> None:
        """Mark scenes that are the same as for the previous text, since the list is not redrawn."""
        self.list_drawn()
        self._mark()

    @on(messages.SearchReady)
    def _can_search(self) -> None:
        self.mark_soon("SearchReady")


def main() -> None:
    home, gaps = sys.argv[1:]
    MeasuredApp.gaps = Path(gaps)
    vars(search_screen)["GroupedSceneList"] = MeasuredList
    vars(library_screen)["LibraryScreen"] = MeasuredLibrary
    with Runtime(config.load(home=home)) as runtime:
        runtime.prioritize_queries = True  # as `tui.run` does
        app = MeasuredApp(runtime)
        app.freezes_objects = True
        app.run()
        app.wait_for_threads(3.0)


if __name__ == "__main__":
    main()
