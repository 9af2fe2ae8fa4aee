"""`eval make` and `eval judge`: questions and judgements by local models."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.commands import completing, stage_runs
from subtitle_rag.commands.options import model_option, pass_runtime, print_outcome
from subtitle_rag.domain import BusyError, UsageError, clock, tidy
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation import JudgeReport, MakeReport, MeasureResult, Review

REASONS = {
    "length": N_("too long, too short, or without an answer"),
    "language": N_("not Korean"),
    "deictic": N_("mentions a window or a video that is still to be found"),
    "names_video": N_("names the video's title or file"),
    "syntax": N_("holds what the search takes for a filter"),
    "quote": N_("its quote is not in the window"),
    "copied": N_("copies the window"),
    "duplicate": N_("was asked before"),
    "known": N_("the model answers it without the window"),
}
"""Reasons to refuse a made question; failures of the model have their own codes."""
KEYS = ("k", "e", "d", "q")
"""Keep, edit, drop, quit: the same in every language."""


@click.command("make", help=N_("Have a local model make questions of your own library, into a file for eval run."))
@click.argument("file", type=click.Path(path_type=Path))
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
@pass_runtime
@print_outcome
def eval_make(
    runtime: Runtime, file: Path, count: int, seed: int | None, videos: int | None, model: str | None, review: bool
) -> output.Outcome:
    from subtitle_rag.evaluation import MakeReport, QuestionMade, generate_questions

    with evaluation_lock(runtime):
        if review:
            return _review(file)
        with runtime.llms() as hosts:
            request = generate_questions.GenerationRequest(count, model, seed, videos)
            events = generate_questions.make(runtime.library, hosts, file, request, runtime.context_model)

            def update(event: object) -> dict[str, Any]:
                if not isinstance(event, QuestionMade):
                    return {}
                return {"completed": event.questions, "description": tidy(event.query)[: stage_runs.TITLE]}

            report = output.track_to_report(MakeReport, events, _("Questions"), update, count)
    code = output.ExitCode.DONE if report.blocked and report.blocked.code == "questions_short" else None
    errors = [report.blocked] if report.blocked else []
    return output.Outcome(
        {"path": str(file), **report.to_json()}, _made_lines(report, file), errors=errors, exit_code=code
    )


def _made_lines(report: "MakeReport", file: Path) -> Iterator[str]:
    total = sum(report.by_kind.values())
    yield n_("{n} new question, {all} in {path}:", "{n} new questions, {all} in {path}:", report.new).format(
        n=report.new, all=total, path=file
    )
    yield from output.table(
        [(f"  {kind}", str(number)) for kind, number in report.by_kind.items()], right=frozenset({1})
    )
    if report.spanning:
        text = n_("{n} of them spans two videos.", "{n} of them span two videos.", report.spanning)
        yield text.format(n=report.spanning)
    if report.videos is not None:
        yield n_("Made of {n} video drawn at random.", "Made of {n} videos drawn at random.", report.videos).format(
            n=report.videos
        )
    if report.refused:
        yield _("Refused:")
        yield from output.table(_reasons(report.refused), right=frozenset({1}))
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    if total:
        yield _("Review them before you use them: subtitle-rag eval make {path} --review").format(path=file)


def _reasons(refused: Mapping[str, int]) -> list[tuple[str, str]]:
    return [(f"  {_(REASONS[code]) if code in REASONS else code}", str(number)) for code, number in refused.items()]


def _review(file: Path) -> output.Outcome:
    from subtitle_rag.evaluation import Review

    review = Review(file)
    open_questions = review.open
    for number, entry in enumerate(open_questions, start=1):
        for line in _question_lines(entry, f"{number}/{len(open_questions)}"):
            output.say(line)
        if not _decide(review, str(entry["id"]), str(entry["query"])):
            break
    counts = review.counts()
    titles = {"kept": _("Kept"), "edited": _("Edited"), "dropped": _("Dropped"), "open": _("Not looked at")}
    rows = [(title, str(counts[name])) for name, title in titles.items()]
    return output.Outcome({"path": str(file), "review": counts}, output.table(rows, right=frozenset({1})))


def _question_lines(entry: Mapping[str, Any], position: str) -> Iterator[str]:
    """Yield a question for its reviewer. It is a model's text, so no control code of it reaches the terminal."""
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


@click.command("judge", help=N_("Have a local model judge scenes and answers by the four measures of RAGAS."))
@click.argument("queries", type=click.Path(path_type=Path))
@click.option(
    "--answers",
    type=click.Path(path_type=Path),
    help=N_("Answers to judge, as lines of id and answer; without them only scenes are judged."),
)
@click.option(
    "--output", "out", type=click.Path(path_type=Path), help=N_("The file of judgements; a later run resumes from it.")
)
@click.option(
    "--model",
    shell_complete=completing.context_models,
    help=N_("The judge; by default the largest model here that does not write contexts."),
)
@click.option("--allow-same", is_flag=True, help=N_("Let the model that writes contexts be the judge."))
@click.option(
    "--scenes", type=click.IntRange(1, 20), default=5, help=N_("How many scenes of each search to judge (5).")
)
@click.option(
    "--retrievers",
    metavar="NAMES",
    help=N_("The retrievers to use, separated by commas: bm25, dense, sparse, levels, late."),
)
@click.option(
    "--arms",
    metavar="LIST",
    help=N_(
        "Search, answer and judge by each of none, contexts, hybrid and rerank, and compare them; --retrievers are"
        " those of none and contexts."
    ),
)
@click.option("--skip-missing", is_flag=True, help=N_("Leave out an arm without its models or contexts."))
@click.option(
    "--answer-model",
    metavar="MODEL",
    shell_complete=completing.context_models,
    help=N_("The model that answers for the arms; by default the one that writes contexts."),
)
@pass_runtime
@print_outcome
def eval_judge(
    runtime: Runtime,
    queries: Path,
    answers: Path | None,
    out: Path | None,
    model: str | None,
    allow_same: bool,
    scenes: int,
    retrievers: str | None,
    arms: str | None,
    skip_missing: bool,
    answer_model: str | None,
) -> output.Outcome:
    from subtitle_rag.evaluation import JudgeReport, judging

    if arms is None and (skip_missing or answer_model):
        raise click.UsageError(_("--skip-missing and --answer-model need --arms."))
    if arms is not None and answers is not None:
        raise click.UsageError(_("--arms and --answers cannot be used together."))
    names = [name.strip() for name in retrievers.split(",")] if retrievers is not None else None
    path = out or queries.with_name(f"{queries.stem}.judged.jsonl")
    if arms is not None:
        from subtitle_rag.commands import judge_arms

        options = judge_arms.JudgeArmsOptions(arms, retrievers, scenes, skip_missing, answer_model, model, allow_same)
        with evaluation_lock(runtime):
            table = judge_arms.run(runtime, queries, path, options)
        errors = [table.blocked] if table.blocked else []
        return output.Outcome({"path": str(path), **table.to_json()}, judge_arms.lines(table, path), errors=errors)
    with evaluation_lock(runtime), runtime.llms() as hosts:
        host, info = judging.choose_judge(hosts, runtime.context_model, model, allow_same=allow_same)
        listed = judging.cases(queries, runtime.searcher, scenes=scenes, answers=answers, retrievers=names)
        if answers is None:
            output.say(_("No answers are given (--answers): faithfulness and answer relevancy are left out."))
        judgements = judging.judge(listed, path, host, info, runtime.neural.encoder())
        report = output.track_to_report(JudgeReport, judgements, _("Judgements"))
    errors = [report.blocked] if report.blocked else []
    return output.Outcome({"path": str(path), **report.to_json()}, _judged_lines(report, path), errors=errors)


def _judged_lines(report: "JudgeReport", path: Path) -> Iterator[str]:
    judge = report.judge
    yield _("Judge: {model} ({digest}), prompt {prompt}").format(
        model=judge["model"], digest=judge["digest"][:12], prompt=judge["prompt"]
    )
    rows = [(_("measure"), _("mean"), "n", _("errors"), _("left out"), _("method"))]
    rows += [(name, *_cells(figures)) for name, figures in report.measures.items()]
    yield from output.table(rows, right=frozenset({1, 2}))
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    yield _(
        "The figures of a small judge can only be compared with another run of the same judge over the same questions."
    )
    yield _("Every judgement is in {path}").format(path=path)


def _cells(figures: "MeasureResult") -> tuple[str, str, str, str, str]:
    mean = "–" if figures.mean is None else f"{figures.mean:.3f}"
    return mean, str(len(figures.values)), _tally(figures.errors), _tally(figures.left_out), figures.method


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{code} {number}" for code, number in counts.items()) or "–"


@contextmanager
def evaluation_lock(runtime: Runtime) -> Iterator[None]:
    """Hold the lock: two runs would ask the same model for the same, and write into each other's file."""
    from subtitle_rag.library import hold_lock

    folder = runtime.library.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder / "evaluation.lock", BusyError("evaluation_busy", path=str(folder))):
        yield
