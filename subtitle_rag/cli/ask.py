"""`ask`: an answer from the best scenes, with its citations."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.answer_values import Answer, AnswerEvent, AnswerPiece, AnswerRequest, Evidence
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.cli import answer_text
from subtitle_rag.cli.options import (
    FILE_PATH,
    QueryCommand,
    QueryFilters,
    model_option,
    query_filters,
    removal_confirmed,
    runtime_outcome,
    stoppable,
    wants_json,
    yes_option,
)
from subtitle_rag.cli.progress_bar import notes
from subtitle_rag.cli.renewal import renew_index

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from subtitle_rag.answers.answer import Conversation
    from subtitle_rag.answers.gathering import AnswerOptions
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.query import Query

MOST_SCENES = 20
ALL = "all"


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Arguments and options of `ask`."""

    question: Sequence[str]
    filters: QueryFilters
    scenes: int | None
    whole: bool | None
    model: str | None
    prompt: Path | None
    follow: bool
    context_only: bool
    history: bool
    forget: str | None
    yes: bool

    def __post_init__(self) -> None:
        if self.follow and wants_json():
            raise click.UsageError(_("--json and --follow cannot be used together."))
        modes = (self.history, self.forget is not None)
        if not (self.question or self.follow or any(modes)):
            raise click.UsageError(_("Ask a question, for example: subtitle-rag ask WHICH SAUCE IS THE BEST"))
        if self.whole and self.scenes:
            raise click.UsageError(_("--whole and --scenes cannot be used together."))
        if sum(modes) > 1 or (any(modes) and (self.question or self.follow)):
            raise click.UsageError(_("Use --history or --forget alone, without a question."))

    def answer_options(self) -> "AnswerOptions":
        from subtitle_rag.answers.gathering import AnswerOptions

        return AnswerOptions(self.scenes, whole=self.whole)


@click.command("ask", cls=QueryCommand)
@click.argument("question", nargs=-1)
@query_filters
@click.option(
    "--scenes",
    type=click.IntRange(1, MOST_SCENES),
    help=N_("How many scenes to answer from (default 7)."),
)
@click.option(
    "--whole/--no-whole",
    default=None,
    help=N_("Read all captions of the chosen videos, or only the best scenes (default: all if they are short)."),
)
@model_option
@click.option("--prompt", type=FILE_PATH, help=N_("Use the prompt in FILE instead of the one in the settings."))
@click.option("--follow", is_flag=True, help=N_("Then ask further questions about the same scenes, one a line."))
@click.option("--context-only", is_flag=True, help=N_("Only print what would be sent to the model."))
@click.option("--history", is_flag=True, help=N_("Show the saved answers."))
@click.option("--forget", metavar="NUMBER|all", help=N_("Delete a saved answer, or all of them."))
@yes_option
@runtime_outcome
def ask_(runtime: "Runtime", /, **arguments: Any) -> output.Outcome | int:
    options = AskOptions(**arguments)
    if options.history:
        return _history(runtime)
    if options.forget is not None:
        return _forget(runtime, options)
    if options.context_only:
        return _context(runtime, options)
    runtime.preload()
    renew_index(runtime, is_search=True)
    with runtime.answerer(options.model, remember=True, prompt=options.prompt) as answerer:
        try:
            return _answer_questions(answerer.conversation(options.answer_options()), options, runtime)
        except KeyboardInterrupt:
            if not options.follow:
                raise
            output.say("")  # at the prompt, where nothing is under way
            return output.ExitCode.INTERRUPTED


def _answer_questions(conversation: "Conversation", options: AskOptions, runtime: "Runtime") -> int:
    """Answer the question and, with `--follow`, each further line of stdin."""
    from subtitle_rag.search.query import Query

    code = output.ExitCode.DONE
    for number, text in enumerate(_questions(options)):
        try:
            query = Query(tidy(text), tidy(text)) if number else options.filters.query(text)
        except UsageError as error:
            if not options.follow:
                raise
            output.say_error(error)
            continue
        answer = _ask(conversation, query)
        failure = _failure(answer)
        code = output.exit_code_for(failure) if failure else output.ExitCode.DONE
        if wants_json():
            errors = [failure] if failure else []
            outcome = output.Outcome(answer_text.values(answer), errors=errors, exit_code=code)
            output.finish("ask", outcome, as_json=True)
        else:
            _render(answer, runtime)
        if answer.ending not in ("whole", "cut", "loop"):
            break
    return code


def _questions(options: AskOptions) -> Iterator[str]:
    if options.question:
        yield " ".join(options.question)
    if options.follow and sys.stdin.isatty():
        output.say(_("Further questions are about the same scenes; an empty line ends."))
    while options.follow:
        if sys.stdin.isatty():
            sys.stderr.write("\n? ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line


def _ask(conversation: "Conversation", query: "Query") -> Answer:
    """Ask, and once more after a loop if the user says so."""
    with stoppable() as stop:
        answer = _follow(conversation.ask(query, stop))
    if answer.ending == "loop" and _wants_again():
        if not wants_json():
            output.data("\n")
            output.say(_("The model repeated itself without end; it is asked once more with another seed."))
        with stoppable() as stop:
            answer = _follow(conversation.ask_again(stop))
    return answer


def _wants_again() -> bool:
    if wants_json() or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    output.say("")
    try:
        return output.confirm(_("The model repeats itself. Ask once more with another seed?"))
    except click.Abort:
        return False


def _follow(events: Iterable[AnswerEvent]) -> Answer:
    """Print the answer's text as it streams, but not with `--json`. Ctrl+C keeps the text so far."""
    from subtitle_rag.answers.wording import reading_plan

    answer: Answer | None = None
    quiet = wants_json()
    with ExitStack() as reading:
        for event in events:
            reading.close()
            match event:
                case Evidence():
                    if event.sources and not quiet and sys.stderr.isatty():
                        output.say(reading_plan(event))
                case AnswerRequest():
                    reading.enter_context(_reading(event))
                case AnswerPiece(text=text):
                    if not quiet:
                        output.piece(text)
                case Answer():
                    answer = event
    assert answer is not None
    return answer


def _reading(request: AnswerRequest) -> "AbstractContextManager[None]":
    """Context manager: show progress while the model reads."""
    from subtitle_rag.contexts.context_text import reading_notes

    started = time.monotonic()
    return notes(lambda: reading_notes(request, time.monotonic() - started))


def _render(answer: Answer, runtime: "Runtime") -> None:
    if answer.text:
        output.data("\n")
    for line in answer_text.source_lines(answer):
        output.data(line)
    for line in answer_text.remarks(answer):
        output.say(line)
    if answer.ending == "no_scenes" and not runtime.library.counts().videos:
        output.say(
            _("The library is empty. subtitle-rag index FOLDER imports captions, subtitle-rag demo shows a sample.")
        )
    if answer.error is not None:
        output.say_error(answer.error)


def _failure(answer: Answer) -> AppError | None:
    if answer.ending == "stopped":
        return AppError("interrupted")
    return answer.error if answer.ending == "failed" else None


def _context(runtime: "Runtime", options: AskOptions) -> output.Outcome:
    """Return the request to a model whose context has room for all of it."""
    query = options.filters.query(" ".join(options.question))
    prompt = runtime.answer_prompt(options.prompt)
    from subtitle_rag.answers.context_builder import SCENES
    from subtitle_rag.answers.gathering import Gatherer

    gatherer = Gatherer(runtime.library, runtime.searcher, runtime.words, SCENES, prompt)
    evidence_text, request = gatherer.request(query, options.answer_options())
    values = {"way": evidence_text.evidence.kind, "context": evidence_text.text, "messages": request}
    return output.Outcome(values, ["\n\n".join(message["content"] for message in request)])


def _history(runtime: "Runtime") -> output.Outcome:
    saved = runtime.library.answers.latest()
    values = {"answers": [answer_text.stored_values(answer) for answer in saved]}
    lines = (line for answer in saved for line in answer_text.stored_lines(answer))
    notes = [] if saved else [_("There are no saved answers.")]
    return output.Outcome(values, lines, notes)


def _forget(runtime: "Runtime", options: AskOptions) -> output.Outcome:
    id = options.forget or ""
    stored = runtime.library.answers
    if id == ALL:
        number, count, names = None, stored.count(), [_("All answers")]
    else:
        number = int(id) if id.isdecimal() and len(id) < 19 else -1  # SQLite's numbers have 64 bits
        answer = stored.get(number)
        if answer is None:
            raise UsageError("unknown", kind=_("saved answer"), name=tidy(id), command="subtitle-rag ask --history")
        count, names = 1, [line_text(answer.question)]
    from subtitle_rag.workflows.removing import removal_sentence

    sentence = removal_sentence(n_("{n} answer", "{n} answers", count))
    if count and not removal_confirmed(names, sentence, yes=options.yes):
        return output.Outcome({"forgotten": 0}, notes=[_("Nothing was removed.")])
    count = stored.forget(number)
    line = n_("{n} answer deleted.", "{n} answers deleted.", count)
    return output.Outcome({"forgotten": count}, [line])
