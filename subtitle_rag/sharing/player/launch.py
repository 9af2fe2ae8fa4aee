"""Start of a player in its own session, and detection of whether it plays.

A player is a separate program whose start proves little. mpv can be asked (`mpv.MpvLaunch`); for others, only an early
exit with an error shows a failure.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.platforms import on_windows

LaunchState = Literal["playing", "loading", "replaced"]
"""`loading`: neither playback nor failure so far; `replaced`: a later request took the window."""

WATCH_S = 5.0
"""Time in which a player that cannot play fails."""
SURVIVAL_S = 1.0
"""Running time after which a player that reports nothing counts as playing."""

PROGRAM_PATHS: Mapping[str, Mapping[str, str]] = {
    "darwin": {
        "iina-cli": "/Applications/IINA.app/Contents/MacOS/iina-cli",
        "mpv": "/Applications/mpv.app/Contents/MacOS/mpv",
        "vlc": "/Applications/VLC.app/Contents/MacOS/VLC",
    },
    "win32": {"vlc": "VideoLAN/VLC/vlc.exe"},
}
"""Platform → program → its installed path, if not on the PATH; on Windows below `FOLDERS`."""
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
    """Fill a link or path and a second into a command template; braces and spaces in them stay unchanged."""
    return [part.replace("{seconds}", str(seconds)).replace("{url}", what) for part in template]


def start(name: str, command: Sequence[str], output: "IO[bytes] | None" = None) -> "subprocess.Popen[bytes]":
    """Start the player `name`. Its `output` goes to a file: a pipe would end it together with this program.

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
    threading.Thread(target=process.wait, daemon=True).start()  # else a player that has ended stays a zombie
    return process


class Launch:
    """A player of which we only know whether it is running."""

    patience_s = SURVIVAL_S
    """Seconds after which a start without failure is reported."""

    def __init__(self, name: str, link: str, process: "subprocess.Popen[bytes]") -> None:
        self.name = name
        self.link = link
        """Link or path."""
        self._process = process

    def wait(self, seconds: float) -> LaunchState:
        """Wait up to `seconds` until the player plays.

        Raises:
            AppError: `player_failed`.
        """
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return "playing"
        if status:
            raise self._failure("", status)
        return "playing"  # it passed the video to a window that was already open

    def _failure(self, reason: str, status: int | None) -> AppError:
        ended = _("it ended at once, with status {status}").format(status="?" if status is None else status)
        return AppError("player_failed", player=self.name, link=self.link, reason=reason or ended)
