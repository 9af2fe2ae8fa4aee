"""Stage of contexts: a local model writes one for every window.

Each host takes one video at a time and its windows in order, so that all of a video's prompts share the server's cache
of the first. The host's thread stores each context at once: a crash loses only the current one. The search index
follows, and catches up after a crash.
"""

import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Protocol

from subtitle_rag.base.domain.events import (
    ContextEvent,
    ContextReport,
    ContextsDue,
    ContextWritten,
    OverviewWritten,
    SummaryWritten,
)
from subtitle_rag.base.domain.progress import Pace, Progress
from subtitle_rag.base.i18n import _
from subtitle_rag.base.log_file import counts_of, logged_stage
from subtitle_rag.contexts.hosts import ContextHostRun, ContextTask, summary_recipe
from subtitle_rag.contexts.planning import Planner, largest_num_ctx, prompt_sizes
from subtitle_rag.contexts.prompt_layout import BUILT_IN, ContextPrompt
from subtitle_rag.korean.morphemes import SentenceAnalyzer
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.context_store import Context, Recipe, WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.models.ollama.llm_client import Llm, hosts_with

logger = logging.getLogger(__name__)

PAUSE_S = 5.0
"""First wait before a failed request is repeated; it doubles."""


class ContextIndexer(Protocol):
    """Adds contexts to an index."""

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        """Add contexts (video id → window ids)."""


class _ContextMeter:
    """Counts a run's results, timing windows separately from sections of overviews."""

    def __init__(self, due: ContextsDue) -> None:
        self._left = {ContextWritten: due.windows, OverviewWritten: due.sections}
        self._paces = {ContextWritten: Pace(), OverviewWritten: Pace(steps=2)}
        self._counted = ContextWritten if due.windows else SummaryWritten
        self.progress = Progress("contexts", total=due.windows or due.summaries)

    def after_request(self, request: Progress) -> Progress:
        """Return the progress with what a model is doing."""
        return replace(self.progress, text=request.text, activity=request.activity, since=request.since)

    def count(self, event: ContextWritten | OverviewWritten | SummaryWritten) -> Progress:
        """Return the progress with what was written."""
        for kind, pace in self._paces.items():
            if isinstance(event, kind):
                pace.add()
                self._left[kind] -= 1
            else:
                pace.start()
        window_s, section_s = (pace.left_s(self._left[kind]) for kind, pace in self._paces.items())
        activity = ""
        if isinstance(event, OverviewWritten):
            activity = _("overview {done}/{all}").format(done=event.section, all=event.sections)
        self.progress = replace(
            self.progress,
            done=self.progress.done + isinstance(event, self._counted),
            text=event.title,
            activity=activity,
            rate=self._paces[ContextWritten].rate,
            left_s=None if window_s is None else window_s + (section_s or 0.0),
        )
        return self.progress


@dataclass(slots=True)
class Writer:
    """Writes contexts into a library; only one runs per library."""

    library: Library
    indexer: ContextIndexer
    hosts: Sequence[Llm]
    model: str
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by another thread, ends a run at once."""
    _: KW_ONLY
    analyzer: SentenceAnalyzer
    pause: float = PAUSE_S
    answered: Callable[[Context], object] | None = None
    """Called with every answer, even one to be requested again, from the hosts' threads."""
    prompt: ContextPrompt = BUILT_IN
    summaries: bool = False
    """Whether each video is summarised after its windows; finished ones come last."""

    def run(self, selection: WindowSelection | None = None) -> Iterator[ContextEvent]:
        """Write the missing contexts. The last event is the `ContextReport`.

        Raises:
            BusyError: `busy`, and the codes of the library and the index.
            AppError: the codes of `Llm.check`, if no host has the model.
        """
        selection = selection or WindowSelection()
        report = ContextReport()
        # a second run would request the same windows
        with hold_lock(self.library.path.parent, "contexts"), logged_stage(logger, "contexts") as counts:
            if late := self.library.contexts.unindexed():
                self.indexer.add_contexts(late)
            task = self._task(selection)
            due = self._due(task, selection.limit)
            yield due
            meter = _ContextMeter(due)
            yield meter.progress
            run = ContextHostRun(
                self.library,
                task,
                self.stop,
                self.analyzer,
                self.pause,
                selection.limit,
                self.answered,
                with_summaries=self.summaries,
            )
            try:
                for event in self._collect(run):
                    if isinstance(event, Progress):
                        yield meter.after_request(event)
                        continue
                    report.count(event)
                    counts.update(counts_of(report))
                    yield event
                    if isinstance(event, ContextWritten | OverviewWritten | SummaryWritten):
                        yield meter.count(event)
            finally:
                self.stop.clear()
            if run.videos:
                report.blocked = run.blocked
        yield report

    def _task(self, selection: WindowSelection) -> ContextTask:
        """Return the selected work; contexts are queued for replacement only if the model can run."""
        contexts = self.library.contexts
        ready = hosts_with(self.hosts, self.model)
        if selection.redo:
            contexts.redo(selection)
            if self.summaries:
                self.library.summaries.redo(selection)
        recipe = Recipe(ready[0][1].digest, self.prompt.version)
        work = contexts.work(recipe, selection)
        replaced = contexts.count_replaced(recipe, selection)
        summaries: Collection[str] = ()
        if self.summaries:
            summaries = self.library.summaries.missing(summary_recipe(recipe), selection)
            work |= dict.fromkeys([id for id in summaries if id not in work], 0)
        return ContextTask(self.model, ready, recipe, self.prompt, work, len(summaries), replaced)

    def _due(self, task: ContextTask, limit: int | None) -> ContextsDue:
        """Return the scope of the run, with the expected time."""
        windows = sum(task.windows.values())
        windows = windows if limit is None else min(windows, limit)
        ms = windows * (self.library.contexts.mean_ms(task.recipe.digest) or 0.0)
        return ContextsDue(
            len(task.windows),
            windows,
            self._sections_due(task, windows),
            min(windows, task.by_other_prompts),
            round(ms / 1000),
            task.summaries if limit is None else 0,
        )

    def _sections_due(self, task: ContextTask, windows: int) -> int:
        """Return the number of overview requests before `windows` windows have their contexts."""
        host, info = task.ready[0]
        # fewer characters fit by any vocabulary's rate for Korean, so these videos need no plan
        long = self.library.contexts.long_videos(largest_num_ctx(info) // 4)
        sizes = prompt_sizes(host, info) if long else None
        planner = Planner(self.library, task.recipe, task.prompt, info, sizes)
        sections = 0
        for video_id, missing in task.windows.items():
            if windows <= 0:
                break
            windows -= missing
            if video_id in long:
                sections += planner.missing_sections(video_id)
        return sections

    def _collect(self, run: ContextHostRun) -> Iterator[ContextEvent]:
        """Pass on the events of all hosts, and index each context as it arrives."""
        threads = [threading.Thread(target=run.work, args=pair, daemon=True) for pair in run.task.ready]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) or not run.events.empty():
                try:
                    event = run.events.get(timeout=0.1)
                except queue.Empty:
                    continue
                if isinstance(event, BaseException):
                    raise event
                if isinstance(event, ContextWritten) and (event.text or event.left_out):
                    self.indexer.add_contexts({event.video: [event.window]})
                yield event
        finally:
            if any(thread.is_alive() for thread in threads):
                self.stop.set()
            for thread in threads:
                thread.join()
