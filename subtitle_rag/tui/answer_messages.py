"""Messages of the answers and their history, from their threads to the screens."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.domain import Video
    from subtitle_rag.errors import AppError
    from subtitle_rag.events import Answer, Evidence
    from subtitle_rag.library import StoredAnswer
    from subtitle_rag.tui.state import QuestionTurn


@dataclass
class EvidenceFound(Message):
    """The scenes for an answer."""

    turn: "QuestionTurn"
    evidence: "Evidence"


@dataclass
class AnswerGrew(Message):
    """An answer so far. A newer message replaces those in the queue."""

    turn: "QuestionTurn"
    text: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswerGrew) and message.turn is self.turn


@dataclass
class AnswerEnded(Message):
    """An answer is complete, or failed."""

    turn: "QuestionTurn"
    answer: "Answer | None" = None
    error: "AppError | None" = None


@dataclass
class AnswersListed(Message):
    """The history of answers, the newest first, and the videos of their scenes in the library."""

    answers: "list[StoredAnswer]"
    videos: "dict[str, Video]"
