"""`eval answer`: answers to the questions of a file by one way of searching and of showing scenes to the model."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
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
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.temp_library import LibraryViews
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.retrieval.search.query import Query
from subtitle_rag.runtime import Runtime

BUILDERS: tuple["answers.BuilderName", ...]
BUILDERS = "ranked", "ordered", "simple"
MOST_SCENES = 20


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
    help=N_("The scenes for the model: the best at both ends, the best first, or speech only."),
)
@click.option("--prompt", type=FILE_PATH, help=N_("Use the prompt in FILE instead of the one in the settings."))
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
def eval_answer(
    runtime: Runtime,
    queries: Path,
    filters: QueryFilters,
    scenes: int | None,
    model: str | None,
    builder: "answers.BuilderName",
    prompt: Path | None,
    retrievers: str | None,
    contexts: bool,
    rerank: bool,
    again: bool,
    context_only: bool,
) -> int:
    questions = [(question.id, _query(filters, question.query)) for question in load_questions(queries).questions]
    names = tuple(name.strip() for name in retrievers.split(",")) if retrievers is not None else None
    is_as_ask = (retrievers, contexts, rerank) == (None, True, True)
    arm = {} if is_as_ask else {"retrievers": retrievers, "contexts": contexts, "rerank": rerank}
    # where all captions are read, no search has a part in the answer
    options = answers.AnswerOptions(scenes, builder, None if is_as_ask else False, names, rerank)
    head = {"builder": builder, **arm}
    with ExitStack() as opened:
        if context_only:
            usual = answers.Gatherer(
                runtime.library,
                runtime.searcher,
                runtime.words,
                runtime.settings.llm.scenes,
                runtime.answer_prompt(prompt),
            )
            gatherer = usual if contexts else _without_contexts(runtime, options, usual, opened)
            _print_contexts(gatherer, questions, options, head)
            return output.ExitCode.DONE
        bar = opened.enter_context(output.progress())
        stop = opened.enter_context(stoppable())
        answerer = opened.enter_context(runtime.answerer(model, prompt=prompt))
        if not contexts:
            gatherer = _without_contexts(runtime, options, answerer.gatherer, opened)
            answerer = replace(answerer, gatherer=gatherer)
        task = bar.add_task(_("Questions"), total=len(questions))
        for id, answer in answers.answer_all(answerer, questions, options, stop, again=again):
            output.json_line({"id": id, **head, **answer_text.values(answer), "answer": answer.text})
            bar.update(task, advance=1)
        return output.ExitCode.INTERRUPTED if stop.is_set() else output.ExitCode.DONE


def _query(filters: QueryFilters, text: str) -> Query:
    """Parse one of many questions; take its text literally if it is no valid query."""
    try:
        return filters.query(text)
    except UsageError:
        return Query(tidy(text), tidy(text))


def _print_contexts(
    gatherer: "answers.Gatherer",
    questions: Sequence[tuple[str, Query]],
    options: "answers.AnswerOptions",
    head: Mapping[str, Any],
) -> None:
    """Print the request for each question, to a model with room for all of it; no model is asked."""
    for id, query in questions:
        evidence, request = gatherer.request(query, options)
        output.json_line({"id": id, **head, "context": evidence.text, "messages": request})


def _without_contexts(
    runtime: Runtime, options: "answers.AnswerOptions", usual: "answers.Gatherer", opened: ExitStack
) -> "answers.Gatherer":
    """Return a gatherer of evidence over a copy of the library that has no contexts."""
    neural = options.rerank or options.retrievers is None or any(name not in LEXICAL for name in options.retrievers)
    models = EvalModels.of(runtime, neural=neural, rerank=options.rerank)
    view = LibraryViews(runtime, models, opened, neural).without_contexts()
    return replace(usual, library=view.library, searcher=view.searcher)
