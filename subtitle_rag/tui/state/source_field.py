"""What somebody typed, pasted or dropped into the library's field: caption files, or a place on YouTube.

What lies on the disk goes first, for folders can be named like handles and ids. Looking is bounded in time: a home
folder, or the root of a disk, must not be walked while somebody still types. An address is read and never asked.
"""

import os
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from subtitle_rag.captions.addresses import Source, looks_like_address, parse
from subtitle_rag.errors import UsageError
from subtitle_rag.platforms import on_windows

LOOK_S = 0.7
"""Longest look into a folder."""


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """What the field's text names."""

    kind: Literal["nothing", "missing", "files", "source", "refused"]
    paths: tuple[Path, ...] = ()
    source: Source | None = None
    refusal: UsageError | None = None
    """Why what looks like an address is none that can be used."""
    files: int = 0
    more: bool = False
    """The look ended before the folder did."""


def typed_paths(text: str) -> list[Path]:
    """The files or folders that `text` names: quotes, escapes and `file://` of drag and drop taken off, `~` expanded.

    Several are taken apart only where the whole is no path itself.
    """
    text = text.strip()
    if not text:
        return []
    whole = _path(text)
    if os.path.lexists(whole):
        return [whole]
    try:
        # backslashes are no escapes on Windows; the quotes that stay there are taken off below
        parts = [_path(part) for part in shlex.split(text, posix=not on_windows())]
    except ValueError:  # a quote that is still open
        return [whole]
    return parts if all(os.path.lexists(part) for part in parts) else [whole]


def pasted_address(text: str) -> str | None:
    """The address, if what was pasted is one and nothing else."""
    words = text.split()
    return words[0] if len(words) == 1 and looks_like_address(words[0]) else None


def read(text: str) -> FieldCheck:
    """What `text` names, without a look at what lies there."""
    paths = tuple(typed_paths(text))
    if not paths:
        return FieldCheck("nothing")
    if all(os.path.exists(path) for path in paths):  # noqa: PTH110 - Path.exists() raises for names that are too long
        return FieldCheck("files", paths)
    try:
        return FieldCheck("source", source=parse(text))
    except UsageError as refusal:
        if looks_like_address(text) and not text.strip("\"' ").lower().startswith("file:"):
            return FieldCheck("refused", refusal=refusal)
    return FieldCheck("missing", paths)


def look(text: str, stop: Callable[[], bool] = lambda: False) -> FieldCheck:
    """What `text` names; for a folder, how many caption files lie in it and below."""
    check = read(text)
    if check.kind != "files":
        return check
    deadline = time.monotonic() + LOOK_S
    total = 0
    for path in check.paths:
        found, more = _count(path, lambda: stop() or time.monotonic() > deadline)
        total += found
        if more:
            return replace(check, files=total, more=True)
    return replace(check, files=total)


def _path(text: str) -> Path:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text.lower().startswith("file://"):
        text = _of_uri(text)
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # ~somebody whom the system does not know
        return path


def _of_uri(uri: str) -> str:
    """The path that a `file://` address names; on Windows it begins with a drive or with another computer's name."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if not on_windows():
        return path
    return f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path.lstrip("/")


def _count(path: Path, stop: Callable[[], bool]) -> tuple[int, bool]:
    from subtitle_rag.captions.files import FORMATS

    suffixes = tuple(f".{format}" for format in FORMATS)
    if not path.is_dir():
        return int(path.name.lower().endswith(suffixes)), False
    found = 0
    for _folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        found += sum(name.lower().endswith(suffixes) and not name.startswith(".") for name in names)
        if stop():
            return found, True
    return found, False
