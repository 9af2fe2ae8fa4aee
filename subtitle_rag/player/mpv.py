"""mpv, with one window for all jumps.

The window listens on a Unix socket in a private folder, and the next jump asks it to seek or to load another video
(mpv's manual, "JSON IPC"). Without a valid answer in time, a new window opens. On Windows every jump opens a window:
it has named pipes instead of sockets.
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

# a saved position would override --start
COMMAND = ("mpv", "--start=+{seconds}", "--resume-playback=no", "--force-window=immediate", "--", "{url}")
REPLY_S = 1.0
"""Longest wait for an answer; mpv gives it within milliseconds."""
START_S = 3.0
"""Longest wait for a new window to listen."""
POLL_S = 0.05
PATH_BYTES = 100
"""Longest address of a socket: sun_path holds 104 bytes on macOS and 108 on Linux."""
MOST_BYTES = 1_000_000
"""Most bytes before an answer; mpv sends fewer."""

_turn = threading.Lock()
"""Two jumps at once are two requests to one window, not two windows."""
_opened: tuple["subprocess.Popen[bytes]", float] | None = None
"""The last window and its start time."""


def address(cache: Path) -> Path | None:
    """Return mpv's socket, under `cache` or, if that path is too long, in the folder of temporary files.

    The folder is created. None if the platform has no sockets or other users could reach it.
    """
    if sys.platform == "win32":
        return None
    path = cache / "mpv" / "socket"
    if len(os.fsencode(path)) > PATH_BYTES:
        name = hashlib.sha256(os.fsencode(cache)).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"subtitle-rag-{os.getuid()}" / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.parent.lstat()
    except OSError:
        logger.info("no folder for mpv's socket", exc_info=True)
        return None
    is_private = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
    return path if is_private and len(os.fsencode(path)) <= PATH_BYTES else None


def play(what: str, seconds: int, cache: Path) -> None:
    """Play a link or a file from a second on, in the open window or a new one.

    Raises:
        UsageError: `no_player`.
    """
    global _opened
    with _turn:
        path = address(cache)
        if path and _play_in_window(path, what, seconds):
            return
        command = filled(COMMAND, what, seconds)
        if path:
            with suppress(OSError):
                path.unlink()
            command.insert(1, f"--input-ipc-server={path}")
        _opened = start("mpv", command), time.monotonic()


def _play_in_window(path: Path, what: str, seconds: int) -> bool:
    """Ask the mpv listening on `path`; return whether it plays."""
    try:
        with _Window(path) as window:
            return window.play(what, seconds)
    except (OSError, ValueError):  # no listener, or not mpv
        logger.debug("no mpv took the scene", exc_info=True)
        return False


class _Window:
    """A connection to an mpv. Raises OSError without one or without an answer in time, ValueError for invalid ones."""

    def __init__(self, path: Path) -> None:
        self._line = _connected(path)
        self._rest = b""
        self._request_id = 0

    def __enter__(self) -> "_Window":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._line.close()

    def play(self, what: str, seconds: int) -> bool:
        """Seek if the video is loaded, else load it; then show the window."""
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
        """Load a video; mpv 0.38 moved the options, and refuses the other form."""
        return self._does("loadfile", what, "replace", -1, options) or self._does("loadfile", what, "replace", options)

    def _does(self, *command: Any) -> bool:
        return bool(self._ask(*command)["error"] == "success")

    def _ask(self, *command: Any) -> dict[str, Any]:
        """Return mpv's reply; skip its events."""
        self._request_id += 1
        deadline = time.monotonic() + REPLY_S
        self._line.settimeout(REPLY_S)
        self._line.sendall(json.dumps({"command": command, "request_id": self._request_id}).encode() + b"\n")
        while True:
            message = json.loads(self._next(deadline))
            if not isinstance(message, dict):
                raise ValueError(message)
            if message.get("request_id") == self._request_id and "error" in message:
                return message

    def _next(self, deadline: float) -> str:
        """Return the next line from mpv."""
        while b"\n" not in self._rest:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0 or len(self._rest) > MOST_BYTES:
                raise TimeoutError
            self._line.settimeout(remaining_s)
            came = self._line.recv(65_536)
            if not came:
                raise ConnectionError
            self._rest += came
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("utf-8", errors="replace")


def _connected(path: Path) -> socket.socket:
    """Connect to `path`; wait for a starting window."""
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
