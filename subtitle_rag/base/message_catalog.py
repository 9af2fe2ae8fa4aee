"""Compiler of message catalogues: `.po` to the `.mo` that gettext reads.

A wheel has only the `.mo`. In a checkout, which lacks it, the program compiles it whenever the `.po` has changed, so a
fresh clone speaks Korean without an extra step.
"""

import ast
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MAGIC = 0x950412DE
_HEADER = struct.Struct("<7I")
_ENTRY = struct.Struct("<2I")


def compile_changed(po: Path) -> bytes | None:
    """Update the `.mo` next to a `.po`, if there is a `.po`.

    Returns the compiled catalogue if the folder is not writable, else None. The file gets the time of the `.po`, so a
    checkout of an older `.po` counts as a change too.

    Raises:
        ValueError, SyntaxError: the `.po` has an invalid line.
    """
    mo = po.with_suffix(".mo")
    try:
        changed_at = po.stat().st_mtime_ns
    except OSError:
        return None
    with suppress(OSError):
        if mo.stat().st_mtime_ns == changed_at:
            return None
    compiled = compile_catalog(po.read_text(encoding="utf-8"))
    try:
        _write(mo, compiled, changed_at)
    except OSError:
        return compiled
    return None


def _write(path: Path, content: bytes, changed_at: int) -> None:
    """Replace the file atomically: other processes read it, or write it too."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(content)
    try:
        Path(file.name).chmod(0o644)
        os.utime(file.name, ns=(changed_at, changed_at))
        Path(file.name).replace(path)
    except OSError:
        Path(file.name).unlink(missing_ok=True)
        raise


def compile_catalog(po: str) -> bytes:
    """Return the `.mo` for the text of a `.po`, without untranslated sentences.

    Raises:
        ValueError, SyntaxError: a line is invalid.
    """
    messages = sorted((key.encode(), value.encode()) for key, value in _messages(po) if value)
    offset = _HEADER.size + 2 * _ENTRY.size * len(messages)
    tables, texts = [], []
    for column in zip(*messages, strict=True):
        for text in column:
            tables.append(_ENTRY.pack(len(text), offset))
            texts.append(text + b"\0")
            offset += len(text) + 1
    count, first = len(messages), _HEADER.size
    header = _HEADER.pack(_MAGIC, 0, count, first, first + _ENTRY.size * count, 0, offset)
    return b"".join((header, *tables, *texts))


def _messages(po: str) -> Iterator[tuple[str, str]]:
    r"""Yield the ids with their translations; `\0` separates plural forms."""
    for block in po.split("\n\n"):
        parts: dict[str, list[str]] = {}
        name = ""
        for line in block.splitlines():
            if not line or line.startswith("#"):
                continue
            if not line.startswith('"'):
                name, _blank, line = line.partition(" ")
            if not name.startswith(("msgid", "msgstr")):
                raise ValueError(f"not understood: {line}")
            parts.setdefault(name, []).append(ast.literal_eval(line))
        texts = {name: "".join(strings) for name, strings in parts.items()}
        if "msgid" in texts:
            key = "\0".join(text for name, text in texts.items() if name.startswith("msgid"))
            yield key, "\0".join(text for name, text in texts.items() if name.startswith("msgstr")).strip("\0")
