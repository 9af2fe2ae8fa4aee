"""Tables of `eval models`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from subtitle_rag.base.domain.values import clock, tidy
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.evaluation.model_comparison import OWN, ContextFigures, CostEstimate, Example
from subtitle_rag.evaluation.report import Row, gain_table, kind_table, overall_table
from subtitle_rag.evaluation.tables import Table, markdown

CHARACTERS = 160
"""Characters of a window's text in an example; the JSON has all of it."""
WORDS = 4
"""Maximum unsupported words in a note below the table."""


@dataclass(slots=True)
class ModelReport:
    seed: int
    videos: Sequence[str]
    windows: int
    figures: dict[str, ContextFigures] = field(default_factory=dict)
    """By model; the library's own under `OWN`."""
    own_models: Sequence[str] = ()
    """The models of the library's own contexts."""
    costs: Mapping[str, CostEstimate] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    """Library with the contexts, by model."""
    exported: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Example] = ()
    questions: int = 0
    left_out: int = 0
    """Number of questions about other videos."""
    retrieval: Sequence[Row] | None = None
    encoders: Sequence[Row] | None = None
    encode_seconds: Mapping[str, float] = field(default_factory=dict)
    """Time to make the vectors, by encoder."""
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "videos": list(self.videos),
            "windows": self.windows,
            "models": [
                {
                    "model": name,
                    "estimate": asdict(self.costs[name]) if name in self.costs else None,
                    "path": self.paths.get(name),
                    "exported": self.exported.get(name),
                    **({"written_by": list(self.own_models)} if name == OWN else {}),
                    **asdict(each),
                }
                for name, each in self.figures.items()
            ],
            "examples": [asdict(example) for example in self.examples],
            "questions": self.questions,
            "left_out": self.left_out,
            "retrieval": [row.to_json() for row in self.retrieval] if self.retrieval else None,
            "encoders": [row.to_json() for row in self.encoders] if self.encoders else None,
            "encode_seconds": self.encode_seconds,
            "notes": self.notes,
        }


def render(report: ModelReport) -> str:
    """Return the report as Markdown."""
    extent = n_(
        "{videos}, {n} window (seed {seed}).",
        "{videos}, {n} windows (seed {seed}).",
        report.windows,
        videos=n_("{n} video", "{n} videos", len(report.videos)),
        n=f"{report.windows:,}",
        seed=report.seed,
    )
    parts: list[Sequence[str] | Table] = [[extent]]
    if report.figures:
        parts += [_figure_table(report), list(_word_lines(report))]
    for rows in filter(None, (report.retrieval, report.encoders)):
        parts += [[_question_line(report)], kind_table(rows), overall_table(rows), gain_table(rows)]
    rates = [
        [name, f"{seconds:.1f}", f"{report.windows / seconds:.1f}" if seconds else ""]
        for name, seconds in report.encode_seconds.items()
    ]
    parts.append(Table([_("encoder"), _("seconds"), _("windows a second")], rates))
    for example in report.examples:
        parts += [[f"{clock(round(1000 * example.start))} {tidy(example.title)}"], _example_table(example)]
    if report.paths:
        heading = _("The contexts of each model are kept, and a later run goes on with them:")
        parts.append(
            [heading, *(f"- {name}: {report.exported.get(name, path)}" for name, path in report.paths.items())]
        )
    return markdown(*parts, *([note] for note in report.notes))


def _question_line(report: ModelReport) -> str:
    text = n_("{n} question", "{n} questions", report.questions)
    if report.left_out:
        text += n_(", {n} about other videos left out", ", {n} about other videos left out", report.left_out)
    return _("{questions}; means in % with 95 % intervals. ± is the gain over the row beside it.").format(
        questions=text
    )


def _figure_table(report: ModelReport) -> Table:
    """Return the figures, one column per model."""
    cells = {
        _("written"): lambda each: f"{each.written:,}",
        _("left out of search"): lambda each: f"{each.left_out:,}",
        _("nothing usable"): lambda each: f"{each.empty:,}",
        _("not asked about"): lambda each: f"{each.due:,}",
        _("answers"): lambda each: f"{each.answers:,}",
        _("asked again"): lambda each: _share(each.second_tries, each.answers),
        _("names not in the video"): lambda each: _share(each.ungrounded, each.answers),
        _("repeats another context"): lambda each: _share(each.repeated, each.answers),
        _("repeats itself without end"): lambda each: _share(each.looped, each.answers),
        _("retells the window"): lambda each: _share(each.retold, each.answers),
        _("Chinese or Japanese script"): lambda each: _share(each.foreign, each.answers),
        _("lost by cleaning: whole answers"): lambda each: _share(each.unusable, each.answers),
        _("lost by cleaning: characters of the others"): lambda each: (
            f"{100 * each.removed:.1f} %" if each.removed is not None else "–"
        ),
        _("requests for overviews"): lambda each: f"{each.overviews:,}",
        _("tokens read"): lambda each: f"{each.prompt_tokens:,}",
        _("tokens written"): lambda each: f"{each.tokens:,}",
        _("model time"): lambda each: clock(round(1000 * each.seconds)),
        _("seconds for an answer"): lambda each: f"{each.seconds / each.answers:.1f}" if each.answers else "–",
    }
    rows = [[title, *map(cell, report.figures.values())] for title, cell in cells.items()]
    return Table([_("contexts"), *map(_title, report.figures)], rows)


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.0f} %)" if count else "0"


def _title(name: str) -> str:
    return _("the library's own") if name == OWN else name


def _word_lines(report: ModelReport) -> Iterator[str]:
    """Yield each model's unsupported words, and how the library's own contexts are counted."""
    for name, each in report.figures.items():
        if words := each.ungrounded_words:
            listed_words = ", ".join(words[:WORDS]) + (" …" if len(words) > WORDS else "")
            yield _("- {model} writes names that are not in the video: {words}").format(
                model=_title(name), words=tidy(listed_words)
            )
        if each.looped:
            yield _("- {model}: the tokens read for answers without an end are not counted.").format(model=_title(name))
    if OWN in report.figures:
        yield _("- Of the library's own contexts, by {models}, only the last answer about a window is stored.").format(
            models=", ".join(report.own_models)
        )


def _example_table(example: Example) -> Table:
    text = tidy(example.text)
    window = [_("(the window)"), text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]} …"]
    contexts = ([_title(name), text or "–"] for name, text in example.contexts.items())
    return Table([_("contexts"), _("text")], [window, *contexts], text=(0, 1))
