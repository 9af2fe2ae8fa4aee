"""A regular `sync` by the system's own scheduler: a systemd user timer, a launchd agent, or a line of cron.

A `Change` says beforehand what is written and run. Files and lines carry a mark, and only those with the mark are
replaced or removed. Sources: systemd.timer(5), systemd.service(5), launchd.plist(5), crontab(5).
"""

import logging
import os
import shlex
import shutil
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol

from subtitle_rag.atomic_files import has_mark, replace_content
from subtitle_rag.domain import AppError, UsageError, os_error_as_unwritable

logger = logging.getLogger(__name__)
Interval = Literal["daily", "weekly"]

NAME = "subtitle-rag-sync"
LABEL = "subtitle-rag.sync"
"""The agent's name on macOS."""
MARK = "Made by subtitle-rag for a regular sync."
NICENESS = 15
PROGRAM_TIMEOUT_S = 30
FIRST_HOUR, HOURS = 3, 3
"""Runs are spread over these hours of the night, since YouTube need not meet everybody at 3:00."""
_UNIT_HEAD = f"# {MARK}\n[Unit]\nDescription=New captions of followed channels\n"


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is set up."""

    scheduler: str
    """As in `Change`."""
    interval: Interval


@dataclass(frozen=True, slots=True)
class Change:
    """What a schedule's change stops, writes or deletes, and starts, in this order."""

    scheduler: str
    """`systemd`, `launchd` or `cron`."""
    files: Mapping[Path, str]
    """Text by path; an empty text deletes the file."""
    stops: Sequence[Sequence[str]] = ()
    """Commands that may fail: what they stop need not be loaded."""
    commands: Sequence[Sequence[str]] = ()
    crontab: str | None = None
    """The user's whole new crontab."""


class Scheduler(Protocol):
    """One of the system's schedulers."""

    def addition(self, interval: Interval, command: Sequence[str]) -> Change:
        """Return the change that runs `command` daily or weekly.

        Raises:
            UsageError: `foreign_file`.
            AppError: `schedule_failed`.
        """

    def removal(self) -> Change | None:
        """Return the change that takes the schedule away; None without one.

        Raises:
            AppError: `schedule_failed`.
        """

    def schedule(self) -> Schedule | None:
        """Return what is set up; None without anything. Raises as `removal` does."""


class Systemd:
    """A user's timer. It makes up for a run that was missed while the computer was off."""

    def __init__(self) -> None:
        config_home = os.environ.get("XDG_CONFIG_HOME", "")
        folder = Path(config_home) if Path(config_home).is_absolute() else Path.home() / ".config"
        self._service = folder / "systemd" / "user" / f"{NAME}.service"
        self._timer = self._service.with_suffix(".timer")

    @staticmethod
    def is_there() -> bool:
        """Whether a systemd of this user answers; in a container or over su there is often none."""
        if shutil.which("systemctl") is None:
            return False
        return _run("systemctl", "--user", "show-environment").returncode == 0

    def addition(self, interval: Interval, command: Sequence[str]) -> Change:
        files = {self._service: _service_unit(command), self._timer: _timer_unit(interval)}
        _refuse_foreign(files)
        return Change(
            "systemd",
            files,
            commands=(
                ("systemctl", "--user", "daemon-reload"),
                ("systemctl", "--user", "enable", "--now", self._timer.name),
            ),
        )

    def removal(self) -> Change | None:
        files = {path: "" for path in (self._service, self._timer) if has_mark(path, MARK)}
        stop = ("systemctl", "--user", "disable", "--now", self._timer.name)
        reload = ("systemctl", "--user", "daemon-reload")
        return Change("systemd", files, (stop,), (reload,)) if files else None

    def schedule(self) -> Schedule | None:
        if not has_mark(self._timer, MARK):
            return None
        text = self._timer.read_text(encoding="utf-8", errors="replace")
        return Schedule("systemd", "weekly" if "OnCalendar=weekly" in text else "daily")


class Launchd:
    """An agent of the user on macOS."""

    def __init__(self) -> None:
        self._agent = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def addition(self, interval: Interval, command: Sequence[str]) -> Change:
        import plistlib

        hour, minute = _time_of_day(command)
        at = {"Hour": hour, "Minute": minute} | ({"Weekday": 0} if interval == "weekly" else {})
        values = {
            "Label": LABEL,
            "ProgramArguments": list(command),
            "StartCalendarInterval": at,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "Nice": NICENESS,
        }
        head, body = plistlib.dumps(values).decode().split("<plist", 1)
        files = {self._agent: f"{head}<!-- {MARK} -->\n<plist{body}"}
        _refuse_foreign(files)
        load = ("launchctl", "bootstrap", self._domain(), str(self._agent))
        return Change("launchd", files, (self._unload(),) if self._agent.exists() else (), (load,))

    def removal(self) -> Change | None:
        return Change("launchd", {self._agent: ""}, (self._unload(),)) if has_mark(self._agent, MARK) else None

    def schedule(self) -> Schedule | None:
        if not has_mark(self._agent, MARK):
            return None
        text = self._agent.read_text(encoding="utf-8", errors="replace")
        return Schedule("launchd", "weekly" if "<key>Weekday</key>" in text else "daily")

    def _unload(self) -> tuple[str, ...]:
        return "launchctl", "bootout", f"{self._domain()}/{LABEL}"

    @staticmethod
    def _domain() -> str:
        return f"gui/{os.getuid()}"


class Cron:
    """A line of the user's crontab, below a comment with the mark."""

    def addition(self, interval: Interval, command: Sequence[str]) -> Change:
        hour, minute = _time_of_day(command)
        day = "0" if interval == "weekly" else "*"
        line = shlex.join(("nice", "-n", str(NICENESS), *command)).replace("%", r"\%")
        entry = f"# {MARK}\n{minute} {hour} * * {day} {line} >/dev/null 2>&1\n"
        return Change("cron", {}, crontab=self._without_entry() + entry)

    def removal(self) -> Change | None:
        remaining_crontab = self._without_entry()
        return Change("cron", {}, crontab=remaining_crontab) if remaining_crontab != self._crontab() else None

    def schedule(self) -> Schedule | None:
        lines = self._crontab().splitlines()
        entry = next((below for mark, below in pairwise(lines) if MARK in mark), None)
        if entry is None:
            return None
        return Schedule("cron", "daily" if entry.split()[4:5] == ["*"] else "weekly")

    def _without_entry(self) -> str:
        """Return the crontab without the marked comment and the line below it."""
        lines = self._crontab().splitlines(keepends=True)
        marked = {at for at, line in enumerate(lines) if MARK in line}
        other_lines = [line for at, line in enumerate(lines) if at not in marked and at - 1 not in marked]
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in other_lines)

    @staticmethod
    def _crontab() -> str:
        ended = _run("crontab", "-l")
        if ended.returncode and "no crontab" not in ended.stderr.lower():
            raise AppError("schedule_failed", command="crontab -l", reason=ended.stderr.strip())
        return "" if ended.returncode else ended.stdout


def scheduler() -> Scheduler:
    """Return the scheduler of this system.

    Raises:
        UsageError: `no_scheduler`, on Windows, and where neither systemd nor cron is there.
    """
    if sys.platform == "darwin":
        return Launchd()
    if sys.platform == "linux" and Systemd.is_there():
        return Systemd()
    if sys.platform != "win32" and shutil.which("crontab"):
        return Cron()
    raise UsageError("no_scheduler")


def current_schedule() -> Schedule | None:
    """Return what is set up; None without anything, and where it cannot be read."""
    kinds: dict[str, tuple[type[Scheduler], ...]] = {"darwin": (Launchd,), "win32": ()}
    try:
        for kind in kinds.get(sys.platform, (Systemd, Cron)):
            if (kind is not Cron or shutil.which("crontab")) and (schedule := kind().schedule()):
                return schedule
    except (AppError, OSError):
        logger.info("no schedule can be read", exc_info=True)
    return None


def apply(change: Change) -> None:
    """Carry out a change.

    Raises:
        UsageError: `unwritable`.
        AppError: `schedule_failed`, with the words of the program that failed.
    """
    for command in change.stops:
        ended = _run(*command)
        if ended.returncode:
            logger.info("%s ends with %d: %s", shlex.join(command), ended.returncode, ended.stderr.strip())
    for path, text in change.files.items():
        with os_error_as_unwritable(path):
            if text:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_content(path, text.encode(), 0o644)
            else:
                path.unlink(missing_ok=True)
    if change.crontab is not None:
        _run_or_raise("crontab", "-", stdin=change.crontab)
    for command in change.commands:
        _run_or_raise(*command)


def _service_unit(command: Sequence[str]) -> str:
    return f"""{_UNIT_HEAD}
[Service]
Type=oneshot
ExecStart={" ".join(map(_unit_argument, command))}
Nice={NICENESS}
CPUSchedulingPolicy=batch
IOSchedulingClass=idle
SuccessExitStatus=3
"""


def _timer_unit(interval: Interval) -> str:
    return f"""{_UNIT_HEAD}
[Timer]
OnCalendar={interval}
Persistent=true
RandomizedDelaySec={HOURS}h

[Install]
WantedBy=timers.target
"""


def _unit_argument(value: str) -> str:
    """Return an argument of ExecStart, in quotes, without specifiers and variables."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _time_of_day(command: Sequence[str]) -> tuple[int, int]:
    """Return hour and minute, the same ones for the same command."""
    hours, minute = divmod(zlib.crc32("\0".join(command).encode()) % (HOURS * 60), 60)
    return FIRST_HOUR + hours, minute


def _refuse_foreign(files: Mapping[Path, str]) -> None:
    for path in files:
        if os.path.lexists(path) and not has_mark(path, MARK):
            raise UsageError("foreign_file", path=str(path))


def _run_or_raise(*command: str, stdin: str | None = None) -> None:
    ended = _run(*command, stdin=stdin)
    if ended.returncode:
        reason = (ended.stderr or ended.stdout).strip() or str(ended.returncode)
        raise AppError("schedule_failed", command=shlex.join(command), reason=reason)


def _run(*command: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 - the system's scheduler, with our own arguments
            command,
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PROGRAM_TIMEOUT_S,
            **({"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}),
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AppError("schedule_failed", command=shlex.join(command), reason=str(error)) from error
