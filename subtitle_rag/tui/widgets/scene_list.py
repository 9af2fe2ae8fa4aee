"""The scenes of a search as a list."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from subtitle_rag.tui.keys import widget_bindings
from subtitle_rag.tui.text import scene_row
from subtitle_rag.tui.widgets.row_list import LINES, RowList

if TYPE_CHECKING:
    from subtitle_rag.retrieval.search.scenes import Scene


class SceneList(RowList["Scene"]):
    """The scenes of a search, and the base of other lists of scenes.

    The query has the focus: the screen forwards the keys for moving.
    """

    BINDINGS = widget_bindings("list.previous-of-video list.next-of-video scene.copy-markdown list.query")

    def __init__(self, tag_of: "Callable[[Scene], str | None]" = lambda _scene: None) -> None:
        """`tag_of` returns the tag of a marked scene, else None."""
        super().__init__("scenes")
        self.add_class("panel")
        self._tag_of = tag_of
        self.cited_ms: dict[str, list[int]] = {}
        """Further cited times, by video."""

    def fill(self, scenes: Sequence["Scene"], keep: str | None, *, still: bool = False) -> None:
        """Show other scenes; the highlight goes to the scene `keep` if it is among them, else to the top.

        With `still` the highlighted row stays where it is on the screen, as far as the list is long enough. Scenes of
        equal appearance are not redrawn.
        """
        line = self.cursor_line
        scenes_by_id = {scene.id: scene for scene in scenes}
        same = list(map(appearance, self.values)) == list(map(appearance, scenes))
        with self.prevent(SceneList.Highlighted):
            if same and list(self.values_by_key) == list(scenes_by_id):
                self.set_values(scenes_by_id)
            else:
                self.put(scenes_by_id, lambda scene: scene_row(scene, self.width, self._tag_of(scene)))
            self.cursor = self.index(keep or "") or 0
            if still and keep and self.index(keep) is not None:
                self.put_cursor(keep, line)

    @property
    def cursor_line(self) -> int:
        """The line of the widget at which the highlighted row begins."""
        return LINES * (self.cursor or 0) - round(self.scroll_offset.y)

    def put_cursor(self, id: str, line: int) -> None:
        """Highlight a row, and scroll so that it begins at a line of the widget, as far as the list is long enough."""
        self.cursor = self.index(id)
        self.scroll_to(y=LINES * (self.cursor or 0) - line, animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self.scroll_to_cursor)

    def of_video(self, video_id: str) -> list["Scene"]:
        """Return the listed scenes of a video, in the order of time."""
        scenes = (scene for scene in self.values if scene.video.id == video_id)
        return sorted(scenes, key=lambda scene: (scene.at_ms, scene.rank))

    def to_nearest(self, video_id: str, at_ms: int) -> None:
        """Move the highlight to the video's scene nearest to a time, if one is listed."""
        nearest = min(self.of_video(video_id), key=lambda each: (abs(each.at_ms - at_ms), each.rank), default=None)
        if nearest is not None:
            self.cursor = self.index(nearest.id)

    def action_beside(self, step: int) -> None:
        """Move to the next or previous scene of the same video in time, within its ends."""
        if (scene := self.value) is not None:
            scenes = self.of_video(scene.video.id)
            at = max(0, min(len(scenes) - 1, scenes.index(scene) + step))
            self.cursor = self.index(scenes[at].id)


def appearance(scene: "Scene") -> tuple[object, ...]:
    """Return the visible values of a scene: equal ones need no redraw."""
    marks = (scene.highlights, scene.related, scene.title_highlights, scene.reason, scene.copies)
    return scene.video, scene.text, scene.lines, scene.at_ms, *marks
