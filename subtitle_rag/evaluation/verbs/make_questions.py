"""`eval make`: questions by a local model."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.progress import Meter, Progress
from subtitle_rag.base.domain.values import clock, tidy
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli import stage_runs
from subtitle_rag.cli.options import FILE_PATH, model_option, runtime_outcome
from subtitle_rag.cli.progress_bar import follow
from subtitle_rag.evaluation.generate_questions import (
    MakeEvent,
    MakeReport,
    QuestionMade,
    Review,
    make_questions,
)
from subtitle_rag.runtime import Runtime

REASONS = {
    "length": N_("too long, too short, or without an answer"),
    "language": N_("not Korean"),
    "echo": N_("its answer only repeats it"),
    "deictic": N_("mentions a window or a video that is still to be found"),
    "names_video": N_("names the video's title or file"),
    "syntax": N_("holds what the search takes for a filter"),
    "quote": N_("its quote is not in the window"),
    "copied": N_("copies the window"),
    "nameless": N_("names nothing that a search finds"),
    "duplicate": N_("was asked before"),
    "known": N_("the model answers it without the window"),
}
"""Why a generated question is refused; failures of the model have their own codes."""
KEYS = ("k", "e", "d", "q")
"""Keep, edit, drop, quit: the same in every language."""


@click.command("make", help=N_("Have a local model make questions of your own library, into a file for eval run."))
@click.argument("file", type=FILE_PATH)
@click.option("--count", type=click.IntRange(1, 10_000), default=100, help=N_("The number of questions (100)."))
@click.option("--seed", type=click.IntRange(0), help=N_("Random seed that picks the windows (7)."))
@click.option(
    "--videos",
    type=click.IntRange(1),
    help=N_("Use only this many videos, drawn at random by the seed (default: all)."),
)
@model_option
@click.option(
    "--review", is_flag=True, help=N_("Review the questions one by one: keep, edit or drop. Makes no new ones.")
)
@runtime_outcome
def eval_make(
    runtime: Runtime, file: Path, count: int, seed: int | None, videos: int | None, model: str | None, review: bool
) -> output.Outcome:
    with evaluation_lock(runtime):
        if review:
            return _review(file)
        with runtime.llms() as hosts:
            events = make_questions(
                runtime.library,
                hosts,
                runtime.analyzer,
                file,
                count,
                default=runtime.context_model,
                model=model,
                seed=seed,
                videos=videos,
            )

            report = follow(MakeReport, _with_progress(events, count))
    code = output.ExitCode.DONE if report.blocked and report.blocked.code == "questions_short" else None
    errors = [report.blocked] if report.blocked else []
    return output.Outcome(
        {"path": str(file), **report.to_json()}, _made_lines(report, file), errors=errors, exit_code=code
    )


def _with_progress(events: Iterable[MakeEvent], count: int) -> Iterator[MakeEvent | Progress]:
    meter = Meter("questions", count)
    for event in events:
        yield meter.to(event.questions, text=tidy(event.query)) if isinstance(event, QuestionMade) else event


def _made_lines(report: "MakeReport", file: Path) -> Iterator[str]:
    total = sum(report.by_kind.values())
    yield n_(
        "{n} new question, {all} in {path}:", "{n} new questions, {all} in {path}:", report.new, all=total, path=file
    )
    yield from output.counts_table((f"  {kind}", number) for kind, number in report.by_kind.items())
    if report.spanning:
        yield n_("{n} of them spans two videos.", "{n} of them span two videos.", report.spanning)
    if report.videos is not None:
        yield n_("Made of {n} video drawn at random.", "Made of {n} videos drawn at random.", report.videos)
    if report.refused:
        yield _("Refused:")
        reasons = {code: _(REASONS[code]) if code in REASONS else code for code in report.refused}
        yield from output.counts_table((f"  {reasons[code]}", number) for code, number in report.refused.items())
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    if total:
        yield _("Review them before you use them: subtitle-rag eval make {path} --review").format(path=file)


def _review(file: Path) -> output.Outcome:
    review = Review(file)
    open_questions = review.open
    for number, entry in enumerate(open_questions, start=1):
        for line in _question_lines(entry, f"{number}/{len(open_questions)}"):
            output.say(line)
        if not _decide(review, str(entry["id"]), str(entry["query"])):
            break
    counts = review.counts()
    titles = {"kept": _("Kept"), "edited": _("Edited"), "dropped": _("Dropped"), "open": _("Not looked at")}
    lines = output.counts_table((title, counts[name]) for name, title in titles.items())
    return output.Outcome({"path": str(file), "review": counts}, lines)


def _question_lines(entry: Mapping[str, Any], position: str) -> Iterator[str]:
    """Yield a question's lines for the reviewer, without control codes, because it is a model's text."""
    yield ""
    yield f"{position}  [{tidy(str(entry['kind']))}]  {tidy(str(entry['query']))}"
    yield f"    → {tidy(str(entry.get('answer', '')))}"
    for evidence in entry.get("evidence", ()):
        at = clock(round(float(evidence["start"]) * 1000))
        title = tidy(str(evidence.get("title", entry.get("title", ""))))
        yield f"    {at:>8}  “{tidy(str(evidence['quote']))}”  {title}"


def _decide(review: "Review", id: str, query: str) -> bool:
    """Ask for a decision and store it; False to quit."""
    keys = _("k keep, e edit, d drop, q quit")
    match click.prompt(keys, type=click.Choice(KEYS), show_choices=False, err=True):
        case "k":
            review.keep(id)
        case "d":
            review.drop(id)
        case "e":
            while True:
                edited = tidy(click.prompt(_("Question"), default=query, err=True))
                try:
                    review.edit(id, edited)
                    break
                except UsageError as error:
                    if error.code != "not_plain":
                        raise
                    output.say_error(error)
        case _:
            return False
    return True


def evaluation_lock(runtime: Runtime) -> AbstractContextManager[None]:
    """Return the lock to hold: two runs would request the same from the model, and write to each other's file."""
    from subtitle_rag.library.connection import hold_lock

    folder = runtime.library.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    return hold_lock(folder, "evaluation")
