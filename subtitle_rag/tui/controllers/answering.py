"""The thread that answers questions. It is no Textual worker: leaving the app must not wait for a model."""

import queue
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from subtitle_rag.events import Answer, AnswerPiece, Evidence
from subtitle_rag.tui.messages import AnswerEnded, AnswerGrew, EvidenceFound
from subtitle_rag.tui.state.conversation import QuestionTurn
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.answers.answer import Conversation
    from subtitle_rag.retrieval.query import Query
    from subtitle_rag.runtime import Runtime

GROWTH_S = 0.1
"""Least time between two looks at a growing answer: every repaint can make an input method's window flicker."""


class Talk(threading.Thread):
    """One conversation: its questions, answered one after the other; answers are kept in the library."""

    def __init__(self, runtime: "Runtime", post: "Callable[[Message], object]") -> None:
        super().__init__(name="answer", daemon=True)
        self._runtime = runtime
        self._to_screen = post
        self._questions: queue.Queue[tuple[QuestionTurn, Query] | None] = queue.Queue()
        self._stop_answer = threading.Event()
        self._ending = False

    def ask(self, turn: QuestionTurn, query: "Query") -> None:
        """Have a question answered; one at a time."""
        self._stop_answer.clear()
        self._questions.put((turn, query))

    def stop(self) -> None:
        """End the answer that is under way; what has come stays."""
        self._stop_answer.set()

    @property
    def stopping(self) -> bool:
        return self._stop_answer.is_set()

    def end(self) -> None:
        """Stop, and end the thread."""
        self._ending = True
        self._stop_answer.set()
        self._questions.put(None)

    def run(self) -> None:
        with ExitStack() as opened:
            talk: Conversation | None = None
            while (asked := self._questions.get()) is not None and not self._ending:
                turn, query = asked
                try:
                    talk = talk or self._conversation(opened)
                    self._answer(talk, turn, query)
                except Exception as error:  # whatever a door throws, the app stays up
                    self._post(AnswerEnded(turn, error=to_app_error(error, self._runtime.settings.paths)))

    def _conversation(self, opened: ExitStack) -> "Conversation":
        return opened.enter_context(self._runtime.answerer(remember=True)).conversation()

    def _answer(self, talk: "Conversation", turn: QuestionTurn, query: "Query") -> None:
        text, grown = "", 0.0
        for event in talk.ask(query, self._stop_answer):
            match event:
                case Evidence():
                    self._post(EvidenceFound(turn, event))
                case AnswerPiece(text=piece):
                    text += piece
                    if time.monotonic() - grown > GROWTH_S:
                        grown = time.monotonic()
                        self._post(AnswerGrew(turn, text))
                case Answer():
                    self._post(AnswerEnded(turn, event))

    def _post(self, message: "Message") -> None:
        with suppress(RuntimeError):  # the app has gone
            self._to_screen(message)
