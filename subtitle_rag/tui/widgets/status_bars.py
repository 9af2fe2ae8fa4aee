"""Status lines: the job, the stages in the background with their bars, the newest removal."""

from collections.abc import Callable
from typing import Any, TypeVar

from rich.cells import cell_len
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Static

from subtitle_rag.terminal_text import fitting_text
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.job import Job
from subtitle_rag.tui.state.offers import ModelDownload
from subtitle_rag.tui.state.stage_progress import (
    ContextProgress,
    ListeningProgress,
    StageProgress,
    Stages,
    VectorProgress,
)
from subtitle_rag.tui.text.job_lines import job_line
from subtitle_rag.tui.text.model_lines import download_brief
from subtitle_rag.tui.text.stage_lines import context_brief, listening_brief, vector_brief

PADDING = 2
"""Horizontal padding of a bar, by its style."""
ProgressT = TypeVar("ProgressT", bound=StageProgress)

STAGE_BRIEFS: dict[type[StageProgress], Callable[[Any], list[str]]] = {
    ContextProgress: context_brief,
    VectorProgress: vector_brief,
    ListeningProgress: listening_brief,
    ModelDownload: download_brief,
}
"""The parts of the short form of each stage that runs, the most important first."""


def watch_stage(node: DOMNode, kind: type[ProgressT], show: Callable[[ProgressT | None], object]) -> None:
    """Call `show` with the progress of this class's stage, at once and after each of its changes."""
    latest: list[ProgressT | None] = []

    def changed(stages: Stages) -> None:
        progress = kind.among(stages)
        if latest != [progress]:
            latest[:] = [progress]
            show(progress)

    node.watch(node.app, "stages", changed)


class JobBar(Static):
    """The running or stopped job in one line; hidden without one."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False

    def show(self, job: Job | None) -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(clean(job_line(job))), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """A background stage that runs, in one line."""

    def __init__(self, kind: type[StageProgress]) -> None:
        super().__init__(id=kind.stage, classes="stage", markup=False)
        self._kind = kind
        self._progress: StageProgress | None = None

    def on_mount(self) -> None:
        watch_stage(self, self._kind, self._show)

    def on_resize(self) -> None:
        self._show(self._progress)

    def _show(self, progress: StageProgress | None) -> None:
        self._progress = progress
        text = ""
        if progress and progress.state == "working":
            # no number is cut: what does not fit stays away as a whole
            text = fitting_text(STAGE_BRIEFS[self._kind](progress), self.app.size.width - PADDING, cell_len)
        self.set_class(bool(text), "-shown")
        self.update(Content(text))


class LineBar(Static):
    """A value of the app in one line; hidden while it is empty."""

    def __init__(self, id: str, value: str) -> None:
        super().__init__(id=id, markup=False)
        self.display = False
        self._value = value

    def on_mount(self) -> None:
        self.watch(self.app, self._value, self._show)

    def _show(self, text: str) -> None:
        self.display = bool(text)
        self.update(Content(clean(text)))
