"""The thread that downloads missing packages and models."""

import time
from collections import deque
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from subtitle_rag.events import ModelFetching, PackagesAdvanced
from subtitle_rag.installation.extras import NEURAL
from subtitle_rag.models.manifest import Neural
from subtitle_rag.tui.controllers import stage_run
from subtitle_rag.tui.state import stage_progress
from subtitle_rag.tui.state.model_offer import ModelDownload, lacks_packages, missing_models, sized_download

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

PACE_S = 10.0
"""The rate is that of the last seconds: a connection's changes, and what was here already came at once."""
LEAST_S = 2.0
"""Of them, after which it can be told."""


class ModelDownloadRun(stage_run.StageRun[ModelDownload]):
    """Brings what is not here, packages first; what has arrived at a halt is kept."""

    stage: ClassVar[stage_progress.StageName] = "offer"

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, post)
        self._progress = ModelDownload()
        self._past: deque[tuple[float, int]] = deque()

    def _work(self) -> None:
        due = missing_models(self._runtime)
        if lacks_packages(self._runtime):
            self._install_packages(due)
        for at, model in enumerate(due):
            others = replace(sized_download(self._runtime, due[at + 1 :], "working"), processed=at)
            self._progress = replace(sized_download(self._runtime, due[at:], "working"), processed=at)
            self._report(now=True)
            self._past.clear()
            with closing(self._runtime.models.fetch(model.name, self._stop_work)) as events:
                for event in events:
                    if isinstance(event, ModelFetching):
                        self._arrived(event, others)
            self._progress = replace(others, processed=at + 1)
            if self._halted:
                return
            if others.names:
                self._report(now=True)

    def _install_packages(self, due: list[Neural]) -> None:
        from subtitle_rag.installation.package_installer import PackageInstaller

        self._progress = sized_download(self._runtime, due, "working")
        self._report(now=True)
        installer = PackageInstaller(self._runtime.settings.paths.cache, self._stop_work)
        with closing(installer.add(NEURAL)) as events:
            for event in events:
                if isinstance(event, PackagesAdvanced):
                    self._progress = replace(self._progress, step=event)
                    self._report()
        self._progress = replace(sized_download(self._runtime, due, "working"), processed=0 if due else 1)

    def _arrived(self, event: ModelFetching, others: ModelDownload) -> None:
        now = time.monotonic()
        done, all = others.done + event.done_bytes, others.all + event.all_bytes
        self._past.append((now, done))
        while now - self._past[0][0] > PACE_S and len(self._past) > 2:
            self._past.popleft()
        began, before = self._past[0]
        rate = (done - before) / (now - began) if now - began >= LEAST_S and done > before else None
        self._progress = replace(self._progress, done=done, all=all, rate=rate)
        self._report()
