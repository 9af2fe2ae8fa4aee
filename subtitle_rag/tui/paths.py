"""What somebody typed, pasted or dropped into the library's field: which files it names, and what lies there.

Looking is bounded in time: a home folder, or the root of a disk, must not be walked while somebody still types.
"""

import os
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

LOOK_S = 0.7
"""Longest look into a folder."""

_ADDRESS = re.compile(r"(?:https?://|www\.|(?:m\.)?youtube\.com/|youtu\.be/|@[\w.-]+$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Check:
    """What is known about a typed path."""

    kind: Literal["nothing", "address", "missing", "files"]
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
        parts = [_path(part) for part in shlex.split(text)]
    except ValueError:  # a quote that is still open
        return [whole]
    return parts if all(os.path.lexists(part) for part in parts) else [whole]


def is_address(text: str) -> bool:
    """Whether `text` looks like something on the web."""
    return _ADDRESS.match(text.strip().strip("'\"")) is not None


def look(text: str, stop: Callable[[], bool] = lambda: False) -> Check:
    """What `text` names; for a folder, how many caption files lie in it and below."""
    if is_address(text):
        return Check("address")
    paths = typed_paths(text)
    if not paths:
        return Check("nothing")
    if not all(path.exists() for path in paths):
        return Check("missing")
    deadline = time.monotonic() + LOOK_S
    total = 0
    for path in paths:
        found, more = _count(path, lambda: stop() or time.monotonic() > deadline)
        total += found
        if more:
            return Check("files", total, True)
    return Check("files", total)


def _path(text: str) -> Path:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text.lower().startswith("file://"):
        text = unquote(urlsplit(text).path)
        if os.name == "nt":
            text = text.lstrip("/")
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # ~somebody whom the system does not know
        return path


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
