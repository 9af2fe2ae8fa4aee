"""`eval`: how well scenes are found."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag import output, sample_library
from subtitle_rag.commands.options import FILE_PATH, print_outcome, runtime_outcome
from subtitle_rag.config import Settings
from subtitle_rag.evaluation.arms import parse_sets
from subtitle_rag.evaluation.bench import render_bench, run_bench
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.report import render_report
from subtitle_rag.evaluation.verbs import answer_questions, compare_models, hear_speech, judge_answers, make_questions
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

eval_ = click.Group("eval")


@eval_.command(
    "run",
    help=N_("Answer the questions of a file, or of a published set, and print how well each part searches."),
)
@click.argument("queries", type=FILE_PATH)
@click.option(
    "--contexts", type=FILE_PATH, help=N_("Measure again with the contexts in this file instead of those by a model.")
)
@click.option(
    "--arms",
    metavar="LIST",
    help=N_(
        "Measure only these retrievers, as in bm25,dense,bm25+dense; left out: each that is ready, and all together."
    ),
)
@click.option("--no-neural", is_flag=True, help=N_("Leave out everything that needs a model, and encode nothing."))
@click.option("--no-rerank", is_flag=True, help=N_("Search without the reranker."))
@runtime_outcome
def eval_run(
    runtime: "Runtime",
    queries: Path,
    contexts: Path | None,
    arms: str | None,
    no_neural: bool,
    no_rerank: bool,
) -> output.Outcome:
    retrievers = parse_sets(arms)
    with output.progress() as bar:
        task = bar.add_task(_("Questions"), total=None)
        report = run_arms(
            runtime,
            queries,
            contexts=contexts,
            retrievers=retrievers,
            neural=not no_neural,
            rerank=not no_rerank,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            encoding=_EncodingProgress(bar),
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


@eval_.command(
    "bench",
    help=N_(
        "Measure the search on the sample library, and on published sets that bring their own documents: KorQuAD, the"
        " cookbook's folder, or QMSum's; print a page with the machine and the models."
    ),
)
@click.argument("sets", nargs=-1, type=FILE_PATH, metavar="[SET]...")
@click.option("--arms", metavar="LIST", help=N_("Measure only these retrievers, as in bm25,dense,bm25+dense."))
@click.option("--encoder", metavar="NAME", help=N_("Measure with this encoder in place of that in the config."))
@click.option("--reranker", metavar="NAME", help=N_("Measure with this reranker in place of that in the config."))
@click.option("--limit", type=click.IntRange(1), help=N_("Draw so many questions of a set that has more."))
@click.option("--no-neural", is_flag=True, help=N_("Leave out everything that needs a model, and encode nothing."))
@click.option("--no-rerank", is_flag=True, help=N_("Search without the reranker."))
@click.pass_obj
@print_outcome
def eval_bench(
    settings: Settings,
    sets: tuple[Path, ...],
    arms: str | None,
    encoder: str | None,
    reranker: str | None,
    limit: int | None,
    no_neural: bool,
    no_rerank: bool,
) -> output.Outcome:
    retrievers = parse_sets(arms)
    models = {name: value for name, value in (("encoder", encoder), ("reranker", reranker)) if value is not None}
    settings = replace(settings, models=replace(settings.models, **models))
    with Runtime(sample_library.sample_settings(settings)) as sample, output.progress() as bar:
        sample_library.fill(sample)
        task = bar.add_task(_("Questions"), total=None)
        report = run_bench(
            sample,
            sets,
            retrievers=retrievers,
            neural=not no_neural,
            rerank=not no_rerank,
            limit=limit,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            encoding=_EncodingProgress(bar),
        )
    names = [path.name for path in sets]
    values = {"--arms": arms, "--encoder": encoder, "--reranker": reranker, "--limit": limit}
    options = [f"{option} {Path(str(value)).name}" for option, value in values.items() if value is not None]
    flags = [flag for flag, is_set in (("--no-neural", no_neural), ("--no-rerank", no_rerank)) if is_set]
    command = " ".join(("subtitle-rag eval bench", *names, *options, *flags))
    return output.Outcome(report.to_json(), [render_bench(report, names, command).rstrip()])


class _EncodingProgress:
    """Says how many windows a copy must encode, then shows the progress."""

    def __init__(self, bar: "Progress") -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def __call__(self, count: int, total: int) -> None:
        if count == 0:
            text = n_(
                "{n} window is encoded for a copy of the library; --no-neural leaves that out.",
                "{n} windows are encoded for a copy of the library; --no-neural leaves that out.",
                total,
            )
            output.say(text)
            self._task = self._bar.add_task(_("Vectors"), total=total)
        elif self._task is not None:
            self._bar.update(self._task, advance=count)


eval_.add_command(answer_questions.eval_answer)
eval_.add_command(hear_speech.eval_asr)
eval_.add_command(make_questions.eval_make)
eval_.add_command(judge_answers.eval_judge)
eval_.add_command(compare_models.eval_models)
