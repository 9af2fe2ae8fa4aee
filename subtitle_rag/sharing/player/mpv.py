"""mpv, with one window for all jumps.

The window listens on a Unix socket in a private folder; the next jump asks it to seek or to load another video (mpv's
manual, "JSON IPC"). Without a valid answer in time, a new window opens. On Windows, which has named pipes instead of
sockets, every jump opens a window.

mpv plays links with a yt-dlp on the PATH. It gets the path of this program's own, which is rarely on the PATH.
"""

import hashlib
import json
import logging
import os
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from subtitle_rag.base.i18n import _
from subtitle_rag.base.platforms import on_windows
from subtitle_rag.sharing.player.launch import (
    SURVIVAL_S,
    WATCH_S,
    Launch,
    LaunchState,
    filled,
    installed_program,
    start,
)

logger = logging.getLogger(__name__)

# a saved position would override --start
COMMAND = ("mpv", "--start=+{seconds}", "--resume-playback=no", "--force-window=immediate", "--", "{url}")
REPLY_S = 1.0
"""Longest wait for an answer; mpv takes milliseconds."""
START_S = 3.0
"""Longest wait for a new window to listen."""
POLL_S = 0.05
PATH_BYTES = 100
"""Longest address of a socket: sun_path holds 104 bytes on macOS and 108 on Linux."""
MOST_BYTES = 1_000_000
"""Maximum number of bytes before an answer; mpv sends fewer."""
MOST_REASON = 300
"""Maximum number of characters of mpv's reason for a failure."""
RUNTIMES = {"node": "node", "bun": "bun", "quickjs": "qjs"}
"""JavaScript runtimes that yt-dlp must be told to use: its names, and their programs."""
EXTRACTOR = "yt-dlp"
VERSION_S = 10.0
"""Longest wait for a program's version."""
ERRORS = "errors.log"
"""File for mpv's errors, next to the socket."""
QUIT_BY_SIGNAL = 4
"""mpv's exit status after a signal, which is not a failure to play."""

_turn = threading.Lock()
"""Makes two simultaneous jumps two requests to one window, not two windows."""
_opened: tuple["subprocess.Popen[bytes]", float] | None = None
"""The last window and its start time."""
_request_count = 0
"""Number of the last request; earlier ones are no longer watched."""


def address(cache: Path) -> Path | None:
    """Return mpv's socket, under `cache` or, if that path is too long, in the temporary folder.

    Creates the folder. None if the platform has no sockets, or other users could access it.
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


def extractor_path(cache: Path | None) -> str | None:
    """Return the path of this environment's yt-dlp for mpv, or None.

    If there is no console script, a script under `cache` runs the module.
    """
    folders = dict.fromkeys((sysconfig.get_path("scripts"), str(Path(sys.executable).parent)))
    path = next((program for folder in folders if (program := shutil.which(EXTRACTOR, path=folder))), None)
    if path is None and cache is not None and find_spec("yt_dlp"):
        path = _extractor_script(cache)
    return None if path is None or os.pathsep in path else path  # mpv would read it as several paths


def _extractor_script(cache: Path) -> str | None:
    """Write a script that runs yt-dlp's module, in the private folder of mpv's socket."""
    window = address(cache)
    if window is None:
        return None
    path = window.parent / EXTRACTOR
    text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m yt_dlp "$@"\n'
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        path.chmod(0o700)
    except OSError:
        logger.info("no script for yt-dlp", exc_info=True)
        return None
    return str(path)


def _javascript_runtime() -> str:
    """Return yt-dlp's name of the JavaScript runtime to use; "" for deno, its default, or if there is none."""
    if shutil.which("deno", path=os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", "")))):
        return ""
    return next((name for name, program in RUNTIMES.items() if shutil.which(program)), "")


def version(command: Sequence[str]) -> str:
    """Return the first line of a program's `--version`.

    Raises:
        OSError: it cannot be run, fails, or takes too long.
    """
    try:
        finished = subprocess.run(  # noqa: S603 - mpv, or this program's own yt-dlp
            [*command, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_S,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(str(error)) from error
    lines = (finished.stdout if finished.returncode == 0 else finished.stderr or finished.stdout).strip().splitlines()
    if finished.returncode:
        raise OSError(lines[-1] if lines else f"exit {finished.returncode}")
    return lines[0] if lines else ""


def program() -> str | None:
    """Return mpv's command, or None if it is not installed."""
    return installed_program("mpv")


def play(what: str, seconds: int, cache: Path | None) -> Launch:
    """Play a link or a file from a second, in the open window or a new one.

    Raises:
        UsageError: `no_player`.
    """
    return _request(what, lambda window: window.play(what, seconds), filled(COMMAND, what, seconds), cache)


class Clip(NamedTuple):
    """A part of a video in a playlist."""

    what: str
    """Link or path."""
    start_ms: int
    end_ms: int
    title: str

    @property
    def options(self) -> dict[str, str]:
        start, end = self.start_ms / 1000, self.end_ms / 1000
        return {"start": f"+{start:.3f}", "end": f"{end:.3f}", "force-media-title": self.title}


def play_all(clips: Sequence[Clip], cache: Path | None) -> Launch:
    """Play clips one after another, each from its start to its end, in the open window or a new one.

    Raises:
        UsageError: `no_player`.
    """
    command = ["mpv", "--resume-playback=no", "--force-window=immediate"]
    for clip in clips:  # options in braces apply to this file only
        command += ["--{", *(f"--{name}={value}" for name, value in clip.options.items()), clip.what, "--}"]
    return _request(clips[0].what, lambda window: window.play_all(clips), command, cache)


def _request(link: str, play: "Callable[[_Window], bool]", command: list[str], cache: Path | None) -> "MpvLaunch":
    """Make the open window `play`, or start a new one with `command`."""
    global _request_count
    with _turn:
        _request_count += 1
        path = address(cache) if cache else None
        errors = _errors_file(path, cache)
        errors_start = 0
        with suppress(OSError):
            errors_start = errors.stat().st_size if errors else 0
        if path and _in_window(path, play):
            process = _opened[0] if _opened and _opened[0].poll() is None else None
        else:
            process, errors_start = _open_window(command, path, cache, errors), 0
        return MpvLaunch(link, path, process, _request_count, (errors, errors_start))


def _open_window(
    command: list[str], path: Path | None, cache: Path | None, errors: Path | None
) -> "subprocess.Popen[bytes]":
    """Start mpv, listening on `path`; its errors go to the file, if writable."""
    global _opened
    # only errors: a line per second would fill the disk
    options = ["--msg-level=all=error"]
    if extractor := extractor_path(cache):
        options.append(f"--script-opts-append=ytdl_hook-ytdl_path={extractor}")
    if runtime := _javascript_runtime():
        options.append(f"--ytdl-raw-options-append=js-runtimes={runtime}")
    if path:
        with suppress(OSError):
            path.unlink()
        options.append(f"--input-ipc-server={path}")
    command[1:1] = options
    process = None
    with suppress(OSError):
        if errors is not None:
            with errors.open("wb") as output:
                process = start("mpv", command, output)
    process = process or start("mpv", command)
    _opened = process, time.monotonic()
    return process


def _errors_file(path: Path | None, cache: Path | None) -> Path | None:
    """Return the file for mpv's errors, next to its socket; None without a private folder."""
    if path is not None:
        return path.parent / ERRORS
    if cache is None or not on_windows():
        return None
    folder = cache / "mpv"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder / ERRORS


class MpvLaunch(Launch):
    """A request to mpv, watched through its process and socket."""

    def __init__(
        self,
        link: str,
        path: Path | None,
        process: "subprocess.Popen[bytes] | None",
        number: int,
        errors: tuple[Path | None, int],
    ) -> None:
        """Watch a request.

        Args:
            link: link or path of the video.
            path: mpv's socket; None if it cannot be asked.
            process: mpv; None for a window of another run.
            number: number of the request.
            errors: file of mpv's errors, and its size before the request.
        """
        self.name = "mpv"
        self.link = link
        self.patience_s = WATCH_S if path else SURVIVAL_S
        self._path = path
        self._window_process = process
        self._number = number
        self._errors, self._errors_start = errors

    def wait(self, seconds: float) -> LaunchState:
        deadline = time.monotonic() + seconds
        with ExitStack() as connections:
            window: _Window | None = None
            while True:
                if self._number != _request_count:
                    return "replaced"
                status = self._window_process.poll() if self._window_process else None
                if status in (0, QUIT_BY_SIGNAL):
                    return "playing"  # the user has closed it
                if status is not None:
                    raise self._failure(self._reason(), status)
                try:
                    if window is None and self._path is not None:
                        window = connections.enter_context(_Window(self._path, wait=False))
                    if window is not None and window.plays(self.link):
                        return "playing"
                    has_failed = window is not None and window.is_idle
                except (OSError, ValueError) as error:  # it is starting, busy, or has ended
                    connections.close()  # before the next one is made
                    window = None
                    has_failed = self._window_process is None and isinstance(error, ConnectionError | FileNotFoundError)
                if has_failed:
                    raise self._failure(self._reason() or _("without a reason"), None)
                if time.monotonic() >= deadline:
                    return "loading" if self._path else "playing"
                time.sleep(POLL_S)

    def _reason(self) -> str:
        """Return mpv's reason for a failure: yt-dlp's error, or the first line."""
        text = ""
        with suppress(OSError):
            if self._errors is not None:
                with self._errors.open("rb") as file:
                    file.seek(self._errors_start)
                    text = file.read(MOST_BYTES).decode("utf-8", errors="replace")
        lines = [line.removeprefix("[ytdl_hook]").strip() for line in text.splitlines()]
        lines = [line for line in lines if line and not line.startswith("[ipc")]  # a refused older `loadfile`
        reason = next((line for line in lines if line.startswith("ERROR:")), lines[0] if lines else "")
        return reason.removeprefix("ERROR:").strip()[:MOST_REASON]


def _in_window(path: Path, play: "Callable[[_Window], bool]") -> bool:
    """Ask the mpv listening on `path` to play; return whether it does."""
    try:
        with _Window(path) as window:
            return play(window)
    except (OSError, ValueError):  # no listener, or not mpv
        logger.debug("no mpv took the request", exc_info=True)
        return False


class _Window:
    """A connection to an mpv.

    Raises OSError without a connection or an answer in time, ValueError for invalid answers.
    """

    def __init__(self, path: Path, *, wait: bool = True) -> None:
        """Connect; `wait` for a starting window."""
        self._line = _connected(path, wait=wait)
        self._rest = b""
        self._request_id = 0

    def __enter__(self) -> "_Window":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._line.close()

    def plays(self, what: str) -> bool:
        """Whether this video is loaded and has a position."""
        if self._ask("get_property", "path").get("data") != what:
            return False
        return self._ask("get_property", "time-pos").get("data") is not None

    @property
    def is_idle(self) -> bool:
        """Whether it keeps its window open without a video, by mpv's option `idle`."""
        return self._ask("get_property", "idle-active").get("data") is True

    def play(self, what: str, seconds: int) -> bool:
        """Seek if the whole video is loaded, else load it; then raise the window."""
        path = self._ask("get_property", "path")
        is_whole = path.get("data") == what and self._ask("get_property", "end").get("data") == "none"
        playing = is_whole and self._does("seek", seconds, "absolute+exact")
        if not (playing or self._load(what, f"start=+{seconds}", "replace")):
            return False
        self._show()
        return True

    def play_all(self, clips: Sequence[Clip]) -> bool:
        """Replace the current video with clips, and raise the window."""
        for number, clip in enumerate(clips):
            # a title may have commas
            options = ",".join(f"{name}={counted(value)}" for name, value in clip.options.items())
            if not self._load(clip.what, options, "append" if number else "replace"):
                return False
        self._show()
        return True

    def _show(self) -> None:
        self._does("set_property", "pause", False)
        self._does("set_property", "window-minimized", False)
        if self._ask("get_property", "ontop").get("data") is False:  # mpv has no command to raise its window
            self._does("set_property", "ontop", True)
            self._does("set_property", "ontop", False)

    def _load(self, what: str, options: str, how: str) -> bool:
        """Load a video. mpv 0.38 moved the options, and refuses the older form."""
        return self._does("loadfile", what, how, -1, options) or self._does("loadfile", what, how, options)

    def _does(self, *command: Any) -> bool:
        return bool(self._ask(*command)["error"] == "success")

    def _ask(self, *command: Any) -> dict[str, Any]:
        """Return mpv's reply; skip its events."""
        self._request_id += 1
        deadline = time.monotonic() + REPLY_S
        self._line.settimeout(REPLY_S)
        self._line.sendall(json.dumps({"command": command, "request_id": self._request_id}).encode() + b"\n")
        while True:
            try:
                message = json.loads(self._next(deadline))
            except RecursionError as error:
                raise ValueError("nested too deeply") from error
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
            chunk = self._line.recv(65_536)
            if not chunk:
                raise ConnectionError
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("utf-8", errors="replace")


def counted(value: str) -> str:
    """Return a value with its byte count in front, so that none of its characters counts as a separator."""
    return f"%{len(value.encode('utf-8', 'surrogateescape'))}%{value}"


def _connected(path: Path, *, wait: bool) -> socket.socket:
    """Connect to `path`; `wait` for a starting window."""
    while True:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.settimeout(REPLY_S)
            line.connect(os.fspath(path))
        except OSError:
            line.close()
            is_starting = _opened and _opened[0].poll() is None and time.monotonic() < _opened[1] + START_S
            if not (wait and is_starting):
                raise
            time.sleep(POLL_S)
        else:
            return line
