"""The log: one rotating file for the app, the command line and the hosts.

A line is `time level process[pid] logger: message`, and each line of a traceback is such a line too. From level info on
a line holds no text of the library's, of its questions or of models: exceptions are described (`redaction.describe`),
and messages of other packages are named by their place in the source. What they say in full is a line of its own at
level debug, which is written with `--debug` alone. Secrets are removed at every level.

What would surprise: nothing is opened before the first line, and nothing stays open after it. A line is one write to a
file in append mode, which the system keeps whole among processes; a lock is taken for the rotation alone, and for every
line on Windows, where appending is two steps.
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
from pathlib import Path
from types import TracebackType
from typing import Any

from subtitle_rag.redaction import describe, one_line, redact

DEBUG_VARIABLE = "SUBTITLE_RAG_DEBUG"
NAME = "subtitle-rag.log"
PACKAGE = "subtitle_rag"
MAX_BYTES = 1_000_000
"""Size from which the file is rotated."""
BACKUPS = 3
"""Rotated files, `.1` (the newest) to `.3`."""
LOCK_S = 0.5
"""Longest wait for the lock; after it the line is written all the same, and the rotation left to the next line."""
LONGEST = 8_000
"""Characters of a line."""
FRAMES = 200
"""Lines of a traceback; of a longer one the first and the last are kept."""

_in_force: "LogFile | None" = None
_LOGGED = "_subtitle_rag_logged"
_ROOT = str(Path(__file__).parent.parent)


class LogFile(logging.Handler):
    """Writes records to `folder / NAME`; a folder or disk that refuses costs the line, never the program.

    `process` names this process in each line. `private` are the program's own folders, whose paths may be told.
    """

    def __init__(self, folder: Path, process: str, *, debug: bool = False, private: tuple[Path, ...] = ()) -> None:
        super().__init__(logging.DEBUG)
        self.folder = folder
        self.path = folder / NAME
        self.process = process
        self.debug = debug
        self._private = (folder, *private)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # whatever hinders it, nobody is left to be told
            self._write("".join(f"{line}\n" for line in self.lines(record)).encode("utf-8", "backslashreplace"))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Silent: standard error may be a screen that is drawn on."""

    def lines(self, record: logging.LogRecord) -> Iterator[str]:
        """The record's lines, those for debugging among them only where they are wanted."""
        error = record.exc_info[1] if record.exc_info else None
        frank = record.levelno <= logging.DEBUG
        own = record.name.partition(".")[0] == PACKAGE
        if own or frank:
            yield self._line(record, record.levelname, record.getMessage())
        else:
            yield self._line(record, record.levelname, f"{Path(record.pathname).name}:{record.lineno}")
        if error is not None and not frank:
            for line in _cut(list(described(error, self._private))):
                yield self._line(record, record.levelname, f"| {line}")
        if self.debug and not (own or frank):
            yield self._line(record, "DEBUG", record.getMessage())
        if error is not None and (self.debug or frank):
            # redacted as a whole, for a secret may be spread over lines
            text = redact("".join(traceback.format_exception(error)))
            for line in _cut(text.splitlines()):
                yield self._line(record, "DEBUG", f"| {line}")

    def _line(self, record: logging.LogRecord, level: str, message: str) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = one_line(redact(message))
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}… ({len(text)} characters)"
        return f"{when} {level:<7} {self.process}[{record.process}] {record.name}: {text}"

    def _write(self, lines: bytes) -> None:
        with self._exclusive() if sys.platform == "win32" else nullcontext(True):
            if not self._append(lines) and not self._append(lines):
                return
        self._rotate()

    def _append(self, lines: bytes) -> bool:
        """Append in one write; False where the file was rotated away meanwhile and is no more."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path, flags, 0o600)
        try:
            os.write(handle, lines)
            return sys.platform == "win32" or os.fstat(handle).st_nlink > 0
        finally:
            os.close(handle)

    def _rotate(self) -> None:
        if self.path.stat().st_size < MAX_BYTES:
            return
        with self._exclusive() as held:
            # another process may have been quicker
            if held and self.path.stat().st_size >= MAX_BYTES:
                for n in range(BACKUPS, 0, -1):
                    newer = self.path if n == 1 else self._backup(n - 1)
                    if newer.exists():
                        newer.replace(self._backup(n))

    def _backup(self, n: int) -> Path:
        return self.path.with_name(f"{NAME}.{n}")

    @contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Hold the lock among processes; False where another holds it for too long."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / f"{NAME}.lock", timeout=LOCK_S, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()


def described(error: BaseException, folders: tuple[Path, ...] = ()) -> Iterator[str]:
    """A traceback without the exceptions' own text where that could be private; causes come first, as Python has it.

    An exception that is logged a second time, further up, is named without its frames.
    """
    seen: set[int] = set()
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        chain.append(one)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    for at, each in enumerate(reversed(chain)):
        if at:
            yield "which led to:"
        if getattr(each, _LOGGED, False):
            yield f"{describe(each, folders)} (its traceback is above)"
            continue
        for frame in traceback.extract_tb(each.__traceback__):
            yield f"{_short(frame.filename)}:{frame.lineno} in {frame.name}: {frame.line}"
        yield describe(each, folders)
        with suppress(AttributeError):  # of a class with slots
            setattr(each, _LOGGED, True)
        if isinstance(each, BaseExceptionGroup):
            for inner in each.exceptions:
                yield from (f"  {line}" for line in described(inner, folders))


def _short(path: str) -> str:
    """A module's path from its package on."""
    library = "Lib" if sys.platform == "win32" else f"python{sys.version_info.major}.{sys.version_info.minor}"
    for begin in ("site-packages", library):
        _before, found, rest = path.replace("\\", "/").rpartition(f"/{begin}/")
        if found:
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
    """Log that a stage begins and ends, with its milliseconds and the counts that the block fills in."""
    counts: dict[str, int] = {}
    began = time.monotonic()

    def took() -> str:
        told = "".join(f", {key} {value}" for key, value in counts.items())
        return f"{(time.monotonic() - began) * 1000:.0f} ms{told}"

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
    """The numbers of a report, for `logged_stage`; its other fields may hold titles."""
    names = (each.name for each in fields(report))  # type: ignore[arg-type]
    return {name: value for name in names if type(value := getattr(report, name)) is int}


@contextmanager
def logging_to(folder: Path, process: str, *, debug: bool = False, private: tuple[Path, ...] = ()) -> Iterator[LogFile]:
    """Log this process's records, and exceptions that nobody catches, to the file in `folder` until the block ends.

    Of other packages' records those from warning on are taken. A block within a block has the records for its time.
    """
    global _in_force
    handler = LogFile(folder, process, debug=debug, private=private)
    root, own = logging.getLogger(), logging.getLogger(PACKAGE)
    before, level = _in_force, own.level
    hooks = sys.excepthook, threading.excepthook
    if before is not None:
        root.removeHandler(before)
    root.addHandler(handler)
    own.setLevel(logging.DEBUG if debug else logging.INFO)
    _in_force = handler
    sys.excepthook = _logged_excepthook
    threading.excepthook = _logged_thread_hook(hooks[1])
    try:
        yield handler
    finally:
        sys.excepthook, threading.excepthook = hooks
        _in_force = before
        own.setLevel(level)
        root.removeHandler(handler)
        handler.close()
        if before is not None:
            root.addHandler(before)


def in_force() -> dict[str, Any] | None:
    """Where this process logs to, for a process that it starts: arguments of `logging_to` as JSON can hold them."""
    if _in_force is None:
        return None
    return {"folder": str(_in_force.folder), "debug": _in_force.debug, "private": [str(p) for p in _in_force._private]}


def continued(place: dict[str, Any] | None, process: str) -> AbstractContextManager[LogFile | None]:
    """The log that `in_force` named in the process that started this one; none where that had none."""
    if place is None:
        return nullcontext()
    private = tuple(Path(each) for each in place["private"])
    return logging_to(Path(place["folder"]), process, debug=bool(place["debug"]), private=private)


def log_path() -> Path | None:
    """The file that is written to; None where nothing is logged."""
    return _in_force.path if _in_force else None


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
