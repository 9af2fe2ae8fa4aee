"""Temporary folders that killed processes have left behind."""

import logging
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

logger = logging.getLogger(__name__)

OLD_S = 2 * 86_400
"""No command runs as long; a host that does is asked."""
_NAME = re.compile(r"subtitle-rag-(?:eval-)?[a-z0-9_]{8}")
"""As `tempfile` makes them for hosts, their clients, installers and evaluations."""


def sweep_temp_folders() -> None:
    """Delete this user's old temporary folders of the program, but those in which a host listens."""
    if not hasattr(os, "getuid"):  # Windows clears its own
        return
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            names = [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        logger.info("the temporary folder cannot be listed", exc_info=True)
        return
    for folder in names:
        if folder.name != f"subtitle-rag-{os.getuid()}" and _is_leftover(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_leftover(folder: Path) -> bool:
    try:
        info = folder.lstat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid()
    return is_own and time.time() - info.st_mtime > OLD_S and not _listens(folder / "s")


def _listens(path: Path) -> bool:
    import socket

    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:  # it is busy, or the path is no socket of ours
            return True
    return True
