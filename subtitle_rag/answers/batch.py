"""Answers to many questions, each in a conversation of its own; judges read them."""

import threading
from collections.abc import Iterable, Iterator

from subtitle_rag.answers.answer import Answerer
from subtitle_rag.answers.gathering import AnswerOptions
from subtitle_rag.domain import Answer
from subtitle_rag.retrieval import Query


def answers(
    answerer: Answerer,
    questions: Iterable[tuple[str, Query]],
    options: AnswerOptions,
    stop: threading.Event | None = None,
    *,
    again: bool = False,
) -> Iterator[tuple[str, Answer]]:
    """Yield (id, answer) of each question until `stop` is set; with `again` a loop is asked once more.

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
