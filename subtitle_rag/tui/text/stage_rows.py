"""Progress of the four stages: captions, windows, contexts, vectors, each a bar with counts, pace and state.

Captions and windows are those of the job. Contexts and vectors are those of the whole library: their runs take every
pending window.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state import ContextProgress, clean
from subtitle_rag.tui.text import job_lines
from subtitle_rag.tui.text.content import MUTED
from subtitle_rag.tui.text.stage_lines import (
    context_cost,
    context_line,
    failed_count,
    overview_lines,
    pace,
    vector_line,
)

if TYPE_CHECKING:
    from subtitle_rag.tui.state import Job, VectorProgress, WindowProgress

INDENT = 2
LONGEST_BAR = 28
SHORTEST_BAR = 8

ROWS = ("job", "captions", "windows", "contexts", "vectors")
"""The widgets, from top to bottom; the first one is the job's headline."""


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage: its counts, and notes beside the bar, the most important first."""

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


def stage_progress_rows(
    job: "Job | None",
    contexts: "ContextProgress | None",
    vectors: "VectorProgress | None",
    width: int,
) -> dict[str, Content]:
    """Return the rows in so many cells, by their names in `ROWS`; rows without news are missing."""
    if job is not None and job.ended and not job.stopped:
        job = None
    stages: dict[str, StageRow] = {}
    sentences: dict[str, str] = {}
    if job is not None and (job.videos or not job.ended):
        stages |= {"captions": _captions(job), "windows": _windows(job)}
    for name, progress, line in (
        ("contexts", contexts, context_line(contexts) if contexts else ""),
        ("vectors", vectors, vector_line(vectors) if vectors else ""),
    ):
        if progress is None or not progress.windows:
            continue
        if progress.state == "failed" or (progress.state == "done" and line):
            sentences[name] = line
        elif line or (job is not None and progress.state in ("working", "done")):
            stages[name] = _background(name, progress, line)
    headline = {"job": Content.styled(clean(job_lines.headline(job)), "bold")} if job is not None else {}
    bars = dict(zip(stages, _lines(list(stages.values()), width), strict=True))
    return headline | bars | {name: Content(sentence) for name, sentence in sentences.items() if sentence}


def _captions(job: "Job") -> StageRow:
    name = _("fetch captions") if job.fetches else _("read captions")
    notes = [_("stopped")] if job.ended else job_lines.pace(job) if job.fetches else []
    return StageRow(name, job.processed, job.videos, tuple(notes))


def _windows(job: "Job") -> StageRow:
    notes = [] if job.fetches or job.ended else job_lines.pace(job)
    return StageRow(_("cut windows"), min(job.searchable, job.windows), job.windows, tuple(notes))


def _background(name: str, progress: "WindowProgress", line: str) -> StageRow:
    """Return the row of contexts or vectors; `line` is their line of text."""
    title = _("write contexts") if name == "contexts" else _("make vectors")
    model = clean(progress.model)
    match progress.state:
        case "asking":
            notes = [line]
        case "waiting":
            notes = [_("waiting for contexts"), model]
        case "paused":
            notes = [_("paused; {key} resumes").format(key=key("library.background"))]
        case "done":
            notes = ["✓"] if progress.done >= progress.windows else []
        case _ if isinstance(progress, ContextProgress):
            before = [*_prompt_change(progress), *overview_lines(progress)]
            notes = [*before, *pace(progress), *failed_count(progress.failed), model, *context_cost(progress)]
        case _:
            notes = [*pace(progress), model]
    return StageRow(title, progress.done, progress.windows, tuple(note for note in notes if note))


def _prompt_change(progress: ContextProgress) -> list[str]:
    """Return how much a new prompt has written anew, until the first context tells the real pace."""
    if not progress.replaced or progress.processed:
        return []
    note = n_("new prompt: {n} context anew", "new prompt: {n} contexts anew", progress.replaced)
    minutes = max(1, round(progress.expected_s / 60))
    expected = [_("about {n} min").format(n=f"{minutes:,}")] if progress.expected_s else []
    return [note.format(n=f"{progress.replaced:,}"), *expected]


def _lines(stages: "list[StageRow]", width: int) -> Iterator[Content]:
    """Yield the bars in so many cells, with as many notes as there is room for."""
    name = max((cell_len(stage.name) for stage in stages), default=0)
    counts = max((cell_len(stage.counts) for stage in stages), default=0)
    bar = max(SHORTEST_BAR, min(LONGEST_BAR, width // 6))  # by nothing that changes while work goes on
    room = width - INDENT - name - bar - counts - 4
    for stage in stages:
        cells = set_cell_size(stage.name, name), stage.bar(bar), set_cell_size(stage.counts, counts)
        yield Content.assemble(" " * INDENT, " ".join(cells), "  ", (_fitting(stage.notes, room), MUTED)).rstrip()


def _fitting(notes: Iterable[str], cells: int) -> str:
    """Join as many notes as fit, and the first one in any case."""
    text = ""
    for note in notes:
        longer = f"{text} · {note}" if text else note
        if text and cell_len(longer) > cells:
            break
        text = longer
    return text
