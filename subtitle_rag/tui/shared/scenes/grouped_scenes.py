"""The scenes of a search: a header per video with its best scenes below.

The cursor stops on scenes, and on the rows for the rest of a video. Keys skip headers and empty lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message

from subtitle_rag.base.domain.values import clock
from subtitle_rag.tui.keys.commands import CLOSE, OPEN, in_widget
from subtitle_rag.tui.shared.rows.row_list import Row
from subtitle_rag.tui.shared.scenes.scene_list import SceneList, appearance
from subtitle_rag.tui.shared.scenes.scene_rows import header_row, more_row, scene_row
from subtitle_rag.tui.shared.scenes.video_groups import SHOWN, VideoGroup, group_by_video

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene

BLANK: Row = (Content(), Content())


class _Line(NamedTuple):
    key: str
    """Key of the row, or video id of the header; empty between two videos."""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class _Rest:
    """The hidden scenes of a video."""

    video_id: str
    count: int


class GroupedSceneList(SceneList):
    BINDINGS: ClassVar[list[BindingType]] = [in_widget(OPEN), in_widget(CLOSE)]

    @dataclass
    class EndNear(Message):
        """The last rows became visible, or a video was opened whose further scenes are not loaded."""

        by_user: bool = True
        """Whether the user scrolled or opened a video; otherwise the list has space left."""

    class SceneOpened(Message):
        """Read the scene under the highlight."""

    def __init__(self, tag_of: "Callable[[Scene], str | None]" = lambda _scene: None) -> None:
        """`tag_of` returns the tag of a marked scene, else None."""
        super().__init__()
        self._tag_of = tag_of
        self._scenes: tuple[Scene, ...] = ()
        self._groups: dict[str, VideoGroup] = {}
        self._opened: set[str] = set()
        """Videos that show all their scenes."""
        self._rests: dict[str, _Rest] = {}
        """Rests by the key of their row."""
        self._lines: list[_Line] = []
        self._first_lines: list[int] = []
        """First line by row."""
        self._time_cells = 0
        self._has_channels = False
        """Whether the videos are from several channels."""

    def fill(
        self,
        scenes: Sequence["Scene"],
        keep: str | None,
        *,
        still: bool = False,
        counts: Mapping[str, int] | None = None,
        fold: bool = False,
    ) -> None:
        """Show other scenes. Does not redraw scenes of equal appearance.

        Args:
            scenes: The scenes, best first.
            keep: The row to highlight; the first one if it is missing.
            still: Whether the highlighted row keeps its place on screen, if the list is long enough.
            counts: Scenes found per video.
            fold: Whether to close all videos.
        """
        line = self.cursor_line
        groups = group_by_video(scenes, counts or {})
        lines_before = self._lines
        same = [each.id for each in self._scenes] == [each.id for each in scenes]
        same = same and [each.count for each in self._groups.values()] == [each.count for each in groups.values()]
        same = same and list(map(appearance, self._scenes)) == list(map(appearance, scenes))
        if fold:
            self._opened.clear()
        self._scenes, self._groups = tuple(scenes), groups
        with self.prevent(SceneList.Highlighted):
            above = self._row_before(keep)
            self._lay_out(keep or "")
            if changed := not same or self._lines != lines_before:
                self.redraw()
            row = self.index(keep or "")
            if row is None and (at := self.index(above)) is not None:  # the rest that it represented is now loaded
                row = at + 1
            self.cursor = row or 0
            if still and row is not None:
                self.scroll_to(y=self._first_line(row) - line, animate=False, force=True, immediate=True)
            elif changed:
                self.scroll_to_cursor()
        self._check_room()

    def _check_room(self) -> None:
        if self.size.height and 0 < self.line_count <= self.scroll_y + self.size.height:
            self.post_message(self.EndNear(by_user=False))

    def on_resize(self) -> None:
        self._check_room()

    def _row_before(self, key: str | None) -> str:
        """Return the key of the row above the row of a rest."""
        row = self.index(key or "") if key in self._rests else None
        return self._keys[row - 1] if row else ""

    def _lay_out(self, keep: str) -> None:
        """Place headers, scenes and rests."""
        rows: dict[str, Scene | None] = {}
        self._rests, self._lines, self._first_lines = {}, [], []

        def add(key: str, scene: "Scene | None") -> None:
            rows[key] = scene
            self._first_lines.append(len(self._lines))
            self._lines.append(_Line(key, len(rows) - 1))

        for video_id, group in self._groups.items():
            if self._lines:
                self._lines.append(_Line(""))
            self._lines.append(_Line(video_id))
            visible = group.scenes if video_id in self._opened else group.shown(keep)
            for scene in visible:
                add(scene.id, scene)
            if rest := group.count - len(visible):
                key = f"+{video_id}"
                self._rests[key] = _Rest(video_id, rest)
                add(key, None)
        self.set_values(cast("Mapping[str, Scene]", rows))
        self._time_cells = max((len(clock(scene.at_ms)) for scene in self._scenes), default=0) + 1
        self._has_channels = len({group.video.channel_id for group in self._groups.values()}) > 1

    @property
    def scenes(self) -> Sequence["Scene"]:
        return self._scenes

    # --- lines ---

    @property
    def line_count(self) -> int:
        return len(self._lines)

    def line_parts(self, line: int) -> Row:
        key = self._lines[line].key
        return self._row(key) if key else BLANK

    def _row(self, key: str) -> Row:
        if key not in self._cache:
            self._cache[key] = self._make(key)
        return self._cache[key]

    def _make(self, key: str) -> Row:
        if key in self._groups:
            return header_row(self._groups[key], self.width, with_channel=self._has_channels)
        if rest := self._rests.get(key):
            return more_row(rest.count, self._time_cells)
        scene = self.values_by_key[key]
        return scene_row(scene, self.width, self._time_cells, self._tag_of(scene))

    def lines_of(self, row: int) -> tuple[int, int]:
        return self._first_lines[row], self._first_lines[row] + 1

    def row_of(self, line: int) -> int | None:
        return self._lines[line].row if 0 <= line < len(self._lines) else None

    @property
    def page(self) -> int:
        top = round(self.scroll_offset.y)
        lines = self._lines[top : top + self.size.height]
        return max(1, sum(line.row is not None for line in lines) - 1)

    @property
    def cursor_line(self) -> int:
        """The line of the widget with the highlighted row."""
        return self._first_line(self.cursor) - round(self.scroll_offset.y)

    def _first_line(self, row: int | None) -> int:
        return self._first_lines[row or 0] if self._first_lines else 0

    def scroll_to_cursor(self) -> None:
        """Scroll so that the first scene of a video is visible with its header."""
        if self.cursor is None:
            return
        line = self._first_lines[self.cursor]
        above = 1 if line and self._lines[line - 1].row is None else 0
        region = Region(0, line - above, max(1, self.width), 1 + above)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value and new_value + 2 * self.size.height >= self.line_count:
            self.post_message(self.EndNear())

    # --- the rest of a video ---

    def go_to(self, scene: "Scene") -> None:
        if self.index(scene.id) is None:
            self.open_video(scene.video.id)
        super().go_to(scene)

    def open_video(self, video_id: str) -> None:
        """Show all scenes of a video, or only the best ones. A hidden highlight moves to the video's last scene."""
        key, at = self.cursor_key, self.cursor
        is_closing = video_id in self._opened
        if is_closing:
            self._opened.remove(video_id)
        else:
            self._opened.add(video_id)
        self._lay_out("")
        self.redraw()
        row = self.index(key)
        if row is None and is_closing:
            row = self.index(self._groups[video_id].shown("")[-1].id)
        self.cursor = at if row is None else row
        if not is_closing and len(self._groups[video_id].scenes) < self._groups[video_id].count:
            self.post_message(self.EndNear())

    def open_rest(self) -> bool:
        """Show the rest of a video if its row is highlighted. Returns False for any other row."""
        rest = self._rests.get(self.cursor_key)
        if rest is None:
            return False
        if rest.video_id in self._opened:  # already loading
            self.post_message(self.EndNear())
        else:
            self.open_video(rest.video_id)
        return True

    def action_open(self) -> None:
        if not self.open_rest() and self.value is not None:
            self.post_message(self.SceneOpened())

    def action_close(self) -> None:
        """Show only the best scenes of the video."""
        scene, rest = self.value, self._rests.get(self.cursor_key)
        video_id = scene.video.id if scene else rest.video_id if rest else ""
        if video_id in self._opened:
            self.open_video(video_id)

    def on_click(self, event: events.Click) -> None:
        line = self.line_under(event)
        key = self._lines[line].key if 0 <= line < len(self._lines) else ""
        if self.text_selection is not None or event.chain > 1:
            return
        if key in self._rests:
            self.open_rest()
        elif (group := self._groups.get(key)) and group.count > SHOWN:
            self.open_video(key)
