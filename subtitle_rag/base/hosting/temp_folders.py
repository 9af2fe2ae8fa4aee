"""Temporary folders left by killed processes."""

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
"""Minimum age of a leftover: no command runs this long, and hosts are probed."""
_NAME = re.compile(r"subtitle-rag-(?:eval-)?[a-z0-9_]{8}")
"""Names of the program's temporary folders."""


def sweep_temp_folders() -> None:
    """Delete this user's old temporary folders of the program, except those in which a host listens."""
    if not hasattr(os, "getuid"):  # Windows cleans up by itself
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
        except OSError:  # it is in use, or the path is not our socket
            return True
    return True
