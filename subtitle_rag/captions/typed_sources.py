"""Sources in a typed, pasted or dropped text: caption files, or addresses on YouTube.

Existing files win, since folders can have names like handles and ids. An address is parsed without a request.
"""

import os
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from subtitle_rag.base.platforms import on_windows
from subtitle_rag.captions.addresses import Source, parse_addresses


class TypedSources(NamedTuple):
    """Sources in a text, or else paths, which may not exist."""

    paths: list[Path]
    sources: tuple[Source, ...] = ()


def read_typed(text: str) -> TypedSources:
    """Return the sources or paths in a text; addresses count if its paths do not exist.

    Raises:
        UsageError: `unsupported_url`, for an address that names no source.
    """
    paths = typed_paths(text)
    if all(os.path.lexists(path) for path in paths):
        return TypedSources(paths)
    return TypedSources(paths, parse_addresses(text))


def typed_paths(text: str) -> list[Path]:
    """Return the paths in `text`, without the quotes, escapes and `file://` of drag and drop, `~` expanded.

    A text is split only if it is not itself a path.
    """
    if os.path.lexists(text):
        return [Path(text)]
    text = text.strip()
    if not text:
        return []
    path = _path(text)
    if os.path.lexists(path):
        return [path]
    try:
        # on Windows a backslash is no escape; `_path` removes the quotes
        parts = [_path(part) for part in shlex.split(text, posix=not on_windows())]
    except ValueError:  # an unclosed quote
        return [path]
    return parts if parts and all(os.path.lexists(part) for part in parts) else [path]


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
    """Return the path of a `file://` address; on Windows it begins with a drive or a host name."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    if not on_windows():
        return path
    return f"//{parts.netloc}{path}" if parts.netloc not in ("", "localhost") else path.lstrip("/")
