"""The bug report: one Markdown text for the user to read, and to attach or paste.

It holds versions, the settings without secrets, the checks of `doctor`, the size of the library and the last lines of
the log without debugging. No title, query or caption is in it, and the user's home and name are shortened. A part that
fails, because the library is damaged for example, says why; the others still follow.
"""

import getpass
import logging
import os
import platform
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from subtitle_rag import __version__, log_file
from subtitle_rag.atomic_files import create_text
from subtitle_rag.config import Settings
from subtitle_rag.doctor import Check
from subtitle_rag.domain import AppError, UsageError, os_error_as_unwritable
from subtitle_rag.installation import EXTRAS, current_environment, version_report
from subtitle_rag.redaction import MARK, describe, one_line, redact, register_secret
from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

LINES = 500
"""Lines of the log."""
WITHHELD = frozenset({("youtube", "cookies_from_browser"), ("youtube", "cookie_file")})
"""Settings reported only as set or empty."""
NAMES_ONLY = frozenset({"players", "themes"})
"""Tables reported by their names alone: a player's command may hold anything."""

_LEVEL = re.compile(r"^\S+ (?:INFO|WARNING|ERROR|CRITICAL) ")


def write(path: Path, text: str) -> None:
    """Write the report into a new file, readable by its owner alone.

    Raises:
        UsageError: `report_exists`, `unwritable`.
    """
    with os_error_as_unwritable(path):
        try:
            create_text(path, text)
        except FileExistsError as error:
            raise UsageError("report_exists", path=str(path)) from error


def compose(runtime: Runtime, checks: Iterable[Check]) -> str:
    """Return the report on `runtime`, with these checks."""
    settings = runtime.settings
    if settings.qdrant.api_key_env:
        register_secret(os.environ.get(settings.qdrant.api_key_env, ""))
    parts: dict[str, Callable[[], Iterable[str]]] = {
        "Versions": _versions,
        "Settings": lambda: _settings(settings),
        "Checks": lambda: [f"{check.severity:<7} {check.name}: {check.message}" for check in checks],
        "Library": lambda: [f"{name} = {n}" for name, n in asdict(runtime.library.counts()).items()],
        f"Log, the last {LINES} lines without those for debugging": lambda: log_lines(settings.paths.log),
    }
    shorten = shortener()
    lines = ["# subtitle-rag bug report", ""]
    for title, part in parts.items():
        part_lines = [shorten(one_line(redact(line))) for line in _lines_of(title, part)]
        fence = "`" * max(3, 1 + max((len(run) for line in part_lines for run in re.findall("`+", line)), default=0))
        lines += [f"## {title}", "", fence, *part_lines, fence, ""]
    return "\n".join(lines)


def _lines_of(section: str, part: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(part())
    except Exception as error:  # a report on a damaged part must come all the same
        logger.info("%s cannot be reported", section, exc_info=True)
        return [f"cannot be told: {describe(error)}"]


def _versions() -> Iterator[str]:
    yield f"subtitle-rag {__version__}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()}), SQLite {sqlite3.sqlite_version}"
    yield f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} processors"
    yield f"encoding {sys.getfilesystemencoding()}, language {os.environ.get('LANG', '')}"
    yield f"terminal {os.environ.get('TERM', '')} {os.environ.get('TERM_PROGRAM', '')}".rstrip()
    environment = current_environment()
    extras = ", ".join(extra.name for extra in EXTRAS.values() if extra.is_installed)
    source = environment.origin.url or "an index"
    yield f"installed by {environment.installer} from {source}, extras: {extras or 'none'}"
    yield ""
    try:
        packages = version_report().packages
    except AppError:  # it runs from its source
        return
    for package in sorted(packages, key=lambda each: each.name.lower()):
        yield f"{package.name} {package.installed or 'is not installed'}"


def _settings(settings: Settings) -> Iterator[str]:
    for section, values in asdict(settings).items():
        if section in NAMES_ONLY:
            yield f"{section} = {', '.join(sorted(values)) or 'none'}"
        elif isinstance(values, dict):
            for key, value in values.items():
                if (section, key) in WITHHELD:
                    text = MARK if value else ""
                else:
                    text = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
                yield f"{section}.{key} = {text}"
        else:
            yield f"{section} = {values}"
    if settings.qdrant.api_key_env:
        there = settings.qdrant.api_key_env in os.environ
        yield f"the key's environment variable is {'set' if there else 'not set'}"


def log_lines(folder: Path) -> list[str]:
    """Return the last lines of the log above level debug, the oldest first."""
    lines: list[str] = []
    names = [log_file.NAME, *(f"{log_file.NAME}.{n}" for n in range(1, log_file.BACKUPS + 1))]
    for name in names:
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            continue
        lines = [line for line in text.split("\n") if _LEVEL.match(line)] + lines
        if len(lines) >= LINES:
            break
    return lines[-LINES:]


def shortener(home: Path | None = None, user: str | None = None) -> Callable[[str], str]:
    """Return a function that replaces the user's home, and their name within a path, by `~`."""
    home = home or _home()
    homes = {str(each) for each in (home, home.resolve())} if home else set()
    homes |= {each.replace("\\", "\\\\") for each in homes} | {each.replace("\\", "/") for each in homes}
    homes = {each for each in homes if len(each) > 1}  # the root of everything is no home
    users = {user if user is not None else _user(), home.name if home else ""} - {""}
    patterns = [rf"{re.escape(each)}(?=[\\/]|[^\w.-]|$)" for each in sorted(homes, key=len, reverse=True)]
    patterns += [rf"(?<=[\\/]){re.escape(each)}(?=[\\/]|[^\w.-]|$)" for each in sorted(users)]
    pattern = re.compile("|".join(patterns) or "(?!)", re.IGNORECASE)
    return lambda line: pattern.sub("~", line)


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # an unknown user
        return None


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # likewise
        return ""
