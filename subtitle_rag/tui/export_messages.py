"""Messages of the export, from its threads."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.exporting import ExportText


@dataclass
class TextExported(Message):
    """The text of scenes in a format."""

    export: "ExportText"


@dataclass
class ExportFailed(Message):
    """The scenes cannot be written in the format."""

    error: "AppError"


@dataclass
class FileWritten(Message):
    path: Path


@dataclass
class FileExists(Message):
    """Nothing was written, as the file is there."""

    path: Path
