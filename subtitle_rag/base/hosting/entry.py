"""Agreement of a host and its clients: the host's kind, and the file with its address."""

import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from subtitle_rag.base.atomic_files import replace_content
from subtitle_rag.base.domain.errors import AppError, BusyError

logger = logging.getLogger(__name__)

SOCKET_PREFIX = "subtitle-rag-"

Version = int | tuple[int | str, ...]


class Service(Protocol):
    """Work of a host, called from several threads at once.

    AppError and ValueError reach the client unchanged, other failures as AppError `unexpected`.
    """

    @property
    def methods(self) -> frozenset[str]:
        """Names of the methods that clients may call."""

    def call(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Answer a client's call of one of `methods`, with the client's order."""

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        """Do idle work; return whether the host must exit although clients are connected.

        Called at each tick with the seconds since the last call (0 during a call), and whether the linger time is over.
        """

    def close(self) -> None:
        """Stop answering and release everything: the process exits."""


@dataclass(frozen=True, slots=True)
class HostKind:
    """A kind of host: its service, lifetime and failures."""

    path: str
    """This value as `module:NAME`, which the host process imports."""
    service: str
    """Function that opens the service of a folder, as `module:name`: clients do not import it."""
    protocol: Version
    """Version of the messages; a host refuses clients of another version, and leaves for a newer one."""
    linger_s: float
    """Seconds for which the host outlives its last client."""
    linger_variable: str
    """Environment variable that overrides `linger_s`."""
    reply_s: float
    """Longest wait for a reply."""
    unreachable: Callable[[str], BusyError]
    """Returns the error for an unreachable host, given the reason."""
    failure: Callable[[Path, OSError], AppError]
    """Returns the error for a system error in the folder."""
    died: Callable[[Path, str], AppError | None] = lambda _folder, _signal: None
    """Returns the error for the signal that ended a host, if the signal tells more than its name."""
    prepare_process: Callable[[], None] = lambda: None
    """Called first in a new host process."""

    @property
    def name(self) -> str:
        """The host's name in the log, such as `index-host`."""
        return self.path.partition(":")[0].rpartition(".")[2].replace("_", "-")

    def linger(self) -> float:
        """Return the current linger time in seconds."""
        return seconds_from(self.linger_variable, self.linger_s)


def seconds_from(variable: str, default: float) -> float:
    """Return the seconds in an environment variable; the default if it is empty, negative or not a number."""
    value = os.environ.get(variable) or default
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if seconds >= 0:  # false for nan
        return seconds
    logger.warning("%s is no number of seconds: %.40r", variable, value)
    return default


def is_newer(version: Any, other: Version) -> bool:
    """Whether a caller's version of the messages is newer than another; false for any other form."""
    try:
        return bool(version > other)
    except TypeError:
        return False


def host_entry(folder: Path) -> dict[str, Any] | None:
    """Read `host.json`, with `address` and `key` as text; None if it is not for a host of this folder."""
    try:
        entry = json.loads((folder / "host.json").read_text(encoding="utf-8"))
        if entry["folder"] == identity(folder):
            return {**entry, "address": str(entry["address"]), "key": str(entry["key"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def identity(folder: Path) -> list[int]:
    """Return device and inode: equal under another name, different for a copy with its copied `host.json`."""
    status = folder.stat()
    return [status.st_dev, status.st_ino]


def write_atomically(path: Path, value: Any) -> None:
    """Write `value` as JSON to `path` (mode 0600), atomically. Raises OSError."""
    replace_content(path, json.dumps(value, ensure_ascii=False, sort_keys=True).encode())
