"""How far the four stages have come: captions, windows, contexts, vectors, each a bar with counts, pace and state.

What would surprise: captions and windows are those of the job, contexts and vectors those of the whole library, for
they are made of whatever lacks them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.i18n import _
from subtitle_rag.tui import contexts as contexts_told
from subtitle_rag.tui import jobs
from subtitle_rag.tui import vectors as vectors_told
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import MUTED, clean

if TYPE_CHECKING:
    from textual import events

    from subtitle_rag.tui.background import WindowProgress
    from subtitle_rag.tui.contexts import Progress as ContextProgress
    from subtitle_rag.tui.jobs import Job
    from subtitle_rag.tui.vectors import Progress as VectorProgress

RATE_AFTER = 5
"""Windows after which a rate can be told, and..."""
LEFT_AFTER = 20
"""...how long the others will take."""
INDENT = 2
PADDING = 2
"""Of a row, by its style."""
LONGEST_BAR = 28
SHORTEST_BAR = 8

ROWS = ("job", "captions", "windows", "contexts", "vectors")
"""The widgets, from top to bottom; the first one says what the job is about and how it stands."""


@dataclass(frozen=True, slots=True)
class Stage:
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
    stages: dict[str, Stage] = {}
    sentences: dict[str, str] = {}
    if job is not None and (job.videos or not job.ended):
        stages |= {"captions": _captions(job), "windows": _windows(job)}
    for name, progress, line in (
        ("contexts", contexts, contexts_told.line(contexts) if contexts else ""),
        ("vectors", vectors, vectors_told.line(vectors) if vectors else ""),
    ):
        if progress is None or not progress.windows:
            continue
        if progress.state == "failed" or (progress.state == "done" and line):
            sentences[name] = line
        elif line or (job is not None and progress.state in ("working", "done")):
            stages[name] = _background(name, progress, line)
    said = {"job": Content.styled(clean(jobs.headline(job)), "bold")} if job is not None else {}
    bars = dict(zip(stages, _lines(list(stages.values()), width), strict=True))
    return said | bars | {name: Content(told) for name, told in sentences.items() if told}


def _captions(job: "Job") -> Stage:
    name = _("fetch captions") if job.fetches else _("read captions")
    notes = jobs.pace(job) if job.fetches and not job.ended else []
    return Stage(name, job.taken, job.videos, (*notes, *_waiting(job)))


def _windows(job: "Job") -> Stage:
    notes = [] if job.fetches or job.ended else jobs.pace(job)
    return Stage(_("cut windows"), min(job.searchable, job.windows), job.windows, tuple(notes))


def _waiting(job: "Job") -> list[str]:
    return [_("stopped")] if job.ended else []


def _background(name: str, progress: "WindowProgress", line: str) -> Stage:
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
            notes = [*_pace(progress), *_trouble(progress), model, *_cost(progress)]
    return Stage(title, progress.done, progress.windows, tuple(note for note in notes if note))


def _pace(progress: "WindowProgress") -> list[str]:
    """How fast it goes, and, once that can be said, how long it still takes."""
    rate = progress.rate
    if not rate or progress.taken < RATE_AFTER:
        return []
    told = [jobs.rate(rate)]
    if progress.taken >= LEFT_AFTER:
        told.append(jobs.remaining(max(0, progress.missing - progress.taken) / rate))
    return told


def _trouble(progress: "WindowProgress") -> list[str]:
    failed = getattr(progress, "failed", 0)
    return [_("! failed {n}").format(n=f"{failed:,}")] if failed else []


def _cost(progress: "WindowProgress") -> list[str]:
    return contexts_told.cost(progress) if isinstance(progress, contexts_told.Progress) else []


def _lines(stages: "list[Stage]", width: int) -> Iterator[Content]:
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


class Stages(Vertical):
    """The rows on the screen, each drawn only where it has changed; not there while there is nothing to tell."""

    def __init__(self) -> None:
        super().__init__(id="stages")
        self._told: dict[str, Content] = {}
        self._width = 0
        self.display = False

    def compose(self) -> ComposeResult:
        for name in ROWS:
            row = Static(id=name, classes="row", markup=False)
            row.display = False
            yield row

    def on_mount(self) -> None:
        for name in ("job", "contexts", "vectors"):
            self.watch(self.app, name, self._tell, init=False)
        self._tell()

    def on_resize(self, event: "events.Resize") -> None:
        if event.size.width != self._width:
            self._tell()

    def _tell(self) -> None:
        app = self.app
        self._width = self.size.width
        told: Mapping[str, Content] = rows(
            getattr(app, "job", None),
            getattr(app, "contexts", None),
            getattr(app, "vectors", None),
            self._width - PADDING,
        )
        self.display = bool(told)
        for name in ROWS:
            said = told.get(name)
            if said == self._told.get(name):
                continue
            row = self.query_one(f"#{name}", Static)
            row.display = said is not None
            row.update(said or "")
        self._told = dict(told)
