"""The formats of `export` by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.exporting import html_page, markdown, plain_text, playlists, spreadsheets, subtitles
from subtitle_rag.exporting.exported_scene import ExportedScene


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How scenes and a title become text, and which scenes can."""

    write: Callable[[Sequence[ExportedScene], str], str]
    one_video: bool = False
    """Its times are those of one video."""
    files_only: bool = False
    """Scenes without a local video file are left out."""
    playable_only: bool = False
    """Scenes with neither link nor file are left out."""
    byte_order_mark: bool = False
    """A file begins with a byte order mark: Excel reads Korean only with one."""


FORMATS: Mapping[str, ExportFormat] = {
    "md": ExportFormat(markdown.markdown),
    "csv": ExportFormat(spreadsheets.comma_separated, byte_order_mark=True),
    "jsonl": ExportFormat(spreadsheets.jsonl),
    "txt": ExportFormat(plain_text.plain_text),
    "srt": ExportFormat(subtitles.srt, one_video=True),
    "vtt": ExportFormat(subtitles.vtt, one_video=True),
    "m3u": ExportFormat(playlists.m3u, playable_only=True),
    "edl": ExportFormat(playlists.edl, files_only=True),
    "html": ExportFormat(html_page.html_page),
    "anki": ExportFormat(spreadsheets.anki),
}


def writable_scenes(format: ExportFormat, scenes: Sequence[ExportedScene]) -> list[ExportedScene]:
    """Return the scenes that a format can write."""
    if format.files_only:
        return [scene for scene in scenes if scene.media is not None]
    if format.playable_only:
        return [scene for scene in scenes if scene.media is not None or scene.url is not None]
    return list(scenes)
