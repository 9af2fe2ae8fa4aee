"""Temporary folders of tests in memory, if possible: on a disk, every commit waits."""

import os
import shutil
from pathlib import Path

MEMORY_DISK = Path("/dev/shm")  # Linux only; elsewhere the usual folder is used
NEEDED_BYTES = 4 << 30


def use_memory_disk() -> None:
    """Let pytest make its temporary folders there, unless the user has chosen a place."""
    if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free >= NEEDED_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
