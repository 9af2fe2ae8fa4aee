"""Scenes as clips for a player."""

from collections.abc import Sequence

from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.sharing.exported_scene import ExportedScene
from subtitle_rag.sharing.player.mpv import Clip


def make_clips(scenes: Sequence[ExportedScene]) -> list[Clip]:
    """Return clips of the playable scenes, from their files or else their links."""
    from subtitle_rag.sharing.player.mpv import Clip

    return [
        Clip(str(address), scene.start_ms, max(scene.end_ms, scene.start_ms + 1000), _title(scene))
        for scene in scenes
        if (address := scene.media or scene.video.url) is not None
    ]


def _title(scene: ExportedScene) -> str:
    return f"{line_text(scene.video.title)} {clock(scene.start_ms)}"
