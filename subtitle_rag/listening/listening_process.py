"""Parent's side of the transcribing process: start, watch and end it."""

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from subtitle_rag.base import log_file
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.terminal_text import line_text

logger = logging.getLogger(__name__)

READING_S = 120.0
"""Longest silence while a file is read; the slowest decoder takes seconds for 90 s of sound."""
THINKING_S = 3_600.0
"""Longest silence while a model loads or transcribes a stretch."""
LOOK_S = 0.1
"""Interval of checks for `stop` and these limits."""
MEMORY_SIGNAL = "SIGKILL"
"""Linux's signal for a process that used too much memory."""


def replies(
    order: Mapping[str, Any], sound: Path, stop: threading.Event | None = None, model: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield a new process's replies to a job; closing the iterator ends the process.

    Raises:
        AppError: the process's own error, `listening_ended`, `listening_memory`, `interrupted`.
    """
    if stop is not None and stop.is_set():
        raise AppError("interrupted")
    with _temp_folder(sound) as folder, (folder / "printed").open("w+b") as printed:
        process = _start(folder, printed, sound)
        watch = _Watch(process, sound, stop)
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({**order, "log": log_file.log_options()}).encode() + b"\n")
            process.stdin.flush()  # stays open: its end would tell the process that we have ended
            for line in process.stdout:
                reply = json.loads(line)
                if reply.get("state") == "done":
                    return
                if "error" in reply:
                    raise AppError(reply["error"], **reply["details"])
                watch.hear(THINKING_S if reply.get("state") == "thinking" else READING_S)
                if "state" not in reply:
                    yield reply
                    watch.hear(watch.patience_s)  # the caller's time does not count
        except (OSError, json.JSONDecodeError):
            logger.warning("the process that listens was cut off", exc_info=True)
        finally:
            status = watch.end()
        raise watch.failure or _failure(status, sound, model, printed)


@contextmanager
def _temp_folder(sound: Path) -> Iterator[Path]:
    """Make a folder for files of the process and its libraries, and delete it at the end."""
    try:
        # Windows deletes no open files
        folder = tempfile.TemporaryDirectory(prefix="subtitle-rag-", ignore_cleanup_errors=True)
    except OSError as error:
        raise AppError("listening_ended", path=str(sound), reason=error.strerror or str(error)) from error
    with folder as name:
        yield Path(name)


def _start(folder: Path, printed: IO[bytes], sound: Path) -> "subprocess.Popen[bytes]":
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    temp = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    paths = os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)
    try:
        # -P keeps the current folder, with its arbitrary files, out of the import path
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "subtitle_rag.listening"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env={**os.environ, **temp, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
            creationflags=flags,
        )
    except OSError as error:
        raise AppError("listening_ended", path=str(sound), reason=error.strerror or str(error)) from error


class _Watch:
    """Ends a process when stopped, or when it gives no sign of life for too long."""

    def __init__(self, process: "subprocess.Popen[bytes]", sound: Path, stop: threading.Event | None) -> None:
        self.failure: AppError | None = None
        """Why the process was ended."""
        self.patience_s = THINKING_S
        self._process = process
        self._sound = sound
        self._stop = stop
        self._heard = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="listening-watch", daemon=True)
        self._thread.start()

    def hear(self, patience_s: float) -> None:
        """Record a sign of life, and how long to wait for the next one."""
        self.patience_s = patience_s
        self._heard = time.monotonic()

    def end(self) -> int:
        """End the process if it still runs, and return its exit status."""
        self._ended.set()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.poll() is None:
            try:
                status = self._process.wait(0.0 if self.failure else 0.5)
            except subprocess.TimeoutExpired:
                self._process.kill()
        status = self._process.wait()
        self._thread.join()
        self._process.stdout.close()
        try:
            self._process.stdin.close()
        except OSError:  # unsent data is of no more use
            logger.debug("the order was not read")
        return status

    def _look(self) -> None:
        while not self._ended.wait(LOOK_S):
            if self._stop is not None and self._stop.is_set():
                self.failure = AppError("interrupted")
            elif time.monotonic() - self._heard > self.patience_s:
                reason = _("nothing came for {seconds} s").format(seconds=round(self.patience_s))
                self.failure = AppError("listening_ended", path=str(self._sound), reason=reason)
            if self.failure:
                self._process.kill()
                return


def _failure(status: int, sound: Path, model: str, printed: IO[bytes]) -> AppError:
    """Return why a process ended without its final reply."""
    printed.seek(0)
    text = printed.read(100_000).decode(errors="replace").strip()
    logger.warning("the process that listens ended with status %d", status)
    logger.debug("it printed: %s", text)
    name = ""
    with suppress(ValueError):
        name = signal.Signals(-status).name if status < 0 else ""
    if name == MEMORY_SIGNAL:
        return AppError("listening_memory", path=str(sound), model=model or "-")
    last = line_text(text.splitlines()[-1])[:300] if text else ""
    reason = name or last or _("status {status}").format(status=status)
    return AppError("listening_ended", path=str(sound), reason=reason)
