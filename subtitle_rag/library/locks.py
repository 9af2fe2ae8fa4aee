"""Locks beside the library's file: one at a time indexes, one fetches, one writes contexts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subtitle_rag.errors import BusyError
from subtitle_rag.library.connection import unwritable


@contextmanager
def hold_lock(lock: Path, busy: BusyError, patience: float = 0) -> Iterator[None]:
    """Hold a lock, across processes; raises `busy` where another holds it for longer than so many seconds."""
    from filelock import FileLock, Timeout

    # what holds it may be ended by another thread than the one that began it
    held = FileLock(lock, thread_local=False)
    try:
        held.acquire(timeout=patience)
    except Timeout:
        raise busy from None
    except OSError as error:
        raise unwritable(lock.parent, error) from error
    try:
        yield
    finally:
        held.release()
