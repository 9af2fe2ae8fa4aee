"""Contexts as the screens show them, and the thread that has them written beside everything else.

What would surprise: the thread is no worker of Textual, for the end of the app waits for its workers, and an answer of
a model takes a minute; what it costs to leave the thread behind is that one answer. The writer clears the event that
has stopped it, so the thread remembers by itself that it was told to end.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from subtitle_rag.errors import AppError
from subtitle_rag.events import ContextEvent, ContextFailed, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui import jobs
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.messages import ContextsAdvanced, ContextsEnded
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.message import Message

    from subtitle_rag.library.contexts import ContextCounts
    from subtitle_rag.runtime import Runtime

SAMPLE = 5
"""Windows after which a rate can be told."""
REPORT_S = 0.5
"""Least time between two reports: a quick model answers several times a second."""
PASSING = frozenset({"llm_not_running", "llm_model_missing", "contexts_busy"})
"""Reasons not to write that another program can remove, and that cost next to nothing to look at again."""

State = Literal["asking", "writing", "paused", "failed", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the contexts of a library have come."""

    state: State = "asking"
    model: str = ""
    windows: int = 0
    missing: int = 0
    """Windows that have none: by the library's own count, and of this model's once that has answered."""
    known: bool = False
    """The library has some already."""
    taken: int = 0
    """Windows that this run has been answered for."""
    failed: int = 0
    seconds: float = 0.0
    """From this run's first answer to its latest: before the first one the model is loaded."""
    read: int = 0
    """Tokens, in all runs so far."""
    written: int = 0
    error: AppError | None = None

    @classmethod
    def of(cls, counts: "ContextCounts", model: str) -> "Progress":
        return cls(
            model=model,
            windows=counts.windows,
            missing=counts.due,
            known=counts.written > 0,
            read=counts.prompt_tokens,
            written=counts.tokens,
        )

    def after(self, event: ContextEvent, seconds: float) -> "Progress":
        """The sums with one more event, `seconds` after the first answer."""
        match event:
            case ContextsDue(windows=windows):
                return replace(self, state="writing", missing=windows)
            case ContextWritten():
                read, written = self.read + event.prompt_tokens, self.written + event.tokens
                return replace(self, taken=self.taken + 1, seconds=seconds, read=read, written=written, known=True)
            case ContextFailed():
                return replace(self, failed=self.failed + 1)
            case ContextReport(blocked=blocked):
                return replace(self, error=blocked)

    @property
    def done(self) -> int:
        """Windows of the library that need not be asked for any more."""
        return max(0, self.windows - self.missing + self.taken)

    @property
    def rate(self) -> float | None:
        """Windows in a second, once that can be said."""
        return (self.taken - 1) / self.seconds if self.taken >= SAMPLE and self.seconds > 0 else None


def line(progress: Progress) -> str:
    """What the library says of its contexts; empty where there is nothing to tell."""
    if not progress.windows:
        return ""
    match progress.state:
        case "asking":
            return _("Asking Ollama…")
        case "writing":
            return "  ".join((brief(progress), *_cost(progress)))
        case "paused":
            far = _("Contexts are paused at {done}/{all}; ctrl+t goes on")
            return "  ".join((far.format(done=f"{progress.done:,}", all=f"{progress.windows:,}"), *_cost(progress)))
        case "failed" if progress.missing and progress.error:
            return _failure(progress, progress.error)
    if not progress.failed:
        return ""
    return n_(
        "! {n} window got no context; ctrl+t asks for it again",
        "! {n} windows got no context; ctrl+t asks for them again",
        progress.failed,
    ).format(n=progress.failed)


def brief(progress: Progress) -> str:
    """How far a run has come, how fast it is, and how long it still takes."""
    parts = [_("Contexts {done}/{all}").format(done=f"{progress.done:,}", all=f"{progress.windows:,}")]
    if progress.rate:
        per_minute = progress.rate * 60
        parts.append(_("{rate}/min").format(rate=round(per_minute) if per_minute >= 10 else f"{per_minute:.1f}"))
        parts.append(jobs.remaining(max(0, progress.missing - progress.taken) / progress.rate))
    if progress.failed:
        parts.append(n_("! {n} failed", "! {n} failed", progress.failed).format(n=progress.failed))
    return "  ".join((*parts, clean(progress.model)))


def _cost(progress: Progress) -> list[str]:
    if not progress.written:
        return []
    spent = _("{read} tokens read, {written} written")
    return [spent.format(read=f"{progress.read:,}", written=f"{progress.written:,}")]


def _failure(progress: Progress, error: AppError) -> str:
    if error.code == "llm_not_running" and not progress.known:
        return _(
            "A local model could note what each window is about, so that more scenes are found: "
            "start Ollama (ollama.com), then press ctrl+t."
        )
    hint = "" if error.code == "contexts_busy" else f" {error.hint}"
    return clean(f"! {error.message}{hint}  " + _("ctrl+t tries again"))


class Run(threading.Thread):
    """Writes what is missing, if there is anything and a model that can; `halt` ends it."""

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        """`doors` keeps two threads from opening the same door of `runtime`."""
        super().__init__(name="contexts", daemon=True)
        self._runtime = runtime
        self._doors = doors
        self._to_app = post
        self._stop_writing = threading.Event()
        self._halted = False
        self._progress = Progress()

    def halt(self) -> None:
        """End it at once; the answer that is being written is lost."""
        self._halted = True
        self._stop_writing.set()

    def run(self) -> None:
        error: AppError | None = None
        try:
            self._write()
        except Exception as failure:  # whatever a door throws, the app stays up
            if not self._halted:  # else it is no more than how the run ended
                error = told(failure, self._runtime.settings.paths)
        error = None if self._halted else error or self._progress.error
        end: State = "paused" if self._halted else "failed" if error else "done"
        self._post(ContextsEnded(replace(self._progress, state=end, error=error), self._halted))

    def _write(self) -> None:
        counts = self._runtime.library.contexts.counts()
        self._progress = Progress.of(counts, self._runtime.context_model)
        if not counts.windows:
            return
        with ExitStack() as opened:
            with self._doors:
                writer = opened.enter_context(self._runtime.writer(stop=self._stop_writing))
            if not self._halted:
                self._follow(opened.enter_context(closing(cast("Generator[ContextEvent]", writer.run()))))

    def _follow(self, events: Iterator[ContextEvent]) -> None:
        began = reported = 0.0
        for event in events:
            now = time.monotonic()
            began = began or (now if isinstance(event, ContextWritten) else 0.0)
            self._progress = self._progress.after(event, now - began)
            if self._progress.missing and now - reported > REPORT_S:
                reported = now
                self._post(ContextsAdvanced(self._progress))

    def _post(self, message: "Message") -> None:
        with suppress(RuntimeError):  # the app has gone
            self._to_app(message)
