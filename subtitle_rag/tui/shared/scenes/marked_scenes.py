"""The marks of the library, by scene."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.values import Video
from subtitle_rag.tui.shared.spoken_lines import scene_of_lines

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark
    from subtitle_rag.search.scenes import Scene


class MarkedScenes:
    def __init__(self, marks: "Iterable[Mark]" = (), videos: Mapping[str, Video] | None = None) -> None:
        """`videos` are the videos of the marks that are still in the library."""
        self.marks = tuple(marks)
        """The marks in the order of their creation."""
        self._videos = videos or {}
        self._by_video: dict[str, list[Mark]] = {}
        for mark in self.marks:
            self._by_video.setdefault(mark.video_id, []).append(mark)

    def mark_of(self, scene: "Scene") -> "Mark | None":
        """Return the mark with the scene's span, else one where either jump time is within the other's span.

        Another query merges other windows, so the spans of a scene and its mark may differ.
        """
        marks = self._by_video.get(scene.video.id, [])
        span = (scene.start_ms, scene.end_ms)
        exact = (mark for mark in marks if (mark.start_ms, mark.end_ms) == span)
        near = (
            mark
            for mark in marks
            if scene.start_ms <= mark.at_ms < scene.end_ms or mark.start_ms <= scene.at_ms < mark.end_ms
        )
        return next(exact, None) or next(near, None)

    def tag_of(self, scene: "Scene") -> str | None:
        """Return the tag of a marked scene, possibly empty; None for an unmarked one."""
        mark = self.mark_of(scene)
        return mark.tag if mark else None

    def scene_of(self, mark: "Mark") -> "Scene":
        """Return a mark as a scene, to play and export."""
        video = self._videos.get(mark.video_id) or Video(mark.video_id, mark.title, "", mark.channel, mark.url)
        return scene_of_lines(video, [(mark.at_ms, mark.line)], mark.at_ms, (mark.start_ms, mark.end_ms))

    @property
    def tags(self) -> list[str]:
        return sorted({mark.tag for mark in self.marks if mark.tag})
