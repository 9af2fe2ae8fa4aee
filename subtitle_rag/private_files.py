"""Permissions of the app's own folders and files: for their owner alone."""

import logging
import os
import sys
from pathlib import Path

logger = logging.getLogger(__name__)


def private_folder(folder: Path) -> None:
    """Create a folder of the app, or take other users' rights from the one that exists; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)


def private_file(path: Path) -> None:
    """Create an empty file of the app, or take other users' rights from the one that exists; raises OSError."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        make_private(path)


def make_private(path: Path) -> None:
    """Take the rights of group and others from a file or folder of this user.

    Another user's, and one whose disk knows no rights, stays as it is. On Windows a profile's folders are private.
    """
    if sys.platform == "win32":
        return
    try:
        status = path.stat()
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            path.chmod(status.st_mode & 0o700)
    except OSError:
        logger.info("the rights of a file of the app cannot be changed", exc_info=True)
