"""How far the four stages have come: captions, windows, contexts, vectors, each a bar with counts, pace and state.

What would surprise: captions and windows are those of the job, contexts and vectors those of the whole library, for
they are made of whatever lacks them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.state.stage_progress import ContextProgress
from subtitle_rag.tui.text import context_lines, job_lines, pace, vector_lines
from subtitle_rag.tui.text.content import MUTED

if TYPE_CHECKING:
    from subtitle_rag.tui.state.job import Job
    from subtitle_rag.tui.state.stage_progress import VectorProgress, WindowProgress

INDENT = 2
LONGEST_BAR = 28
SHORTEST_BAR = 8

ROWS = ("job", "captions", "windows", "contexts", "vectors")
"""The widgets, from top to bottom; the first one says what the job is about and how it stands."""


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage: how much of it is done, and what is said beside the bar, the most important first."""

    name: str
    done: int
    all: int
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> str:
        if not self.all:
            return ""
        return f"{self.all:,}" if self.done >= self.all else f"{self.done:,}/{self.all:,}"

    def bar(self, cells: int) -> str:
        filled = cells * min(self.done, self.all) // self.all if self.all else 0
        return "█" * filled + "░" * (cells - filled)


def rows(
    job: "Job | None",
    contexts: "ContextProgress | None",
    vectors: "VectorProgress | None",
    width: int,
) -> dict[str, Content]:
    """What the rows say in so many cells, by their names in `ROWS`; those that are missing have nothing to tell."""
    if job is not None and job.ended and not job.stopped:
        job = None
    stages: dict[str, StageRow] = {}
    sentences: dict[str, str] = {}
    if job is not None and (job.videos or not job.ended):
        stages |= {"captions": _captions(job), "windows": _windows(job)}
    for name, progress, line in (
        ("contexts", contexts, context_lines.line(contexts) if contexts else ""),
        ("vectors", vectors, vector_lines.line(vectors) if vectors else ""),
    ):
        if progress is None or not progress.windows:
            continue
        if progress.state == "failed" or (progress.state == "done" and line):
            sentences[name] = line
        elif line or (job is not None and progress.state in ("working", "done")):
            stages[name] = _background(name, progress, line)
    said = {"job": Content.styled(clean(job_lines.headline(job)), "bold")} if job is not None else {}
    bars = dict(zip(stages, _lines(list(stages.values()), width), strict=True))
    return said | bars | {name: Content(told) for name, told in sentences.items() if told}


def _captions(job: "Job") -> StageRow:
    name = _("fetch captions") if job.fetches else _("read captions")
    notes = job_lines.pace(job) if job.fetches and not job.ended else []
    return StageRow(name, job.taken, job.videos, (*notes, *_waiting(job)))


def _windows(job: "Job") -> StageRow:
    notes = [] if job.fetches or job.ended else job_lines.pace(job)
    return StageRow(_("cut windows"), min(job.searchable, job.windows), job.windows, tuple(notes))


def _waiting(job: "Job") -> list[str]:
    return [_("stopped")] if job.ended else []


def _background(name: str, progress: "WindowProgress", line: str) -> StageRow:
    """Of contexts or vectors; `line` is what is told of them in a line of text."""
    title = _("write contexts") if name == "contexts" else _("make vectors")
    model = clean(progress.model)
    match progress.state:
        case "asking":
            notes = [line]
        case "waiting":
            notes = [_("waiting for contexts"), model]
        case "paused":
            notes = [_("paused; {key} goes on").format(key=key("library.background"))]
        case "done":
            notes = ["✓"]
        case _:
            notes = [*pace.pace(progress), *_trouble(progress), model, *_cost(progress)]
    return StageRow(title, progress.done, progress.windows, tuple(note for note in notes if note))


def _trouble(progress: "WindowProgress") -> list[str]:
    failed = getattr(progress, "failed", 0)
    return [_("! failed {n}").format(n=f"{failed:,}")] if failed else []


def _cost(progress: "WindowProgress") -> list[str]:
    return context_lines.cost(progress) if isinstance(progress, ContextProgress) else []


def _lines(stages: "list[StageRow]", width: int) -> Iterator[Content]:
    """The bars under each other, in so many cells; of the notes, those for which there is room."""
    if not stages:
        return
    name = max(cell_len(stage.name) for stage in stages)
    counts = max(cell_len(stage.counts) for stage in stages)
    bar = max(SHORTEST_BAR, min(LONGEST_BAR, width // 6))  # by nothing that changes while work goes on
    for stage in stages:
        head = " " * INDENT + stage.name + " " * (name - cell_len(stage.name) + 1)
        counted = stage.counts + " " * (counts - cell_len(stage.counts))
        left = width - INDENT - name - bar - counts - 4
        yield Content.assemble(head, stage.bar(bar), f" {counted}  ", (_fitting(stage.notes, left), MUTED)).rstrip()


def _fitting(notes: Iterable[str], cells: int) -> str:
    """As many of them as fit, and the first one in any case."""
    said = ""
    for note in notes:
        longer = f"{said} · {note}" if said else note
        if said and cell_len(longer) > cells:
            break
        said = longer
    return said
