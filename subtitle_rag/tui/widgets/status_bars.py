"""Status lines: the job, the stages in the background with their bars, the newest removal."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rich.cells import cell_len
from textual.containers import Vertical
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Static

from subtitle_rag.terminal_text import fitting_text
from subtitle_rag.tui.state import (
    ContextProgress,
    ListeningProgress,
    ModelDownload,
    StageProgress,
    VectorProgress,
    clean,
)
from subtitle_rag.tui.text import (
    ROWS,
    context_brief,
    download_brief,
    download_line,
    job_line,
    listening_brief,
    listening_line,
    stage_progress_rows,
    vector_brief,
)

if TYPE_CHECKING:
    from textual import events

    from subtitle_rag.tui.state import Job, Stages

ProgressT = TypeVar("ProgressT", bound=StageProgress)

STAGE_LINES: dict[type[StageProgress], Callable[[Any], str]] = {
    ListeningProgress: listening_line,
    ModelDownload: download_line,
}
"""The lines of the stages that have no row of their own, by their progress."""
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

    def changed(stages: "Stages") -> None:
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

    def show(self, job: "Job | None") -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(clean(job_line(job))), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """A background stage in a line or two; with `detailed=False` only a running one, in one line."""

    def __init__(self, kind: type[StageProgress], *, detailed: bool = True) -> None:
        super().__init__(id=kind.stage, classes="stage", markup=False)
        self._kind = kind
        self._detailed = detailed
        self._progress: StageProgress | None = None

    def on_mount(self) -> None:
        watch_stage(self, self._kind, self._show)

    def on_resize(self) -> None:
        if not self._detailed:
            self._show(self._progress)

    def _show(self, progress: StageProgress | None) -> None:
        self._progress = progress
        text = ""
        if progress and self._detailed:
            text = STAGE_LINES[self._kind](progress)
        elif progress and progress.state == "working":
            # no number is cut: what does not fit stays away as a whole
            text = fitting_text(STAGE_BRIEFS[self._kind](progress), self.app.size.width - PADDING, cell_len)
        self.set_class(bool(text), "-shown")
        self.set_class(progress is not None and progress.state == "offered", "-offered")
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


PADDING = 2
"""Horizontal padding of a row, by its style."""


class StageRows(Vertical):
    """The rows on the screen, each redrawn after a change; hidden without news."""

    def __init__(self) -> None:
        self._rows = {name: Static(id=name, classes="row", markup=False) for name in ROWS}
        super().__init__(*self._rows.values(), id="stages")
        self._contents: dict[str, Content] = {}
        self._width = 0
        for widget in (self, *self._rows.values()):
            widget.display = False

    def on_mount(self) -> None:
        for name in ("job", "stages"):
            self.watch(self.app, name, self._update_rows, init=False)
        self._update_rows()

    def on_resize(self, event: "events.Resize") -> None:
        if event.size.width != self._width:
            self._update_rows()

    def _update_rows(self) -> None:
        self._width = self.size.width
        job, stages = (getattr(self.app, name) for name in ("job", "stages"))
        contents = stage_progress_rows(job, stages, self._width - PADDING)
        self.display = bool(contents)
        for name, row in self._rows.items():
            content = contents.get(name)
            if content != self._contents.get(name):
                row.display = content is not None
                row.update(content or "")
        self._contents = dict(contents)
