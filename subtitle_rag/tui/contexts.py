"""Contexts as the screens show them, and the thread that has them written beside everything else."""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from subtitle_rag.errors import AppError
from subtitle_rag.events import ContextEvent, ContextFailed, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.i18n import _, n_
from subtitle_rag.tui import background
from subtitle_rag.tui.background import WindowProgress, far, pace
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.message import Message

    from subtitle_rag.library.contexts import ContextCounts
    from subtitle_rag.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Progress(WindowProgress):
    """How far the contexts of a library have come."""

    known: bool = False
    """The library has some already."""
    failed: int = 0
    read: int = 0
    """Tokens, in all runs so far."""
    written: int = 0

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
                return replace(self, state="working", missing=windows)
            case ContextWritten():
                read, written = self.read + event.prompt_tokens, self.written + event.tokens
                return replace(self, taken=self.taken + 1, seconds=seconds, read=read, written=written, known=True)
            case ContextFailed():
                return replace(self, failed=self.failed + 1)
            case ContextReport(blocked=blocked):
                return replace(self, error=blocked)


def line(progress: Progress) -> str:
    """What the library says of its contexts; empty where there is nothing to tell."""
    if not progress.windows:
        return ""
    match progress.state:
        case "asking":
            return _("Asking Ollama…")
        case "working":
            return "  ".join((brief(progress), *cost(progress)))
        case "paused":
            said = far(_("Contexts are paused at {done}/{all}; {key} goes on"), progress)
            return "  ".join((said, *cost(progress)))
        case "failed" if progress.missing and progress.error:
            return _failure(progress, progress.error)
    if not progress.failed:
        return ""
    return n_(
        "! {n} window got no context; {key} asks for it again",
        "! {n} windows got no context; {key} asks for them again",
        progress.failed,
    ).format(n=progress.failed, key=key("library.background"))


def brief(progress: Progress) -> str:
    """How far a run has come, how fast it is, and how long it still takes."""
    parts = [far(_("Contexts {done}/{all}"), progress), *pace(progress)]
    if progress.failed:
        parts.append(n_("! {n} failed", "! {n} failed", progress.failed).format(n=progress.failed))
    return "  ".join((*parts, clean(progress.model)))


def cost(progress: Progress) -> list[str]:
    """What all contexts of the library have cost so far."""
    if not progress.written:
        return []
    spent = _("{read} tokens read, {written} written")
    return [spent.format(read=f"{progress.read:,}", written=f"{progress.written:,}")]


def _failure(progress: Progress, error: AppError) -> str:
    if error.code == "llm_not_running" and not progress.known:
        return _(
            "A local model could note what each window is about, so that more scenes are found: "
            "start Ollama (ollama.com), then press {key}."
        ).format(key=key("library.background"))
    hint = "" if error.code == "contexts_busy" else f" {error.hint}"
    return clean(f"! {error.message}{hint}  " + _("{key} tries again").format(key=key("library.background")))


class Run(background.Run[Progress]):
    """Writes what is missing, if there is a model that can; the answer that is under way at a halt is lost."""

    stage: ClassVar[background.Stage] = "contexts"

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, doors, post)
        self._progress = Progress()

    def _work(self) -> None:
        counts = self._runtime.library.contexts.counts()
        self._progress = Progress.of(counts, self._runtime.context_model)
        if not counts.windows:
            return
        with ExitStack() as opened:
            with self._doors:
                writer = opened.enter_context(self._runtime.writer(stop=self._stop_work))
            if not self._halted:
                self._follow(opened.enter_context(closing(cast("Generator[ContextEvent]", writer.run()))))

    def _follow(self, events: Iterator[ContextEvent]) -> None:
        began = 0.0
        for event in events:
            now = time.monotonic()
            began = began or (now if isinstance(event, ContextWritten) else 0.0)
            self._progress = self._progress.after(event, now - began)
            if self._progress.missing:
                self._report()
