"""`eval judge`: judgements of scenes and answers by a local model, with `--arms` of several searches."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import click

from subtitle_rag import output
from subtitle_rag.commands import stage_runs
from subtitle_rag.commands.options import FILE_PATH, complete_context_models, retrievers_option, runtime_outcome
from subtitle_rag.evaluation.arms import parse_retrievers
from subtitle_rag.evaluation.judged_arms import (
    FAILURES,
    AnswerStored,
    ArmFigures,
    ArmsCost,
    ArmsEvent,
    ArmsReport,
    arms_path,
    judge_arms,
)
from subtitle_rag.evaluation.judging import Judge, JudgeReport, choose_judge, judge_cases
from subtitle_rag.evaluation.measures import MEASURES
from subtitle_rag.evaluation.published_arms import ArmsRequest, parse_arms
from subtitle_rag.evaluation.report import missing_videos
from subtitle_rag.evaluation.tables import REAL, Table, gain_cell, share_cell
from subtitle_rag.evaluation.verbs.make_questions import evaluation_lock
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.llm import Llm, ModelInfo, host_with
from subtitle_rag.runtime import Runtime


@click.command("judge", help=N_("Have a local model judge scenes and answers by the four measures of RAGAS."))
@click.argument("queries", type=FILE_PATH)
@click.option(
    "--answers",
    type=FILE_PATH,
    help=N_("Answers to judge, as lines of id and answer; without them only scenes are judged."),
)
@click.option("--output", "out", type=FILE_PATH, help=N_("The file of judgements; a later run resumes from it."))
@click.option(
    "--model",
    shell_complete=complete_context_models,
    help=N_("The judge; by default the largest model here that does not write contexts."),
)
@click.option("--allow-same", is_flag=True, help=N_("Let the model that writes contexts be the judge."))
@click.option(
    "--scenes", type=click.IntRange(1, 20), default=5, help=N_("How many scenes of each search to judge (5).")
)
@retrievers_option
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
    shell_complete=complete_context_models,
    help=N_("The model that answers for the arms; by default the one that writes contexts."),
)
@runtime_outcome
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
    if arms is None and (skip_missing or answer_model):
        raise click.UsageError(_("--skip-missing and --answer-model need --arms."))
    if arms is not None and answers is not None:
        raise click.UsageError(_("--arms and --answers cannot be used together."))
    path = out or queries.with_name(f"{queries.stem}.judged.jsonl")
    writer = runtime.context_model
    report: ArmsReport | JudgeReport
    with evaluation_lock(runtime), runtime.llms() as hosts:
        if arms is None:
            judging = choose_judge(hosts, writer, model, allow_same=allow_same)
            report = _judge(runtime, queries, path, judging, scenes, answers, retrievers)
            lines = _judged_lines(report, path)
        else:
            first = parse_retrievers(retrievers.replace(",", "+")) if retrievers is not None else None
            request = ArmsRequest(parse_arms(arms), scenes, first, skip_missing)
            answering = host_with(hosts, answer_model or writer)
            judging = choose_judge(hosts, writer, model, allow_same=allow_same)
            report = _follow(judge_arms(runtime, queries, path, request, answering, judging))
            lines = _arms_lines(report, path)
    errors = [report.blocked] if report.blocked else []
    return output.Outcome({"path": str(path), **report.to_json()}, lines, errors=errors)


def _judge(
    runtime: Runtime,
    queries: Path,
    path: Path,
    judging: tuple[Llm, ModelInfo],
    scenes: int,
    answers: Path | None,
    retrievers: str | None,
) -> JudgeReport:
    """Judge the scenes of the program's own search, and `answers`."""
    names = [name.strip() for name in retrievers.split(",")] if retrievers is not None else None
    listed = judge_cases(queries, runtime.searcher, scenes=scenes, answers=answers, retrievers=names)
    if answers is None:
        output.say(_("No answers are given (--answers): faithfulness and answer relevancy are left out."))
    judge = Judge.open(path, *judging, runtime.neural.encoder())
    return output.track_to_report(JudgeReport, judge.judge(listed), _("Judgements"))


def _judged_lines(report: "JudgeReport", path: Path) -> Iterator[str]:
    judge = report.judge
    yield _("Judge: {model} ({digest}), prompt {prompt}").format(
        model=judge["model"], digest=judge["digest"][:12], prompt=judge["prompt"]
    )
    columns = [_("measure"), _("mean"), "n", _("errors"), _("left out"), _("method")]
    rows = []
    for name, figures in report.measures.items():
        mean = "–" if figures.mean is None else f"{figures.mean:.3f}"
        tallies = (_tally(figures.errors), _tally(figures.left_out))
        rows.append((name, mean, str(len(figures.scores)), *tallies, figures.method))
    yield from Table(columns, rows, text=(0, 3, 4, 5)).lines()
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    yield _(
        "The figures of a small judge can only be compared with another run of the same judge over the same questions."
    )
    yield _("Every judgement is in {path}").format(path=path)


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{code} {number}" for code, number in counts.items()) or "–"


def _follow(events: "Iterator[ArmsEvent]") -> "ArmsReport":
    report: ArmsReport | None = None
    with output.progress() as bar:
        answers = bar.add_task(_("Answers"), total=None)
        judgements = bar.add_task(_("Judgements"), total=None)
        for event in events:
            if isinstance(event, ArmsCost):
                _say_cost(event)
            elif isinstance(event, ArmsReport):
                report = event
            else:
                task = answers if isinstance(event, AnswerStored) else judgements
                bar.update(task, completed=event.done, total=event.total)
    assert report is not None  # the last event
    return report


def _say_cost(cost: "ArmsCost") -> None:
    text = _("Still to ask, at most: {answers} answers, {judgements} calls of the judge, about {tokens} tokens").format(
        answers=f"{cost.answers:,}", judgements=f"{cost.judgements:,}", tokens=f"{cost.tokens:,}"
    )
    if cost.pairs:
        text += ", " + n_(
            "{n} pair of question and window for the reranker",
            "{n} pairs of question and window for the reranker",
            cost.pairs,
            n=f"{cost.pairs:,}",
        )
    if cost.seconds is not None:
        text += _(", in about {minutes} min").format(minutes=max(1, round(cost.seconds / 60)))
    output.say(f"{text}. " + _("What the files contain is not requested again."))


def _arms_lines(report: "ArmsReport", judged_path: Path) -> Iterator[str]:
    """Yield the tables and the notes."""
    for name, reason in report.left_out.items():
        yield _("{arm} is left out: {reason}").format(arm=name, reason=reason)
    if report.rows:
        for table in (_arm_table(report.rows), _gain_table(report.rows)):
            yield from (*table.markdown(), *([""] if table.rows else []))
        yield _("Means in % with 95 % intervals. {mark} marks a difference whose interval leaves 0 out.").format(
            mark=f"`{REAL}`"
        )
        yield _(
            "Calls, tokens and seconds are those of an arm by itself; answers and judgements that arms share are asked"
            " for once."
        )
        yield _("Answers: {model}. Judge: {judge} ({digest}), prompt {prompt}.").format(
            model=report.answers_by,
            judge=report.judge["model"],
            digest=report.judge["digest"][:12],
            prompt=report.judge["prompt"],
        )
    if report.missing:
        yield missing_videos(report.missing)
    yield stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms)
    yield _("Scenes and answers are in {answers}, judgements in {judgements}").format(
        answers=arms_path(judged_path), judgements=judged_path
    )


def _arm_table(rows: "Sequence[ArmFigures]") -> Table:
    columns = [_("arm"), _("search"), *MEASURES, *FAILURES, _("published failure@20"), _("calls"), _("tokens"), "s"]
    cells = []
    for row in rows:
        means = [share_cell(mean, "–") for mean in row.means.values()]
        published = f"{100 * row.published:.1f}" if row.published is not None else ""
        tokens = row.cost.prompt_tokens + row.cost.tokens
        cost = [f"{row.cost.calls:,}", f"{tokens:,}", f"{row.cost.ms / 1000:,.0f}"]
        cells.append([row.arm.name, _search(row), *means, published, *cost])
    return Table(columns, cells, text=(0, 1))


def _gain_table(rows: "Sequence[ArmFigures]") -> Table:
    names = [*MEASURES, *FAILURES]
    cells = [
        [row.arm.name, before.arm.name, *(gain_cell(row.gains.get(name), "–") for name in names)]
        for before, row in pairwise(rows)
    ]
    return Table([_("arm"), _("compared with"), *names], cells, text=(0, 1))


def _search(row: "ArmFigures") -> str:
    """Return the parts of an arm's search: `bm25+dense, contexts 12/40, rerank 150`."""
    parts = ["+".join(row.arm.retrievers)]
    if row.setting:
        parts.append(_("contexts {count}").format(count=row.setting))
    if row.arm.rerank:
        parts.append(f"rerank {row.arm.rerank}")
    return ", ".join(parts)
