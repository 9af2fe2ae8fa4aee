"""Conversations about the library: questions to a model about one selection of evidence.

`Conversation.ask` is a generator of events for any thread. An Event stops it from outside and keeps the text so far.
"""

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.evidence_chat import EvidenceChat
from subtitle_rag.answers.gathering import AnswerOptions, Gatherer
from subtitle_rag.answers.token_budget import ReadyHost
from subtitle_rag.base.domain.answer_values import Answer, AnswerEvent
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.models.ollama.llm_client import Llm, host_with
from subtitle_rag.search.query import Query

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Answerer:
    """Answers questions from one library; thread-safe, with separate conversations per thread."""

    gatherer: Gatherer
    hosts: Sequence[Llm]
    model: str
    missing: AppError | None = None
    """Why there are no hosts."""
    remember: bool = False
    """Whether answers are saved in the library."""

    def conversation(self, options: AnswerOptions | None = None) -> "Conversation":
        return Conversation(self, options or AnswerOptions())

    def keep(self, answer: Answer) -> Answer:
        """Save an answer with its prompt's version, and return it with its id; a busy library does not fail it."""
        if not (self.remember and answer.text):
            return answer
        try:
            return replace(answer, saved_id=self.gatherer.library.answers.put(answer, self.gatherer.prompt.version))
        except BusyError as error:
            logger.warning("the answer was not kept", exc_info=True)
            return replace(answer, save_error=error)

    def ready_host(self) -> ReadyHost | AppError:
        """Return the first host with the model, or why there is none."""
        try:
            return ReadyHost(*host_with(self.hosts, self.model), self.gatherer.library.contexts)
        except AppError as error:
            return self.missing or error


class Conversation:
    """Questions about the same scenes, chosen for the first question."""

    def __init__(self, answerer: Answerer, options: AnswerOptions) -> None:
        self._answerer = answerer
        self._options = options
        gatherer = answerer.gatherer
        self._chat = EvidenceChat(gatherer.analyzer, gatherer.prompt, gatherer.names_of)
        self._latest: tuple[Query, Answer] | None = None

    def ask_again(self, stop: threading.Event | None = None) -> Iterator[AnswerEvent]:
        """Ask the last question again with another seed; the new answer replaces the last one.

        Raises like `ask`.
        """
        assert self._latest is not None
        query, before = self._latest
        if before.text:
            self._chat.forget_turn()
        for event in self.ask(query, stop, seed=answer_prompt.SECOND_SEED):
            if isinstance(event, Answer) and event.saved_id is not None and before.saved_id is not None:
                self._answerer.gatherer.library.answers.forget(before.saved_id)
            yield event

    def ask(
        self, query: Query, stop: threading.Event | None = None, *, seed: int = answer_prompt.SEED
    ) -> Iterator[AnswerEvent]:
        """Answer a question. The last event is the `Answer`, even if the model failed.

        Raises:
            UsageError: `unknown`.
            AppError: from the library and the index.
        """
        for event in self._events(query, stop or threading.Event(), seed):
            if isinstance(event, Answer):
                answer = self._answerer.keep(event)
                self._latest = query, answer
                yield answer
            else:
                yield event

    def _events(self, query: Query, stop: threading.Event, seed: int) -> Iterator[AnswerEvent]:
        answerer = self._answerer
        gather = partial(answerer.gatherer.gather, query, options=self._options)
        counts = answerer.gatherer.counts(query)
        return self._chat.ask(query, answerer.ready_host(), gather, counts, stop, seed)


def answer_all(
    answerer: Answerer,
    questions: Iterable[tuple[str, Query]],
    options: AnswerOptions,
) -> Iterator[tuple[str, Answer]]:
    """Yield (id, answer) for each question, asked in a separate conversation.

    Raises the errors of `Conversation.ask`, or why there is no model.
    """
    for id, query in questions:
        *_events, answer = answerer.conversation(options).ask(query)
        assert isinstance(answer, Answer)
        if answer.ending == "no_model" and answer.error is not None:
            raise answer.error
        yield id, answer
