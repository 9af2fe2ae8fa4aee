"""`ask`: an answer from the best scenes, with its citations."""

import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import answers, output
from subtitle_rag.commands import answer_text
from subtitle_rag.commands.options import (
    FILE_PATH,
    QueryCommand,
    QueryFilters,
    model_option,
    query_filters,
    runtime_outcome,
    wants_json,
)
from subtitle_rag.domain import Answer, AnswerEvent, AnswerPiece, AppError, Evidence, UsageError, tidy
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.retrieval import Query

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime

MOST_SCENES = 20
ALL = "all"
BUILDERS: tuple["answers.BuilderName", ...]
BUILDERS = "form", "ranked", "ordered", "simple", "lines", "condensed", "sections"


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Arguments and options of `ask`."""

    question: Sequence[str]
    filters: QueryFilters
    scenes: int | None
    whole: bool | None
    over: "answers.Over | None"
    model: str | None
    builder: "answers.BuilderName"
    prompt: Path | None
    follow: bool
    context_only: bool
    again: bool
    questions: Path | None
    retrievers: str | None
    contexts: bool
    rerank: bool
    history: bool
    forget: str | None

    def __post_init__(self) -> None:
        if self.follow and wants_json():
            raise click.UsageError(_("--json and --follow cannot be used together."))
        modes = (self.history, self.forget is not None, self.questions is not None)
        if not (self.question or self.follow or any(modes)):
            raise click.UsageError(_("Ask a question, for example: subtitle-rag ask WHICH SAUCE IS THE BEST"))
        if self.questions is None and self.is_arm:
            raise click.UsageError(_("--retrievers, --no-contexts and --no-rerank need --questions."))
        if self.whole and self.is_arm:
            raise click.UsageError(
                _("--whole cannot be used together with --retrievers, --no-contexts and --no-rerank.")
            )
        if self.over and (self.whole is not None or self.questions is not None or self.context_only):
            raise click.UsageError(
                _("--over cannot be used together with --whole, --no-whole, --questions and --context-only.")
            )
        if self.over and self.builder != BUILDERS[0]:
            raise click.UsageError(_("--over and --builder cannot be used together."))
        if self.context_only and self.builder == "condensed":
            raise click.UsageError(_("--context-only asks no model, and --builder condensed needs one."))
        if self.whole and self.scenes:
            raise click.UsageError(_("--whole and --scenes cannot be used together."))
        if sum(modes) > 1 or (any(modes) and (self.question or self.follow)):
            raise click.UsageError(_("Use --history, --forget or --questions alone, without a question."))

    @property
    def is_arm(self) -> bool:
        """Whether the search is another one than that of a single question."""
        return self.retrievers is not None or not (self.contexts and self.rerank)

    @property
    def arm(self) -> dict[str, Any]:
        """The search of an arm for its lines of JSON; empty for that of a single question."""
        if not self.is_arm:
            return {}
        return {"retrievers": self.retrievers, "contexts": self.contexts, "rerank": self.rerank}

    def answer_options(self) -> "answers.AnswerOptions":
        names = tuple(name.strip() for name in self.retrievers.split(",")) if self.retrievers is not None else None
        # where all captions are read, no search has a part in the answer
        whole = False if self.is_arm else self.whole
        return answers.AnswerOptions(self.scenes, self.builder, whole, names, self.rerank)


@click.command("ask", cls=QueryCommand)
@click.argument("question", nargs=-1)
@query_filters
@click.option(
    "--scenes",
    type=click.IntRange(1, MOST_SCENES),
    help=N_("How many scenes to answer from (default: scenes under [llm])."),
)
@click.option(
    "--whole/--no-whole",
    default=None,
    help=N_("Read all captions of the chosen videos, or the best scenes only (default: all where they are short)."),
)
@click.option(
    "--over",
    type=click.Choice(("videos", "months")),
    help=N_("Answer for each video or month that is found, then from all these answers; --scenes counts for each."),
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
@click.option("--follow", is_flag=True, help=N_("Then ask further questions about the same scenes, one a line."))
@click.option("--context-only", is_flag=True, help=N_("Only print what the model would be given."))
@click.option(
    "--again", is_flag=True, help=N_("If the model repeats itself without end, ask it once more with another seed.")
)
@click.option(
    "--questions",
    type=FILE_PATH,
    help=N_("Answer the questions of a file of eval, as lines of JSON that eval judge reads."),
)
@click.option(
    "--retrievers",
    metavar="NAMES",
    help=N_("With --questions: the retrievers to use, separated by commas: bm25, dense, sparse, levels, late."),
)
@click.option(
    "--contexts/--no-contexts",
    default=True,
    help=N_("With --questions: search with or without the contexts of the windows, and show them to the model or not."),
)
@click.option("--rerank/--no-rerank", default=True, help=N_("With --questions: with or without the reranker."))
@click.option("--history", is_flag=True, help=N_("Show the answers that are kept on this computer."))
@click.option("--forget", metavar="NUMBER|all", help=N_("Delete a saved answer, or all of them."))
@runtime_outcome
def ask_(runtime: "Runtime", /, **arguments: Any) -> output.Outcome | int:
    options = AskOptions(**arguments)
    if options.history:
        return _history(runtime)
    if options.forget is not None:
        return _forget(runtime, options.forget)
    if options.questions is not None:
        return _batch(runtime, options, options.questions)
    if options.context_only:
        return _context(runtime, options)
    runtime.preload()
    with runtime.answerer(options.model, remember=True, prompt=options.prompt) as answerer:
        try:
            return _conversation(_opened(answerer, options), options, runtime)
        except KeyboardInterrupt:
            if not options.follow:
                raise
            output.say("")  # at the prompt, where nothing is under way
            return output.ExitCode.INTERRUPTED


def _opened(answerer: "answers.Answerer", options: AskOptions) -> "answers.Conversation | answers.GroupedConversation":
    if options.over is None:
        return answerer.conversation(options.answer_options())
    return answers.GroupedConversation(answerer, options.answer_options(), options.over)


def _conversation(
    talk: "answers.Conversation | answers.GroupedConversation", options: AskOptions, runtime: "Runtime"
) -> int:
    """Answer the question and, with `--follow`, each further line of stdin."""
    code = output.ExitCode.DONE
    for number, text in enumerate(_questions(options)):
        try:
            query = Query(tidy(text), tidy(text)) if number else options.filters.query(text)
        except UsageError as error:
            if not options.follow:
                raise
            output.say_error(error)
            continue
        answer = _ask(talk, query, options)
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


def _ask(talk: "answers.Conversation | answers.GroupedConversation", query: Query, options: AskOptions) -> Answer:
    """Ask, and once more after a loop if the user says so."""
    with _stoppable() as stop:
        answer = _follow(talk.ask(query, stop))
    if answer.ending == "loop" and (options.again or _wants_again()):
        if not wants_json():
            output.data("\n")
            output.say(_("The model repeated itself without end; it is asked once more with another seed."))
        with _stoppable() as stop:
            answer = _follow(talk.ask_again(stop))
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
    answer: Answer | None = None
    quiet = wants_json()
    for event in events:
        match event:
            case Evidence():
                if event.sources and not quiet and (event.requests or sys.stderr.isatty()):
                    output.say(answers.reading_plan(event))
            case AnswerPiece(text=text):
                if not quiet:
                    output.piece(text)
            case Answer():
                answer = event
    assert answer is not None
    return answer


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Let the first Ctrl+C set the event, and the second end the program."""
    stop = threading.Event()

    def on_interrupt(*_signal: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


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
    """Return the request to a model with room for all of it."""
    query = options.filters.query(" ".join(options.question))
    prompt = runtime.answer_prompt(options.prompt)
    gatherer = answers.Gatherer(runtime.library, runtime.searcher, runtime.words, runtime.settings.llm.scenes, prompt)
    gathered = gatherer.gather(query, None, options.answer_options())
    request = gathered.messages(query.text)
    values = {"way": gathered.evidence.kind, "context": gathered.text, "messages": request}
    return output.Outcome(values, ["\n\n".join(message["content"] for message in request)])


def _batch(runtime: "Runtime", options: AskOptions, path: Path) -> int:
    from subtitle_rag.evaluation import load_questions

    questions = load_questions(path).questions
    wish = options.answer_options()
    with ExitStack() as opened, output.progress() as bar, _stoppable() as stop:
        answerer = opened.enter_context(runtime.answerer(options.model, prompt=options.prompt))
        if not options.contexts:
            answerer = _without_contexts(runtime, answerer, opened, wish)
        task = bar.add_task(_("Questions"), total=len(questions))
        queries = ((question.id, _lenient(options, question.query)) for question in questions)
        for id, answer in answers.answer_all(answerer, queries, wish, stop, again=options.again):
            values = answer_text.values(answer)
            output.json_line({"id": id, "builder": options.builder, **options.arm, **values, "answer": answer.text})
            bar.update(task, advance=1)
    return output.ExitCode.INTERRUPTED if stop.is_set() else output.ExitCode.DONE


def _without_contexts(
    runtime: "Runtime", answerer: "answers.Answerer", opened: ExitStack, wish: "answers.AnswerOptions"
) -> "answers.Answerer":
    """Return an answerer over a copy of the library without contexts."""
    from subtitle_rag.evaluation import ArmChoice, EvalModels, Views
    from subtitle_rag.retrieval import LEXICAL

    neural = wish.retrievers is None or any(name not in LEXICAL for name in wish.retrievers)
    models = EvalModels.of(runtime, ArmChoice(neural=neural or wish.rerank, rerank=wish.rerank))
    view = Views(runtime, models, opened, neural or wish.rerank).without_contexts()
    gatherer = replace(answerer.gatherer, library=view.library, searcher=view.searcher)
    return replace(answerer, gatherer=gatherer)


def _lenient(options: AskOptions, text: str) -> Query:
    """Parse one of many questions; take its text literally if it is no valid query."""
    try:
        return options.filters.query(text)
    except UsageError:
        return Query(tidy(text), tidy(text))


def _history(runtime: "Runtime") -> output.Outcome:
    saved = runtime.library.answers.latest()
    values = {"answers": [answer_text.stored_values(answer) for answer in saved]}
    lines = (line for answer in saved for line in answer_text.stored_lines(answer))
    notes = [] if saved else [_("There are no saved answers.")]
    return output.Outcome(values, lines, notes)


def _forget(runtime: "Runtime", id: str) -> output.Outcome:
    if id != ALL and not (id.isdecimal() and len(id) < 19):  # SQLite's numbers have 64 bits
        raise UsageError("unknown_answer", answer=tidy(id))
    count = runtime.library.answers.forget(None if id == ALL else int(id))
    if id != ALL and not count:
        raise UsageError("unknown_answer", answer=id)
    line = n_("{n} answer deleted.", "{n} answers deleted.", count)
    return output.Outcome({"forgotten": count}, [line])
