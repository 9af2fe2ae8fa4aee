"""Many questions, each by itself: what answers are judged by."""

import threading
from collections.abc import Iterable, Iterator

from subtitle_rag.answers.answer import Answerer
from subtitle_rag.answers.gathering import Wish
from subtitle_rag.events import Answer
from subtitle_rag.retrieval.query import Query


def answers(
    answerer: Answerer, questions: Iterable[tuple[str, Query]], wish: Wish, stop: threading.Event | None = None
) -> Iterator[tuple[str, Answer]]:
    """(id, answer) of each question, none of which knows of the others; ends early once `stop` is set.

    Raises what `Conversation.ask` does, and why there is no model where there is none.
    """
    for id, query in questions:
        if stop is not None and stop.is_set():
            return
        *_events, answer = answerer.conversation(wish).ask(query, stop)
        assert isinstance(answer, Answer)
        if answer.ending == "no_model" and answer.error is not None:
            raise answer.error
        yield id, answer
