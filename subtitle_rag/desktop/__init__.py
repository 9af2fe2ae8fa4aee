"""An entry in the desktop's menu, and its icon, by the Desktop Entry Specification; on Linux alone.

Both go into the user's own data folder. They carry a mark, and only files with the mark are replaced or removed.
"""

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, translated

NAME = "subtitle-rag"
ENTRY_MARK = "X-SubtitleRag-Made=true"
ICON_MARK = "Made by subtitle-rag desktop install."
TITLE = N_("Scene search")
COMMENT = N_("Find the scene: search the captions of Korean video on your own machine.")
KEYWORDS = N_("captions;subtitles;video;YouTube;")
_RESERVED = re.compile(r"[\s\"'\\><~|&;$*?#()`]")


def places() -> tuple[Path, Path]:
    """Where the entry and the icon belong.

    Raises:
        UsageError: `no_desktop_entries`, on systems that have none.
    """
    if sys.platform in ("darwin", "win32", "cygwin"):
        raise UsageError("no_desktop_entries")
    given = os.environ.get("XDG_DATA_HOME", "")
    data = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share"
    return data / "applications" / f"{NAME}.desktop", data / "icons/hicolor/scalable/apps" / f"{NAME}.svg"


def install(command: Sequence[str]) -> list[Path]:
    """Write the icon and the entry that starts `command`; returns what was written.

    Raises:
        UsageError: `no_desktop_entries`, `foreign_file`, `unwritable`.
    """
    entry_place, icon_place = places()
    icon = (files("subtitle_rag.desktop") / f"{NAME}.svg").read_text(encoding="utf-8")
    wanted = [(icon_place, icon, ICON_MARK), (entry_place, entry(command), ENTRY_MARK)]
    for place, _text, mark in wanted:
        if os.path.lexists(place) and not _is_own(place, mark):
            raise UsageError("foreign_file", path=str(place))
    for place, text, _mark in wanted:
        try:
            _write(place, text)
        except OSError as error:
            raise UsageError("unwritable", path=str(place), reason=error.strerror or str(error)) from error
    return [place for place, _text, _mark in wanted]


def remove() -> list[Path]:
    """Delete what `install` wrote; returns what was deleted.

    Raises:
        UsageError: `no_desktop_entries`, `unwritable`.
    """
    entry_place, icon_place = places()
    removed = []
    for place, mark in ((entry_place, ENTRY_MARK), (icon_place, ICON_MARK)):
        if _is_own(place, mark):
            try:
                place.unlink()
            except OSError as error:
                raise UsageError("unwritable", path=str(place), reason=error.strerror or str(error)) from error
            removed.append(place)
    return removed


def own_command(started_as: str) -> list[str]:
    """The command that starts this copy, by its absolute path; `started_as` is how this process was started."""
    here = Path(started_as)
    beside = Path(sys.executable).parent / NAME
    for each in (here.absolute() if here.name == NAME else beside, beside):
        if each.is_file() and os.access(each, os.X_OK):
            return [str(each)]
    return [str(Path(sys.executable).absolute()), "-m", "subtitle_rag"]


def entry(command: Sequence[str]) -> str:
    """The text of the entry, in English and Korean."""
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
    """A value of the type string: what would end the line or begin an escape is escaped."""
    escapes = {"\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
    return "".join(escapes.get(each, each) for each in value)


def _argument(value: str) -> str:
    """An argument of Exec: in quotes where it must be, and without field codes."""
    value = value.replace("%", "%%")
    if value and not _RESERVED.search(value):
        return value
    return '"' + re.sub(r'(["`$\\])', r"\\\1", value) + '"'


def _is_own(place: Path, mark: str) -> bool:
    try:
        return mark in place.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _write(place: Path, text: str) -> None:
    """Write the file either wholly or not at all; desktops read it at any moment."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
