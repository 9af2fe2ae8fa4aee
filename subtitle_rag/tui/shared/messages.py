"""Messages from threads, screens and dialogs, in the order of their flow."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from subtitle_rag.base.domain.answer_values import Answer, AnswerRequest, Evidence
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.tui.shared.conversation import QuestionTurn
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.removal import Removal
from subtitle_rag.tui.shared.progress.offers import ModelDownload
from subtitle_rag.tui.shared.progress.stage import Stage
from subtitle_rag.tui.shared.source_field import FieldCheck
from subtitle_rag.tui.shared.spoken_lines import Surroundings

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.searcher import SearchResult
    from subtitle_rag.workflows.pipeline import ContextOffer, ListeningOffer


class AppMessage(Message):
    """A message to the app. All others go to a screen or a widget."""


# --- the library opens ---


@dataclass
class LibraryOpened(AppMessage):
    """The library is open and counted; search may not be ready yet."""

    counts: "Counts"
    followed: int = 0
    """Sources that `sync` checks for new videos."""
    offer: ModelDownload | None = None
    """Missing packages and models."""
    new_videos: int = 0
    """Videos added since the app was last opened."""


@dataclass
class SceneMenuAsked(AppMessage):
    """The user asked for the menu of the chosen scene."""


@dataclass
class SearchReady(AppMessage):
    """The index and the analyzer are loaded."""

    other_run: str = ""
    """What another process is doing in the library; empty if there is none."""


@dataclass
class LibraryFailed(AppMessage):
    """The library or its index cannot be used."""

    error: AppError


@dataclass
class IndexGrown(AppMessage):
    """A rebuild of the index has progressed."""

    windows: int
    all_windows: int


@dataclass
class LibraryChanged(AppMessage):
    """The library may have changed. The app recounts it, and checks again for missing packages and models."""

    lists_videos: bool = False
    """Whether videos may have changed although no count has."""


@dataclass
class MarksRead(AppMessage):
    """The marks were read, or have changed."""


# --- searching ---


@dataclass
class ScenesChanged(AppMessage):
    """The same query may now find other scenes."""


@dataclass
class ScenesFound(Message):
    """A query's scenes. Unless the result is final, a better order follows."""

    text: str
    """The query, tidied."""
    result: "SearchResult"


@dataclass
class FurtherScenesFound(Message):
    """All scenes in the best `depth` windows of each retriever."""

    text: str
    result: "SearchResult"
    depth: int


@dataclass
class SearchFailed(Message):
    text: str
    error: AppError


@dataclass
class SurroundingsRead(Message):
    """The surroundings of a video's scenes. For a search a second message has the query's matches."""

    video_id: str
    result: "SearchResult | None"
    """The search result that has the scenes, if any."""
    surroundings: Surroundings


@dataclass
class AddressEntered(AppMessage):
    """A query or question is a web address, which belongs in the library's field."""

    address: str
    """One or more addresses, separated by spaces."""


# --- playing and copying ---


@dataclass
class Jumped(AppMessage):
    """A scene is playing. With `is_loading`, its player has neither begun nor failed yet."""

    scene: "Scene"
    player: str
    is_loading: bool = False
    count: int = 1
    """Number of scenes to play in sequence, starting with this one."""


@dataclass
class VideoOpened(AppMessage):
    """A video's page was opened."""

    link: str
    title: str


@dataclass
class TextCopied(AppMessage):
    text: str
    sentence: str
    """The notice; empty for none."""
    arrived: bool
    """Whether the text is in the clipboard; otherwise the terminal copies it."""


@dataclass
class PlayersFound(AppMessage):
    """The players for a scene."""

    scene: "Scene"
    offers: tuple[tuple[str, str], ...]
    """Players by name, with their effects. If there is no display for players, empty: the link is copied instead."""
    default: str


# --- the library's screens ---


@dataclass
class FieldChecked(Message):
    typed: str
    check: FieldCheck


@dataclass
class FieldTaken(Message):
    """The user submitted the field."""

    typed: str
    check: FieldCheck


@dataclass
class RemovalPlanned(AppMessage):
    """The content of a removal is known; ask the user."""

    removal: Removal


@dataclass
class RemovalEnded(AppMessage):
    """A removal has ended or failed."""

    error: AppError | None


# --- jobs and stages ---


@dataclass
class JobAdvanced(AppMessage):
    """A running job's progress. A newer message replaces queued ones."""

    job: Job

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobAdvanced)


@dataclass
class FirstWindowsArrived(AppMessage):
    """The first windows of a job are searchable."""


@dataclass
class JobEnded(AppMessage):
    job: Job
    error: AppError | None
    """Set if the job failed."""
    stopped: bool
    """Whether the user stopped it."""


@dataclass
class StageAdvanced(AppMessage):
    """A stage's progress. A newer message replaces queued ones of the same stage."""

    progress: Stage

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StageAdvanced) and message.progress.name == self.progress.name


@dataclass
class ListeningOffered(AppMessage):
    """The cost of a transcription is known; ask the user."""

    offer: "ListeningOffer"


@dataclass
class ContextsOffered(AppMessage):
    """The cost of writing contexts is known; ask the user."""

    offer: "ContextOffer"


@dataclass
class StageEnded(AppMessage):
    """A stage's run has ended; its progress has the reason."""

    progress: Stage
    halted: bool
    """Whether the app stopped it."""


# --- answers ---


@dataclass
class EvidenceFound(Message):
    """The scenes for an answer."""

    turn: QuestionTurn
    evidence: Evidence


@dataclass
class PromptSent(Message):
    """The model has begun to read the prompt."""

    turn: QuestionTurn
    request: AnswerRequest


@dataclass
class AnswerGrew(Message):
    """The answer's text so far. A newer message replaces queued ones."""

    turn: QuestionTurn
    text: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswerGrew) and message.turn is self.turn


@dataclass
class AnswerEnded(Message):
    """An answer is complete or has failed."""

    turn: QuestionTurn
    answer: Answer | None = None
    error: AppError | None = None


# --- failures ---


@dataclass
class ActionFailed(AppMessage):
    """A user's action has failed."""

    error: AppError


@dataclass
class NotRemembered(AppMessage):
    """The library could not store something that the app can do without."""

    error: AppError
