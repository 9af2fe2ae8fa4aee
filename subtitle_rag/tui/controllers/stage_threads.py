"""The threads of background stages: contexts, vectors, listening, the download of models, and the update of yt-dlp."""

import logging
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.message import Message

from subtitle_rag.config.settings import Settings
from subtitle_rag.domain.errors import AppError, LlmError
from subtitle_rag.domain.events import ListeningDue, ModelFetching, ModelRequest, VectorEvent, VectorsDue, VideoHeard
from subtitle_rag.models.manifest import ENCODER, NeuralModel, is_ollama, ollama_encoder
from subtitle_rag.tui.messages import StageAdvanced, StageEnded
from subtitle_rag.tui.state.offers import ModelDownload, missing_models, missing_packages, sized_download
from subtitle_rag.tui.state.stage_progress import (
    ContextProgress,
    ListeningProgress,
    StageName,
    StageProgress,
    StageState,
    VectorProgress,
)
from subtitle_rag.tui.threads import AppThread, to_app_error

if TYPE_CHECKING:
    from subtitle_rag.installation.extras import Extra
    from subtitle_rag.pipeline import ContextOffer
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)
REPORT_S = 0.5
"""Shortest time between two reports: a quick model answers several times a second."""
PACE_S = 10.0
"""A download's rate is that of the last seconds: connections change, and bytes on the disk came at once."""
LEAST_S = 2.0
"""Shortest time for a rate."""

AT_ONCE = ModelRequest | ListeningDue | VideoHeard
"""Events after which nothing may follow for minutes, or which change what can be searched."""

ProgressT = TypeVar("ProgressT", bound=StageProgress)


class StageRun(AppThread, Generic[ProgressT]):
    """Does the pending work of one stage and posts its progress; `halt` ends it. Subclasses implement `_work`."""

    automatic: ClassVar[bool] = False
    """It starts without the user, and one key pauses it with the others."""
    _progress: ProgressT
    """An immutable value: subclasses begin with one of the class."""

    def __init__(self, runtime: "Runtime", post: Callable[[Message], object]) -> None:
        super().__init__(self._progress.stage, runtime, post)
        self._stop_work = threading.Event()
        self._halted = False  # the event does not tell: the stage's own code may clear it
        self._reported = 0.0

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:  # noqa: ARG003 - subclasses look
        """Return whether the settings have the stage run."""
        return True

    @abstractmethod
    def _work(self) -> None:
        """Work until nothing is pending or `_stop_work` is set. An exception is reported as the run's failure."""

    def halt(self) -> None:
        """End the run as soon as possible; the window or batch at hand may be lost."""
        self._halted = True
        self._stop_work.set()

    def run(self) -> None:
        error: AppError | None = None
        logger.info("%s begins in the background", self.name)
        try:
            self._work()
        except Exception as failure:  # whatever a door throws, the app stays up
            if self._halted:  # the halt caused it
                logger.debug("%s was halted", self.name, exc_info=True)
            else:
                error = to_app_error(failure)
        error = None if self._halted else error or self._progress.error
        is_unanswered = self._progress.state in ("offered", "dismissed")
        done: StageState = self._progress.state if is_unanswered else "done"
        end: StageState = "paused" if self._halted else "failed" if error else done
        logger.info("%s ends in the background: %s, processed %d", self.name, end, self._progress.processed)
        self._post(StageEnded(replace(self._progress, state=end, error=error), self._halted))

    def _follow(self, events: Generator[Any, None, None]) -> None:
        """Count the events, and report what they change."""
        with closing(events):
            for event in events:
                self._count(event)
                is_urgent = isinstance(event, AT_ONCE)
                if is_urgent or self._progress.is_worth_showing:
                    self._report(now=is_urgent)

    def _count(self, event: Any) -> None:
        self._progress = self._progress.after(event, time.monotonic())

    def _report(self, *, now: bool = False) -> None:
        """Post the progress, throttled unless `now`."""
        at = time.monotonic()
        if now or at - self._reported > REPORT_S:
            self._reported = at
            self._post(StageAdvanced(self._progress))


class ContextRun(StageRun[ContextProgress]):
    """Writes missing contexts if a model can; a halt loses the current answer of the model."""

    automatic = True
    _progress = ContextProgress()

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:
        return bool(settings.llm.hosts) and not settings.is_sample  # hours of a model for invented videos

    def _work(self) -> None:
        from subtitle_rag import pipeline

        counts = self._runtime.library.contexts.counts()
        self._progress = ContextProgress.of(counts, self._runtime.context_model)
        if not counts.windows:
            return
        wanted = self._runtime.settings.llm.contexts
        if wanted == "always":
            self._follow(pipeline.write_contexts(self._runtime, stop=self._stop_work))
        elif counts.due:
            offer = self._find_offer() if wanted == "ask" else None
            self._progress = replace(self._progress, state="offered" if offer else "dismissed", offer=offer)

    def _find_offer(self) -> "ContextOffer | None":
        """Return what writing takes; None where no model can."""
        from subtitle_rag import pipeline

        try:
            return pipeline.offer_contexts(self._runtime)
        except LlmError:
            logger.info("no contexts are offered", exc_info=True)
            return None


class VectorRun(StageRun[VectorProgress]):
    """Makes missing vectors if the encoder is installed; a halt waits for the current batch."""

    automatic = True
    _progress = VectorProgress()

    @classmethod
    def is_configured(cls, settings: Settings) -> bool:
        return bool(settings.models.encoder)

    def _work(self) -> None:
        from subtitle_rag import pipeline

        runtime = self._runtime
        self._progress = VectorProgress.of(runtime.library.vectors.counts(None), "")
        if not self._progress.windows:
            return
        encoder = runtime.neural.encoder()
        if encoder is None:
            return
        self._progress = VectorProgress.of(runtime.library.vectors.counts(encoder.id), encoder.id)
        self._follow(pipeline.write_vectors(runtime, stop=self._stop_work))

    def _count(self, event: VectorEvent) -> None:
        super()._count(event)
        if isinstance(event, VectorsDue):  # more windows may have come
            self._progress = replace(self._progress, windows=self._runtime.library.vectors.counts(None).windows)


class ListeningRun(StageRun[ListeningProgress]):
    """Listens to what was asked for; a halt loses the stretch at hand."""

    _progress = ListeningProgress()

    def _work(self) -> None:
        from subtitle_rag import pipeline

        if not self._runtime.library.listenings.due():
            return
        if self._runtime.may_fetch_speech_model:
            self._follow(pipeline.fetch_speech_model(self._runtime, self._stop_work))
        if not self._halted:
            self._follow(pipeline.listen(self._runtime, stop=self._stop_work))


class ModelDownloadRun(StageRun[ModelDownload]):
    """Downloads missing packages, then models; a halt keeps the bytes on the disk."""

    _progress = ModelDownload()

    def _work(self) -> None:
        from subtitle_rag import pipeline

        self._past: deque[tuple[float, int]] = deque()
        encoder = self._runtime.models.configured(ENCODER)
        if is_ollama(encoder):
            self._pull(encoder)
            return
        models = missing_models(self._runtime)
        if extra := missing_packages(self._runtime):
            self._install_packages(extra, models)
        for at, model in enumerate(models):
            later_models = replace(sized_download(self._runtime, models[at + 1 :], "working"), processed=at)
            self._progress = replace(sized_download(self._runtime, models[at:], "working"), processed=at)
            self._report(now=True)
            self._past.clear()
            with closing(pipeline.fetch_model(self._runtime, model.name, self._stop_work)) as events:
                for event in events:
                    if isinstance(event, ModelFetching):
                        self._advance(later_models.done + event.done_bytes, later_models.all + event.all_bytes)
            self._progress = replace(later_models, processed=at + 1)
            if self._halted:
                return
            if later_models.names:
                self._report(now=True)
        self._progress = replace(self._progress, config_text=self._remember_encoder())

    def _remember_encoder(self) -> str:
        """Write an encoder that was chosen in the app into the config; return its lines if that cannot be."""
        from subtitle_rag import pipeline

        encoder = self._runtime.chosen_encoder
        return pipeline.use_setting(self._runtime, "models", "encoder", encoder) if encoder else ""

    def _pull(self, encoder: str) -> None:
        """Have Ollama fetch an encoder that it lacks, and write it into the config."""
        from subtitle_rag import pipeline

        model = ollama_encoder(encoder)
        estimate = round(model.disk_gb * 1e9) if model else 0
        self._progress = ModelDownload("working", names=(encoder,), all=estimate)
        self._report(now=True)
        with closing(pipeline.fetch_model(self._runtime, encoder, self._stop_work, only_missing=True)) as events:
            for event in events:
                if isinstance(event, ModelFetching):
                    self._advance(event.done_bytes, max(event.all_bytes, estimate))
        self._progress = replace(self._progress, processed=1, config_text=self._remember_encoder())

    def _install_packages(self, extra: "Extra", models: list[NeuralModel]) -> None:
        from subtitle_rag.installation.package_installer import install_packages

        self._progress = sized_download(self._runtime, models, "working")
        self._report(now=True)
        with closing(install_packages(extra, self._stop_work)) as lines:
            for line in lines:
                self._progress = replace(self._progress, installer_line=line)
                self._report()
        self._progress = replace(sized_download(self._runtime, models, "working"), processed=0 if models else 1)

    def _advance(self, done: int, all: int) -> None:
        """Report the bytes so far, and the rate of the last seconds."""
        now = time.monotonic()
        self._past.append((now, done))
        while now - self._past[0][0] > PACE_S and len(self._past) > 2:
            self._past.popleft()
        began, before = self._past[0]
        rate = (done - before) / (now - began) if now - began >= LEAST_S and done > before else None
        self._progress = replace(self._progress, done=done, all=all, rate=rate)
        self._report()


RUNS: dict[StageName, type[StageRun[Any]]] = {
    kind._progress.stage: kind for kind in (ContextRun, VectorRun, ListeningRun, ModelDownloadRun)
}
AUTOMATIC = tuple(stage for stage, kind in RUNS.items() if kind.automatic)
