"""Status lines: the job, background stages with bars, and the newest removal."""

from collections.abc import Callable

from rich.cells import cell_len
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Static

from subtitle_rag.base.terminal_text import fitting_text
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import job_parts
from subtitle_rag.tui.shared.progress.stage import Stage, StageName, Stages
from subtitle_rag.tui.shared.progress.stage_lines import stage_parts

PADDING = 2
"""Horizontal padding of a bar, by its style."""
TICK_S = 1.0
"""Seconds between updates of the time of a model's request."""


def watch_stage(node: DOMNode, name: StageName, show: Callable[[Stage | None], object]) -> None:
    """Call `show` with a stage, at once and after each change."""
    latest: list[Stage | None] = []

    def changed(stages: Stages) -> None:
        stage = stages.get(name)
        if latest != [stage]:
            latest[:] = [stage]
            show(stage)

    node.watch(node.app, "stages", changed)


class JobBar(Static):
    """The running or stopped job in one line; hidden without one."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False
        self._parts: list[str] = []

    def on_resize(self) -> None:
        self._draw()

    def show(self, job: Job | None) -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self._parts = [clean(part) for part in job_parts(job)]
            self._draw()

    def _draw(self) -> None:
        self.update(_fitting(self, self._parts), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """A running background stage in one line."""

    def __init__(self, name: StageName) -> None:
        super().__init__(id=name, classes="stage", markup=False)
        self._kind: StageName = name
        self._stage: Stage | None = None

    def on_mount(self) -> None:
        self._timer = self.set_interval(TICK_S, self._draw, pause=True)
        watch_stage(self, self._kind, self._show)

    def on_resize(self) -> None:
        self._draw()

    def _show(self, stage: Stage | None) -> None:
        self._stage = stage
        is_timed = stage is not None and stage.progress is not None and stage.progress.since is not None
        (self._timer.resume if is_timed else self._timer.pause)()
        self._draw()

    def _draw(self) -> None:
        parts = stage_parts(self._stage) if self._stage and self._stage.state == "working" else []
        self.set_class(bool(parts), "-shown")
        self.update(_fitting(self, parts))


def _fitting(bar: Static, parts: list[str]) -> Content:
    """Return the leading parts that fit: numbers are not cut."""
    return Content(fitting_text(parts, bar.app.size.width - PADDING, cell_len))


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
