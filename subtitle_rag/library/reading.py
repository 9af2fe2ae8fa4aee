"""Read-only connections to a library on a read-only disk: a snapshot, a share or a full disk.

In WAL mode SQLite needs a writable file next to the library. A library without a log is read without it. One with a
log, left by a running program or a snapshot of it, is copied to a temporary folder once per process.
"""

import shutil
import tempfile
import threading
from pathlib import Path
from urllib.parse import quote

_copies: dict[tuple[Path, int], "tempfile.TemporaryDirectory[str]"] = {}
_lock = threading.Lock()


def readable_uri(path: Path) -> str:
    """Return the URI to read a library without writing; raises OSError."""
    log = Path(f"{path}-wal")
    try:
        has_log = log.stat().st_size > 0
    except FileNotFoundError:
        has_log = False
    if has_log:
        return _uri(_copied(path, log), "mode=rwc")
    return _uri(path, "immutable=1")


def _copied(path: Path, log: Path) -> Path:
    with _lock:
        key = path, log.stat().st_mtime_ns
        if key not in _copies:
            folder = tempfile.TemporaryDirectory(prefix="subtitle-rag-")
            for file in (path, log):
                shutil.copyfile(file, Path(folder.name) / file.name)
            _copies[key] = folder
        return Path(_copies[key].name) / path.name


def _uri(path: Path, parameters: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{parameters}"
