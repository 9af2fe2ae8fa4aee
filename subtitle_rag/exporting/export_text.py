"""Scenes in a format as one text, and the file that has it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.exporting.exported_scene import ExportedScene
from subtitle_rag.exporting.formats import FORMATS, writable_scenes
from subtitle_rag.i18n import _, n_
from subtitle_rag.platforms import replace_content


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
    sentence = n_(
        "{n} scene has no video file here and is left out.",
        "{n} scenes have no video file here and are left out.",
        count,
    )
    return sentence.format(n=count)


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
