"""File locks beside the library: one process at a time indexes, fetches, writes contexts or makes vectors."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from subtitle_rag.domain import BusyError
from subtitle_rag.library.connection import unwritable


@contextmanager
def hold_lock(lock: Path, busy: BusyError, patience: float = 0) -> Iterator[None]:
    """Hold a lock across processes. Raise `busy` if another process holds it for more than `patience` seconds."""
    from filelock import FileLock, Timeout

    # another thread may release it
    file_lock = FileLock(lock, mode=0o600, thread_local=False)
    try:
        file_lock.acquire(timeout=patience)
    except Timeout:
        raise busy from None
    except OSError as error:
        raise unwritable(lock.parent, error) from error
    try:
        yield
    finally:
        file_lock.release()
