"""Threads of the background stages: contexts, vectors, transcription, and the download of models."""

import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.message import Message

from subtitle_rag.base.config.settings import Settings
from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.base.domain.events import ContextReport, ListeningReport, VectorsReport, VideoFailed, VideoHeard
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.models.manifest import ENCODER, NeuralModel, is_ollama, ollama_encoder
from subtitle_rag.tui.shared.messages import StageAdvanced, StageEnded
from subtitle_rag.tui.shared.progress.offers import (
    ModelDownload,
    missing_models,
    missing_packages,
    model_download,
    sized_download,
)
from subtitle_rag.tui.shared.progress.stage import Stage, StageName, StageState
from subtitle_rag.tui.threads import AppThread, to_app_error

if TYPE_CHECKING:
    from subtitle_rag.base.installation.extras import Extra
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.workflows.pipeline import ContextOffer

logger = logging.getLogger(__name__)
REPORT_S = 0.5
"""Shortest interval of reports: a fast model answers several times a second."""


class StageRun(AppThread):
    """Does a stage's pending work and posts its progress until `halt`. Subclasses implement `_work`."""

    stage: ClassVar[StageName]
    automatic: ClassVar[bool] = False
    """Whether the stage starts by itself."""

    def __init__(self, runtime: "Runtime", post: Callable[[Message], object]) -> None:
        super().__init__(self.stage, runtime, post)
        self._state = Stage(self.stage)
        self._stop_work = threading.Event()
        self._halted = False  # not `_stop_work`, which the stage's own code may clear
        self._reported = 0.0

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:  # noqa: ARG003 - subclasses look
        """Return whether the settings enable the stage."""
        return True

    @abstractmethod
    def _work(self) -> None:
        """Work until nothing is pending or `_stop_work` is set. An exception is the run's failure."""

    def halt(self) -> None:
        """End the run as soon as possible; the current window or batch may be lost."""
        self._halted = True
        self._stop_work.set()

    def run(self) -> None:
        error: AppError | None = None
        logger.info("%s begins in the background", self.name)
        try:
            self._work()
        except Exception as failure:  # no failure may end the app
            if self._halted:  # the halt caused it
                logger.debug("%s was halted", self.name, exc_info=True)
            else:
                error = to_app_error(failure)
        error = None if self._halted else error or self._state.error
        is_unanswered = self._state.state in ("offered", "dismissed")
        done: StageState = self._state.state if is_unanswered else "done"
        end: StageState = "paused" if self._halted else "failed" if error else done
        logger.info("%s ends in the background: %s, processed %d", self.name, end, self._state.processed)
        self._post(StageEnded(replace(self._state, state=end, error=error), self._halted))

    def _follow(self, events: Generator[Any, None, None]) -> None:
        """Report progress from the events."""
        with closing(events):
            for event in events:
                self._take(event)

    def _take(self, event: Any) -> None:
        """Update the progress and the count of failures from an event."""
        if isinstance(event, Progress):
            self._state = replace(self._state, state="working", progress=event)
            if event.total:
                self._report(now=event.since is not None)
        elif isinstance(event, VideoFailed):
            self._state = replace(self._state, failed=self._state.failed + 1)
        elif isinstance(event, ContextReport | VectorsReport | ListeningReport):
            self._state = replace(self._state, error=event.blocked)

    def _report(self, *, now: bool = False) -> None:
        """Post the progress, throttled unless `now`."""
        at = time.monotonic()
        if now or at - self._reported > REPORT_S:
            self._reported = at
            self._post(StageAdvanced(self._state))


class WindowRun(StageRun):
    """A stage over the windows of the library; a run handles the due ones."""

    automatic = True
    _windows = 0
    _total = -1
    """Windows of this run."""

    def _take(self, event: Any) -> None:
        if isinstance(event, Progress):
            if event.total != self._total:  # windows may have been added
                self._total, self._windows = event.total, self._runtime.library.counts().windows
            all_windows = max(self._windows, event.total)
            self._state = replace(self._state, processed=event.done)
            if event.total:
                event = replace(event, done=event.done + all_windows - event.total, total=all_windows)
        super()._take(event)


class ContextRun(WindowRun):
    """Writes missing contexts if a model is available. A halt loses the model's current answer."""

    stage = "contexts"

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:
        return bool(settings.llm.hosts) and not settings.is_sample  # not worth hours of a model on invented videos

    def _work(self) -> None:
        from subtitle_rag.workflows import pipeline

        counts = self._runtime.library.contexts.counts()
        if not counts.windows:
            return
        progress = Progress("contexts", counts.windows - counts.due, counts.windows)
        self._state = replace(self._state, progress=progress)
        wanted = self._runtime.settings.llm.contexts
        if wanted == "always":
            self._follow(pipeline.write_contexts(self._runtime, stop=self._stop_work))
        elif counts.due:
            offer = self._find_offer() if wanted == "ask" else None
            self._state = replace(self._state, state="offered" if offer else "dismissed", offer=offer)

    def _find_offer(self) -> "ContextOffer | None":
        """Return the estimated cost of writing; None if no model is available."""
        from subtitle_rag.workflows import pipeline

        try:
            return pipeline.offer_contexts(self._runtime)
        except LlmError:
            logger.info("no contexts are offered", exc_info=True)
            return None


class VectorRun(WindowRun):
    """Makes missing vectors if the encoder is installed. A halt waits for the current batch."""

    stage = "vectors"

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:
        return bool(settings.models.encoder)

    def _work(self) -> None:
        from subtitle_rag.workflows import pipeline

        runtime = self._runtime
        if not runtime.library.vectors.counts(None).windows:
            return
        encoder = runtime.neural.encoder()
        if encoder is None:
            return
        counts = runtime.library.vectors.counts(encoder.id)
        progress = Progress("vectors", counts.windows - counts.due, counts.windows)
        self._state = replace(self._state, progress=progress)
        self._follow(pipeline.write_vectors(runtime, stop=self._stop_work))


class ListeningRun(StageRun):
    """Makes the requested transcriptions. A halt loses the current stretch."""

    stage = "listening"

    def _work(self) -> None:
        from subtitle_rag.workflows import pipeline

        if not self._runtime.library.listenings.due():
            return
        if self._runtime.may_fetch_speech_model:
            self._follow(pipeline.fetch_speech_model(self._runtime, self._stop_work))
        if not self._halted:
            self._follow(pipeline.listen(self._runtime, stop=self._stop_work))

    def _take(self, event: Any) -> None:
        super()._take(event)
        if isinstance(event, VideoHeard):
            self._state = replace(self._state, processed=self._state.processed + 1)
            self._report(now=True)


class ModelDownloadRun(StageRun):
    """Downloads missing packages, then models. A halt keeps the downloaded bytes."""

    stage = "offer"
    _state: ModelDownload

    def _work(self) -> None:
        from subtitle_rag.workflows import pipeline

        self._state = ModelDownload()
        encoder = self._runtime.models.configured(ENCODER)
        if is_ollama(encoder):
            self._pull(encoder)
            return
        models = missing_models(self._runtime)
        if extra := missing_packages(self._runtime):
            self._install_packages(extra, models)
        for at, model in enumerate(models):
            later_models = replace(sized_download(self._runtime, models[at + 1 :], "working"), processed=at)
            self._state = replace(sized_download(self._runtime, models[at:], "working"), processed=at)
            self._report(now=True)
            with closing(pipeline.fetch_model(self._runtime, model.name, self._stop_work)) as events:
                for event in events:
                    if isinstance(event, Progress):
                        self._advance(event, later_models.progress)
            self._state = replace(later_models, processed=at + 1)
            if self._halted:
                return
            if later_models.names:
                self._report(now=True)
        self._state = replace(self._state, config_text=self._remember_encoder())

    def _remember_encoder(self) -> str:
        """Write the encoder chosen in the app into the config. If that fails, return the lines to add."""
        from subtitle_rag.workflows import pipeline

        encoder = self._runtime.chosen_encoder
        return pipeline.use_setting(self._runtime, "models", "encoder", encoder) if encoder else ""

    def _pull(self, encoder: str) -> None:
        """Make Ollama download an encoder, and write it into the config."""
        from subtitle_rag.workflows import pipeline

        model = ollama_encoder(encoder)
        estimate = round(model.disk_gb * 1e9) if model else 0
        self._state = model_download("working", [encoder], 0, estimate)
        self._report(now=True)
        with closing(pipeline.fetch_model(self._runtime, encoder, self._stop_work, only_missing=True)) as events:
            for event in events:
                if isinstance(event, Progress):
                    self._advance(replace(event, total=max(event.total, estimate)))
        self._state = replace(self._state, processed=1, config_text=self._remember_encoder())

    def _install_packages(self, extra: "Extra", models: list[NeuralModel]) -> None:
        from subtitle_rag.base.installation.package_installer import install_packages

        started = Progress("packages", total=1)
        self._state = replace(sized_download(self._runtime, models, "working"), progress=started)
        self._report(now=True)
        with closing(install_packages(extra, self._stop_work)) as lines:
            for line in lines:
                self._state = replace(self._state, progress=Progress("packages", total=1, text=line))
                self._report()
        self._state = replace(sized_download(self._runtime, models, "working"), processed=0 if models else 1)

    def _advance(self, progress: Progress, later: Progress | None = None) -> None:
        """Report the downloaded bytes, including the `later` models'."""
        later = later or Progress("models")
        done, total = progress.done + later.done, progress.total + later.total
        left_s = (total - done) / progress.rate if progress.rate else None
        text = self._state.model_names
        self._state = replace(self._state, progress=replace(progress, done=done, total=total, text=text, left_s=left_s))
        self._report()


RUNS: dict[StageName, type[StageRun]] = {
    kind.stage: kind for kind in (ContextRun, VectorRun, ListeningRun, ModelDownloadRun)
}
AUTOMATIC = tuple(stage for stage, kind in RUNS.items() if kind.automatic)
