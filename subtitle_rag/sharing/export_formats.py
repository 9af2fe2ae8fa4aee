"""Export formats by name: scenes as one text, and the file for it."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from subtitle_rag.base.atomic_files import replace_content, replace_path
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.plugins import EXPORT_FORMATS, is_built_in, load_plugin, plugin_failure, plugin_names
from subtitle_rag.sharing.exported_scene import ExportedScene


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """Conversion of scenes and a title to text, and its limits."""

    write: Callable[[Sequence[ExportedScene], str], str]
    one_video: bool = False
    """Whether its times make sense for one video only."""
    byte_order_mark: bool = False
    """Whether a file begins with a byte order mark, which Excel needs to read Korean."""
    write_file: Callable[[Sequence[ExportedScene], str, Path], None] | None = None
    """Writes a binary file. `write` then previews the content."""


SUFFIXES = {"markdown": "md", "apkg": "anki"}
"""Alternative suffixes of a format."""


def format_of_file(path: Path | None) -> str:
    """Return the format of a file's suffix; Markdown without a suffix or file. Raises UsageError `unknown_value`."""
    suffix = path.suffix.lower().removeprefix(".") if path else ""
    name = SUFFIXES.get(suffix, suffix) or "md"
    if name not in plugin_names(EXPORT_FORMATS):
        raise _unknown_format(name)
    return name


def export_format(name: str) -> ExportFormat:
    """Return a format by name, built-in or from a plug-in.

    Raises:
        UsageError: `unknown_value`.
        AppError: `plugin_broken`.
    """
    format = load_plugin(EXPORT_FORMATS, name, ExportFormat)
    if format is None:
        raise _unknown_format(name)
    return format


def _unknown_format(name: str) -> UsageError:
    known = ", ".join(plugin_names(EXPORT_FORMATS))
    return UsageError("unknown_value", kind=_("export format"), name=name, known=known)


class ExportText(NamedTuple):
    """Scenes written in a format."""

    format: str
    text: str
    title: str
    written: Sequence[ExportedScene]

    @property
    def scenes(self) -> int:
        return len(self.written)


def render_export(name: str, scenes: Sequence[ExportedScene], query: str | None) -> ExportText:
    """Write scenes in a format, titled by the query, the only video, or the only channel.

    Raises:
        UsageError: `nothing_chosen`, `several_videos_in_subtitles`.
    """
    format = export_format(name)
    if not scenes:
        raise UsageError("nothing_chosen")
    videos = {scene.video.id: scene.video for scene in scenes}
    if format.one_video and len(videos) > 1:
        raise UsageError("several_videos_in_subtitles", format=name)
    titles, channels = {video.title for video in videos.values()}, {video.channel for video in videos.values()}
    title = query or (titles.pop() if len(videos) == 1 else channels.pop() if len(channels) == 1 else "") or _("Scenes")
    try:
        text = format.write(scenes, title)
    except Exception as error:  # a plug-in may raise anything
        if is_built_in(EXPORT_FORMATS, name):
            raise
        raise plugin_failure(EXPORT_FORMATS, name, error) from error
    return ExportText(name, text, title, scenes)


def is_binary(name: str) -> bool:
    """Whether a format can only be written to a file."""
    return export_format(name).write_file is not None


def write_export(path: Path, export: ExportText) -> None:
    """Write scenes to a file completely, or leave an existing one unchanged.

    Raises:
        AppError: `unwritable`.
    """
    format = export_format(export.format)
    try:
        if format.write_file is None:
            content = export.text.encode("utf-8-sig" if format.byte_order_mark else "utf-8", "surrogateescape")
            replace_content(path, content)
        else:
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".subtitle-rag-") as folder:
                file = Path(folder) / path.name
                format.write_file(export.written, export.title, file)
                replace_path(file, path)
    except OSError as error:
        raise AppError("unwritable", path=str(path), reason=error.strerror or str(error)) from error
