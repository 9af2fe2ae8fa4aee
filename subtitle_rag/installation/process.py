"""An installer's process: its output as a stream of lines, its end, and its cancellation."""

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress

from subtitle_rag.domain import AppError
from subtitle_rag.installation.environment import program
from subtitle_rag.installation.install_command import InstallCommand

logger = logging.getLogger(__name__)

REASON_CHARACTERS = 300
OUTPUT_LINES = 400
"""Last lines of an installer's output, for the reason of a failure."""
POLL_S = 0.2
"""Interval at which `stop` is polled."""
END_S = 3.0
"""Time for an installer to clean up before it is killed."""
_FAILURE = re.compile(r"^\s*(?:ERROR:|error:|×)\s*(.+)")
_CAUSE = re.compile(r"^\s*(?:cause:|╰─▶|├─▶)\s*(.+)")
_UNKNOWN = re.compile(r"\(from versions: none\)")
"""In pip's error for a package that no index has, and where no index could be asked, which only its warnings tell."""
_BROKEN = re.compile(r"^\s*WARNING: Retrying .* after connection broken by '(?:\w+\(['\"]?)?(.+?)(?:['\"]?\))?': ")
_ADDRESS = re.compile(r"<[^<>]*>(?:: |, ?['\"]?)")
"""The address of an object in memory."""
_DROPPED_VARIABLES = frozenset(
    {
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV"),
        *("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER", "UV_PYTHON", "UV_SYSTEM_PYTHON"),
        *("CLICOLOR_FORCE", "FORCE_COLOR"),
    }
)
"""Variables that would lead an installer to another environment, or colour its output."""


def output_lines(
    command: InstallCommand, stop: threading.Event, variables: Mapping[str, str]
) -> Generator[str, None, None]:
    """Run an installer and yield its output, stdout and stderr. Setting `stop` ends it and its children.

    Raises:
        AppError: `packages_failed` with the installer's own reason, `interrupted`.
    """
    name, *options = command.arguments
    arguments = [program(name) or name, *options]
    environment = {name: value for name, value in os.environ.items() if name not in _DROPPED_VARIABLES}
    environment |= {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    environment |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **variables, **command.variables}
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
        raise _failure(command, error.strerror or str(error)) from error
    last: deque[str] = deque(maxlen=OUTPUT_LINES)
    done = threading.Event()
    watch = threading.Thread(target=_stop_process, args=(process, stop, done), daemon=True)
    watch.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip())
            yield last[-1]
        status = process.wait()
    finally:
        done.set()
        watch.join()
        if process.poll() is None or stop.is_set():
            _end(process)
        with suppress(OSError):
            process.stdout.close()  # type: ignore[union-attr]
    if stop.is_set():
        raise AppError("interrupted")
    if status:
        logger.warning("installer ended with status %d:\n%s", status, "\n".join(last))
        raise _failure(command, _reason(last) or f"exit {status}")
    logger.info("installer has ended")


def _failure(command: InstallCommand, reason: str) -> AppError:
    return AppError("packages_failed", reason=reason, line=command.line)


def _reason(output: Sequence[str]) -> str:
    """Return the line with the installer's error."""
    errors = [match[1].strip().rstrip(":") for line in output if (match := _FAILURE.match(line))]
    causes = [match[1].strip() for line in output if (match := _CAUSE.match(line))]
    last = next((line.strip() for line in reversed(output) if line.strip()), "")
    broken = [_ADDRESS.sub("", match[1]) for line in output if (match := _BROKEN.match(line))]
    if broken and errors and _UNKNOWN.search(errors[0]):
        errors = broken[-1:]
    return ": ".join([*(errors[:1] or [last]), *causes[:2]]).rstrip(".")[:REASON_CHARACTERS]


def _stop_process(process: "subprocess.Popen[str]", stop: threading.Event, done: threading.Event) -> None:
    while not done.is_set():
        if stop.wait(POLL_S) and not done.is_set():
            _end(process)
            return


def _end(process: "subprocess.Popen[str]") -> None:
    """End the installer and its children, even if it is gone itself.

    An interrupted pip removes its temporary files; after a timeout the processes are killed.
    """
    if sys.platform == "win32":
        process.terminate()
        process.wait()
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if not _has_group(process):
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        deadline = time.monotonic() + END_S / 2
        while _has_group(process) and time.monotonic() < deadline:
            time.sleep(POLL_S / 10)
    process.wait()


def _has_group(process: "subprocess.Popen[str]") -> bool:
    """Whether the installer or a child of it is alive."""
    process.poll()  # reaps it, else it stays in its group
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
