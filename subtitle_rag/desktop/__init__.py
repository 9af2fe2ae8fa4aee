"""An entry in the desktop's menu, and its icon, by the Desktop Entry Specification; on Linux alone.

Both go into the user's own data folder. They carry a mark, and only files with the mark are replaced or removed.
"""

import os
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from subtitle_rag.atomic_files import has_mark, replace_content
from subtitle_rag.domain import UsageError, os_error_as_unwritable
from subtitle_rag.i18n import N_, translated

NAME = "subtitle-rag"
ENTRY_MARK = "X-SubtitleRag-Made=true"
ICON_MARK = "Made by subtitle-rag desktop install."
TITLE = N_("Scene search")
COMMENT = N_("Find the scene: search the captions of Korean video on your own machine.")
KEYWORDS = N_("captions;subtitles;video;YouTube;")
_RESERVED = re.compile(r"[\s\"'\\><~|&;$*?#()`]")


def entry_paths() -> tuple[Path, Path]:
    """Return the paths of the entry and the icon.

    Raises:
        UsageError: `no_desktop_entries`, on macOS and Windows.
    """
    if sys.platform in ("darwin", "win32", "cygwin"):
        raise UsageError("no_desktop_entries")
    data_home = os.environ.get("XDG_DATA_HOME", "")
    data = Path(data_home) if Path(data_home).is_absolute() else Path.home() / ".local" / "share"
    return data / "applications" / f"{NAME}.desktop", data / "icons/hicolor/scalable/apps" / f"{NAME}.svg"


def install(command: Sequence[str]) -> list[Path]:
    """Write the icon and the entry for `command`; return their paths.

    Raises:
        UsageError: `no_desktop_entries`, `foreign_file`, `unwritable`.
    """
    entry_path, icon_path = entry_paths()
    icon = (files("subtitle_rag.desktop") / f"{NAME}.svg").read_text(encoding="utf-8")
    contents = [(icon_path, icon, ICON_MARK), (entry_path, entry(command), ENTRY_MARK)]
    for path, _text, mark in contents:
        if os.path.lexists(path) and not has_mark(path, mark):
            raise UsageError("foreign_file", path=str(path))
    for path, text, _mark in contents:
        with os_error_as_unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_content(path, text.encode(), 0o644)
    return [path for path, _text, _mark in contents]


def remove() -> list[Path]:
    """Delete the files of `install`; return their paths.

    Raises:
        UsageError: `no_desktop_entries`, `unwritable`.
    """
    entry_path, icon_path = entry_paths()
    removed = []
    for path, mark in ((entry_path, ENTRY_MARK), (icon_path, ICON_MARK)):
        if has_mark(path, mark):
            with os_error_as_unwritable(path):
                path.unlink()
            removed.append(path)
    return removed


def start_command(started_as: str) -> list[str]:
    """Return the command for this copy by its absolute path; `started_as` is argv[0] of this process."""
    program = Path(started_as)
    beside = Path(sys.executable).parent / NAME
    for each in (program.absolute() if program.name == NAME else beside, beside):
        if each.is_file() and os.access(each, os.X_OK):
            return [str(each)]
    return [str(Path(sys.executable).absolute()), "-m", "subtitle_rag"]


def entry(command: Sequence[str]) -> str:
    """Return the text of the entry, in English and Korean."""
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        "Version=1.5",
        f"Name={_string(TITLE)}",
        f"Name[ko]={_string(translated(TITLE, 'ko'))}",
        f"Comment={_string(COMMENT)}",
        f"Comment[ko]={_string(translated(COMMENT, 'ko'))}",
        f"Exec={_string(' '.join(map(_argument, command)))}",
        f"TryExec={_string(command[0])}",
        f"Icon={NAME}",
        "Terminal=true",
        "StartupNotify=true",
        "Categories=AudioVideo;Video;Database;",
        f"Keywords={KEYWORDS}",
        f"Keywords[ko]={translated(KEYWORDS, 'ko')}",
        ENTRY_MARK,
    ]
    return "\n".join(lines) + "\n"


def _string(value: str) -> str:
    """Return a value of the type string, with line ends and backslashes escaped."""
    escapes = {"\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
    return "".join(escapes.get(each, each) for each in value)


def _argument(value: str) -> str:
    """Return an argument of Exec, quoted if necessary, without field codes."""
    value = value.replace("%", "%%")
    if value and not _RESERVED.search(value):
        return value
    return '"' + re.sub(r'(["`$\\])', r"\\\1", value) + '"'
