"""The scenes of a search by video, in the order of each video's best scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.values import Video

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene

SHOWN = 3
"""Most scenes of a video until its group is opened."""


@dataclass(frozen=True, slots=True)
class VideoGroup:
    scenes: "tuple[Scene, ...]"
    """Best first."""
    count: int
    """Scenes found in the video, fetched or not."""

    @property
    def video(self) -> Video:
        return self.scenes[0].video

    def shown(self, kept: str) -> "tuple[Scene, ...]":
        """Return the scenes of the closed group, plus the scene `kept` if it belongs to it."""
        first = self.scenes[:SHOWN]
        rest = [scene for scene in self.scenes[SHOWN:] if scene.id == kept]
        return (*first[: SHOWN - 1], *rest) if rest else first


def group_by_video(scenes: "Sequence[Scene]", counts: Mapping[str, int]) -> dict[str, VideoGroup]:
    """Return the groups by video; `counts` has the number of scenes found in each."""
    by_video: dict[str, list[Scene]] = {}
    for scene in scenes:
        by_video.setdefault(scene.video.id, []).append(scene)
    return {id: VideoGroup(tuple(some), max(len(some), counts.get(id, 0))) for id, some in by_video.items()}
