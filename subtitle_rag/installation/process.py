"""An installer's process: its lines as they come, its end, and its stop."""

import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress

from subtitle_rag.errors import AppError

logger = logging.getLogger(__name__)

KEPT_LINES = 400
"""Of an installer's output, from which its failure is told."""
POLL_S = 0.2
"""Between two looks whether it is to be stopped."""
_FAILURE = re.compile(r"^\s*(?:ERROR:|error:|×|╰─▶|├─▶|hint:)\s*(.+)")
_NOT_TOLD = frozenset({"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "UV_PYTHON", "PIP_TARGET"})
"""Variables that would lead an installer to another environment."""


class InstallerError(Exception):
    """An installer ended without success; the text is its own reason."""


def lines(
    arguments: Sequence[str], stop: threading.Event, variables: Mapping[str, str] | None = None
) -> Generator[str, None, None]:
    """Run an installer and yield what it prints, on stdout or stderr. Setting `stop` ends it and its children.

    Raises:
        InstallerError: with the installer's own reason.
        AppError: `interrupted`.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_TOLD}
    environment |= {"PYTHONUTF8": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(variables or {})}
    logger.info("installer begins: %s", " ".join(arguments))
    try:
        process = subprocess.Popen(  # noqa: S603 - the installer, its options and names of packages
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise InstallerError(error.strerror or str(error)) from error
    last: deque[str] = deque(maxlen=KEPT_LINES)
    over = threading.Event()
    watch = threading.Thread(target=_stop_process, args=(process, stop, over), daemon=True)
    watch.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip())
            yield last[-1]
        status = process.wait()
    finally:
        over.set()
        watch.join()
        _end(process)
        with suppress(OSError):
            process.stdout.close()  # type: ignore[union-attr]
    if stop.is_set():
        raise AppError("interrupted")
    if status:
        logger.warning("installer ended with status %d:\n%s", status, "\n".join(last))
        raise InstallerError(_reason(last) or f"exit {status}")
    logger.info("installer has ended")


def _reason(output: Sequence[str]) -> str:
    """The line in which an installer says what went wrong."""
    said = [match[1].strip() for line in output if (match := _FAILURE.match(line))]
    return (said[0] if said else next((line.strip() for line in reversed(output) if line.strip()), ""))[:300]


def _stop_process(process: "subprocess.Popen[str]", stop: threading.Event, over: threading.Event) -> None:
    while not over.is_set():
        if stop.wait(POLL_S) and not over.is_set():
            _end(process)
            return


def _end(process: "subprocess.Popen[str]") -> None:
    """End the installer and what it has started, which pip does not do by itself."""
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
