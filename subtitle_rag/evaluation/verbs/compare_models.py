"""`eval models`: comparison of models for contexts, and of encoders, on the same windows and questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from subtitle_rag.base import event_json, output
from subtitle_rag.base.domain.errors import AppError, UsageError, os_error_as_unwritable
from subtitle_rag.base.domain.events import ContextReport, ContextWritten, OverviewWritten, VideoFailed
from subtitle_rag.base.domain.progress import Meter
from subtitle_rag.base.domain.values import clock, tidy
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.installation.extras import EVAL
from subtitle_rag.base.installation.package_installer import require_extra
from subtitle_rag.cli.options import FILE_PATH, complete_context_models, runtime_outcome
from subtitle_rag.cli.progress_bar import progress_bar
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.prompt_layout import ContextPrompt, configured_prompt
from subtitle_rag.evaluation import model_comparison, model_report, variants
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.model_comparison import CostEstimate, ModelContexts, context_texts
from subtitle_rag.evaluation.model_report import ModelReport
from subtitle_rag.evaluation.questions import Dataset, GoldSet, gold_set
from subtitle_rag.evaluation.report import Row
from subtitle_rag.evaluation.variants import Variant
from subtitle_rag.evaluation.verbs.make_questions import evaluation_lock
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL

QUESTIONS = "questions.jsonl"
"""The library's questions, in its data folder."""


@click.command(
    "models",
    help=N_(
        "Compare the contexts of several models for the same windows, and how well these are found. Yours are kept."
    ),
)
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=complete_context_models)
@click.option("--videos", type=click.IntRange(1), default=8, help=N_("The number of videos to draw (8)."))
@click.option("--seed", type=click.IntRange(0), default=7, help=N_("Random seed that draws the videos (7)."))
@click.option(
    "--questions",
    type=FILE_PATH,
    help=N_("Measure with the questions in this file; by default with questions.jsonl in the folder of the library."),
)
@click.option(
    "--encoders", metavar="LIST", help=N_("Compare these encoders on the questions, by name or folder, with commas.")
)
@click.option("--no-neural", is_flag=True, help=N_("Measure contexts with word search only, and encode nothing."))
@click.option(
    "--prompt",
    "prompt_files",
    type=FILE_PATH,
    multiple=True,
    help=N_("Also let each model write with the prompt in FILE."),
)
@click.option(
    "--export", type=FILE_PATH, help=N_("Also write each model's contexts into this folder, for contexts import.")
)
@runtime_outcome
def eval_models(
    runtime: Runtime,
    models: Sequence[str],
    videos: int,
    seed: int,
    questions: Path | None,
    encoders: str | None,
    no_neural: bool,
    prompt_files: Sequence[Path],
    export: Path | None,
) -> output.Outcome:
    encoder_names = [name.strip() for name in (encoders or "").split(",") if name.strip()]
    if not models and not encoder_names:
        raise click.UsageError(_("Name models, or encoders with --encoders."))
    # by label; the library's own has none
    prompts = {"": configured_prompt(runtime.settings)}
    prompts |= {tidy(str(file)): ContextPrompt.read(file) for file in prompt_files}
    with evaluation_lock(runtime):
        runtime.require_library()
        run = _ComparisonRun(runtime, videos, seed, questions, neural=not no_neural)
        if encoder_names and run.dataset is None:
            raise UsageError("no_questions", path=str(runtime.settings.paths.data / QUESTIONS))
        with ExitStack() as opened:
            rows = run.encoder_variants(encoder_names, opened)
            errors = run.compare(list(dict.fromkeys(map(tidy, models))), prompts, export) if models else []
            if rows:
                run.report.encoders, run.report.encode_seconds = run.measured(rows)
        report = run.report
    return output.Outcome(report.to_json(), [model_report.render(report).rstrip("\n")], errors=errors)


class _ComparisonRun:
    """One run of the command, with its bars and lines on stderr."""

    def __init__(self, runtime: Runtime, videos: int, seed: int, questions: Path | None, *, neural: bool) -> None:
        """Prepare a run. Raises the errors of the questions before anything else is done.

        Args:
            runtime: the library and its models.
            videos: number of videos.
            seed: for the random choice.
            questions: file of questions, if any.
            neural: whether to use the encoder.
        """
        self._runtime, self._seed, self._neural = runtime, seed, neural
        path = questions or runtime.settings.paths.data / QUESTIONS
        self.dataset: Dataset | None = None
        preferred: frozenset[str] = frozenset()
        if questions is not None or path.exists():
            require_extra(EVAL)
            self.dataset, preferred = variants.questions_about(path, runtime)
        self._drawn = model_comparison.draw(runtime.library, videos, seed, preferred)
        windows = sum(len(some) for _video, some in self._drawn)
        self.report = ModelReport(seed, [video.id for video, _windows in self._drawn], windows)
        self._gold: GoldSet | None = None
        if self.dataset is not None:
            self._gold = gold_set(self.dataset, runtime.library, {video.id: some for video, some in self._drawn})
            self.report.questions = len(self._gold.questions)
            self.report.left_out = len(self._gold.left_out)
        else:
            self.report.notes.append(
                _("How well the windows are found is left out: no --questions, and no {path}.").format(path=path)
            )

    def compare(
        self, names: Sequence[str], prompts: Mapping[str, ContextPrompt], export: Path | None
    ) -> list[AppError]:
        """Run the models, and put their figures into the report; return the errors that ended a model early."""
        library, report = self._runtime.library, self.report
        folder = self._runtime.settings.paths.data / model_comparison.FOLDER / f"seed-{self._seed}"
        with self._runtime.llms() as hosts, ExitStack() as opened:
            models = model_comparison.open_models(hosts, names, prompts, folder, self._drawn, opened)
            for model in models:
                model.copy(library)
            report.costs = {model.name: model.cost(library.contexts.mean_ms()) for model in models}
            for line in _cost_lines(report.costs):
                output.say(line)
            errors = _write(models, sum(cost.calls for cost in report.costs.values()))
            self._count(models)
            if export is not None:
                report.exported = self._export(models, export)
        return errors

    def _count(self, models: Sequence[ModelContexts]) -> None:
        """Put the figures of each model into the report, and the search figures with and without its contexts."""
        library, report = self._runtime.library, self.report
        texts: dict[str, dict[str, str]] = {}
        if stored := [c for video, _windows in self._drawn for c in library.contexts.of_video(video.id).values()]:
            texts[model_comparison.OWN] = {context.window_id: context.text for context in stored}
            report.figures[model_comparison.OWN] = model_comparison.own_figures(library, self._drawn)
            report.own_models = sorted({context.model for context in stored})
        for model in models:
            texts[model.name] = context_texts(model.library, self._drawn)
            report.figures[model.name] = model.figures()
            report.paths[model.name] = str(model.library.path)
        report.examples = model_comparison.examples(self._drawn, texts, self._seed)
        if self._gold is None:
            return
        usable = EvalModels.of(self._runtime, neural=self._neural, rerank=False)
        every = usable.retrievers()[-1]
        sets = [LEXICAL] if every == LEXICAL else [LEXICAL, every]
        encoder = usable.encoder if len(sets) > 1 else None
        neural = self._runtime.neural if encoder is not None else None
        rows = [Variant(_("no contexts"), {}, encoder, neural, sets)]
        for name, contexts_by_window in texts.items():
            if name != model_comparison.OWN and (due := report.figures[name].due):
                report.notes.append(
                    n_(
                        "{model} is not measured: {n} window has not been asked about.",
                        "{model} is not measured: {n} windows have not been asked about.",
                        due,
                        model=name,
                    )
                )
            else:
                title = _("the library's own") if name == model_comparison.OWN else name
                rows.append(Variant(title, contexts_by_window, encoder, neural, sets))
        report.retrieval, _seconds = self.measured(rows)

    def _export(self, models: Sequence[ModelContexts], folder: Path) -> dict[str, str]:
        """Write each model's contexts in the form of `contexts import`; return the files."""
        paths = {}
        videos = [video.id for video, _windows in self._drawn]
        with os_error_as_unwritable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for model in models:
                path = folder / f"{model.library.path.stem}.jsonl"
                entries = context_file.exported(model.library, videos=videos, names=self._runtime.library)
                path.write_text(context_file.to_json_lines(entries), encoding="utf-8", newline="\n")
                paths[model.name] = str(path)
        return paths

    def encoder_variants(self, names: Sequence[str], opened: ExitStack) -> list[Variant]:
        """Find the encoders. Raises why one cannot be used."""
        texts = context_texts(self._runtime.library, self._drawn) if names else {}
        rows: list[Variant] = []
        for name in dict.fromkeys(names):
            if extra := self._runtime.models.required_extra(name):
                require_extra(extra)
            models = opened.enter_context(self._runtime.neural_with(name))
            encoder = models.encoder()
            if encoder is None:
                raise AppError("model_missing", name=name)
            sets = EvalModels(encoder).retrievers()
            rows.append(Variant(name, texts, encoder, models, sets if not rows else sets[1:]))
        return rows

    def measured(self, rows: Sequence[Variant]) -> tuple[list[Row], dict[str, float]]:
        assert self._gold is not None
        count = self.report.windows * sum(row.encoder is not None for row in rows)
        if count:
            text = n_(
                "{n} window is encoded, in temporary copies; the library's index stays as it is.",
                "{n} windows are encoded, in temporary copies; the library's index stays as it is.",
                count,
                n=f"{count:,}",
            )
            output.say(text)
        meter = Meter("vectors", count)
        with progress_bar() as show:
            return variants.measure(
                self._runtime, self._drawn, self._gold, rows, lambda count: show(meter.advance(count))
            )


def _cost_lines(costs: Mapping[str, CostEstimate]) -> Iterator[str]:
    for model, cost in costs.items():
        if not cost.calls:
            yield _("{model}: everything is written.").format(model=model)
            continue
        time = (
            _("about {time}").format(time=clock(round(1000 * cost.seconds)))
            if cost.seconds is not None
            else _("its time is unknown before the first answers")
        )
        yield n_(
            "{model}: at least {n} request, about {read} tokens read and {written} written, {time}.",
            "{model}: at least {n} requests, about {read} tokens read and {written} written, {time}.",
            cost.calls,
            model=model,
            n=f"{cost.calls:,}",
            read=f"{cost.prompt_tokens:,}",
            written=f"{cost.tokens:,}",
            time=time,
        )
    if any(cost.calls for cost in costs.values()):
        yield _("Ctrl+C ends it; the same command goes on with what is missing.")


def _write(models: Sequence[ModelContexts], total: int) -> list[AppError]:
    """Write all missing contexts, one model after the other; return why some are incomplete."""
    errors = []
    meter = Meter("contexts", total)
    with progress_bar() as show:
        for model in models:
            for event in model.write():
                if isinstance(event, ContextWritten | OverviewWritten):
                    show(meter.advance(text=tidy(model.name)))
                elif isinstance(event, VideoFailed):
                    output.say(f"! {event_json.failure_entry(event)['message']}")
                elif isinstance(event, ContextReport) and event.blocked is not None:
                    errors.append(event.blocked)
    return errors
