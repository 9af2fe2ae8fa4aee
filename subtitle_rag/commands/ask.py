"""`ask`: an answer from the best scenes, with the scenes that bear it out."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.answers import wording
from subtitle_rag.commands import answer_text, completing, json_option
from subtitle_rag.config import Settings
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.events import Answer, AnswerPiece, Evidence
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.retrieval.query import Query, day, parse, tidy
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.answers.answer import Conversation
    from subtitle_rag.answers.gathering import Wish

MOST_SCENES = 20
ALL = "all"
BUILDERS = ("ranked", "ordered", "simple")


@dataclass(frozen=True, slots=True)
class Asked:
    """What `ask` is asked for."""

    question: Sequence[str]
    channel: Sequence[str]
    video: Sequence[str]
    after: str | None
    before: str | None
    scenes: int | None
    model: str | None
    builder: str
    follow: bool
    context_only: bool
    questions: Path | None
    history: bool
    forget: str | None
    as_json: bool

    def __post_init__(self) -> None:
        if self.as_json and self.follow:
            raise click.UsageError(_("--json and --follow exclude each other."))
        others = (self.history, self.forget is not None, self.questions is not None)
        if not (self.question or self.follow or any(others)):
            raise click.UsageError(_("Ask a question, for example: subtitle-rag ask WHICH SAUCE IS THE BEST"))
        if sum(others) > 1 or (any(others) and (self.question or self.follow)):
            raise click.UsageError(_("--history, --forget and --questions stand alone, without a question."))

    def query(self, text: str) -> Query:
        """The question with the options' filters added to its own."""
        asked = parse(text)
        return replace(
            asked,
            channels=(*asked.channels, *map(tidy, self.channel)),
            videos=(*asked.videos, *map(tidy, self.video)),
            after=asked.after if self.after is None else day("after", self.after),
            before=asked.before if self.before is None else day("before", self.before),
        )

    def wish(self) -> "Wish":
        from subtitle_rag.answers.context_builder import ContextBuilder, RankedContextBuilder, SimpleContextBuilder
        from subtitle_rag.answers.gathering import Wish

        builder: ContextBuilder | None = None
        if self.builder == "simple":
            builder = SimpleContextBuilder()
        elif self.builder == "ordered" or self.context_only:
            builder = RankedContextBuilder(reorder=self.builder == "ranked", include_score=self.context_only)
        return Wish(self.scenes, builder)


@click.command("ask", help=N_("Have a local model answer a question from the library's scenes, and show them."))
@click.argument("question", nargs=-1)
@click.option(
    "--channel", multiple=True, shell_complete=completing.channels, help=N_("Only channels whose name holds this.")
)
@click.option(
    "--video",
    multiple=True,
    shell_complete=completing.videos,
    help=N_("Only this video: its id, or a part of its title."),
)
@click.option("--after", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--before", metavar="DATE", help=N_("Only videos published on this day or earlier."))
@click.option("--scenes", type=click.IntRange(1, MOST_SCENES), help=N_("Answer from so many scenes (default 7)."))
@click.option(
    "--model", shell_complete=completing.context_models, help=N_("Another model of Ollama than the config names.")
)
@click.option(
    "--builder",
    type=click.Choice(BUILDERS),
    default=BUILDERS[0],
    help=N_("How scenes are laid out for the model: the best at both ends, the best first, or speech alone."),
)
@click.option("--follow", is_flag=True, help=N_("Then ask further questions about the same scenes, one a line."))
@click.option("--context-only", is_flag=True, help=N_("Only print what the model would be given."))
@click.option(
    "--questions",
    type=click.Path(path_type=Path),
    help=N_("Answer the questions of a file of eval, as lines of JSON that eval judge reads."),
)
@click.option("--history", is_flag=True, help=N_("Show the answers that are kept on this computer."))
@click.option("--forget", metavar="NUMBER|all", help=N_("Delete a kept answer, or all of them."))
@json_option
@click.pass_obj
def ask_(settings: Settings, /, **options: Any) -> int:
    asked = Asked(**options)
    with Runtime(settings) as runtime:
        if asked.history:
            return _history(runtime, asked)
        if asked.forget is not None:
            return _forget(runtime, asked.forget, as_json=asked.as_json)
        if asked.questions is not None:
            return _batch(runtime, asked, asked.questions)
        if asked.context_only:
            return _context(runtime, asked)
        runtime.preload()
        with runtime.answerer(asked.model, remember=True) as answerer:
            try:
                return _conversation(answerer.conversation(asked.wish()), asked, runtime)
            except KeyboardInterrupt:
                if not asked.follow:
                    raise
                output.say("")  # at the prompt, where nothing is under way
                return output.ExitCode.INTERRUPTED


def _conversation(talk: "Conversation", asked: Asked, runtime: Runtime) -> int:
    """The question, and with `--follow` the ones that are typed or piped in after it."""
    code = 0
    for number, text in enumerate(_questions(asked)):
        try:
            query = Query(tidy(text), tidy(text)) if number else asked.query(text)
        except UsageError as error:
            if not asked.follow:
                raise
            output.say_error(error)
            continue
        answer = _answered(talk, query, quiet=asked.as_json)
        code = _exit_code(answer)
        if asked.as_json:
            _envelope(answer, code, runtime.trouble)
        else:
            _render(answer, runtime)
        if answer.ending != "whole" and answer.ending != "cut":
            break
    return code


def _questions(asked: Asked) -> Iterator[str]:
    if asked.question:
        yield " ".join(asked.question)
    if asked.follow and sys.stdin.isatty():
        output.say(_("Further questions are about the same scenes; an empty line ends."))
    while asked.follow:
        if sys.stdin.isatty():
            sys.stderr.write("\n? ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line


def _answered(talk: "Conversation", query: Query, *, quiet: bool) -> Answer:
    """The answer; without `quiet` its text goes out as it comes. Ctrl+C keeps what has come."""
    answer: Answer | None = None
    with _stoppable() as stop:
        for event in talk.ask(query, stop):
            match event:
                case Evidence():
                    if not quiet and sys.stderr.isatty() and event.sources:
                        output.say(wording.reading(event))
                case AnswerPiece(text=text):
                    if not quiet:
                        output.piece(text)
                case Answer():
                    answer = event
    assert answer is not None
    return answer


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """The first Ctrl+C only sets the event; the second one ends the program as ever."""
    stop = threading.Event()

    def interrupted(*_signal: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _render(answer: Answer, runtime: Runtime) -> None:
    if answer.text:
        output.data("\n")
    for line in answer_text.source_lines(answer):
        output.data(line)
    for line in answer_text.remarks(answer):
        output.say(line)
    if answer.ending == "no_scenes" and not runtime.library.counts().videos:
        output.say(
            _("The library is empty. subtitle-rag index FOLDER brings captions in, subtitle-rag demo shows a sample.")
        )
    for error in (runtime.trouble, answer.error):
        if error is not None:
            output.say_error(error)


def _envelope(answer: Answer, code: int, trouble: AppError | None) -> None:
    failure = answer.error if answer.ending == "failed" else None
    if answer.ending == "stopped":
        failure = AppError("interrupted")
    errors = [output.error_entry(error) for error in (trouble, failure) if error]
    for entry in errors:
        output.say_error(entry)
    output.envelope("ask", output.Outcome(answer_text.values(answer), errors, code))


def _exit_code(answer: Answer) -> int:
    if answer.ending == "stopped":
        return output.ExitCode.INTERRUPTED
    if answer.ending == "failed" and answer.error is not None:
        return output.exit_code_for(answer.error)
    return output.ExitCode.DONE


def _context(runtime: Runtime, asked: Asked) -> int:
    """What a model with room for all of it would be given."""
    from subtitle_rag.answers.gathering import Gatherer

    given = Gatherer(runtime.library, runtime.searcher).gather(
        asked.query(" ".join(asked.question)), None, asked.wish()
    )
    if asked.as_json:
        output.envelope("ask", output.Outcome({"way": given.evidence.way, "context": given.text}))
    else:
        output.data(given.text)
    return 0


def _batch(runtime: Runtime, asked: Asked, path: Path) -> int:
    from subtitle_rag.answers import batch
    from subtitle_rag.evaluation import dataset

    questions = dataset.load(path).questions
    wish = asked.wish()
    with runtime.answerer(asked.model) as answerer, output.progress() as bar, _stoppable() as stop:
        task = bar.add_task(_("Questions"), total=len(questions))
        queries = ((question.id, _lenient(asked, question.query)) for question in questions)
        for id, answer in batch.answers(answerer, queries, wish, stop):
            told = answer_text.values(answer)
            output.json_line({"id": id, "builder": asked.builder, **told, "answer": answer.text})
            bar.update(task, advance=1)
    return output.ExitCode.INTERRUPTED if stop.is_set() else output.ExitCode.DONE


def _lenient(asked: Asked, text: str) -> Query:
    """One of many questions; what cannot be read as a query is looked for as it stands."""
    try:
        return asked.query(text)
    except UsageError:
        return Query(tidy(text), tidy(text))


def _history(runtime: Runtime, asked: Asked) -> int:
    kept = runtime.library.answers.latest()
    if asked.as_json:
        output.envelope("ask", output.Outcome({"answers": [answer_text.kept_values(one) for one in kept]}))
        return 0
    for one in kept:
        for line in answer_text.kept_lines(one):
            output.data(line)
    if not kept:
        output.say(_("No answers are kept."))
    return 0


def _forget(runtime: Runtime, which: str, *, as_json: bool) -> int:
    if which != ALL and not which.isdecimal():
        raise UsageError("unknown_answer", answer=tidy(which))
    gone = runtime.library.answers.forget(None if which == ALL else int(which))
    if which != ALL and not gone:
        raise UsageError("unknown_answer", answer=which)
    if as_json:
        output.envelope("ask", output.Outcome({"forgotten": gone}))
    else:
        output.data(n_("{n} answer deleted.", "{n} answers deleted.", gone).format(n=gone))
    return 0
