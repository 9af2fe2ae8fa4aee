"""A conversation about the library's scenes: evidence, the streamed answer, and the check of its citations.

`Conversation.ask` is a generator of events for any thread. An Event stops it from outside and keeps the text so far.
The model has no tools, so hostile text in captions can change only its words.
"""

import logging
import queue
import threading
import time
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.answer_stream import AnswerStream
from subtitle_rag.answers.citations import check_citations, unsaid_words
from subtitle_rag.answers.count_question import CountQuestion
from subtitle_rag.answers.counting import counted_answer
from subtitle_rag.answers.gathering import AnswerOptions, EvidenceGatherer, EvidenceText, Gatherer
from subtitle_rag.answers.token_budget import ReadyHost
from subtitle_rag.contexts import estimate
from subtitle_rag.domain import Answer, AnswerEvent, AnswerPiece, AnswerRequest, AppError, BusyError, Evidence
from subtitle_rag.llm import LENGTH, LOOP, Llm, Reply, host_with
from subtitle_rag.retrieval.search.query import Query

logger = logging.getLogger(__name__)

REPLANS = 2
"""Retries with fewer scenes when the server counts more tokens than estimated."""
_POLL_S = 0.05


@dataclass(slots=True)
class _PartialAnswer:
    """The text and timings of an answer so far."""

    started: float = field(default_factory=time.perf_counter)
    took_ms: dict[str, float] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    dropped: tuple[int, ...] = ()
    repeated: int = 0
    recited: int = 0
    unread: int = 0
    """Estimated tokens of the prompt that the server has not read before."""

    def note(self, part: str) -> None:
        self.took_ms[part] = round((time.perf_counter() - self.started) * 1000, 1)

    @property
    def text(self) -> str:
        return "".join(self.pieces).rstrip()


@dataclass(frozen=True, slots=True, eq=False)
class Answerer:
    """Answers questions from one library; safe from several threads, each with conversations of its own."""

    gatherer: Gatherer
    hosts: Sequence[Llm]
    model: str
    missing: AppError | None = None
    """The reason for having no hosts."""
    remember: bool = False
    """Whether answers are saved in the library."""
    part: EvidenceGatherer | None = None
    """Gathers the evidence of a part of an answer in the place of `gatherer`."""

    def reading(self, part: EvidenceGatherer) -> "Answerer":
        """Return an answerer with the same models of a part of an answer; it saves nothing."""
        return replace(self, part=part, remember=False)

    def conversation(self, options: AnswerOptions | None = None) -> "Conversation":
        return Conversation(self, options or AnswerOptions())

    def count(self, query: Query, options: AnswerOptions) -> Answer | None:
        """Return the answer to a question of how often something is said, without a model.

        None for any other, and where nothing is counted although the library has something near to it.

        Raises what `Conversation.ask` raises.
        """
        gatherer = self.gatherer
        searcher = gatherer.searcher
        question = CountQuestion.of(query, gatherer.analyzer, searcher.analyze) if options.may_count else None
        if question is None:
            return None
        answer = counted_answer(query.raw, question, gatherer.library, searcher.where(question.query))
        return self.keep(answer, "") if answer else None

    def keep(self, answer: Answer, prompt: str) -> Answer:
        """Save an answer with the version of its prompt, and return it with its id; a busy library does not fail it."""
        if not (self.remember and answer.text):
            return answer
        try:
            return replace(answer, saved_id=self.gatherer.library.answers.put(answer, prompt))
        except BusyError as error:
            logger.warning("the answer was not kept", exc_info=True)
            return replace(answer, save_error=error)

    def ready_host(self) -> ReadyHost | AppError:
        """Return the first host with the model, or the reason for having none."""
        try:
            return ReadyHost(*host_with(self.hosts, self.model), self.gatherer.library.contexts)
        except AppError as error:
            return self.missing or error


class Conversation:
    """Questions about the same scenes, chosen for the first question."""

    def __init__(self, answerer: Answerer, options: AnswerOptions) -> None:
        self._answerer = answerer
        self._options = options
        self._scenes: EvidenceText | None = None
        self._turns: list[answer_prompt.Turn] = []
        self._latest: tuple[Query, Answer] | None = None
        self._read: tuple[list[dict[str, str]], int] = ([], 0)
        """The messages of the last answered request, and its `num_ctx`: the server need not read them again."""

    def ask_again(self, stop: threading.Event | None = None) -> Iterator[AnswerEvent]:
        """Ask the last question once more, with another seed; its answer takes the place of the last one.

        Raises what `ask` raises.
        """
        assert self._latest is not None
        query, before = self._latest
        if before.text and self._turns:
            self._turns.pop()
        for event in self.ask(query, stop, seed=answer_prompt.SECOND_SEED):
            if isinstance(event, Answer) and event.saved_id is not None and before.saved_id is not None:
                self._answerer.gatherer.library.answers.forget(before.saved_id)
            yield event

    def ask(
        self, query: Query, stop: threading.Event | None = None, *, seed: int = answer_prompt.SEED
    ) -> Iterator[AnswerEvent]:
        """Answer a question. The last event is the `Answer`, failures of the model included.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
            AppError: from the library and the index.
        """
        answerer = self._answerer
        if answerer.part is None and (counted := answerer.count(query, self._options)) is not None:
            self._latest = query, counted
            yield from (counted.evidence, AnswerPiece(counted.text), counted)
            return
        partial = _PartialAnswer()
        ready = answerer.ready_host()
        stop = stop or threading.Event()
        answer: Answer | None = None
        for attempt in range(REPLANS + 1):
            if self._scenes is None or not (self._scenes.num_ctx or isinstance(ready, AppError)):
                yield from self._gather(query, ready, partial, stop)
            assert self._scenes is not None
            scenes = self._scenes
            if not scenes.evidence.sources:
                answer = Answer(query.raw, "", "", scenes.evidence, ending="no_scenes")
                break
            if isinstance(ready, AppError):
                answer = Answer(query.raw, "", "", scenes.evidence, ending="no_model", error=ready)
                break
            reply = yield from self._stream(query, ready, scenes, partial, stop, seed, attempt + 1)
            overflow = reply if isinstance(reply, AppError) and reply.code == "llm_overflow" else None
            if overflow and not partial.pieces and attempt < REPLANS:
                self._shrink_prompt(ready, overflow, scenes)
                continue
            answer = self._save(query, self._build_answer(query, scenes, partial, reply), ready, scenes)
            if isinstance(reply, Reply):
                self._learn_speed(reply, ready, partial.unread)
            break
        assert answer is not None
        self._latest = query, answer
        yield answer

    def _gather(
        self, query: Query, ready: ReadyHost | AppError, partial: _PartialAnswer, stop: threading.Event
    ) -> Iterator[Evidence]:
        """Find the scenes that the model is to read, and yield the evidence."""
        gatherer, part = self._answerer.gatherer, self._answerer.part
        budget = None if isinstance(ready, AppError) else ready.budget(gatherer.prompt)
        self._scenes = (part or gatherer).gather(query, budget, self._options)
        partial.note("scenes")
        yield self._scenes.evidence
        if self._options.builder == "condensed" and self._scenes.scenes and not isinstance(ready, AppError):
            self._scenes = gatherer.condensed(query, self._scenes, ready.host, self._answerer.model, stop)

    def _stream(
        self,
        query: Query,
        ready: ReadyHost,
        scenes: EvidenceText,
        partial: _PartialAnswer,
        stop: threading.Event,
        seed: int,
        attempt: int,
    ) -> Generator[AnswerRequest | AnswerPiece, None, Reply | AppError]:
        """Yield what is asked and the pieces of the answer; return the server's last word."""
        arrivals: queue.Queue[str | Reply | Exception] = queue.Queue()
        instructions = answer_prompt.instructions(scenes.evidence.kind, scenes.language)
        numbers = (source.number for source in scenes.evidence.sources)
        stream = AnswerStream(numbers, instructions, query.text)
        over = threading.Event()
        ratio = ready.token_ratio.value
        self._turns = answer_prompt.trimmed(scenes.system, self._turns, query.text, scenes.num_ctx, ratio)
        messages = answer_prompt.messages(scenes.system, self._turns, query.text)

        def chat() -> None:
            try:
                reply = ready.host.chat(
                    messages,
                    model=ready.info.name,
                    num_ctx=scenes.num_ctx,
                    num_predict=answer_prompt.NUM_PREDICT,
                    seed=seed,
                    stop=over,
                    on_text=arrivals.put,
                    is_useless=lambda _text: stream.is_prompt,
                )
                arrivals.put(reply)
            except Exception as error:  # the thread that collects raises it
                arrivals.put(error)

        partial.unread = self._unread_tokens(messages, scenes.num_ctx, ratio)
        speed = ready.speed.value
        yield AnswerRequest(partial.unread, round(partial.unread / speed) if speed else 0, attempt)
        thread = threading.Thread(target=chat, daemon=True)
        thread.start()
        try:
            while True:
                if stop.is_set():
                    over.set()
                try:
                    event = arrivals.get(timeout=_POLL_S)
                except queue.Empty:
                    continue
                if isinstance(event, Exception) and not isinstance(event, AppError):
                    raise event
                text = stream.feed(_visible(event)) if isinstance(event, str) else stream.finish().rstrip()
                if piece := text if partial.pieces else text.lstrip():
                    if not partial.pieces:
                        partial.note("first")
                    partial.pieces.append(piece)
                    yield AnswerPiece(piece)
                if not isinstance(event, str):
                    partial.dropped, partial.repeated = tuple(stream.dropped), stream.repeated
                    partial.recited = stream.recited
                    if isinstance(event, Reply):
                        self._read = messages, scenes.num_ctx
                    return event
        finally:
            over.set()
            thread.join()

    def _unread_tokens(self, messages: list[dict[str, str]], num_ctx: int, tokens_per_char: float) -> int:
        """Estimate the tokens of a prompt without the messages that it begins with as the last one did."""
        read, before = self._read
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(read, messages, strict=False))))
        unread = messages[same if num_ctx == before else 0 :]
        return estimate("".join(message["content"] for message in unread), tokens_per_char)

    def _shrink_prompt(self, ready: ReadyHost, overflow: AppError, scenes: EvidenceText) -> None:
        """After an overflow drop the earlier turns, else the choice of scenes."""
        characters = sum(len(turn.question) + len(turn.answer) for turn in self._turns) + len(scenes.system)
        ready.token_ratio.learn_overflow(overflow.details["n_prompt_tokens"], characters)
        if self._turns:
            self._turns = []
        else:
            self._scenes = None

    def _build_answer(
        self, query: Query, scenes: EvidenceText, partial: _PartialAnswer, reply: Reply | AppError
    ) -> Answer:
        partial.note("answer")
        looped = isinstance(reply, Reply) and reply.done_reason == LOOP
        text = partial.text
        check = check_citations(text, scenes.evidence.sources, self._answerer.gatherer.analyzer)
        answer = Answer(
            query.raw,
            text,
            self._answerer.model,
            scenes.evidence,
            citations=check.citations,
            uncited=check.uncited,
            unfounded=check.unfounded,
            dropped=partial.dropped,
            repeated=partial.repeated,
            recited=partial.recited,
            unsaid=unsaid_words(query.text, scenes.evidence.sources, self._answerer.gatherer.analyzer),
            declined=check.declined,
            num_ctx=scenes.num_ctx,
            took_ms=partial.took_ms,
        )
        if isinstance(reply, AppError):
            stopped = reply.code == "llm_stopped"
            return replace(answer, ending="stopped" if stopped else "failed", error=None if stopped else reply)
        return replace(
            answer,
            ending="loop" if looped else "cut" if reply.done_reason == LENGTH else "whole",
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=reply.cached_tokens,
            tokens=reply.tokens,
            num_ctx=reply.num_ctx or scenes.num_ctx,
        )

    def _learn_speed(self, reply: Reply, ready: ReadyHost, unread: int) -> None:
        """Store how fast the model reads; a busy library does not fail the answer."""
        try:
            ready.speed.learn(reply, unread)
        except BusyError:
            logger.warning("the model's speed was not stored", exc_info=True)

    def _save(self, query: Query, answer: Answer, ready: ReadyHost, scenes: EvidenceText) -> Answer:
        """Save the turn, the token ratio and the answer; a busy library does not fail the answer."""
        messages = answer_prompt.messages(scenes.system, self._turns, query.text)
        if answer.text:
            self._turns.append(answer_prompt.Turn(query.text, answer.text))
        try:
            characters = sum(len(message["content"]) for message in messages)
            ready.token_ratio.learn(answer.prompt_tokens, characters)
        except BusyError as error:
            logger.warning("the model's tokens per character were not stored", exc_info=True)
            return replace(answer, save_error=error) if self._answerer.remember and answer.text else answer
        return self._answerer.keep(answer, scenes.prompt.version)


def answer_all(
    answerer: Answerer,
    questions: Iterable[tuple[str, Query]],
    options: AnswerOptions,
    stop: threading.Event | None = None,
    *,
    again: bool = False,
) -> Iterator[tuple[str, Answer]]:
    """Yield (id, answer) of each question, asked in a conversation of its own, until `stop` is set.

    With `again` an answer that repeats itself without end is asked for once more.
    Raises the errors of `Conversation.ask`, and the reason for having no model.
    """
    for id, query in questions:
        if stop is not None and stop.is_set():
            return
        conversation = answerer.conversation(options)
        *_events, answer = conversation.ask(query, stop)
        if again and isinstance(answer, Answer) and answer.ending == "loop":
            *_events, answer = conversation.ask_again(stop)
        assert isinstance(answer, Answer)
        if answer.ending == "no_model" and answer.error is not None:
            raise answer.error
        yield id, answer


def _visible(text: str) -> str:
    """Return a piece of an answer without characters that steer a terminal."""
    return "".join(
        each
        for each in text.replace("\r", "\n")
        if each == "\n" or unicodedata.category(each) not in ("Cc", "Cf", "Cs")
    )
