"""A file beside the library whose space a removal uses on a full disk.

SQLite needs room to delete: for its log, and for the memory that its connections share.
"""

import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path

from subtitle_rag.atomic_files import make_private

logger = logging.getLogger(__name__)

RESERVE_BYTES = 8 * 2**20
"""Twice the log that SQLite writes before it copies it into the library."""
LITTLE_BYTES = 64 * 2**20
"""Free space below which no reserve is made, and a removal releases it."""
_BLOCK = bytes(2**20)


def reserve_path(library: Path) -> Path:
    return library.with_name("reserve")


def keep_reserve(library: Path) -> None:
    """Make the reserve of a library where it is missing and the disk has room; a failure is logged."""
    path = reserve_path(library)
    try:
        if path.exists() or _free(library) < LITTLE_BYTES:
            return
        with path.open("xb") as file:
            make_private(path)
            _allocate(file.fileno())
    except FileExistsError:  # another process is making it
        return
    except OSError:
        logger.info("no space can be reserved for removals", exc_info=True)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def release_reserve(library: Path) -> None:
    """Delete the reserve of a library where the disk has little room; a failure is logged."""
    try:
        if _free(library) < LITTLE_BYTES:
            reserve_path(library).unlink(missing_ok=True)
    except OSError:
        logger.info("the space reserved for removals cannot be released", exc_info=True)


def _free(library: Path) -> int:
    return shutil.disk_usage(library.parent).free


def _allocate(number: int) -> None:
    """Take the blocks of the disk: a file of a size alone may have none."""
    allocate = getattr(os, "posix_fallocate", None)  # not on macOS and Windows
    if allocate is not None:
        allocate(number, 0, RESERVE_BYTES)
        return
    for _ in range(RESERVE_BYTES // len(_BLOCK)):
        os.write(number, _BLOCK)
