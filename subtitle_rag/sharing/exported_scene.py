"""A scene with everything that export formats need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subtitle_rag.base.domain.values import Cue, Video, pick_json, place_json


@dataclass(frozen=True, slots=True)
class ExportedScene:
    """Part of a video, with its captions and the user's notes; `read_scenes` adds data from the library."""

    video: Video
    start_ms: int
    end_ms: int
    at_ms: int
    """The second to jump to."""
    cues: tuple[Cue, ...] = ()
    id: str | None = None
    """The id of its window; None if the video has no window there."""
    context: str | None = None
    note: str = ""
    tag: str = ""
    media: Path | None = None
    """The video's file next to its captions."""
    clip: Path | None = None
    """The scene's own file, if `clip` has made it."""

    @property
    def text(self) -> str:
        return " ".join(cue.text for cue in self.cues)

    @property
    def sentence(self) -> str:
        """Return the caption line at the second to jump to."""
        lines = [cue.text for cue in self.cues if cue.start_ms <= self.at_ms]
        return lines[-1] if lines else self.cues[0].text if self.cues else ""

    def link(self, at_ms: int) -> str | None:
        """Return the link to a second: on YouTube, or in the video's file (W3C Media Fragments 4.2.1)."""
        if self.media is not None and not self.video.url:
            return f"{self.media.absolute().as_uri()}#t={at_ms // 1000}"
        return self.video.link(at_ms)

    @property
    def url(self) -> str | None:
        """Return the link to the scene's beginning."""
        return self.video.link(self.start_ms)

    @property
    def jump_url(self) -> str | None:
        """Return the link to the scene's best line."""
        return self.video.link(self.at_ms)

    def values(self, rank: int) -> dict[str, Any]:
        """Return the scene's values for JSON, with the fields of `search --json`."""
        return {
            "rank": rank,
            "scene": self.id,
            **place_json(self.video, self.start_ms, self.end_ms, self.at_ms),
            "text": self.text,
            "speakers": list(dict.fromkeys(cue.speaker for cue in self.cues if cue.speaker)),
            **pick_json(self, "context", "note", "tag"),
        }


def by_video(scenes: Iterable[ExportedScene]) -> list[tuple[Video, list[ExportedScene]]]:
    """Group scenes by video, in the order of each video's first scene."""
    groups: dict[str, list[ExportedScene]] = {}
    for scene in scenes:
        groups.setdefault(scene.video.id, []).append(scene)
    return [(group[0].video, group) for group in groups.values()]


def distinct_cues(scenes: Sequence[ExportedScene]) -> list[Cue]:
    """Return the cues of one video's scenes in order, without repeats."""
    cues = {(cue.start_ms, cue.end_ms, cue.speaker, cue.text): cue for scene in scenes for cue in scene.cues}
    return [cues[key] for key in sorted(cues)]
