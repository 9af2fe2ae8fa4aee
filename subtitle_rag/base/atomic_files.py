"""Atomic changes of files and folders; the app's own are private to their owner."""

import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from subtitle_rag.base.platforms import on_windows

logger = logging.getLogger(__name__)

FILE_TIMEOUT_S = 1.0
"""Longest wait for another process that has the file open; reading takes milliseconds."""
PAUSE_S = 0.01
_PREFIX = ".subtitle-rag-"


def replace_path(new: Path, path: Path) -> None:
    """Replace `path` by `new`. Raises OSError.

    Windows refuses while any process, such as a virus scanner, has either of them open.
    """
    _retry_while_open(lambda: new.replace(path))


def replace_content(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file completely, or leave an existing one unchanged. Raises OSError.

    `mode` sets its permissions; by default only its owner can read it.
    """
    with _temporary_file(path, content) as temporary:
        if mode is not None:
            temporary.chmod(mode)
        replace_path(temporary, path)


def create_text(path: Path, text: str) -> None:
    """Write a new file completely, with the system's line ends, private to its owner.

    Raises:
        FileExistsError: the file exists.
        OSError: it cannot be written.
    """
    content = text.replace("\n", os.linesep).encode("utf-8", "backslashreplace")
    with _temporary_file(path, content) as temporary:
        try:
            path.hardlink_to(temporary)  # unlike a rename, it refuses an existing name
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(path):
                raise FileExistsError from None
            temporary.replace(path)


@contextmanager
def _temporary_file(path: Path, content: bytes) -> Iterator[Path]:
    """Write the content to a file next to `path` for the block to rename; otherwise delete it."""
    for stray in path.parent.glob(f"{_PREFIX}*"):
        _delete_stray(stray)
    file, temporary = _locked_file(path.parent)
    try:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        if on_windows():  # Windows renames no open file
            file.close()
        yield temporary
    finally:
        file.close()
        delete_file(temporary)


def _locked_file(folder: Path) -> tuple[BinaryIO, Path]:
    """Return a new file in `folder` and its path, locked until it is closed to show that it is in use."""
    while True:
        number, name = tempfile.mkstemp(prefix=_PREFIX, dir=folder)
        file = os.fdopen(number, "wb")
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX)
            if not os.fstat(number).st_nlink:  # deleted before it was locked
                file.close()
                continue
        return file, Path(name)


def _delete_stray(path: Path) -> None:
    """Delete a killed process's temporary file, unless another process has it locked."""
    try:
        if sys.platform == "win32":
            path.unlink()
            return
        import fcntl

        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:
        logger.debug("a temporary file is in use or cannot be deleted", exc_info=True)


def delete_file(path: Path) -> None:
    """Delete a file if it exists. Raises OSError. Windows refuses while any process has it open."""
    _retry_while_open(lambda: path.unlink(missing_ok=True))


def _retry_while_open(change: Callable[[], object]) -> None:
    deadline = time.monotonic() + FILE_TIMEOUT_S
    while True:
        try:
            change()
            return
        except PermissionError:
            if not on_windows() or time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_S)


def private_folder(folder: Path) -> None:
    """Create a folder of the app, or make an existing one private. Raises OSError.

    New parent folders are private too (XDG Base Directory Specification, "Referencing").
    """
    for missing in [each for each in reversed(folder.parents) if not each.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    make_private(folder)


def private_file(path: Path) -> None:
    """Create an empty file of the app, or make an existing one private. Raises OSError."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        make_private(path)


def make_private(path: Path) -> None:
    """Remove the permissions of group and others from a file or folder of this user.

    Other users' files, and disks without permissions, stay unchanged. On Windows, profile folders are private.
    """
    if sys.platform == "win32":
        return
    try:
        status = path.stat()
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            path.chmod(status.st_mode & 0o700)
    except OSError:
        logger.info("the rights of a file of the app cannot be changed", exc_info=True)


def lock_file(path: Path, busy: Exception, patience: float = 0) -> AbstractContextManager[object]:
    """Acquire a lock across processes, in a private file; any thread may release it.

    Raises:
        OSError: the file cannot be written.
        Exception: `busy`, if another process has it for more than `patience` seconds.
    """
    from filelock import FileLock, Timeout

    try:
        return FileLock(path, mode=0o600, thread_local=False).acquire(timeout=patience)
    except Timeout:
        raise busy from None
