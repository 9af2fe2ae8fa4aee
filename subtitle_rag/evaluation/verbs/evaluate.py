"""`eval`: how well scenes are found."""

from collections.abc import Callable
from pathlib import Path

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.progress import Meter, Progress
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.cli.options import FILE_PATH, runtime_outcome
from subtitle_rag.cli.progress_bar import progress_bar
from subtitle_rag.evaluation.arms import parse_sets
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.report import render_report
from subtitle_rag.evaluation.verbs import compare_models, judge_answers, make_questions
from subtitle_rag.runtime import Runtime

eval_ = click.Group("eval")


@eval_.command(
    "run",
    help=N_("Answer the questions of a file, and print how well each part searches."),
)
@click.argument("queries", type=FILE_PATH)
@click.option(
    "--contexts", type=FILE_PATH, help=N_("Measure again with the contexts in this file instead of the stored ones.")
)
@click.option(
    "--arms",
    metavar="LIST",
    help=N_(
        "Measure only these retrievers, as in bm25,dense,bm25+dense, or bm25+dense+rrf to fuse by ranks; left out: "
        "each that is ready, and all together."
    ),
)
@click.option("--no-neural", is_flag=True, help=N_("Leave out everything that needs a model, and encode nothing."))
@click.option("--no-rerank", is_flag=True, help=N_("Search without the reranker."))
@runtime_outcome
def eval_run(
    runtime: Runtime,
    queries: Path,
    contexts: Path | None,
    arms: str | None,
    no_neural: bool,
    no_rerank: bool,
) -> output.Outcome:
    retrievers = parse_sets(arms)
    meter = Meter("questions")
    with progress_bar() as show:
        report = run_arms(
            runtime,
            queries,
            contexts=contexts,
            retrievers=retrievers,
            neural=not no_neural,
            rerank=not no_rerank,
            progress=lambda done, total: show(meter.to(done, total)),
            encoding=_EncodingProgress(show),
            reading=_say_cost,
        )
    return output.Outcome(report.to_json(), [render_report(report)])


def _say_cost(pairs: int, seconds: float | None) -> None:
    text = n_(
        "The reranker reads {n} pair of question and window",
        "The reranker reads {n} pairs of question and window",
        pairs,
    )
    if seconds is not None:
        text += _(", in about {minutes} min").format(minutes=max(1, round(seconds / 60)))
    output.say(f"{text}. " + _("--no-rerank leaves that out."))


class _EncodingProgress:
    """Says how many windows a copy must encode, then shows the progress."""

    def __init__(self, show: Callable[[Progress], None]) -> None:
        self._show = show
        self._meter = Meter("vectors")

    def __call__(self, count: int, total: int) -> None:
        if count == 0:
            text = n_(
                "{n} window is encoded for a copy of the library; --no-neural leaves that out.",
                "{n} windows are encoded for a copy of the library; --no-neural leaves that out.",
                total,
            )
            output.say(text)
            self._meter = Meter("vectors", total)
        else:
            self._show(self._meter.advance(count))


eval_.add_command(make_questions.eval_make)
eval_.add_command(judge_answers.eval_judge)
eval_.add_command(compare_models.eval_models)
