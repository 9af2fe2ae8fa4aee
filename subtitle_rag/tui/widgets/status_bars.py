"""Status lines: the counter, the job, the stages in the background, the newest removal."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.widgets import Static

from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.text import context_lines, extractor_lines, job_lines, model_lines, vector_lines

if TYPE_CHECKING:
    from subtitle_rag.tui.state.job import Job
    from subtitle_rag.tui.state.stage_progress import StageName, StageProgress


STAGE_LINES: dict["StageName", tuple[Callable[[Any], str], Callable[[Any], str]]] = {
    "contexts": (context_lines.line, context_lines.brief),
    "vectors": (vector_lines.line, vector_lines.brief),
    "offer": (model_lines.line, model_lines.brief),
    "update": (extractor_lines.line, extractor_lines.line),
}
"""How each is told: as far as there is room, and in one line while it goes on."""


class Counter(Static):
    """A line as wide as what it says; nothing is laid out anew while that width stays."""

    def __init__(self) -> None:
        super().__init__(id="counter", markup=False)
        self._said = Content()

    def say(self, text: str) -> None:
        before, self._said = self._said, Content(text)
        if self._said != before:
            self.update(self._said, layout=self._said.cell_length != before.cell_length)


class JobBar(Static):
    """The job in one line: the one that runs, or the one that can be gone on with; not there without either."""

    def __init__(self) -> None:
        super().__init__(id="job", markup=False)
        self.display = False

    def show(self, job: "Job | None") -> None:
        self.display = job is not None and (job.stopped or not job.ended)
        if job is not None and self.display:
            self.update(Content(clean(job_lines.line(job))), layout=False)  # one line, as wide as the screen


class StageBar(Static):
    """What is done in the background, in a line or two; with `whole=False` only while it is done, in one."""

    def __init__(self, stage: "StageName", *, whole: bool = True) -> None:
        super().__init__(id=stage, classes="stage", markup=False)
        self.stage = stage
        self._whole = whole

    def show(self, progress: "StageProgress | None") -> None:
        said = ""
        line, brief = STAGE_LINES[self.stage]
        if progress and self._whole:
            said = line(progress)
        elif progress and progress.state == "working":
            said = brief(progress)
        self.set_class(bool(said), "-shown")
        self.update(Content(said))


class RemovalBar(Static):
    """The newest removal in one line, while it can be undone; not there without one."""

    def __init__(self) -> None:
        super().__init__(id="removal", markup=False)
        self.display = False

    def on_mount(self) -> None:
        self.watch(self.app, "removal_line", self._show)

    def _show(self, said: str) -> None:
        self.display = bool(said)
        self.update(Content(said))
