"""What a host and its clients have to agree on: their kind, and the file that says how to reach the host."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.platforms import delete_file, replace_path

SOCKET_PREFIX = "subtitle-rag-"


@dataclass(frozen=True, slots=True)
class HostKind:
    """One sort of host."""

    module: str
    """Run with `-m` and a JSON argument: folder, report, and what its clients order."""
    protocol: int | tuple[int, ...]
    """Version of what goes over a connection; clients and a host of different versions do not talk."""
    unreachable: Callable[[str], BusyError]
    """What it means that a host does not answer, for this reason."""
    failure: Callable[[Path, OSError], AppError]
    """What a failure of the system in its folder means."""
    reply_s: float
    """Longest wait for a reply."""
    signals: Mapping[int, str] = field(default_factory=dict)
    """Signal that ended a host → code of the BusyError, with the folder's `path`, that it means."""

    @property
    def name(self) -> str:
        """The host's name in the log, such as `index-host`."""
        return self.module.rpartition(".")[2].replace("_", "-")


def host_entry(folder: Path) -> dict[str, Any] | None:
    """What `host.json` says, with text under `address` and `key`; None where it names no host of this folder."""
    try:
        entry = json.loads((folder / "host.json").read_text(encoding="utf-8"))
        if entry["folder"] == identity(folder):
            return {**entry, "address": str(entry["address"]), "key": str(entry["key"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def identity(folder: Path) -> list[int]:
    """Tells a folder from its copies, which hold a copy of `host.json`, but not from its other names."""
    status = folder.stat()
    return [status.st_dev, status.st_ino]


def write_atomically(path: Path, value: Any) -> None:
    """`value` as JSON in `path` (mode 0600), either wholly or not at all; raises OSError."""
    handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        replace_path(Path(name), path)
    except BaseException:
        delete_file(Path(name))
        raise
