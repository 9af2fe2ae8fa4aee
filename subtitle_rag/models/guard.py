"""What surrounds a change of the models' folder: one process at a time, and words for a disk that refuses."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subtitle_rag.errors import BusyError
from subtitle_rag.models.manifest import Neural


@contextmanager
def alone(folder: Path, offered: Neural) -> Iterator[None]:
    """Hold the model's lock, across processes; raises BusyError `model_busy` where another holds it."""
    from filelock import FileLock, Timeout

    # a generator may be closed by another thread than the one that began it
    held = FileLock(folder / f".{offered.folder}.lock", thread_local=False)
    try:
        held.acquire(timeout=0)
    except Timeout:
        raise BusyError("model_busy", name=offered.name) from None
    try:
        yield
    finally:
        held.release()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make the folder; what its disk refuses is raised as BusyError `disk_full` or `folder_unwritable`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise BusyError("disk_full", path=str(folder)) from error
        raise BusyError("folder_unwritable", path=str(folder), reason=error.strerror or str(error)) from error
