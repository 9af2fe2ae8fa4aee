"""Start of a player in its own session, and whether it plays.

A player is a program of its own: its start says little. mpv is asked (`mpv.MpvLaunch`); of others only an early end
with an error can be seen.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from subtitle_rag.domain.errors import AppError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.platforms import on_windows

LaunchState = Literal["playing", "loading", "replaced"]
"""`loading`: neither playback nor failure can be seen yet; `replaced`: a later request took the window."""

WATCH_S = 5.0
"""Time within which a player fails that cannot play."""
SURVIVAL_S = 1.0
"""A player without a report of its own counts as playing once it has run this long."""

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


class Launch:
    """A player that can only be seen running or ended."""

    patience_s = SURVIVAL_S
    """Seconds after which a start without failure is reported."""

    def __init__(self, name: str, link: str, process: "subprocess.Popen[bytes]") -> None:
        self.name = name
        self.link = link
        """Link or path."""
        self._process = process

    def wait(self, seconds: float) -> LaunchState:
        """Wait until the player plays, at most `seconds`.

        Raises:
            AppError: `player_failed`.
        """
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "playing"
        if status:
            raise self._failure("", status)
        return "playing"  # it has given the video to a window that runs already

    def _failure(self, reason: str, status: int | None) -> AppError:
        ended = _("it ended at once, with status {status}").format(status="?" if status is None else status)
        return AppError("player_failed", player=self.name, link=self.link, reason=reason or ended)
