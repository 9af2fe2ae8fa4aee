"""The script by which mpv searches within the video that it plays."""

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from subtitle_rag.atomic_files import replace_content
from subtitle_rag.domain import UsageError, os_error_as_unwritable
from subtitle_rag.i18n import _
from subtitle_rag.platforms import on_windows

NAME = "subtitle-rag.lua"
MARK = "-- Made by subtitle-rag player mpv-script."
"""Begins the file; only a file with it is replaced or removed."""


def script(command: Sequence[str], home: str) -> str:
    """Return the script for `command`, with the sentences in the user's language."""
    text = (files("subtitle_rag.player") / NAME).read_text(encoding="utf-8")
    words = {
        "title": _("Search in this video:"),
        "help": _("Enter searches · Esc closes"),
        "suggestion": _("Tab takes:"),
        "searching": _("Searching …"),
        "nothing": _("Nothing like that is said in this video."),
        "no_video": _("This is no video of the library."),
        "failed": _("subtitle-rag gave no answer."),
    }
    words_table = ", ".join(f"{name} = {_quoted(sentence)}" for name, sentence in words.items())
    for name, empty, value in (
        ("COMMAND", "{}", f"{{{', '.join(map(_quoted, command))}}}"),
        ("HOME", '""', _quoted(home)),
        ("WORDS", "{}", f"{{{words_table}}}"),
    ):
        text = text.replace(f"local {name} = {empty} -- filled in by --install", f"local {name} = {value}", 1)
    return text


def path() -> Path:
    """Return the file in mpv's folder of scripts (mpv's manual, "FILES")."""
    config = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if home := os.environ.get("MPV_HOME"):
        folder = Path(home)
    elif on_windows():
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "mpv"
    else:
        folder = (config if config.is_absolute() else Path.home() / ".config") / "mpv"
    return folder / "scripts" / NAME


def install(text: str) -> Path:
    """Write the script, and return its path.

    Raises:
        UsageError: `foreign_file`, `unwritable`.
    """
    target = path()
    if os.path.lexists(target) and not _is_ours(target):
        raise UsageError("foreign_file", path=str(target))
    with os_error_as_unwritable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_content(target, text.encode())
    return target


def remove() -> Path | None:
    """Delete the script; return its path, or None if there is none.

    Raises:
        UsageError: `unwritable`.
    """
    target = path()
    if not _is_ours(target):
        return None
    with os_error_as_unwritable(target):
        target.unlink()
    return target


def _is_ours(target: Path) -> bool:
    try:
        with target.open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip() == MARK
    except OSError:
        return False


def _quoted(text: str) -> str:
    """Return a string of Lua; bytes beyond ASCII stay, as Lua's strings are bytes."""
    escaped = "".join(f"\\{ord(char):03d}" if char < " " or char in '"\\\x7f' else char for char in text)
    return f'"{escaped}"'
