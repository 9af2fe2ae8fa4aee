"""The only writer of stdout: text for people, one versioned envelope for `--json`, one line per event for `--jsonl`.

stdout is data, stderr is narration: progress, warnings and errors are never mixed into a program's input.
"""

import errno
import io
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal, TextIO

from subtitle_rag.base.domain.errors import AppError, BusyError, LlmError, UsageError
from subtitle_rag.base.platforms import draws_escapes, on_windows
from subtitle_rag.base.terminal_text import MARKS, line_text, terminal_text

logger = logging.getLogger(__name__)

SCHEMA = 1
"""Version of the envelope and its contents."""

Status = Literal["success", "partial", "error"]


class ExitCode(IntEnum):
    """Exit codes of the process."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    TRY_LATER = 3
    INTERRUPTED = 130


RETRY_LATER = ("llm_not_running", "llm_broke_off", "llm_timeout", "hub_unreachable")
"""Ollama failures after which a later retry can succeed."""


def exit_code_for(error: AppError) -> ExitCode:
    match error:
        case UsageError():
            return ExitCode.USAGE
        case BusyError():
            return ExitCode.TRY_LATER
        case LlmError(code=code) if code in RETRY_LATER:
            return ExitCode.TRY_LATER
        case AppError(code="interrupted"):
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.FAILED


@dataclass(slots=True)
class Outcome:
    """Result of a command: values for `--json`, or lines for stdout with notes for stderr."""

    result: Any
    lines: Iterable[str] = ()
    notes: Iterable[str] = ()
    errors: Sequence[AppError | dict[str, Any]] = ()
    """Failures, or entries of the envelope's `errors`."""
    exit_code: int | None = None
    """Exit code; None: the first failure's."""
    errors_shown: bool = False
    """Whether the failures were already printed on stderr."""

    @property
    def code(self) -> int:
        if self.exit_code is None and self.errors and isinstance(self.errors[0], AppError):
            return exit_code_for(self.errors[0])
        return self.exit_code or ExitCode.DONE

    @property
    def status(self) -> Status:
        if not self.errors:
            return "success"
        return "error" if self.code else "partial"


def error_entry(error: AppError, video: str | None = None) -> dict[str, Any]:
    """Return an error as an entry of the envelope's `errors`."""
    return {"code": error.code, "message": error.message, "hint": error.hint, "video": video}


def local_time(unix_s: int) -> str:
    """Return Unix seconds as local time, with the date unless it is today."""
    when, today = datetime.fromtimestamp(unix_s), datetime.now()
    return f"{when:%H:%M}" if when.date() == today.date() else f"{when:%Y-%m-%d %H:%M}"


def prepare() -> None:
    """Make all streams accept every character: one outside the encoding is escaped.

    A closed or missing stream (Windows without a console) is replaced by the null device.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard(stream: TextIO | None = None) -> None:
    """Drop the buffer of a stream, stdout by default, whose reader has left or whose disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def flush_narration() -> None:
    """Flush stderr, or drop what a closed terminal cannot take: Python would exit with 120."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def on_terminal() -> bool:
    """Whether stdin, stdout and stderr are all a terminal; the app draws on stderr."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


class StdoutError(OSError):
    """Stdout cannot be written, for example because the disk is full."""


@contextmanager
def _stdout_errors() -> Iterator[None]:
    """Raise BrokenPipeError if the reader has left (Windows: "invalid argument"), else `StdoutError`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if on_windows() and error.errno == errno.EINVAL:
            raise BrokenPipeError from error
        raise StdoutError(error.errno, error.strerror) from error


def flush() -> None:
    """Flush stdout. Raises BrokenPipeError, StdoutError."""
    with _stdout_errors():
        sys.stdout.flush()


def data(text: str = "") -> None:
    """Write a line of data."""
    with _stdout_errors():
        sys.stdout.write(terminal_text(text) + "\n")


def piece(text: str) -> None:
    """Write a part of a line of data, unbuffered."""
    with _stdout_errors():
        sys.stdout.write(terminal_text(text))
    flush()


def json_line(values: Mapping[str, Any]) -> None:
    """Write one line of JSON, unbuffered."""
    data(json_text(values))
    flush()


def say(text: str) -> None:
    """Write a line of narration to stderr, in order with the data on stdout."""
    flush()
    with suppress(OSError):
        sys.stderr.write(terminal_text(text) + "\n")
    flush_narration()


def confirm(question: str) -> bool:
    """Ask on stderr."""
    import click

    return click.confirm(terminal_text(question), err=True)


def ask(question: str) -> str:
    """Ask for a text on stderr; empty if the user just presses Enter."""
    import click

    return str(click.prompt(terminal_text(question), default="", show_default=False, err=True))


def say_error(error: AppError | Mapping[str, Any]) -> None:
    """Write the error's message and its hint to stderr."""
    if isinstance(error, AppError):
        logger.info("shown on stderr", exc_info=error)
    entry = error_entry(error) if isinstance(error, AppError) else error
    say(f"! {entry['message']}\n  {entry['hint']}")


def envelope(command: str, outcome: Outcome) -> None:
    """Write the one JSON document of a command."""
    document = {
        "schema": SCHEMA,
        "command": command,
        "status": outcome.status,
        "result": outcome.result,
        "errors": [error_entry(error) if isinstance(error, AppError) else error for error in outcome.errors],
    }
    data(json_text(document, indent=2))


def finish(command: str, outcome: Outcome, *, as_json: bool) -> int:
    """Write the errors, then one JSON document, or lines and notes; return the exit code."""
    for error in () if outcome.errors_shown else outcome.errors:
        say_error(error)
    if as_json:
        envelope(command, outcome)
    else:
        for line in outcome.lines:
            data(line)
        for note in outcome.notes:
            say(note)
    return outcome.code


def json_text(value: Any, indent: int | None = None) -> str:
    """Return the value as JSON, with characters that stdout cannot show escaped."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not utf8, indent=indent)


@contextmanager
def early_answer(lines: Callable[[], Iterable[str]], after_s: float) -> Iterator[None]:
    """Show the result of `lines` on stderr after `after_s` seconds, until the block ends; only on a terminal.

    Later output replaces it.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def answer() -> Text:
        return Text.from_ansi("\n".join(lines()))

    live = Live(get_renderable=answer, console=Console(stderr=True), transient=True)
    timer = threading.Timer(after_s, live.start, [True])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        live.stop()


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> Iterator[str]:
    """Align columns by terminal cells, the columns in `right` to the right; yield lines."""
    from rich.cells import cell_len

    rows = [[line_text(cell) for cell in row] for row in rows]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(space + cell if at in right else cell + space)
        yield "  ".join(cells).rstrip()


def counts_table(counts: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield one line per title with its number."""
    return table([(title, f"{count:,}") for title, count in counts], right=frozenset({1}))


TYPED_MARK, RELATED_MARK, MARK_END = MARKS


def marked(text: str, spans: Sequence[tuple[int, int]], related: Sequence[tuple[int, int]] = ()) -> str:
    """Return the text with spans in bold and underlined, `related` ones only underlined, on a terminal with colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or not draws_escapes():
        return text
    parts: list[str] = []
    at = 0
    for start, end, mark in sorted([*((*s, TYPED_MARK) for s in spans), *((*s, RELATED_MARK) for s in related)]):
        parts += [text[at:start], mark, text[start:end], MARK_END]
        at = end
    return "".join(parts) + text[at:]
