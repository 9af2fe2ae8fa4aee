"""The text of the library's field, typed, pasted or dropped: caption files, or addresses on YouTube.

Files go first, since folders can be named like handles and ids. A look into a folder has a time limit: nobody waits
for a home folder, or the root of a disk, while typing. An address is parsed, without any request.
"""

import os
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from subtitle_rag.captions import Source, looks_like_address, parse_address
from subtitle_rag.domain import UsageError
from subtitle_rag.platforms import on_windows

LOOK_S = 0.7
"""Longest look into a folder."""


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """The meaning of the field's text."""

    kind: Literal["nothing", "missing", "files", "source", "refused"]
    paths: tuple[Path, ...] = ()
    sources: tuple[Source, ...] = ()
    refusal: UsageError | None = None
    """Why an address cannot be used."""
    files: int = 0
    more: bool = False
    """The look ended before the folder did."""

    @property
    def names_lists(self) -> bool:
        """Whether an address of a video names a list, too."""
        return any(source.playlist for source in self.sources)


def typed_paths(text: str) -> list[Path]:
    """Return the files or folders in `text`, without quotes, escapes and `file://` of drag and drop, `~` expanded.

    Only a text that is no path itself is split into several.
    """
    text = text.strip()
    if not text:
        return []
    path = _path(text)
    if os.path.lexists(path):
        return [path]
    try:
        # backslashes are no escapes on Windows; `_path` removes the quotes
        parts = [_path(part) for part in shlex.split(text, posix=not on_windows())]
    except ValueError:  # a quote that is still open
        return [path]
    return parts if all(os.path.lexists(part) for part in parts) else [path]


def pasted_address(text: str) -> str | None:
    """Return the address, or several with a space between two, if the pasted text holds nothing else."""
    addresses = _addresses(text)
    return " ".join(addresses) if addresses else None


def pasted_line(text: str) -> str:
    """Return the pasted text as one line: each line of several is a path, in quotes if it has spaces."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if len(lines) < 2:
        return "".join(lines)
    return " ".join(f'"{line}"' if " " in line and not set(line) & set("\"'\\") else line for line in lines)


def read(text: str, *, whole_list: bool = False) -> FieldCheck:
    """Return the meaning of `text`, without a look into folders.

    `whole_list` asks for the lists that addresses of videos name.
    """
    paths = tuple(typed_paths(text))
    if not paths:
        return FieldCheck("nothing")
    if all(os.path.exists(path) for path in paths):  # noqa: PTH110 - Path.exists() raises for names that are too long
        return FieldCheck("files", paths)
    try:
        sources = [parse_address(address) for address in _addresses(text) or [text]]
    except UsageError as refusal:
        if looks_like_address(text) and not text.strip("\"' ").lower().startswith("file:"):
            return FieldCheck("refused", refusal=refusal)
        return FieldCheck("missing", paths)
    if whole_list:
        sources = [Source("playlist", source.playlist) if source.playlist else source for source in sources]
    return FieldCheck("source", sources=tuple(dict.fromkeys(sources)))


def look(text: str, stop: Callable[[], bool] = lambda: False) -> FieldCheck:
    """Return the meaning of `text`; for a folder, with the number of caption files in it and below."""
    check = read(text)
    if check.kind != "files":
        return check
    deadline = time.monotonic() + LOOK_S
    total = 0
    for path in check.paths:
        files, more = _count(path, lambda: stop() or time.monotonic() > deadline)
        total += files
        if more:
            return replace(check, files=total, more=True)
    return replace(check, files=total)


def _addresses(text: str) -> list[str]:
    """Return the addresses in `text`, with nothing but space between them; none if it holds anything else."""
    words = text.split()
    return words if all(map(looks_like_address, words)) else []


def _path(text: str) -> Path:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text.lower().startswith("file://"):
        text = _of_uri(text)
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:  # ~user, unknown to the system
        return path


def _of_uri(uri: str) -> str:
    """Return the path of a `file://` address; on Windows it begins with a drive or another computer's name."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if not on_windows():
        return path
    return f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path.lstrip("/")


def _count(path: Path, stop: Callable[[], bool]) -> tuple[int, bool]:
    from subtitle_rag.captions import caption_suffixes

    suffixes = caption_suffixes(certain=True)
    if not path.is_dir():
        return int(path.name.lower().endswith(suffixes)), False
    total = 0
    for _folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        total += sum(name.lower().endswith(suffixes) and not name.startswith(".") for name in names)
        if stop():
            return total, True
    return total, False
