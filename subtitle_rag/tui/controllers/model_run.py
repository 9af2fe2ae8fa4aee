"""The thread that downloads missing packages and models."""

import time
from collections import deque
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from subtitle_rag.configuring import write_setting
from subtitle_rag.domain import ModelFetching, PackagesAdvanced, UsageError
from subtitle_rag.installation import NEURAL
from subtitle_rag.models import ENCODER, OLLAMA, NeuralModel, is_ollama, ollama_encoder
from subtitle_rag.tui.controllers import stage_run
from subtitle_rag.tui.state import ModelDownload, lacks_packages, missing_models, sized_download, stage_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

PACE_S = 10.0
"""The rate is that of the last seconds: connections change, and bytes on the disk came at once."""
LEAST_S = 2.0
"""Shortest time for a rate."""


class ModelDownloadRun(stage_run.StageRun[ModelDownload]):
    """Downloads missing packages, then models; a halt keeps the bytes on the disk."""

    stage: ClassVar[stage_progress.StageName] = "offer"
    _progress = ModelDownload()

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, post)
        self._past: deque[tuple[float, int]] = deque()

    def _work(self) -> None:
        encoder = self._runtime.models.configured(ENCODER)
        if is_ollama(encoder):
            self._pull(encoder)
            return
        models = missing_models(self._runtime)
        if lacks_packages(self._runtime):
            self._install_packages(models)
        for at, model in enumerate(models):
            later_models = replace(sized_download(self._runtime, models[at + 1 :], "working"), processed=at)
            self._progress = replace(sized_download(self._runtime, models[at:], "working"), processed=at)
            self._report(now=True)
            self._past.clear()
            with closing(self._runtime.models.fetch(model.name, self._stop_work)) as events:
                for event in events:
                    if isinstance(event, ModelFetching):
                        self._arrived(event, later_models)
            self._progress = replace(later_models, processed=at + 1)
            if self._halted:
                return
            if later_models.names:
                self._report(now=True)

    def _pull(self, encoder: str) -> None:
        """Have Ollama fetch an encoder that it lacks, and write it into the config."""
        from subtitle_rag.retrieval import find_digest

        model = ollama_encoder(encoder)
        estimate = round(model.disk_gb * 1e9) if model else 0
        self._progress = ModelDownload("working", names=(encoder,), all=estimate)
        self._report(now=True)
        name = encoder.removeprefix(OLLAMA)
        with self._runtime.llms() as hosts:
            if find_digest(hosts[0], name) is None:  # a pull asks the registry even if nothing is missing
                for step in hosts[0].pull(name, self._stop_work):
                    self._advance(step.completed, max(step.total, estimate))
        is_written = False
        with suppress(UsageError):  # this session uses it all the same
            is_written = write_setting(self._runtime.settings.paths.config, "models", "encoder", encoder)
        text = "" if is_written else f'[models] encoder = "{encoder}"'
        self._progress = replace(self._progress, processed=1, config_text=text)

    def _install_packages(self, models: list[NeuralModel]) -> None:
        from subtitle_rag.installation import PackageInstaller

        self._progress = sized_download(self._runtime, models, "working")
        self._report(now=True)
        installer = PackageInstaller(self._runtime.settings.paths.cache, self._stop_work)
        with closing(installer.add(NEURAL)) as events:
            for event in events:
                if isinstance(event, PackagesAdvanced):
                    self._progress = replace(self._progress, step=event)
                    self._report()
        self._progress = replace(sized_download(self._runtime, models, "working"), processed=0 if models else 1)

    def _arrived(self, event: ModelFetching, later_models: ModelDownload) -> None:
        self._advance(later_models.done + event.done_bytes, later_models.all + event.all_bytes)

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
