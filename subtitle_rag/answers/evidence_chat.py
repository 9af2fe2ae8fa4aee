"""Questions to a model about one selection of evidence: streamed answer, and check of its citations.

The model has no tools, so hostile text in captions can change only its words.
"""

import logging
import queue
import threading
import time
import unicodedata
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.answer_prompt import AnswerPrompt, Turn
from subtitle_rag.answers.answer_stream import AnswerStream
from subtitle_rag.answers.citations import check_citations, unsaid_words
from subtitle_rag.answers.gathering import EvidenceText
from subtitle_rag.answers.token_budget import ReadyHost, TokenBudget
from subtitle_rag.base.domain.answer_values import (
    Answer,
    AnswerEvent,
    AnswerPiece,
    AnswerRequest,
    EvidenceSource,
    WordCount,
)
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.contexts.prompt_layout import estimate
from subtitle_rag.korean.morphemes import SentenceAnalyzer
from subtitle_rag.models.ollama.responses import LENGTH, LOOP, Reply
from subtitle_rag.search.query import Query

logger = logging.getLogger(__name__)

REPLANS = 2
"""Retries with fewer scenes when the server counts more tokens than estimated."""
_POLL_S = 0.05


@dataclass(slots=True)
class Stopwatch:
    """Milliseconds from a question to each step of its answer."""

    started: float = field(default_factory=time.perf_counter)
    took_ms: dict[str, float] = field(default_factory=dict)

    def note(self, step: str) -> None:
        self.took_ms[step] = round((time.perf_counter() - self.started) * 1000, 1)


@dataclass(slots=True)
class _AnswerDraft:
    """An unfinished answer: the question, and the text so far."""

    query: Query
    counts: Sequence[WordCount]
    evidence: EvidenceText
    messages: list[dict[str, str]]
    unread: int
    """Estimated tokens of the messages that are new to the server."""
    stream: AnswerStream
    pieces: list[str] = field(default_factory=list)


class EvidenceChat:
    """A model's answers about the evidence chosen for the first question."""

    def __init__(
        self,
        analyzer: SentenceAnalyzer,
        prompt: AnswerPrompt,
        names_of: Callable[[Sequence[EvidenceSource]], Sequence[str]],
    ) -> None:
        """Start a chat; `names_of` returns texts with the names in some scenes' videos."""
        self._analyzer = analyzer
        self._prompt = prompt
        self._names_of = names_of
        self._evidence: EvidenceText | None = None
        self._turns: list[Turn] = []
        self._read: tuple[list[dict[str, str]], int] = ([], 0)
        """The messages of the last answered request, and its `num_ctx`: the server has them cached."""

    def forget_turn(self) -> None:
        """Forget the last question and its answer."""
        if self._turns:
            self._turns.pop()

    def ask(
        self,
        query: Query,
        ready: ReadyHost | AppError,
        gather: Callable[[TokenBudget | None], EvidenceText],
        counts: Sequence[WordCount],
        stop: threading.Event,
        seed: int,
    ) -> Iterator[AnswerEvent]:
        """Answer a question. The last event is the `Answer`, even if the model failed.

        Args:
            query: the question.
            ready: the model's host, or why there is none.
            gather: chooses the evidence; its errors are raised.
            counts: how often captions have the question's words.
            stop: ends the answer once set.
            seed: makes the answer reproducible.

        Yields:
            The steps, the pieces of text, and the answer.
        """
        watch = Stopwatch()
        for attempt in range(1, REPLANS + 2):
            evidence = self._evidence
            if evidence is None or not (evidence.num_ctx or isinstance(ready, AppError)):
                budget = None if isinstance(ready, AppError) else ready.budget(self._prompt)
                evidence = self._evidence = gather(budget)
                watch.note("scenes")
                yield evidence.evidence
            if not evidence.evidence.sources:
                yield Answer(query.raw, "", "", evidence.evidence, ending="no_scenes", counts=tuple(counts))
                return
            if isinstance(ready, AppError):
                yield Answer(query.raw, "", "", evidence.evidence, ending="no_model", error=ready, counts=tuple(counts))
                return
            draft = self._begin(query, counts, ready, evidence)
            yield AnswerRequest(draft.unread, attempt)
            reply = yield from self._stream(draft, ready, watch, stop, seed)
            overflow = reply if isinstance(reply, AppError) and reply.code == "llm_overflow" else None
            if overflow is None or draft.pieces or attempt > REPLANS:
                watch.note("answer")
                yield replace(self._finish(draft, ready, reply), took_ms=watch.took_ms)
                return
            self._shrink_prompt(ready, overflow, evidence)

    def _begin(
        self, query: Query, counts: Sequence[WordCount], ready: ReadyHost, evidence: EvidenceText
    ) -> _AnswerDraft:
        """Return the request for an answer, with as many earlier turns as fit."""
        rate = ready.rate.tokens_per_char
        system, question = evidence.system(self._prompt), answer_prompt.question_text(query.text, counts)
        self._turns = answer_prompt.trimmed(system, self._turns, question, evidence.num_ctx, rate)
        messages = answer_prompt.messages(system, self._turns, question)
        read, num_ctx = self._read
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(read, messages, strict=False))))
        unread = messages[same if evidence.num_ctx == num_ctx else 0 :]
        tokens = estimate("".join(message["content"] for message in unread), rate)
        instructions = answer_prompt.instructions(evidence.evidence.kind, evidence.language)
        stream = AnswerStream((source.number for source in evidence.evidence.sources), instructions, query.text)
        return _AnswerDraft(query, counts, evidence, messages, tokens, stream)

    def _stream(
        self, draft: _AnswerDraft, ready: ReadyHost, watch: Stopwatch, stop: threading.Event, seed: int
    ) -> Generator[AnswerPiece, None, Reply | AppError]:
        """Yield the pieces of the answer; return the server's final reply.

        Args:
            draft: the request.
            ready: the model's host.
            watch: times the steps.
            stop: ends the answer once set.
            seed: makes the answer reproducible.
        """
        arrivals: queue.Queue[str | Reply | Exception] = queue.Queue()
        over = threading.Event()

        def chat() -> None:
            try:
                reply = ready.host.chat(
                    draft.messages,
                    model=ready.info.name,
                    num_ctx=draft.evidence.num_ctx,
                    num_predict=answer_prompt.NUM_PREDICT,
                    seed=seed,
                    stop=over,
                    on_text=arrivals.put,
                    is_useless=lambda _text: draft.stream.is_prompt,
                )
                arrivals.put(reply)
            except Exception as error:  # raised again in the collecting thread
                arrivals.put(error)

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
                text = draft.stream.feed(_visible(event)) if isinstance(event, str) else draft.stream.finish().rstrip()
                if piece := text if draft.pieces else text.lstrip():
                    if not draft.pieces:
                        watch.note("first")
                    draft.pieces.append(piece)
                    yield AnswerPiece(piece)
                if not isinstance(event, str):
                    return event
        finally:
            over.set()
            thread.join()

    def _shrink_prompt(self, ready: ReadyHost, overflow: AppError, evidence: EvidenceText) -> None:
        """After an overflow drop the earlier turns, or else the selection of scenes."""
        characters = sum(len(turn.question) + len(turn.answer) for turn in self._turns)
        characters += len(evidence.system(self._prompt))
        ready.rate.learn_overflow(overflow.details["n_prompt_tokens"], characters)
        if self._turns:
            self._turns = []
        else:
            self._evidence = None

    def _finish(self, draft: _AnswerDraft, ready: ReadyHost, reply: Reply | AppError) -> Answer:
        """Check an answer, and remember it as a turn."""
        query, evidence, text = draft.query, draft.evidence, "".join(draft.pieces).rstrip()
        sources = evidence.evidence.sources
        if text:
            self._turns.append(Turn(draft.messages[-1]["content"], text))
        check = check_citations(text, sources, self._analyzer, draft.counts, self._names_of(sources))
        answer = Answer(
            query.raw,
            text,
            ready.info.name,
            evidence.evidence,
            citations=check.citations,
            uncited=check.uncited,
            unfounded=check.unfounded,
            dropped=tuple(draft.stream.dropped),
            repeated=draft.stream.repeated,
            recited=draft.stream.recited,
            unsaid=unsaid_words(query.text, sources, self._analyzer),
            declined=check.declined,
            counts=tuple(draft.counts),
            num_ctx=evidence.num_ctx,
        )
        if isinstance(reply, AppError):
            is_stopped = reply.code == "llm_stopped"
            return replace(answer, ending="stopped" if is_stopped else "failed", error=None if is_stopped else reply)
        self._read = draft.messages, evidence.num_ctx
        _learn_rate(draft, ready, reply)
        return replace(
            answer,
            ending="loop" if reply.done_reason == LOOP else "cut" if reply.done_reason == LENGTH else "whole",
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=reply.cached_tokens,
            tokens=reply.tokens,
            num_ctx=reply.num_ctx or evidence.num_ctx,
        )


def _learn_rate(draft: _AnswerDraft, ready: ReadyHost, reply: Reply) -> None:
    """Store the model's rate learned from an answer; a busy library does not fail the answer."""
    characters = sum(len(message["content"]) for message in draft.messages)
    try:
        ready.rate.learn_length(reply.prompt_tokens, characters)
    except BusyError:
        logger.warning("the model's rate was not stored", exc_info=True)


def _visible(text: str) -> str:
    """Return a piece of an answer without terminal control characters."""
    return "".join(
        each
        for each in text.replace("\r", "\n")
        if each == "\n" or unicodedata.category(each) not in ("Cc", "Cf", "Cs")
    )
