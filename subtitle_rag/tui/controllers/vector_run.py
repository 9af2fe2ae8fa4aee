"""The thread that makes missing vectors."""

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import ClassVar, cast

from subtitle_rag.domain import VectorEvent, VectorsDue, VectorsMade, VectorsWaiting
from subtitle_rag.tui.controllers import stage_run
from subtitle_rag.tui.state import VectorProgress, stage_progress


class VectorRun(stage_run.StageRun[VectorProgress]):
    """Makes missing vectors if the encoder is installed; a halt waits for the current batch."""

    stage: ClassVar[stage_progress.StageName] = "vectors"
    _progress = VectorProgress()

    def _work(self) -> None:
        runtime = self._runtime
        self._progress = VectorProgress.of(runtime.library.vectors.counts(None), "")
        if not self._progress.windows:
            return
        encoder = runtime.neural.encoder()
        if encoder is None:
            return
        job = runtime.encoding(self._stop_work)
        self._progress = VectorProgress.of(runtime.library.vectors.counts(encoder.id), encoder.id)
        if not self._halted:
            with closing(cast("Generator[VectorEvent]", job.run())) as events:
                self._follow(events, encoder.id)

    def _follow(self, events: Iterator[VectorEvent], encoder_id: str) -> None:
        before, paced = 0.0, False
        for event in events:
            now = time.monotonic()
            self._progress = self._progress.after(event, now - before if paced else None)
            if isinstance(event, VectorsDue):  # more windows may have come
                windows = self._runtime.library.vectors.counts(encoder_id).windows
                self._progress = replace(self._progress, windows=windows)
            paced = isinstance(event, VectorsMade) or (paced and not isinstance(event, VectorsWaiting))
            before = now
            if self._progress.missing:
                self._report()
