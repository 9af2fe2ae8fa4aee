"""The only writer of stdout: text for people, one versioned envelope for `--json`, a line per event for `--jsonl`.

stdout is data, stderr is narration: progress, warnings and errors never stand between a program and its input.
"""

import errno
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from subtitle_rag.errors import AppError, BusyError, LlmError, UsageError
from subtitle_rag.events import (
    ContextEvent,
    ContextFailed,
    ContextReport,
    ContextsDue,
    ContextWritten,
    Found,
    IndexEvent,
    IndexReport,
    Listed,
    Resting,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.i18n import _
from subtitle_rag.platforms import draws_escapes, on_windows

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger(__name__)

SCHEMA = 1
"""Version of the envelope and of everything in it."""

Status = Literal["success", "partial", "error"]


class ExitCode(IntEnum):
    """What the process ends with."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    TRY_LATER = 3
    INTERRUPTED = 130


LATER = ("llm_not_running", "llm_broke_off", "llm_timeout", "llm_busy")
"""Failures of Ollama that trying again later can mend."""


def exit_code_for(error: AppError) -> ExitCode:
    match error:
        case UsageError():
            return ExitCode.USAGE
        case BusyError():
            return ExitCode.TRY_LATER
        case LlmError(code=code) if code in LATER:
            return ExitCode.TRY_LATER
        case AppError(code="interrupted"):
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.FAILED


@dataclass(slots=True)
class Outcome:
    """What a command came to. Its result goes to stdout, its errors to stderr (and into the envelope)."""

    result: Any
    errors: list[dict[str, Any]] = field(default_factory=list)
    exit_code: int = 0

    @property
    def status(self) -> Status:
        if not self.errors:
            return "success"
        return "error" if self.exit_code else "partial"


def error_entry(error: AppError, video: str | None = None) -> dict[str, Any]:
    """An error as the envelope holds it."""
    return {"code": error.code, "message": error.message, "hint": error.hint, "video": video}


def failure_entry(event: VideoFailed) -> dict[str, Any]:
    """A video's failure as the envelope holds it."""
    return error_entry(AppError(event.code, **event.details), event.video)


def resting_entry(event: Resting) -> dict[str, Any]:
    """Why the queue rests, as the envelope holds an error."""
    return error_entry(AppError(event.code, **event.details))


def moment(seconds: int | None) -> str | None:
    """Unix seconds as JSON has them: ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds else None


def local_time(seconds: int) -> str:
    """Unix seconds as people here read them: the time today, else the day too."""
    when, today = datetime.fromtimestamp(seconds), datetime.now()
    return f"{when:%H:%M}" if when.date() == today.date() else f"{when:%Y-%m-%d %H:%M}"


def prepare() -> None:
    """See that no character makes reading or writing fail: one that the encoding lacks becomes an escape.

    A stream that was closed before, or that a program without a console of Windows' lacks, leads nowhere.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard() -> None:
    """Let what still waits for stdout go nowhere: its reader has left, or its disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def on_terminal() -> bool:
    """Whether a person is there to type, and all that the app draws on is a terminal (it draws on stderr)."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


@contextmanager
def _reader_told() -> Iterator[None]:
    """That the reader of stdout has left is BrokenPipeError on Windows too, which calls it an invalid argument."""
    try:
        yield
    except OSError as error:
        if on_windows() and error.errno == errno.EINVAL:
            raise BrokenPipeError from error
        raise


def flush() -> None:
    """Write out what waits for stdout; raises BrokenPipeError, OSError."""
    with _reader_told():
        sys.stdout.flush()


def data(text: str = "") -> None:
    """A line of data."""
    with _reader_told():
        sys.stdout.write(text + "\n")


def piece(text: str) -> None:
    """A part of a line of data, at once."""
    with _reader_told():
        sys.stdout.write(text)
    flush()


def json_line(values: Mapping[str, Any]) -> None:
    """One value of a list, as one line of JSON, at once."""
    data(_json(values))
    flush()


def say(text: str) -> None:
    """A line of narration."""
    flush()
    sys.stderr.write(text + "\n")


def say_error(error: AppError | Mapping[str, Any]) -> None:
    """What happened and why, then what to do next."""
    if isinstance(error, AppError):
        logger.info("told on stderr", exc_info=error)
    entry = error_entry(error) if isinstance(error, AppError) else error
    say(f"! {entry['message']}\n  {entry['hint']}")


def envelope(command: str, outcome: Outcome) -> None:
    """The one JSON document of a command."""
    document = {
        "schema": SCHEMA,
        "command": command,
        "status": outcome.status,
        "result": outcome.result,
        "errors": outcome.errors,
    }
    data(_json(document, indent=2))


def event_line(event: IndexEvent) -> None:
    """One event as one line of JSON, at once."""
    name = {
        Found: "found",
        Listed: "listed",
        VideoDone: "video_done",
        VideoFailed: "video_failed",
        Resting: "resting",
        WindowsIndexed: "windows_indexed",
        IndexReport: "report",
    }[type(event)]
    values = asdict(event)
    if isinstance(event, VideoFailed):
        values = {"title": event.title, **failure_entry(event)}
    elif isinstance(event, Resting):
        values = {"until": moment(event.until), "goes_on": event.goes_on, **resting_entry(event)}
    elif isinstance(event, IndexReport):
        values = report_values(event)
    data(_json({"event": name, **values}))
    flush()


def context_line(event: ContextEvent) -> None:
    """One event of the context writer as one line of JSON, at once."""
    name = {
        ContextsDue: "contexts_due",
        ContextWritten: "context_written",
        ContextFailed: "context_failed",
        ContextReport: "report",
    }[type(event)]
    if isinstance(event, ContextFailed):
        values = {"title": event.title, **context_failure(event)}
    else:
        values = context_values(event) if isinstance(event, ContextReport) else asdict(event)
    data(_json({"event": name, **values}))
    flush()


def context_failure(event: ContextFailed) -> dict[str, Any]:
    """A window's failure as the envelope holds it."""
    return error_entry(AppError(event.code, **event.details), event.video)


def context_values(report: ContextReport) -> dict[str, Any]:
    """The sum of a run of the context writer, as `--json` tells it."""
    return {
        "written": report.written,
        "empty": report.empty,
        "suspect": report.suspect,
        "failed": report.failed,
        "prompt_tokens": report.prompt_tokens,
        "tokens": report.tokens,
        "seconds": report.ms / 1000,
    }


def _json(value: Any, indent: int | None = None) -> str:
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not utf8, indent=indent)


def document(value: Any) -> None:
    """A JSON document that is data by itself, such as a schema."""
    data(_json(value, indent=2))


def report_values(report: IndexReport) -> dict[str, Any]:
    """The sum of a run as `index --json` tells it."""
    return {
        "videos": {
            "found": report.found,
            "new": report.new,
            "changed": report.changed,
            "unchanged": report.unchanged,
            "failed": report.failed,
        },
        "windows_indexed": report.windows,
    }


@contextmanager
def progress() -> Iterator["Progress"]:
    """A bar on stderr with counts, rate and time left; silent where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Any) -> Text:
            if not task.speed:
                return Text("")
            slow = task.speed < 1
            return Text(
                (_("{rate:.0f}/min") if slow else _("{rate:.0f}/s")).format(rate=task.speed * (60 if slow else 1))
            )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(""),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
    with bar:
        yield bar


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> Iterator[str]:
    """Rows as lines whose columns align by terminal cells; `right` names the columns that align at their right."""
    from rich.cells import cell_len

    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            cells.append(space + cell if at in right else cell + space)
        yield "  ".join(cells).rstrip()


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with its highlights in bold, where stdout is a terminal that may show it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or not draws_escapes():
        return text
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], "\x1b[1;4m", text[start:end], "\x1b[0m"]
        at = end
    return "".join(parts) + text[at:]
