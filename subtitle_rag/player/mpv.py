"""mpv, which plays every jump in one window.

The window that a jump opened listens on a Unix socket in a folder of the user's own, and the next jump asks it to seek
or to load another video (mpv's manual, "JSON IPC"). Whatever does not answer there as mpv does, in time, is left
alone: a new window opens. Windows has named pipes in place of sockets: there every jump opens a window.
"""

import hashlib
import json
import logging
import os
import socket
import stat
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.player.programs import filled, start

if TYPE_CHECKING:
    import subprocess

logger = logging.getLogger(__name__)

# where somebody left off before would come before --start
COMMAND = ("mpv", "--start=+{seconds}", "--resume-playback=no", "--force-window=immediate", "--", "{url}")
REPLY_S = 1.0
"""Longest wait for an answer; mpv gives it within milliseconds."""
START_S = 3.0
"""Longest wait for a window that was just opened to listen."""
POLL_S = 0.05
PATH_BYTES = 100
"""Longest address of a socket: sun_path holds 104 bytes on macOS and 108 on Linux."""
MOST_BYTES = 1_000_000
"""Most that is read before an answer; what sends more is not mpv."""

_turn = threading.Lock()
"""Two jumps at once are two requests to one window, not two windows."""
_opened: tuple["subprocess.Popen[bytes]", float] | None = None
"""The window opened last, and when."""


def address(cache: Path) -> Path | None:
    """The socket for mpv, in a folder under `cache` or, where that path is too long, in one for temporary files.

    The folder is made. None where mpv's window cannot be used again, or where others could reach the socket.
    """
    if sys.platform == "win32":
        return None
    path = cache / "mpv" / "socket"
    if len(os.fsencode(path)) > PATH_BYTES:
        name = hashlib.sha256(os.fsencode(cache)).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"subtitle-rag-{os.getuid()}" / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = path.parent.lstat()
    except OSError:
        logger.info("no folder for mpv's socket", exc_info=True)
        return None
    own = stat.S_ISDIR(place.st_mode) and place.st_uid == os.getuid() and not place.st_mode & 0o077
    return path if own and len(os.fsencode(path)) <= PATH_BYTES else None


def play(what: str, seconds: int, cache: Path) -> None:
    """Play a link or a file from a second on, in the window that is open, else in a new one.

    Raises:
        UsageError: `no_player`.
    """
    global _opened
    with _turn:
        path = address(cache)
        if path and _taken(path, what, seconds):
            return
        command = filled(COMMAND, what, seconds)
        if path:
            with suppress(OSError):
                path.unlink()
            command.insert(1, f"--input-ipc-server={path}")
        _opened = start("mpv", command), time.monotonic()


def _taken(path: Path, what: str, seconds: int) -> bool:
    """Whether an mpv that listens on `path` plays it."""
    try:
        with _Window(path) as window:
            return window.play(what, seconds)
    except (OSError, ValueError):  # nobody is there, or nobody who answers as mpv does
        logger.debug("no mpv took the scene", exc_info=True)
        return False


class _Window:
    """A connection to an mpv. Raises OSError when there is none or no answer in time, ValueError for other answers."""

    def __init__(self, path: Path) -> None:
        self._line = _connected(path)
        self._rest = b""
        self._asked = 0

    def __enter__(self) -> "_Window":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._line.close()

    def play(self, what: str, seconds: int) -> bool:
        """Seek where it is on already, else load it; then show the window."""
        on = self._ask("get_property", "path")
        playing = on.get("data") == what and self._does("seek", seconds, "absolute+exact")
        if not (playing or self._load(what, f"start=+{seconds}")):
            return False
        self._does("set_property", "pause", False)
        self._does("set_property", "window-minimized", False)
        if self._ask("get_property", "ontop").get("data") is False:  # mpv has no command that raises its window
            self._does("set_property", "ontop", True)
            self._does("set_property", "ontop", False)
        return True

    def _load(self, what: str, options: str) -> bool:
        """The options' place moved in mpv 0.38; a command of the other form is refused and does nothing."""
        return self._does("loadfile", what, "replace", -1, options) or self._does("loadfile", what, "replace", options)

    def _does(self, *command: Any) -> bool:
        return bool(self._ask(*command)["error"] == "success")

    def _ask(self, *command: Any) -> dict[str, Any]:
        """mpv's reply; its events in between are left out."""
        self._asked += 1
        deadline = time.monotonic() + REPLY_S
        self._line.settimeout(REPLY_S)
        self._line.sendall(json.dumps({"command": command, "request_id": self._asked}).encode() + b"\n")
        while True:
            said = json.loads(self._next(deadline))
            if not isinstance(said, dict):
                raise ValueError(said)
            if said.get("request_id") == self._asked and "error" in said:
                return said

    def _next(self, deadline: float) -> str:
        """A line of what mpv says."""
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or len(self._rest) > MOST_BYTES:
                raise TimeoutError
            self._line.settimeout(left)
            came = self._line.recv(65_536)
            if not came:
                raise ConnectionError
            self._rest += came
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("utf-8", errors="replace")


def _connected(path: Path) -> socket.socket:
    """A connection to who listens on `path`; a window that was just opened is waited for."""
    while True:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.settimeout(REPLY_S)
            line.connect(os.fspath(path))
        except OSError:
            line.close()
            if not _starting():
                raise
            time.sleep(POLL_S)
        else:
            return line


def _starting() -> bool:
    return _opened is not None and _opened[0].poll() is None and time.monotonic() < _opened[1] + START_S
