"""Starting a player: its command filled in, on its own."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from subtitle_rag.errors import UsageError
from subtitle_rag.platforms import on_windows

PLACES: Mapping[str, Mapping[str, str]] = {
    "darwin": {
        "iina-cli": "/Applications/IINA.app/Contents/MacOS/iina-cli",
        "mpv": "/Applications/mpv.app/Contents/MacOS/mpv",
        "vlc": "/Applications/VLC.app/Contents/MacOS/VLC",
    },
    "win32": {"vlc": "VideoLAN/VLC/vlc.exe"},
}
"""Platform → program → where its installer puts it, without a word of it on the PATH; on Windows below `FOLDERS`."""
FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)")


def installed_program(name: str) -> str | None:
    """What starts a program: its name where the PATH has it, else its own place; None where it is not here."""
    if shutil.which(name) is not None:
        return name
    place = PLACES.get(sys.platform, {}).get(name)
    if place is None:
        return None
    folders = [os.environ.get(each, "") for each in FOLDERS] if on_windows() else ["/"]
    places = (Path(folder, place) for folder in folders if folder)
    return next((str(each) for each in places if each.is_file() and os.access(each, os.X_OK)), None)


def filled(template: Sequence[str], what: str, seconds: int) -> list[str]:
    """The command with the link or path and the second in their places, whatever braces and spaces they hold."""
    return [part.replace("{seconds}", str(seconds)).replace("{url}", what) for part in template]


def start(name: str, command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start the player `name`.

    Raises:
        UsageError: `no_player`.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list from the user's own config, no shell
            [installed_program(command[0]) or command[0], *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UsageError("no_player", player=name) from error
    threading.Thread(target=process.wait, daemon=True).start()  # else an ended player stays a zombie
    return process
