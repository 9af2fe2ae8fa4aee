"""Lists of scenes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subtitle_rag.tui.shared.rows.row_list import RowList

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


class SceneList(RowList["Scene"]):
    """A list of scenes with a preview."""

    def __init__(self) -> None:
        super().__init__("scenes")
        self.add_class("panel")

    @property
    def scenes(self) -> Sequence["Scene"]:
        """All scenes in the list."""
        return self.values

    def of_video(self, video_id: str) -> list["Scene"]:
        """Return its scenes of a video, in order of time."""
        scenes = (scene for scene in self.scenes if scene.video.id == video_id)
        return sorted(scenes, key=lambda scene: (scene.at_ms, scene.rank))

    def go_to(self, scene: "Scene") -> None:
        """Move the highlight to a scene in the list."""
        self.cursor = self.index(scene.id)

    def to_nearest(self, video_id: str, at_ms: int) -> None:
        """Move the highlight to the video's scene nearest to a time, if any."""
        nearest = min(self.of_video(video_id), key=lambda each: (abs(each.at_ms - at_ms), each.rank), default=None)
        if nearest is not None:
            self.go_to(nearest)

    def on_resize(self) -> None:
        self.call_after_refresh(self.scroll_to_cursor)


def appearance(scene: "Scene") -> tuple[object, ...]:
    """Return the visible values of a scene: equal ones need no redraw."""
    marks = (scene.highlights, scene.related, scene.title_highlights, scene.reason, scene.copies)
    return scene.video, scene.text, scene.lines, scene.at_ms, *marks
