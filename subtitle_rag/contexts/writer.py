"""The job that has a local model write every window's context.

Each host takes one video at a time and its windows in order, so that all of a video's prompts share what the server
keeps of the first. A context is stored by the thread that got it, at once: killing anything loses the one that was
being written. The search index follows behind, and catches up after a crash.
"""

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager

from subtitle_rag.contexts import prompt
from subtitle_rag.contexts.hosts import Run
from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.events import ContextEvent, ContextReport, ContextsDue, ContextWritten
from subtitle_rag.indexing import Indexer
from subtitle_rag.library.contexts import Chosen, Recipe
from subtitle_rag.library.locks import alone
from subtitle_rag.library.store import Library
from subtitle_rag.llm import Llm, ModelInfo

PAUSE_S = 5.0
"""First wait before a failed request is repeated; it doubles."""


class Writer:
    """Writes contexts into a library; one at a time works on a library."""

    def __init__(
        self,
        library: Library,
        indexer: Indexer,
        hosts: Sequence[Llm],
        model: str,
        stop: threading.Event | None = None,
        *,
        pause: float = PAUSE_S,
    ) -> None:
        """Setting `stop` from another thread ends a run at once; `pause` is the first wait after a failed request."""
        self._library = library
        self._indexer = indexer
        self._hosts = hosts
        self._model = model
        self._stop = stop or threading.Event()
        self._pause = pause

    def run(self, chosen: Chosen | None = None) -> Iterator[ContextEvent]:
        """Write what is missing. The last event is the `ContextReport`.

        Raises:
            BusyError: `contexts_busy`, and what the library and the index raise.
            AppError: what `Llm.check` raises, where no host can be used.
        """
        chosen = chosen or Chosen()
        with self._alone():
            self._catch_up()
            ready = self._ready()
            if chosen.anew:
                self._library.contexts.redo(channels=chosen.channels, videos=chosen.videos)
            recipe = Recipe(ready[0][1].digest, prompt.VERSION)
            work = self._library.contexts.work(recipe, channels=chosen.channels, videos=chosen.videos)
            due = sum(work.values())
            yield ContextsDue(len(work), due if chosen.limit is None else min(due, chosen.limit))
            run = Run(self._library, recipe, self._model, self._stop, self._pause, deque(work), chosen.limit)
            report = ContextReport()
            for event in self._collected(run, ready):
                report.count(event)
                yield event
            report.blocked = run.blocked if run.videos else None
        yield report

    def _ready(self) -> list[tuple[Llm, ModelInfo]]:
        """The hosts that have the model, in the same version."""
        found: list[tuple[Llm, ModelInfo]] = []
        failure: AppError | None = None
        for host in self._hosts:
            try:
                found.append((host, host.check(self._model)))
            except AppError as error:
                failure = failure or error
        if not found:
            raise failure or AppError("llm_off")
        return [(host, info) for host, info in found if info.digest == found[0][1].digest]

    def _collected(self, run: Run, ready: Iterable[tuple[Llm, ModelInfo]]) -> Iterator[ContextEvent]:
        """The events of all hosts; the index takes each context in as it comes."""
        threads = [threading.Thread(target=run.work, args=pair, daemon=True) for pair in ready]
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
                if isinstance(event, ContextWritten) and event.text:
                    self._indexer.add_contexts({event.video: [event.window]})
                yield event
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
            self._stop.clear()

    def _catch_up(self) -> None:
        late = self._library.contexts.unindexed()
        if late:
            self._indexer.add_contexts(late)

    def _alone(self) -> AbstractContextManager[None]:
        """Two runs would ask for the same windows."""
        path = self._library.path
        return alone(path.with_name("contexts.lock"), BusyError("contexts_busy", path=str(path.parent)))
