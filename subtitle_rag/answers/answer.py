"""A conversation about the library: words counted, questions about the best scenes, or to each of many videos.

`Conversation.ask` is a generator of events for any thread. An Event stops it from outside and keeps the text so far.
"""

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from subtitle_rag.answers import answer_prompt
from subtitle_rag.answers.count_question import CountQuestion
from subtitle_rag.answers.counting import counted_answer
from subtitle_rag.answers.evidence_chat import EvidenceChat
from subtitle_rag.answers.gathering import AnswerOptions, EvidenceText, Gatherer
from subtitle_rag.answers.grouped_question import ask_groups
from subtitle_rag.answers.token_budget import ReadyHost, TokenBudget
from subtitle_rag.domain import Answer, AnswerEvent, AnswerPiece, AppError, BusyError
from subtitle_rag.llm import Llm, host_with
from subtitle_rag.retrieval.search.query import Query

logger = logging.getLogger(__name__)


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

    def conversation(self, options: AnswerOptions | None = None) -> "Conversation":
        return Conversation(self, options or AnswerOptions())

    def count(self, query: Query) -> Answer | None:
        """Return the answer to a question of how often something is said, without a model.

        None for any other, and where nothing is counted although the library has something near to it.

        Raises what `Conversation.ask` raises.
        """
        gatherer, searcher = self.gatherer, self.gatherer.searcher
        question = CountQuestion.of(query, gatherer.analyzer, searcher.analyze)
        if question is None:
            return None
        return counted_answer(query.raw, question, gatherer.library, searcher.where(question.query))

    def keep(self, answer: Answer) -> Answer:
        """Save an answer with the version of its prompt, and return it with its id; a busy library does not fail it."""
        if not (self.remember and answer.text):
            return answer
        version = "" if answer.counts else self.gatherer.prompt.version
        try:
            return replace(answer, saved_id=self.gatherer.library.answers.put(answer, version))
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
    """Questions about the same scenes, chosen for the first question; with `over`, each about scenes of its own."""

    def __init__(self, answerer: Answerer, options: AnswerOptions) -> None:
        self._answerer = answerer
        self._options = options
        self._chat = EvidenceChat(answerer.gatherer.analyzer, answerer.gatherer.prompt)
        self._latest: tuple[Query, Answer] | None = None

    def ask_again(self, stop: threading.Event | None = None) -> Iterator[AnswerEvent]:
        """Ask the last question once more, with another seed; its answer takes the place of the last one.

        Raises what `ask` raises.
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
        """Answer a question. The last event is the `Answer`, failures of the model included.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
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
        answerer, options = self._answerer, self._options
        if options.may_count and (counted := answerer.count(query)) is not None:
            return iter((counted.evidence, AnswerPiece(counted.text), counted))
        if options.over is not None:
            return ask_groups(answerer.gatherer, answerer.ready_host, query, options, stop, seed)
        ready = answerer.ready_host()

        def gather(budget: TokenBudget | None) -> EvidenceText:
            evidence = answerer.gatherer.gather(query, budget, options)
            if options.builder == "condensed" and evidence.scenes and isinstance(ready, ReadyHost):
                return answerer.gatherer.condensed(query, evidence, ready.host, ready.info.name, stop)
            return evidence

        return self._chat.ask(query, ready, gather, stop, seed)


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
