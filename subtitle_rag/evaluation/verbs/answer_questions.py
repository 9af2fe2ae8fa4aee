"""`eval answer`: answers to the questions of a file by one way of searching and of showing scenes to the model."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from subtitle_rag import answers, output
from subtitle_rag.commands import answer_text
from subtitle_rag.commands.options import (
    FILE_PATH,
    QueryFilters,
    model_option,
    pass_runtime,
    query_filters,
    retrievers_option,
    stoppable,
)
from subtitle_rag.domain import UsageError, tidy
from subtitle_rag.evaluation.arm_run import EvalModels
from subtitle_rag.evaluation.arms import ArmChoice
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.temp_library import LibraryVariants
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.runtime import Runtime

BUILDERS: tuple["answers.BuilderName", ...]
BUILDERS = "form", "ranked", "ordered", "simple", "lines", "condensed", "sections"
MOST_SCENES = 20


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Arguments and options of `eval answer`."""

    filters: QueryFilters
    scenes: int | None
    model: str | None
    builder: "answers.BuilderName"
    prompt: Path | None
    retrievers: str | None
    contexts: bool
    rerank: bool
    again: bool
    context_only: bool

    def __post_init__(self) -> None:
        if self.context_only and self.builder == "condensed":
            raise click.UsageError(_("--context-only asks no model, and --builder condensed needs one."))

    @property
    def arm(self) -> dict[str, Any]:
        """The search for the lines of JSON; empty for that of `ask`."""
        if self.retrievers is None and self.contexts and self.rerank:
            return {}
        return {"retrievers": self.retrievers, "contexts": self.contexts, "rerank": self.rerank}

    def answer_options(self) -> "answers.AnswerOptions":
        names = tuple(name.strip() for name in self.retrievers.split(",")) if self.retrievers is not None else None
        # where all captions are read, no search has a part in the answer
        whole = False if self.arm else None
        return answers.AnswerOptions(self.scenes, self.builder, whole, names, self.rerank)

    def query(self, text: str) -> Query:
        """Parse one of many questions; take its text literally if it is no valid query."""
        try:
            return self.filters.query(text)
        except UsageError:
            return Query(tidy(text), tidy(text))


@click.command("answer", help=N_("Answer the questions of a file, as lines of JSON that eval judge reads."))
@click.argument("queries", type=FILE_PATH)
@query_filters
@click.option(
    "--scenes",
    type=click.IntRange(1, MOST_SCENES),
    help=N_("How many scenes to answer from (default: scenes under [llm])."),
)
@model_option
@click.option(
    "--builder",
    type=click.Choice(BUILDERS),
    default=BUILDERS[0],
    help=N_(
        "The scenes for the model: in the form of the question, the best at both ends, the best first, speech only, "
        "the lines that bear on the question, condensed by the model, or with the sections around them."
    ),
)
@click.option(
    "--prompt", type=FILE_PATH, help=N_("Use this file's prompt, in the form that config prompt answers prints.")
)
@retrievers_option
@click.option(
    "--contexts/--no-contexts",
    default=True,
    help=N_("Search with or without the contexts of the windows, and show them to the model or not."),
)
@click.option("--rerank/--no-rerank", default=True, help=N_("Search with or without the reranker."))
@click.option(
    "--again", is_flag=True, help=N_("If the model repeats itself without end, ask it once more with another seed.")
)
@click.option("--context-only", is_flag=True, help=N_("Only print what the model would be given."))
@pass_runtime
def eval_answer(runtime: Runtime, /, queries: Path, **arguments: Any) -> int:
    options = BatchOptions(**arguments)
    questions = load_questions(queries).questions
    with ExitStack() as opened:
        if options.context_only:
            return _print_contexts(runtime, options, questions, opened)
        return _print_answers(runtime, options, questions, opened)


def _print_answers(runtime: Runtime, options: BatchOptions, questions: tuple[Question, ...], opened: ExitStack) -> int:
    bar = opened.enter_context(output.progress())
    stop = opened.enter_context(stoppable())
    answerer = opened.enter_context(runtime.answerer(options.model, prompt=options.prompt))
    answerer = replace(answerer, gatherer=_gatherer(runtime, options, answerer.gatherer, opened))
    task = bar.add_task(_("Questions"), total=len(questions))
    pairs = ((question.id, options.query(question.query)) for question in questions)
    for id, answer in answers.answer_all(answerer, pairs, options.answer_options(), stop, again=options.again):
        line = {"id": id, "builder": options.builder, **options.arm, **answer_text.values(answer)}
        output.json_line({**line, "answer": answer.text})
        bar.update(task, advance=1)
    return output.ExitCode.INTERRUPTED if stop.is_set() else output.ExitCode.DONE


def _print_contexts(runtime: Runtime, options: BatchOptions, questions: tuple[Question, ...], opened: ExitStack) -> int:
    """Print the request for each question, to a model with room for all of it; no model is asked."""
    prompt = runtime.answer_prompt(options.prompt)
    usual = answers.Gatherer(runtime.library, runtime.searcher, runtime.words, runtime.settings.llm.scenes, prompt)
    gatherer = _gatherer(runtime, options, usual, opened)
    for question in questions:
        query = options.query(question.query)
        gathered = gatherer.gather(query, None, options.answer_options())
        values = {"context": gathered.text, "messages": gathered.messages(query.text)}
        output.json_line({"id": question.id, "builder": options.builder, **options.arm, **values})
    return output.ExitCode.DONE


def _gatherer(
    runtime: Runtime, options: BatchOptions, usual: "answers.Gatherer", opened: ExitStack
) -> "answers.Gatherer":
    """Return the gatherer of evidence: `usual`, or without contexts one over a copy of the library that has none."""

    if options.contexts:
        return usual
    names = options.answer_options().retrievers
    neural = options.rerank or names is None or any(name not in LEXICAL for name in names)
    models = EvalModels.of(runtime, ArmChoice(neural=neural, rerank=options.rerank))
    view = LibraryVariants(runtime, models, opened, neural).without_contexts()
    return replace(usual, library=view.library, searcher=view.searcher)
