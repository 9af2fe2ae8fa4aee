"""Status lines: the counter, the job, the stages in the background, the newest removal."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.widgets import Static

from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import (
    context_brief,
    context_line,
    job_lines,
    model_lines,
    update_line,
    vector_brief,
    vector_line,
)

if TYPE_CHECKING:
    from subtitle_rag.tui.state import Job, StageName, StageProgress


STAGE_LINES: dict["StageName", tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "contexts": (context_line, context_brief),
    "vectors": (vector_line, vector_brief),
    "offer": (model_lines.line, model_lines.brief),
    "update": (update_line, update_line),
}
"""The line of each stage, and its short form while it runs."""


class Counter(Static):
    """A line as wide as its text; no new layout while that width stays."""

    def __init__(self) -> None:
        super().__init__(id="counter", markup=False)
        self._content = Content()

    def say(self, text: str) -> None:
        before, self._content = self._content, Content(text)
        if self._content != before:
            self.update(self._content, layout=self._content.cell_length != before.cell_length)


class JobBar(Static):
    """The running or stopped job in one line; hidden without one."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False

    def show(self, job: "Job | None") -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(clean(job_lines.line(job))), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """A background stage in a line or two; with `detailed=False` only a running one, in one line."""

    def __init__(self, stage: "StageName", *, detailed: bool = True) -> None:
        super().__init__(id=stage, classes="stage", markup=False)
        self.stage = stage
        self._detailed = detailed

    def show(self, progress: "StageProgress | None") -> None:
        text = ""
        line, brief = STAGE_LINES[self.stage]
        if progress and self._detailed:
            text = line(progress)
        elif progress and progress.state == "working":
            text = brief(progress)
        self.set_class(bool(text), "-shown")
        self.update(Content(text))


class RemovalBar(Static):
    """The newest removal in one line, during its time for undo; hidden without one."""

    def __init__(self) -> None:
        super().__init__(id="removal", markup=False)
        self.display = False

    def on_mount(self) -> None:
        self.watch(self.app, "removal_line", self._show)

    def _show(self, text: str) -> None:
        self.display = bool(text)
        self.update(Content(text))
