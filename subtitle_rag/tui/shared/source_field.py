"""The text of the library's field, typed, pasted or dropped: caption files, or addresses on YouTube.

Scanning a folder has a time limit, so that typing never waits for a home folder or a whole disk.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.captions.address_lists import is_address_list, read_address_list
from subtitle_rag.captions.addresses import Source, find_addresses
from subtitle_rag.captions.typed_sources import read_typed
from subtitle_rag.workflows.requests import video_or_list

LOOK_S = 0.7
"""Longest scan of a folder."""


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """The meaning of the field's text."""

    kind: Literal["nothing", "words", "missing", "files", "list", "source", "refused"]
    paths: tuple[Path, ...] = ()
    sources: tuple[Source, ...] = ()
    refusal: UsageError | None = None
    """Why an address is unusable."""
    files: int = 0
    """Caption files in the folder, or addresses of a list."""
    films: int = 0
    """Films and sound files in the folder."""
    more: bool = False
    """Whether the scan ended before the folder did."""

    @property
    def names_lists(self) -> bool:
        """Whether a video's address also names a list."""
        return any(source.playlist for source in self.sources)


def pasted_address(text: str) -> str | None:
    """Return the address in a pasted text, or several separated by spaces."""
    try:
        return " ".join(find_addresses(text)) or None
    except UsageError:  # too long to search
        return None


def typed_url(text: str) -> str | None:
    """Return the addresses in a typed text; None if it has other words. A name after @ is a filter there."""
    addresses = pasted_address(text)
    if not addresses or "/" not in addresses:
        return None
    for address in sorted(addresses.split(), key=len, reverse=True):
        text = text.replace(address, " ")
    return None if any(map(str.isalnum, text)) else addresses


def pasted_line(text: str) -> str:
    """Return the pasted text as one line: several lines are paths, quoted if they contain spaces."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if len(lines) < 2:
        return "".join(lines)
    return " ".join(f'"{line}"' if " " in line and not set(line) & set("\"'\\") else line for line in lines)


def read(text: str, *, whole_list: bool = False) -> FieldCheck:
    """Return the meaning of `text`, without scanning folders.

    `whole_list` selects the lists in addresses of videos.
    """
    try:
        paths, sources = read_typed(text)
    except UsageError as refusal:
        return FieldCheck("refused", refusal=refusal)
    if not paths:
        return FieldCheck("nothing")
    if not sources:
        exist = all(os.path.exists(path) for path in paths)  # noqa: PTH110 - Path.exists() raises for names too long
        if exist and len(paths) == 1 and is_address_list(paths[0]):
            return FieldCheck("list", tuple(paths))
        return FieldCheck("files" if exist else "missing" if _is_path(text) else "words", tuple(paths))
    if whole_list:
        sources = tuple(dict.fromkeys(video_or_list(source, lambda _source: True) for source in sources))
    return FieldCheck("source", sources=sources)


def _is_path(text: str) -> bool:
    """Return whether a text begins like a path. A slash or a file's ending alone can be words: `A/S`, `3/4`, `.srt`."""
    return re.match(r"[~/\\]|\.\.?[/\\]|[a-z]:[/\\]|file://", text.lstrip(" '\""), re.IGNORECASE) is not None


def look(text: str, stop: Callable[[], bool] = lambda: False) -> FieldCheck:
    """Return the meaning of `text`; for a folder, with the number of caption files below it."""
    check = read(text)
    if check.kind == "list":
        try:
            return replace(check, files=len(read_address_list(check.paths[0]).sources))
        except UsageError as refusal:
            return FieldCheck("refused", refusal=refusal)
    if check.kind != "files":
        return check
    deadline = time.monotonic() + LOOK_S
    total = films = 0
    for path in check.paths:
        for files, media in _counts(path):
            total, films = total + files, films + media
            if stop() or time.monotonic() > deadline:
                return replace(check, files=total, films=films, more=True)
    return replace(check, files=total, films=films)


def _counts(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the number of caption files, and of films and sound files, one by one for a folder."""
    from subtitle_rag.captions.file_names import MEDIA_SUFFIXES
    from subtitle_rag.captions.formats import caption_suffixes

    suffixes, media = caption_suffixes(certain=True), tuple(MEDIA_SUFFIXES)
    if not path.is_dir():
        yield int(path.name.lower().endswith(suffixes)), int(path.name.lower().endswith(media))
        return
    for _folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        visible_names = [name for name in names if not name.startswith(".")]
        yield (
            sum(name.lower().endswith(suffixes) for name in visible_names),
            sum(name.lower().endswith(media) for name in visible_names),
        )
