"""Scenes for players: mpv's edit decision list of local files, M3U, and clips for the player that is started."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subtitle_rag.domain import clock
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.terminal_text import line_text

if TYPE_CHECKING:
    from subtitle_rag.player import Clip


def edl(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write the scenes that have a local file, one after another as mpv plays them."""
    from subtitle_rag.player import mpv

    entries = [
        f"{mpv.counted(str(scene.media))},{scene.start_ms / 1000:.3f},{(scene.end_ms - scene.start_ms) / 1000:.3f},"
        f"title={mpv.counted(_title(scene))}\n"
        for scene in scenes
        if scene.media is not None
    ]
    return "# mpv EDL v0\n" + "".join(entries)


def m3u(scenes: Sequence[ExportedScene], title: str) -> str:
    """Write the scenes' files or links for VLC, which reads their starts and ends; mpv plays each file whole."""
    lines = ["#EXTM3U", f"#PLAYLIST:{_one_line(title)}"]
    for scene in scenes:
        address = scene.media.absolute().as_uri() if scene.media is not None else scene.url
        if address is None:
            continue
        seconds = max(1, round((scene.end_ms - scene.start_ms) / 1000))
        lines.append(f"#EXTINF:{seconds},{_one_line(_title(scene))}")
        if scene.media is not None:
            lines.append(f"#EXTVLCOPT:start-time={scene.start_ms / 1000:.3f}")
            lines.append(f"#EXTVLCOPT:stop-time={scene.end_ms / 1000:.3f}")
        lines.append(address)
    return "".join(f"{line}\n" for line in lines)


def make_clips(scenes: Sequence[ExportedScene]) -> "list[Clip]":
    """Return the scenes that can be played: of their files, else of their links."""
    from subtitle_rag.player import Clip

    return [
        Clip(str(address), scene.start_ms, max(scene.end_ms, scene.start_ms + 1000), _title(scene))
        for scene in scenes
        if (address := scene.media or scene.video.url) is not None
    ]


def _title(scene: ExportedScene) -> str:
    return f"{line_text(scene.video.title)} {clock(scene.start_ms)}"


def _one_line(text: str) -> str:
    return " ".join(line_text(text).split())
