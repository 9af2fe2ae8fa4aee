"""The thread that answers questions."""

import queue
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from subtitle_rag.domain import Answer, AnswerPiece, Evidence
from subtitle_rag.tui.controllers.app_thread import AppThread
from subtitle_rag.tui.messages import AnswerEnded, AnswerGrew, EvidenceFound
from subtitle_rag.tui.state import QuestionTurn
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.answers import Conversation, GroupedConversation, Over
    from subtitle_rag.retrieval import Query
    from subtitle_rag.runtime import Runtime

GROWTH_S = 0.1
"""Shortest time between two repaints of a growing answer: each can make an input method's window flicker."""


class Talk(AppThread):
    """One conversation. It answers its questions one after the other and stores the answers in the library."""

    def __init__(
        self,
        runtime: "Runtime",
        post: "Callable[[Message], object]",
        *,
        whole: bool | None = None,
        over: "Over | None" = None,
    ) -> None:
        """See `AnswerOptions` for `whole`; with `over` it is a `GroupedConversation`."""
        super().__init__("answer", runtime, post)
        self._whole = whole
        self._over = over
        self._questions: queue.Queue[tuple[QuestionTurn, Query | None] | None] = queue.Queue()
        self._stop_answer = threading.Event()
        self._ending = False

    def ask(self, turn: QuestionTurn, query: "Query") -> None:
        """Queue a question."""
        self._stop_answer.clear()
        self._questions.put((turn, query))

    def ask_again(self, turn: QuestionTurn) -> None:
        """Queue the last question once more, with another seed."""
        self._stop_answer.clear()
        self._questions.put((turn, None))

    def stop(self) -> None:
        """End the current answer; its text so far stays."""
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
            talk: Conversation | GroupedConversation | None = None
            while (item := self._questions.get()) is not None and not self._ending:
                turn, query = item
                try:
                    talk = talk or self._conversation(opened)
                    self._answer(talk, turn, query)
                except Exception as error:  # whatever a door throws, the app stays up
                    self._post(AnswerEnded(turn, error=to_app_error(error, self._runtime.settings.paths)))

    def _conversation(self, opened: ExitStack) -> "Conversation | GroupedConversation":
        from subtitle_rag.answers import AnswerOptions, GroupedConversation

        answerer = opened.enter_context(self._runtime.answerer(remember=True))
        if self._over is not None:
            return GroupedConversation(answerer, AnswerOptions(), self._over)
        return answerer.conversation(AnswerOptions(whole=self._whole))

    def _answer(self, talk: "Conversation | GroupedConversation", turn: QuestionTurn, query: "Query | None") -> None:
        text, grown = "", 0.0
        stop = self._stop_answer
        for event in talk.ask_again(stop) if query is None else talk.ask(query, stop):
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
