"""The formats of `export` by name: scenes as one text, and the file that has it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.exporting import html_page, markdown, playlists, spreadsheets, subtitles
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.file_changes import replace_content
from subtitle_rag.i18n import _, n_


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
    "txt": ExportFormat(markdown.plain_text),
    "srt": ExportFormat(subtitles.srt, one_video=True),
    "vtt": ExportFormat(subtitles.vtt, one_video=True),
    "m3u": ExportFormat(playlists.m3u, playable_only=True),
    "edl": ExportFormat(playlists.edl, files_only=True),
    "html": ExportFormat(html_page.html_page),
    "anki": ExportFormat(spreadsheets.anki),
}


def writable_scenes(format: ExportFormat, scenes: Sequence[ExportedScene]) -> list[ExportedScene]:
    if format.files_only:
        return [scene for scene in scenes if scene.media is not None]
    if format.playable_only:
        return [scene for scene in scenes if scene.media is not None or scene.url is not None]
    return list(scenes)


class ExportText(NamedTuple):
    text: str
    scenes: int
    left_out: int
    """Scenes that the format cannot write."""


def render_export(name: str, scenes: Sequence[ExportedScene], query: str | None) -> ExportText:
    """Write scenes in the format `name`, under the query, or under the title of the only video.

    Raises:
        UsageError: `nothing_to_export`, `nothing_playable`, `several_videos_in_subtitles`.
    """
    format = FORMATS[name]
    usable = writable_scenes(format, scenes)
    if not usable:
        raise UsageError("nothing_playable" if scenes else "nothing_to_export")
    if format.one_video and len({scene.video.id for scene in usable}) > 1:
        raise UsageError("several_videos_in_subtitles", format=name)
    title = usable[0].video.title if len({scene.video.id for scene in scenes}) == 1 else ""
    return ExportText(format.write(usable, query or title or _("Scenes")), len(usable), len(scenes) - len(usable))


def left_out_sentence(count: int) -> str:
    return n_(
        "{n} scene has no video file here and is left out.",
        "{n} scenes have no video file here and are left out.",
        count,
    )


def write_export(path: Path, name: str, text: str) -> None:
    """Write a text in the format `name` into a file whole, or leave the one that is there.

    Raises:
        AppError: `unwritable`.
    """
    content = text.encode("utf-8-sig" if FORMATS[name].byte_order_mark else "utf-8", "surrogateescape")
    try:
        replace_content(path, content)
    except OSError as error:
        raise AppError("unwritable", path=str(path), reason=error.strerror or str(error)) from error
