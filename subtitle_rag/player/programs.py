"""Start of a player in its own session."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from subtitle_rag.domain import UsageError
from subtitle_rag.platforms import on_windows

PROGRAM_PATHS: Mapping[str, Mapping[str, str]] = {
    "darwin": {
        "iina-cli": "/Applications/IINA.app/Contents/MacOS/iina-cli",
        "mpv": "/Applications/mpv.app/Contents/MacOS/mpv",
        "vlc": "/Applications/VLC.app/Contents/MacOS/VLC",
    },
    "win32": {"vlc": "VideoLAN/VLC/vlc.exe"},
}
"""Platform → program → its installed path, which is not on the PATH; on Windows below `FOLDERS`."""
FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)")


def installed_program(name: str) -> str | None:
    """Return the command of a program: its name if on the PATH, else its installed path, or None."""
    if shutil.which(name) is not None:
        return name
    relative = PROGRAM_PATHS.get(sys.platform, {}).get(name)
    if relative is None:
        return None
    folders = [os.environ.get(each, "") for each in FOLDERS] if on_windows() else ["/"]
    paths = (Path(folder, relative) for folder in folders if folder)
    return next((str(each) for each in paths if each.is_file() and os.access(each, os.X_OK)), None)


def filled(template: Sequence[str], what: str, seconds: int) -> list[str]:
    """Fill link or path and second into a command template; braces and spaces in them stay as they are."""
    return [part.replace("{seconds}", str(seconds)).replace("{url}", what) for part in template]


def start(name: str, command: Sequence[str], output: "IO[bytes] | None" = None) -> "subprocess.Popen[bytes]":
    """Start the player `name`. A file takes its `output`: a pipe would end it together with this program.

    Raises:
        UsageError: `no_player`.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list from the user's own config, no shell
            [installed_program(command[0]) or command[0], *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=output or subprocess.DEVNULL,
            stderr=output or subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError("no_player", player=name) from error
    threading.Thread(target=process.wait, daemon=True).start()  # else an ended player stays a zombie
    return process
