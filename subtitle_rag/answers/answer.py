"""A question, and further ones about the same scenes: evidence, the answer as it comes, and what bears it out.

`Conversation.ask` is a generator of events that any thread may run; an Event ends it from outside, and what had come
by then is kept. The model has no tools, so whatever it reads in captions can only change what it says.
"""

import logging
import queue
import threading
import time
import unicodedata
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from subtitle_rag.answers import prompt
from subtitle_rag.answers.citations import checked
from subtitle_rag.answers.gathering import Gatherer, Given, Room, Wish
from subtitle_rag.contexts.context_prompt import TOKENS_PER_CHAR
from subtitle_rag.contexts.hosts import MARGIN, STEP
from subtitle_rag.errors import AppError, BusyError, LlmError
from subtitle_rag.events import Answer, AnswerEvent, AnswerPiece
from subtitle_rag.library.store import Library
from subtitle_rag.llm import Llm, ModelInfo, Reply
from subtitle_rag.llm.host_guard import canonical
from subtitle_rag.retrieval.morphemes import QueryMorphemes
from subtitle_rag.retrieval.query import Query

logger = logging.getLogger(__name__)

REPLANS = 2
"""Times that scenes are chosen anew because the server counts more tokens than were reckoned."""
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class _Ready:
    """A host that has the model."""

    host: Llm
    info: ModelInfo


@dataclass(slots=True)
class _Course:
    """How one question goes."""

    began: float = field(default_factory=time.perf_counter)
    took_ms: dict[str, float] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)

    def note(self, part: str) -> None:
        self.took_ms[part] = round((time.perf_counter() - self.began) * 1000, 1)

    @property
    def text(self) -> str:
        return "".join(self.pieces).rstrip()


class Answerer:
    """Answers questions from one library; safe from several threads, each with conversations of its own."""

    def __init__(
        self,
        library: Library,
        gatherer: Gatherer,
        analyzer: QueryMorphemes,
        hosts: Sequence[Llm],
        model: str,
        *,
        missing: AppError | None = None,
        remember: bool = False,
    ) -> None:
        """`missing` is why there are no hosts; with `remember` answers are kept in the library."""
        self.library = library
        self.gatherer = gatherer
        self.analyzer = analyzer
        self.model = model
        self.remember = remember
        self._hosts = hosts
        self._missing = missing

    def conversation(self, wish: Wish | None = None) -> "Conversation":
        return Conversation(self, wish or Wish())

    def ready(self) -> _Ready | AppError:
        """The first host that has the model, or why none can be asked."""
        failure = self._missing
        for host in self._hosts:
            try:
                return _Ready(host, host.check(self.model))
            except AppError as error:
                logger.info("a host cannot be asked", exc_info=True)
                failure = failure or error
        return failure or LlmError("llm_off")

    def room(self, ready: _Ready) -> Room:
        """What the model has room for, by its own counts where they are known."""
        try:
            found = next((each for each in ready.host.loaded() if canonical(each.name) == canonical(self.model)), None)
        except AppError:  # an old server cannot say; the model is loaded anew then
            logger.info("what is loaded is not known", exc_info=True)
            found = None
        ratio = self.library.contexts.tokens_per_character(ready.info.digest) or TOKENS_PER_CHAR
        loaded = found.context_length if found else 0
        windows = {*prompt.windows(ready.info.context_length), loaded} - {0}
        return Room(tuple(sorted(windows)), ratio, loaded)

    def learn(self, info: ModelInfo, tokens: int, characters: int) -> None:
        """Remember what the model's tokenizer makes of text, the most of what was met."""
        measured = MARGIN * tokens / max(1, characters)
        if tokens and measured > (self.library.contexts.tokens_per_character(info.digest) or 0.0):
            self.library.contexts.put_tokens_per_character(info.digest, measured)

    def reckon_more(self, info: ModelInfo, tokens: int, characters: int) -> None:
        """After a prompt that did not fit: what the server counted, and more than before anyway."""
        before = self.library.contexts.tokens_per_character(info.digest) or TOKENS_PER_CHAR
        measured = MARGIN * tokens / max(1, characters)
        self.library.contexts.put_tokens_per_character(info.digest, max(measured, STEP * before))


class Conversation:
    """Questions about the same scenes: the first one chooses them."""

    def __init__(self, answerer: Answerer, wish: Wish) -> None:
        self._answerer = answerer
        self._wish = wish
        self._given: Given | None = None
        self._turns: list[prompt.Turn] = []

    def ask(self, query: Query, stop: threading.Event | None = None) -> Iterator[AnswerEvent]:
        """Answer a question. The last event is the `Answer`, which tells failures of the model too.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
            AppError: from the library and the index.
        """
        course = _Course()
        ready = self._answerer.ready()
        stop = stop or threading.Event()
        answer: Answer | None = None
        for attempt in range(REPLANS + 1):
            if self._given is None or not (self._given.num_ctx or isinstance(ready, AppError)):
                self._given = self._gathered(query, ready)
                course.note("scenes")
                yield self._given.evidence
            answer = self._without(query, ready, self._given)
            if answer is not None or isinstance(ready, AppError):
                break
            reply = yield from self._streamed(query, ready, self._given, course, stop)
            if _overflowed(reply) and not course.pieces and attempt < REPLANS:
                self._make_room(ready, reply)
                continue
            answer = self._noted(query, self._finished(query, self._given, course, reply), ready, self._given)
            break
        assert answer is not None
        yield answer

    def _gathered(self, query: Query, ready: _Ready | AppError) -> Given:
        room = None if isinstance(ready, AppError) else self._answerer.room(ready)
        return self._answerer.gatherer.gather(query, room, self._wish)

    def _without(self, query: Query, ready: _Ready | AppError, given: Given) -> Answer | None:
        """The answer where no model is to be asked."""
        if not given.evidence.sources:
            return Answer(query.raw, "", "", given.evidence, ending="no_scenes")
        if isinstance(ready, AppError):
            return Answer(query.raw, "", "", given.evidence, ending="no_model", error=ready)
        return None

    def _streamed(
        self, query: Query, ready: _Ready, given: Given, course: _Course, stop: threading.Event
    ) -> Generator[AnswerPiece, None, Reply | AppError]:
        """The pieces of the answer; returns how it ended."""
        arrived: queue.Queue[str | Reply | Exception] = queue.Queue()
        over = threading.Event()
        said = self._request(query, ready, given)
        thread = threading.Thread(target=_chat, args=(ready, said, given.num_ctx, over, arrived), daemon=True)
        thread.start()
        try:
            while True:
                if stop.is_set():
                    over.set()
                try:
                    event = arrived.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                if isinstance(event, (Reply, AppError)):
                    return event
                if isinstance(event, Exception):
                    raise event
                piece = _visible(event) if course.pieces else _visible(event).lstrip()
                if piece:
                    if not course.pieces:
                        course.note("first")
                    course.pieces.append(piece)
                    yield AnswerPiece(piece)
        finally:
            over.set()
            thread.join()

    def _request(self, query: Query, ready: _Ready, given: Given) -> list[dict[str, str]]:
        ratio = self._answerer.library.contexts.tokens_per_character(ready.info.digest) or TOKENS_PER_CHAR
        self._turns = prompt.trimmed(given.system, self._turns, query.text, given.num_ctx, ratio)
        return prompt.messages(given.system, self._turns, query.text)

    def _make_room(self, ready: _Ready, error: Reply | AppError) -> None:
        """After a prompt that did not fit: forget earlier questions, else choose less."""
        assert isinstance(error, AppError)
        assert self._given is not None
        characters = sum(len(turn.question) + len(turn.answer) for turn in self._turns) + len(self._given.system)
        self._answerer.reckon_more(ready.info, error.details["n_prompt_tokens"], characters)
        if self._turns:
            self._turns = []
        else:
            self._given = None

    def _finished(self, query: Query, given: Given, course: _Course, reply: Reply | AppError) -> Answer:
        course.note("answer")
        text = course.text
        found = checked(text, given.evidence.sources, self._answerer.analyzer)
        answer = Answer(
            query.raw,
            text,
            self._answerer.model,
            given.evidence,
            citations=found.citations,
            uncited=found.uncited,
            declined=found.declined,
            num_ctx=given.num_ctx,
            took_ms=course.took_ms,
        )
        if isinstance(reply, AppError):
            stopped = reply.code == "llm_stopped"
            return replace(answer, ending="stopped" if stopped else "failed", error=None if stopped else reply)
        return replace(
            answer,
            ending="cut" if reply.done_reason == "length" else "whole",
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=reply.cached_tokens,
            tokens=reply.tokens,
            num_ctx=reply.num_ctx or given.num_ctx,
        )

    def _noted(self, query: Query, answer: Answer, ready: _Ready, given: Given) -> Answer:
        """Remember the turn, how the model counts, and the answer; a library that is in use takes no answer away."""
        said = prompt.messages(given.system, self._turns, query.text)
        if answer.text:
            self._turns.append(prompt.Turn(query.text, answer.text))
        try:
            self._answerer.learn(ready.info, answer.prompt_tokens, sum(len(each["content"]) for each in said))
            if self._answerer.remember and answer.text:
                return replace(answer, kept=self._answerer.library.answers.put(answer, prompt.VERSION))
        except BusyError as error:
            logger.warning("the answer was not kept", exc_info=True)
            return replace(answer, not_kept=error)
        return answer


def _chat(
    ready: _Ready,
    said: list[dict[str, str]],
    num_ctx: int,
    over: threading.Event,
    arrived: "queue.Queue[str | Reply | Exception]",
) -> None:
    """The thread that waits for the model."""
    try:
        arrived.put(
            ready.host.chat(
                said,
                model=ready.info.name,
                num_ctx=num_ctx,
                num_predict=prompt.NUM_PREDICT,
                seed=prompt.SEED,
                stop=over,
                on_text=arrived.put,
            )
        )
    except Exception as error:  # the thread that collects raises it
        arrived.put(error)


def _overflowed(reply: Reply | AppError) -> bool:
    return isinstance(reply, AppError) and reply.code == "llm_overflow"


def _visible(text: str) -> str:
    """A piece of a model's answer without what could steer a terminal."""
    return "".join(
        each
        for each in text.replace("\r", "\n")
        if each == "\n" or unicodedata.category(each) not in ("Cc", "Cf", "Cs")
    )
