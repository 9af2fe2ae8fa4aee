"""The log: a rotating file each for the app, the command line and the hosts.

A line is `time level process[pid] logger: message`, also for each line of a traceback. From level info on, no line has
text from the library, queries or models: exceptions are described (`redaction.describe`), and messages of other
packages are replaced by their place in the source. The full text is on a separate line at level debug, written only
with `--debug`. Secrets are removed at every level.

No file is opened before the first line.
"""

import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import fields
from datetime import UTC, datetime
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any

from subtitle_rag.base.atomic_files import make_private, private_folder
from subtitle_rag.base.redaction import describe, one_line, redact

DEBUG_VARIABLE = "SUBTITLE_RAG_DEBUG"
PACKAGE = "subtitle_rag"
MAX_BYTES = 1_000_000
"""Size at which the file is rotated."""
BACKUPS = 1
"""Rotated files of each named process."""
LONGEST = 8_000
"""Longest line in characters."""
FRAMES = 200
"""Maximum number of lines of a traceback; a longer one loses its middle."""

_active: "LogFile | None" = None
_LOGGED = "_subtitle_rag_logged"
_ROOT = str(Path(__file__).parents[2])


class LogFile(logging.Handler):
    """Writes records to a process's file in `folder`; if that fails, only the line is lost.

    `process` names the file, and this process in each line. `private` are the program's own folders, whose paths may be
    logged.
    """

    def __init__(self, folder: Path, process: str, *, debug: bool = False, private: tuple[Path, ...] = ()) -> None:
        super().__init__(logging.DEBUG)
        self.folder = folder
        self.path = folder / f"{process}.log"
        self.process = process
        self.debug = debug
        self._private = (folder, *private)
        self._ended = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._ended:  # a thread may have found this handler before the block ended; its file would open again
            return
        with suppress(Exception):  # there is no other place to report it
            if lines := list(self.lines(record)):
                self._file.emit(logging.makeLogRecord({"msg": "\n".join(lines)}))

    @cached_property
    def _file(self) -> logging.Handler:
        from logging.handlers import RotatingFileHandler  # imports sockets, which `--help` does not need

        class OwnFile(RotatingFileHandler):
            """A file that only its owner can read."""

            handleError = LogFile.handleError  # noqa: N815 - logging's own name

            def _open(self) -> TextIOWrapper:
                def private(path: str, flags: int) -> int:
                    return os.open(path, flags, 0o600)

                return open(self.baseFilename, "a", encoding="utf-8", errors="backslashreplace", opener=private)

        private_folder(self.folder)
        return OwnFile(self.path, maxBytes=MAX_BYTES, backupCount=BACKUPS, delay=True)

    def close(self) -> None:
        self.acquire()
        try:
            self._ended = True
            if "_file" in vars(self):
                self._file.close()
        finally:
            self.release()
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Do nothing: standard error may be Textual's screen."""

    def lines(self, record: logging.LogRecord) -> Iterator[str]:
        """Yield the record's lines; the debug lines only with `debug`."""
        error = record.exc_info[1] if record.exc_info else None
        frank = record.levelno <= logging.DEBUG
        is_own = record.name.partition(".")[0] == PACKAGE
        if is_own or frank:
            yield self._line(record, record.levelname, record.getMessage())
        else:
            yield self._line(record, record.levelname, f"{Path(record.pathname).name}:{record.lineno}")
        if error is not None and not frank:
            for line in _cut(list(describe_traceback(error, self._private))):
                yield self._line(record, record.levelname, f"| {line}")
        if self.debug and not (is_own or frank):
            yield self._line(record, "DEBUG", record.getMessage())
        if error is not None and (self.debug or frank):
            # redacted as a whole, because a secret may span lines
            text = redact("".join(traceback.format_exception(error)))
            for line in _cut(text.splitlines()):
                yield self._line(record, "DEBUG", f"| {line}")

    def _line(self, record: logging.LogRecord, level: str, message: str) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = one_line(redact(message))
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}… ({len(text)} characters)"
        return f"{when} {level:<7} {self.process}[{record.process}] {record.name}: {text}"


def describe_traceback(error: BaseException, folders: tuple[Path, ...] = ()) -> Iterator[str]:
    """Yield a traceback without private text of the exceptions; causes come first, as in Python.

    An exception that occurs again is named without its frames.
    """
    visited: set[int] = set()
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and id(current) not in visited:
        visited.add(id(current))
        chain.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    for at, each in enumerate(reversed(chain)):
        if at:
            yield "which led to:"
        if getattr(each, _LOGGED, False):
            yield f"{describe(each, folders)} (its traceback is above)"
            continue
        for frame in traceback.extract_tb(each.__traceback__):
            yield f"{_short(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line}"
        yield describe(each, folders)
        with suppress(AttributeError):  # a class with slots
            setattr(each, _LOGGED, True)
        if isinstance(each, BaseExceptionGroup):
            for inner in each.exceptions:
                yield from (f"  {line}" for line in describe_traceback(inner, folders))


def _short(path: str) -> str:
    """Return a module's path, starting with its package."""
    library = "Lib" if sys.platform == "win32" else f"python{sys.version_info.major}.{sys.version_info.minor}"
    for begin in ("site-packages", library):
        _before, separator, rest = path.replace("\\", "/").rpartition(f"/{begin}/")
        if separator:
            return rest
    return path.removeprefix(f"{_ROOT}{os.sep}")


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= FRAMES:
        return lines
    half = FRAMES // 2
    return [*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:]]


def wants_debug(flag: bool = False) -> bool:
    """Whether `--debug` was given or `SUBTITLE_RAG_DEBUG` is set to anything but 0, false or no."""
    return flag or os.environ.get(DEBUG_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


@contextmanager
def logged_stage(logger: logging.Logger, name: str) -> Iterator[dict[str, int]]:
    """Log start and end of a stage, with its milliseconds and the counts that the block fills in."""
    counts: dict[str, int] = {}
    start = time.monotonic()

    def took() -> str:
        count_text = "".join(f", {key} {value}" for key, value in counts.items())
        return f"{(time.monotonic() - start) * 1000:.0f} ms{count_text}"

    logger.info("%s begins", name)
    try:
        yield counts
    except GeneratorExit:
        logger.info("%s stopped: %s", name, took())
        raise
    except BaseException:
        logger.warning("%s failed: %s", name, took(), exc_info=True)
        raise
    logger.info("%s ends: %s", name, took())


def counts_of(report: object) -> dict[str, int]:
    """Return the numbers in a report, for `logged_stage`; its other fields may have titles."""
    names = (each.name for each in fields(report))  # type: ignore[arg-type]
    return {name: value for name in names if type(value := getattr(report, name)) is int}


@contextmanager
def logging_to(folder: Path, process: str, *, debug: bool = False, private: tuple[Path, ...] = ()) -> Iterator[LogFile]:
    """Log this process's records and uncaught exceptions to the file in `folder` until the block ends.

    From other packages only warnings and errors are logged. An inner block gets the records while it lasts.
    """
    global _active
    handler = LogFile(folder, process, debug=debug, private=private)
    root, package_logger = logging.getLogger(), logging.getLogger(PACKAGE)
    previous, level = _active, package_logger.level
    hooks = sys.excepthook, threading.excepthook
    if previous is not None:
        root.removeHandler(previous)
    root.addHandler(handler)
    package_logger.setLevel(logging.DEBUG if debug else logging.INFO)
    _active = handler
    if folder.is_dir():
        make_private(folder)
    sys.excepthook = _logged_excepthook
    threading.excepthook = _logged_thread_hook(hooks[1])
    try:
        yield handler
    finally:
        sys.excepthook, threading.excepthook = hooks
        _active = previous
        package_logger.setLevel(level)
        root.removeHandler(handler)
        handler.close()
        if previous is not None:
            root.addHandler(previous)


def log_options() -> dict[str, Any] | None:
    """Return the arguments of `logging_to`, as JSON, for a child process; None without a log."""
    if _active is None:
        return None
    return {"folder": str(_active.folder), "debug": _active.debug, "private": [str(p) for p in _active._private]}


def join_log(options: dict[str, Any] | None, process: str) -> AbstractContextManager[LogFile | None]:
    """Log to the parent's file, given its `log_options`; do nothing for None."""
    if options is None:
        return nullcontext()
    private = tuple(Path(each) for each in options["private"])
    return logging_to(Path(options["folder"]), process, debug=bool(options["debug"]), private=private)


def tell(logger: logging.Logger, sentence: str) -> None:
    """Log a sentence for the user, and write it to stderr unless that is the app's screen."""
    logger.warning("%s", sentence)
    if process_name() != "app" and sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"! {sentence}\n")


def process_name() -> str:
    """Return this process's name in the log, such as `app`; "" without a log."""
    return _active.process if _active else ""


def log_path() -> Path | None:
    """Return the path of the log; None without one."""
    return _active.path if _active else None


def _logged_excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    logging.getLogger(PACKAGE).critical("uncaught exception", exc_info=(kind, error, trace))
    sys.__excepthook__(kind, error, trace)


def _logged_thread_hook(usual: Any) -> Any:
    def hook(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
            name = arguments.thread.name if arguments.thread else "?"
            logging.getLogger(PACKAGE).error("uncaught exception in thread %s", name, exc_info=arguments.exc_value)
        usual(arguments)

    return hook
