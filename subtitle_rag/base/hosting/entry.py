"""What a host and its clients share: the host's kind, and the file with its address."""

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
    """The service of a host, called from several threads at once.

    AppError and ValueError reach the client unchanged, other failures as AppError `unexpected`.
    """

    @property
    def methods(self) -> frozenset[str]:
        """Names of the methods that clients may call."""

    def call(self, order: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Answer a call of one of `methods`; `order` is the client's."""

    def rest(self, quiet_s: float, *, leaving: bool) -> bool:
        """Do idle work at each tick. Return whether the host must exit even if clients are connected.

        `quiet_s` is the time since the last call (0 during a call); `leaving` means that the linger time is over.
        """

    def close(self) -> None:
        """Stop answering and release everything, before the process exits."""


@dataclass(frozen=True, slots=True)
class HostKind:
    """A kind of host: its service, lifetime and failures."""

    path: str
    """This value as `module:NAME`, which the host process imports."""
    service: str
    """Function that opens the service of a folder, as `module:name`, so that clients need not import it."""
    protocol: Version
    """Version of the messages. A host refuses clients of other versions, and exits for newer ones."""
    linger_s: float
    """Seconds that the host stays after its last client."""
    linger_variable: str
    """Environment variable that overrides `linger_s`."""
    reply_s: float
    """Longest wait for a reply."""
    unreachable: Callable[[str], BusyError]
    """Returns the error for an unreachable host, given the reason."""
    failure: Callable[[Path, OSError], AppError]
    """Returns the error for a system error in the folder."""
    died: Callable[[Path, str], AppError | None] = lambda _folder, _signal: None
    """Returns the error for a host that a signal ended, if the signal has a known cause."""
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
    """Return whether a caller's message version is newer than `other`; false if it is malformed."""
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
    """Return device and inode, which are equal for a renamed folder and different for a copy."""
    status = folder.stat()
    return [status.st_dev, status.st_ino]


def write_atomically(path: Path, value: Any) -> None:
    """Write `value` as JSON to `path` (mode 0600), atomically. Raises OSError."""
    replace_content(path, json.dumps(value, ensure_ascii=False, sort_keys=True).encode())
