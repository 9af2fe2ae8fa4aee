"""Facts that threads, screens and dialogs report, in the order of their flow."""

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
    """The library's size is known; searching may still be getting ready."""

    counts: "Counts"
    followed: int = 0
    """Sources in which `sync` looks for new videos."""
    offer: ModelDownload | None = None
    """Missing packages and models."""
    new_videos: int = 0
    """Videos that came after the app was last opened."""


@dataclass
class SceneMenuAsked(AppMessage):
    """The actions of the chosen scene are to be shown."""


@dataclass
class SearchReady(AppMessage):
    """The index and the analyzer are loaded."""

    other_run: str = ""
    """What another process does in the library; empty without one."""


@dataclass
class LibraryFailed(AppMessage):
    """The library or its index cannot be used."""

    error: AppError


@dataclass
class IndexGrown(AppMessage):
    """A new index of the library holds some of its windows."""

    windows: int
    all_windows: int


@dataclass
class LibraryChanged(AppMessage):
    """The library may hold something else: it is counted again, and missing packages and models are looked for."""

    lists_videos: bool = False
    """Videos may have changed where no count has."""


@dataclass
class MarksRead(AppMessage):
    """The marks were read, or have changed."""


# --- searching ---


@dataclass
class ScenesChanged(AppMessage):
    """The same query may find other scenes."""


@dataclass
class ScenesFound(Message):
    """A query's scenes. Unless the result is final, the same query has a better order soon."""

    text: str
    """The query, tidied."""
    result: "SearchResult"


@dataclass
class FurtherScenesFound(Message):
    """All scenes of a query among `depth` windows from each retriever."""

    text: str
    result: "SearchResult"
    depth: int


@dataclass
class SearchFailed(Message):
    text: str
    error: AppError


@dataclass
class SurroundingsRead(Message):
    """The surroundings of the scenes of a video. For a search they come a second time, with the query's matches."""

    video_id: str
    result: "SearchResult | None"
    """The result with the scenes, if there is one."""
    surroundings: Surroundings


@dataclass
class AddressEntered(AppMessage):
    """The text of a query or question is a web address, which belongs in the library's field."""

    address: str
    """Several have a space between two."""


# --- playing and copying ---


@dataclass
class Jumped(AppMessage):
    """A scene plays; `is_loading`: its player has neither begun nor failed yet."""

    scene: "Scene"
    player: str
    is_loading: bool = False
    count: int = 1
    """Scenes that play one after another, from this one on."""


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
    """It is in the clipboard; else the terminal copies it."""


@dataclass
class PlayersFound(AppMessage):
    """The players for a scene."""

    scene: "Scene"
    offers: tuple[tuple[str, str], ...]
    """Names of players with their effects; empty without a screen for players, when the link is copied."""
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
    """A video, channel or playlist would be removed: the user is asked."""

    removal: Removal


@dataclass
class RemovalEnded(AppMessage):
    """A removal was carried out, or failed."""

    error: AppError | None


# --- jobs and stages ---


@dataclass
class JobAdvanced(AppMessage):
    """A running job's sums. A newer message replaces those in the queue."""

    job: Job

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobAdvanced)


@dataclass
class FirstWindowsArrived(AppMessage):
    """The first windows of a job can be searched."""


@dataclass
class JobEnded(AppMessage):
    job: Job
    error: AppError | None
    """Set if the job failed."""
    stopped: bool
    """By the user."""


@dataclass
class StageAdvanced(AppMessage):
    """The progress of a stage. A newer message replaces those of the same stage in the queue."""

    progress: Stage

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StageAdvanced) and message.progress.name == self.progress.name


@dataclass
class ListeningOffered(AppMessage):
    """It is known what listening takes; the user decides."""

    offer: "ListeningOffer"


@dataclass
class ContextsOffered(AppMessage):
    """It is known what writing contexts takes; the user decides."""

    offer: "ContextOffer"


@dataclass
class StageEnded(AppMessage):
    """A stage's run ended. The progress has the reason."""

    progress: Stage
    halted: bool
    """The app stopped it."""


# --- answers ---


@dataclass
class EvidenceFound(Message):
    """The scenes for an answer."""

    turn: QuestionTurn
    evidence: Evidence


@dataclass
class PromptSent(Message):
    """The model begins to read."""

    turn: QuestionTurn
    request: AnswerRequest


@dataclass
class AnswerGrew(Message):
    """An answer so far. A newer message replaces those in the queue."""

    turn: QuestionTurn
    text: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswerGrew) and message.turn is self.turn


@dataclass
class AnswerEnded(Message):
    """An answer is complete, or failed."""

    turn: QuestionTurn
    answer: Answer | None = None
    error: AppError | None = None


# --- failures ---


@dataclass
class ActionFailed(AppMessage):
    """An action of the user failed."""

    error: AppError


@dataclass
class NotRemembered(AppMessage):
    """The library could not note something; the app goes on without."""

    error: AppError
