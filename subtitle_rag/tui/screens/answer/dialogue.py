"""The conversation of the answer screen. Follow-up questions are about the same scenes."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from textual.message import Message

from subtitle_rag.base.domain.answer_values import Answer, AnswerPiece, AnswerRequest, Evidence
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.tui.controllers.background import ContextPause
from subtitle_rag.tui.shared.conversation import QuestionTurn
from subtitle_rag.tui.shared.messages import AnswerEnded, AnswerGrew, EvidenceFound, PromptSent
from subtitle_rag.tui.threads import AppThread, to_app_error

if TYPE_CHECKING:
    from subtitle_rag.answers.answer import Conversation
    from subtitle_rag.runtime import Runtime


GROWTH_S = 0.1
"""Shortest interval of repainting a growing answer: repaints can make an input method's window flicker."""


class AnswerThread(AppThread):
    """Answers the questions of one conversation in order, and stores the answers in the library."""

    def __init__(self, runtime: "Runtime", post: Callable[[Message], object], *, whole: bool | None = None) -> None:
        """See `AnswerOptions` for `whole`."""
        super().__init__("answer", runtime, post)
        self._whole = whole
        self._questions: queue.Queue[tuple[QuestionTurn, Query | None] | None] = queue.Queue()
        self._stop_answer = threading.Event()
        self._ending = False

    def ask(self, turn: QuestionTurn, query: Query | None) -> None:
        """Queue a question. Without `query`, ask the last one again with another seed."""
        self._stop_answer.clear()
        self._questions.put((turn, query))

    def stop(self) -> None:
        """Stop the current answer, keeping its text."""
        self._stop_answer.set()

    @property
    def stopping(self) -> bool:
        return self._stop_answer.is_set()

    def end(self) -> None:
        """Stop the answer and end the thread."""
        self._ending = True
        self._stop_answer.set()
        self._questions.put(None)

    def run(self) -> None:
        with ExitStack() as opened:
            talk: Conversation | None = None
            while (item := self._questions.get()) is not None and not self._ending:
                turn, query = item
                try:
                    talk = talk or self._conversation(opened)
                    self._answer(talk, turn, query)
                except Exception as error:  # no failure may end the app
                    self._post(AnswerEnded(turn, error=to_app_error(error)))

    def _conversation(self, opened: ExitStack) -> "Conversation":
        from subtitle_rag.answers.gathering import AnswerOptions

        answerer = opened.enter_context(self._runtime.answerer(remember=True))
        return answerer.conversation(AnswerOptions(whole=self._whole))

    def _answer(self, talk: "Conversation", turn: QuestionTurn, query: Query | None) -> None:
        text, grown = "", 0.0
        stop = self._stop_answer
        for event in talk.ask_again(stop) if query is None else talk.ask(query, stop):
            match event:
                case Evidence():
                    self._post(EvidenceFound(turn, event))
                case AnswerRequest():
                    self._post(PromptSent(turn, event))
                case AnswerPiece(text=piece):
                    text += piece
                    if time.monotonic() - grown > GROWTH_S:
                        grown = time.monotonic()
                        self._post(AnswerGrew(turn, text))
                case Answer():
                    self._post(AnswerEnded(turn, event))


class Dialogue:
    """Owns the turns and the answering thread, whose messages go to `post`."""

    def __init__(self, runtime: "Runtime", pause: ContextPause, post: Callable[[Message], object]) -> None:
        self._runtime = runtime
        self._pause = pause
        self._post = post
        self._talk: AnswerThread | None = None
        self._whole: bool | None = None
        """Whether the conversation reads all captions instead of the best scenes; None: if they are short enough."""
        self.turns: list[QuestionTurn] = []
        self._requested_at = 0.0
        self.next_question: str | None = None
        """The question to ask after the current answer."""

    @property
    def running(self) -> bool:
        return bool(self.turns) and not self.turns[-1].ended

    @property
    def stopping(self) -> bool:
        return self.running and self._talk is not None and self._talk.stopping

    @property
    def follows(self) -> bool:
        """Whether the next question is about the same scenes."""
        return self._talk is not None and any(turn.text for turn in self.turns)

    def ask(self, question: str) -> None:
        """Ask a question, while no answer is running.

        Raises:
            UsageError: The question has an invalid filter.
        """
        turns = [turn for turn in self.turns if turn.text] if self.follows else []
        query = Query(question, question) if turns else parse_query(question)
        if not turns or self._talk is None:
            self.halt()
            self._talk = AnswerThread(self._runtime, self._post, whole=self._whole)
            self._talk.start()
        turn = QuestionTurn(question)
        self.turns = [*turns, turn]
        self._pause.pause_contexts_for_answer()
        self._talk.ask(turn, query)

    def ask_again(self) -> bool:
        """If the last answer was a loop, ask its question again. Return whether it was."""
        answer = self.turns[-1].answer if self.turns else None
        if self._talk is None or answer is None or answer.ending != "loop":
            return False
        turn = QuestionTurn(self.turns[-1].question)
        self.turns = [*self.turns[:-1], turn]
        self._pause.pause_contexts_for_answer()
        self._talk.ask(turn, None)
        return True

    def ask_next(self, question: str) -> bool:
        """Ask after the current answer and return True; if that has not begun, ask instead of it and return False."""
        self.next_question = question
        if self.turns[-1].text:
            return True
        self.stop()
        return False

    @property
    def read_whole(self) -> bool:
        """Whether the last answer was based on all captions."""
        evidence = self.turns[-1].evidence if self.turns else None
        return evidence is not None and evidence.kind in ("transcript", "library")

    def stop(self) -> None:
        """Stop the current answer, keeping its text."""
        if self._talk:
            self._talk.stop()

    def restart(self, turns: Sequence[QuestionTurn] = (), *, whole: bool | None = None) -> None:
        """Begin a new conversation with these turns. The next question searches scenes, or all captions if `whole`."""
        self.halt()
        self._talk = None
        self._whole = whole
        self.turns = list(turns)

    def answer_changed(self, message: EvidenceFound | PromptSent | AnswerGrew) -> bool:
        """Add evidence, request or text to the turn. Return whether a new stage began: evidence or the first text."""
        turn = message.turn
        turn.request = None
        if isinstance(message, EvidenceFound):
            turn.evidence = message.evidence
            return True
        if isinstance(message, PromptSent):
            turn.request, turn.request_s, self._requested_at = message.request, 0.0, time.monotonic()
            return False
        is_first, turn.text = not turn.text, message.text
        return is_first

    def count_reading(self) -> bool:
        """Update how long the model has been reading. Return False if it is not."""
        turn = self.turns[-1] if self.running else None
        if turn is None or turn.request is None:
            return False
        turn.request_s = time.monotonic() - self._requested_at
        return True

    def answer_ended(self, message: AnswerEnded) -> str | None:
        """Complete the turn. Return the next question, if any."""
        turn, answer = message.turn, message.answer
        turn.answer, turn.error, turn.request = answer, message.error, None
        if answer is not None:
            turn.text, turn.evidence = answer.text, answer.evidence
        self._pause.resume_contexts_later()
        if turn not in self.turns:
            return None
        question, self.next_question = self.next_question, None
        return question

    # --- the end ---

    def halt(self) -> None:
        """Stop the current answer and end the thread."""
        if self._talk:
            self._talk.end()

    def wait(self, seconds: float) -> None:
        """After `halt`, wait at most `seconds` for the answer to be saved."""
        if self._talk:
            self._talk.join(seconds)
