"""Guards of a change of the models' folder: a lock, and errors of the disk."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subtitle_rag.domain import BusyError
from subtitle_rag.models.manifest import NeuralModel


@contextmanager
def alone(folder: Path, model: NeuralModel) -> Iterator[None]:
    """Hold the model's lock across processes; raises BusyError `model_busy` if another process has it."""
    from filelock import FileLock, Timeout

    # a generator may be closed by another thread
    lock = FileLock(folder / f".{model.folder}.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BusyError("model_busy", name=model.name) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Make the folder; raises BusyError `disk_full` or `folder_unwritable` for errors of its disk."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise BusyError("disk_full", path=str(folder)) from error
        raise BusyError("folder_unwritable", path=str(folder), reason=error.strerror or str(error)) from error
