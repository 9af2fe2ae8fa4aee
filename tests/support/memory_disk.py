"""The folders of tests in memory, where there is a file system for that: every commit waits for a disk otherwise."""

import os
import shutil
from pathlib import Path

MEMORY_DISK = Path("/dev/shm")  # of Linux; elsewhere the usual folder serves
NEEDED_BYTES = 4 << 30


def use_memory_disk() -> None:
    """Have pytest make its temporary folders there, unless whoever runs it names a place of their own."""
    if os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free >= NEEDED_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
