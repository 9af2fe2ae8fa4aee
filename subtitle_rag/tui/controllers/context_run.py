"""The thread that writes missing contexts."""

import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from typing import ClassVar, cast

from subtitle_rag.domain import ContextEvent, ContextWritten, OverviewWritten
from subtitle_rag.tui.controllers import stage_run
from subtitle_rag.tui.state import ContextProgress, stage_progress


class ContextRun(stage_run.StageRun[ContextProgress]):
    """Writes missing contexts if a model can; a halt loses the current answer of the model."""

    stage: ClassVar[stage_progress.StageName] = "contexts"
    _progress = ContextProgress()

    def _work(self) -> None:
        counts = self._runtime.library.contexts.counts()
        self._progress = ContextProgress.of(counts, self._runtime.context_model)
        if not counts.windows:
            return
        with ExitStack() as opened:
            writer = opened.enter_context(self._runtime.writer(stop=self._stop_work))
            if not self._halted:
                self._follow(opened.enter_context(closing(cast("Generator[ContextEvent]", writer.run()))))

    def _follow(self, events: Iterator[ContextEvent]) -> None:
        began = 0.0
        latest = time.monotonic()
        for event in events:
            now = time.monotonic()
            if isinstance(event, OverviewWritten):
                began = began and began + now - latest
                self._progress = self._progress.after(event, now - latest)
            else:
                began = began or (now if isinstance(event, ContextWritten) else 0.0)
                self._progress = self._progress.after(event, now - began)
            latest = now
            if self._progress.missing:
                self._report()
