"""`eval judge`: judgements of scenes and answers by a local model; missing answers are requested first."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from subtitle_rag.answers.answer import answer_all
from subtitle_rag.answers.gathering import AnswerOptions, BuilderName
from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import UsageError, os_error_as_unwritable
from subtitle_rag.base.domain.progress import Meter
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.cli import stage_runs
from subtitle_rag.cli.options import FILE_PATH, complete_context_models, runtime_outcome
from subtitle_rag.cli.progress_bar import follow, progress_bar
from subtitle_rag.evaluation.arms import Retrievers, parse_sets
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.judging import Judge, JudgeReport, choose_judge, judge_cases, read_answers
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.tables import Table, markdown
from subtitle_rag.evaluation.verbs.make_questions import evaluation_lock
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query, parse_query

BUILDERS: tuple[BuilderName, ...]
BUILDERS = "ranked", "ordered", "simple"


@click.command("judge", help=N_("Have a local model judge scenes and answers by the four measures of RAGAS."))
@click.argument("queries", type=FILE_PATH)
@click.option(
    "--answers",
    type=FILE_PATH,
    help=N_(
        "Answers to judge, as JSON lines of id and answer. Missing ones are requested and added. Without it,"
        " only scenes are judged."
    ),
)
@click.option(
    "--builder",
    type=click.Choice(BUILDERS),
    default=BUILDERS[0],
    help=N_("The scenes for the answering model: the best at both ends, the best first, or speech only."),
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
@click.option(
    "--arms",
    metavar="LIST",
    help=N_("Judge these retrievers, each in a row, as in bm25,bm25+dense; left out: the search as it is."),
)
@runtime_outcome
def eval_judge(
    runtime: Runtime,
    queries: Path,
    answers: Path | None,
    builder: BuilderName,
    out: Path | None,
    model: str | None,
    allow_same: bool,
    scenes: int,
    arms: str | None,
) -> output.Outcome:
    path = out or queries.with_name(f"{queries.stem}.judged.jsonl")
    sets = dict[str, Retrievers | None](("+".join(names), names) for names in parse_sets(arms) or ())
    sets = sets or {"+".join(runtime.searcher.ready()): None}
    questions = load_questions(queries).questions
    texts = read_answers(answers, questions) if answers else {}
    with evaluation_lock(runtime), runtime.llms() as hosts:
        judging = choose_judge(hosts, runtime.context_model, model, allow_same=allow_same)
        missing = [question for question in questions if question.id not in texts] if answers else []
        if answers and missing:
            texts |= _ask(runtime, answers, missing, AnswerOptions(scenes, builder, False, next(iter(sets.values()))))
        rows = {
            arm: judge_cases(questions, runtime.searcher, scenes=scenes, answers=texts, retrievers=names)
            for arm, names in sets.items()
        }
        if answers is None:
            output.say(_("No answers are given (--answers): faithfulness and answer relevancy are left out."))
        judge = Judge.open(path, *judging, runtime.neural.encoder())
        report = follow(JudgeReport, judge.judge(rows))
    errors = [report.blocked] if report.blocked else []
    return output.Outcome({"path": str(path), **report.to_json()}, [_render(report, path)], errors=errors)


def _ask(runtime: Runtime, path: Path, questions: Sequence[Question], options: AnswerOptions) -> dict[str, str]:
    """Return the answers to these questions by id; each is written to the file before the next is requested."""
    texts: dict[str, str] = {}
    meter = Meter("answers", len(questions))
    with runtime.answerer() as answerer, progress_bar() as show:
        for id, answer in answer_all(answerer, [(each.id, _query(each.query)) for each in questions], options):
            if answer.error is not None:
                raise answer.error
            texts[id] = answer.text
            with os_error_as_unwritable(path), path.open("a", encoding="utf-8") as file:
                line = {"id": id, "answer": answer.text, "model": answer.model, "builder": options.builder}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            show(meter.advance())
    return texts


def _query(text: str) -> Query:
    """Parse one of many questions, literally if it is not a valid query."""
    try:
        return parse_query(text)
    except UsageError:
        return Query(tidy(text), tidy(text))


def _render(report: "JudgeReport", path: Path) -> str:
    """Return the report as Markdown."""
    judge = report.judge
    heading = _("Judge: {model} ({digest}), prompt {prompt}").format(
        model=judge["model"], digest=judge["digest"][:12], prompt=judge["prompt"]
    )
    columns = [_("search"), _("measure"), _("mean"), "n", _("errors"), _("left out"), _("method")]
    rows = []
    for arm, name, figures in ((arm, *each) for arm, row in report.rows.items() for each in row.items()):
        mean = "–" if figures.mean is None else f"{figures.mean:.3f}"
        tallies = (_tally(figures.errors), _tally(figures.left_out))
        rows.append((arm, name, mean, str(len(figures.scores)), *tallies, figures.method))
    notes = (
        stage_runs.cost(report.cost.prompt_tokens, report.cost.tokens, report.cost.ms),
        _(
            "The figures of a small judge can only be compared with another run of the same judge over the same"
            " questions."
        ),
        _("Every judgement is in {path}").format(path=path),
    )
    table = Table(columns, rows, text=(0, 1, 4, 5, 6))
    return markdown([heading], table, *([note] for note in notes)).rstrip("\n")


def _tally(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{code} {number}" for code, number in counts.items()) or "–"
