"""Connections that only read: to a library on a disk that takes no writes, as a snapshot, a share or a full one.

SQLite shares memory between the readers of a WAL in a file beside the library, which such a disk does not give. A
library without a log is read without it. One with a log, which a live program or a snapshot of it leaves, is copied to
a folder of temporary files, once a process.
"""

import shutil
import tempfile
import threading
from pathlib import Path
from urllib.parse import quote

_copies: dict[tuple[Path, int], "tempfile.TemporaryDirectory[str]"] = {}
_lock = threading.Lock()


def readable_uri(path: Path) -> str:
    """Return the URI of a library that nothing is written to; raises OSError."""
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
