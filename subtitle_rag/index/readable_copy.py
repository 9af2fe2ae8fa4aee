"""Temporary copy of an index on a read-only disk, since the engine writes to the files that it opens."""

import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from subtitle_rag.base.hosting.entry import SOCKET_PREFIX

logger = logging.getLogger(__name__)

UNWRITABLE = frozenset({"library_readonly", "disk_full", "disk_short", "disk_error"})
"""Codes of an index that its host cannot open in place."""
BLOCK = 2**20
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of its own in it


def readable_copy(folder: Path) -> Path | None:
    """Copy an index unless that is done, and return the copy; None if there is no index, or no space.

    Raises OSError.
    """
    if not (folder / "meta.json").exists() or not (folder / "shard").is_dir():
        return None
    files = [folder / "meta.json", *(path for path in (folder / "shard").rglob("*") if path.is_file())]
    stamps = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    name = SOCKET_PREFIX + hashlib.sha256(repr(stamps).encode()).hexdigest()[:8]
    size = sum(path.stat().st_blocks * 512 for path in files)
    for place in _places():
        copy = place / name
        if _is_own(copy / "index"):
            return copy / "index"
        if shutil.disk_usage(place).free < size + 2**28 or copy.exists():
            continue
        part = Path(tempfile.mkdtemp(prefix=SOCKET_PREFIX, dir=place))
        try:
            for path in files:
                _copy_sparse(path, part / "index" / path.relative_to(folder))
            part.rename(copy)
        except OSError:
            logger.info("the index cannot be copied to %s", place, exc_info=True)
            shutil.rmtree(part, ignore_errors=True)
            continue
        return copy / "index"
    return None


def _places() -> Iterator[Path]:
    yield Path(tempfile.gettempdir())
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        yield MEMORY


def _is_own(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _copy_sparse(source: Path, target: Path) -> None:
    """Copy a file without its holes; the engine's are of 32 MiB."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as reader, target.open("wb") as writer:
        while block := reader.read(BLOCK):
            if block.count(0) == len(block):
                writer.seek(len(block), os.SEEK_CUR)
            else:
                writer.write(block)
        writer.truncate()
