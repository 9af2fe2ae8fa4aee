"""The highlighted scene next to the list.

Drawn at once from the list's values. When the highlight has rested for a moment, a worker reads the scene's
surroundings in its video. They are cached until the next result. A part that fails is left out.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from subtitle_rag.base.i18n import _
from subtitle_rag.tui.shared.content import channel_and_date, paragraphs
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.messages import SurroundingsRead
from subtitle_rag.tui.shared.scenes.scene_list import SceneList, appearance
from subtitle_rag.tui.shared.scenes.timeline import (
    CHAPTER,
    CURRENT,
    FURTHER,
    LISTED,
    Timeline,
    draw_timeline,
    scene_timeline,
)
from subtitle_rag.tui.shared.scenes.transcript_lines import TranscriptLines, scene_lines
from subtitle_rag.tui.shared.scenes.transcript_list import TranscriptList
from subtitle_rag.tui.shared.spoken_lines import Surroundings, scene_of_line

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.searcher import SearchResult

    ReadSurroundings = Callable[[str, SearchResult | None], Iterator[Surroundings]]

logger = logging.getLogger(__name__)

REST_S = 0.15
"""Debounce: pause of the highlight before library and index are read for its video."""
TYPED_REST_S = 0.6
"""The same after a search; slow typists type the next Hangul syllable within it."""
KEPT_VIDEOS = 16
"""Videos in the cache of one result: a megabyte or two."""


class TimelineBar(Static):
    """A video's timeline; a click posts its time."""

    @dataclass
    class Sought(Message):
        at_ms: int

    def __init__(self) -> None:
        super().__init__(id="timeline", markup=False)
        signs = _("{chosen} this scene · {listed} in the list · {found} further places · {chapter} chapters")
        glyphs = {"chosen": CURRENT, "listed": LISTED, "found": FURTHER}
        legend = signs.format(**glyphs, chapter=CHAPTER)
        self.tooltip = paragraphs([legend, _("A click goes to the nearest scene of the list.")])
        self._line: Timeline | None = None
        self._last_drawing: tuple[Timeline | None, int] | None = None

    def show(self, line: Timeline | None) -> None:
        self._line = line
        width = self.content_size.width
        if self._last_drawing != (line, width):
            self._last_drawing = line, width
            self.update(draw_timeline(line, width) if line else "", layout=False)

    def on_resize(self) -> None:
        self.show(self._line)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if self._line is not None and at is not None and self.content_size.width:
            self.post_message(self.Sought(self._line.at_ms(at.x, self.content_size.width)))


class Preview(Vertical):
    """One scene: its video in the border, its place in the video, and the speech around it."""

    can_focus = False

    def __init__(self, scenes: SceneList, surroundings: "ReadSurroundings") -> None:
        """`scenes` is the list next to it. `surroundings` reads the surroundings of a video's scenes, in a thread."""
        self.transcript = TranscriptList()
        self._timeline = TimelineBar()
        super().__init__(self._timeline, self.transcript, id="preview", classes="panel")
        self._scenes = scenes
        self._read_surroundings = surroundings
        self.visible = False
        self.scene: Scene | None = None
        self._result: SearchResult | None = None
        self._cache: dict[str, Surroundings] = {}
        """Surroundings by video, for the current result."""
        self._around = Surroundings()
        """The lines around the shown scene; the previous ones until new ones arrive."""
        self._reading: tuple[str, SearchResult | None, Worker[None]] | None = None
        """The last reading of surroundings: video, result and worker."""

    def show(self, scene: "Scene | None", result: "SearchResult | None" = None, *, new: bool = False) -> None:
        """Show a scene. `result` is its search's, if any; `new`: the result has just arrived.

        A scene already on screen keeps its scroll position.
        """
        before, self.scene = self.scene, scene
        self.visible = scene is not None
        self._forget_stale(result, before)
        if scene is None or before is None or appearance(scene) != appearance(before):
            self._draw_title()
            self._draw_lines()
        self._draw_timeline()
        self._look_soon(TYPED_REST_S if new else REST_S)

    def _forget_stale(self, result: "SearchResult | None", before: "Scene | None") -> None:
        """Forget the surroundings of another result or video."""
        same = self._result is not None and result is not None and self._result.query == result.query
        if result is not self._result:
            self._cache.clear()
        self._result = result
        video = self.scene.video.id if self.scene else ""
        if video in self._cache:
            self._around = self._cache[video]
        elif before is None or before.video.id != video:
            self._around = Surroundings()
        elif not same:
            self._around = replace(self._around, matches=None)

    def on_resize(self) -> None:
        self._draw_timeline()
        self._look_soon(REST_S)

    def on_show(self) -> None:
        """Redraw, now that there is room."""
        self.on_resize()

    # --- surroundings ---

    def hold(self) -> None:
        """Cancel reading the surroundings, before another scene."""
        self.workers.cancel_group(self, "rest")
        self.workers.cancel_group(self, "surroundings")

    def _look_soon(self, rest: float) -> None:
        self.workers.cancel_group(self, "rest")
        if self.scene is None or not self.display:
            return
        video_id = self.scene.video.id
        if not self._is_complete(self._cache.get(video_id)) and not self._is_reading(video_id):
            self._rest(video_id, rest)

    def _is_complete(self, surroundings: Surroundings | None) -> bool:
        return surroundings is not None and (surroundings.matches is not None or self._result is None)

    def _is_reading(self, video_id: str) -> bool:
        """Return whether these surroundings are being read, so that a resize does not read them twice."""
        if self._reading is None:
            return False
        video, result, worker = self._reading
        return video == video_id and result is self._result and not (worker.is_finished or worker.is_cancelled)

    @work(group="rest", exclusive=True, exit_on_error=False)
    async def _rest(self, video_id: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._reading = video_id, self._result, self._look(video_id, self._result)

    @work(thread=True, group="surroundings", exclusive=True, exit_on_error=False)
    def _look(self, video_id: str, result: "SearchResult | None") -> None:
        worker = get_current_worker()
        try:
            for surroundings in self._read_surroundings(video_id, result):
                if worker.is_cancelled:
                    return
                self.post_message(SurroundingsRead(video_id, result, surroundings))
        except Exception:  # the drawing stays, and the next search reports the failure
            logger.info("the scene's surroundings were not read", exc_info=True)

    @on(SurroundingsRead)
    def _surroundings_read(self, message: SurroundingsRead) -> None:
        if message.result is not self._result:  # from an older result
            return
        self._cache.pop(message.video_id, None)
        self._cache[message.video_id] = message.surroundings
        for old in list(self._cache)[:-KEPT_VIDEOS]:
            del self._cache[old]
        if self.scene is not None and self.scene.video.id == message.video_id:
            before, new = self._around, message.surroundings
            self._around = new if new.matches is not None else replace(new, matches=before.matches)
            if (before.lines, before.gaps) != (new.lines, new.gaps):
                self._draw_lines()
            self._draw_timeline()

    @on(TimelineBar.Sought)
    def _sought(self, message: TimelineBar.Sought) -> None:
        if self.scene is not None:
            self._scenes.to_nearest(self.scene.video.id, message.at_ms)

    # --- drawing ---

    def _draw_timeline(self) -> None:
        line, scene = None, self.scene
        if scene is not None:
            line = scene_timeline(scene, self._around, self._scenes.of_video(scene.video.id))
        self._timeline.show(line)

    def _draw_title(self) -> None:
        video = self.scene.video if self.scene else None
        label_panel(self, video.title if video else "", channel_and_date(video) if video else "")

    def _draw_lines(self) -> None:
        if self.scene is None:
            self.transcript.put(TranscriptLines())
            return
        content = scene_lines(self.scene, self._around)
        at = None
        if self.transcript.has_focus and (line := self.transcript.line):  # the lines around it have arrived
            at = next((index for index, (start, _text) in enumerate(content.lines) if start == line[0]), None)
        self.transcript.put(content, at=at, hold=self._around.lines is None)

    @property
    def line_scene(self) -> "Scene | None":
        """The transcript's line under the cursor as a scene, if the transcript has the focus."""
        if self.scene is None or not self.transcript.has_focus or (line := self.transcript.line) is None:
            return None
        return scene_of_line(self.scene.video, *line)
