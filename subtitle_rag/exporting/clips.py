"""Scenes as clips for a player."""

from collections.abc import Sequence

from subtitle_rag.domain import clock
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.player import Clip
from subtitle_rag.terminal_text import line_text


def make_clips(scenes: Sequence[ExportedScene]) -> list[Clip]:
    """Return the scenes that can be played: of their files, else of their links."""
    return [
        Clip(
            str(scene.media or scene.video.url),
            scene.start_ms,
            max(scene.end_ms, scene.start_ms + 1000),
            f"{line_text(scene.video.title)} {clock(scene.start_ms)}",
        )
        for scene in scenes
        if scene.media is not None or scene.video.url is not None
    ]
