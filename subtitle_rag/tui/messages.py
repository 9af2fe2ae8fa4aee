"""What the workers tell, roughly in the order in which it happens. Workers only post these; handlers change state."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.domain import Video
    from subtitle_rag.errors import AppError
    from subtitle_rag.events import Answer, Evidence
    from subtitle_rag.library.answers import StoredAnswer
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.retrieval.suggestions import Suggestion
    from subtitle_rag.tui.state.channel_settings import ChannelChanges, ChannelForm
    from subtitle_rag.tui.state.conversation import QuestionTurn
    from subtitle_rag.tui.state.extractor_update import ExtractorUpdate
    from subtitle_rag.tui.state.filter_options import FilterCatalogue
    from subtitle_rag.tui.state.job import Job
    from subtitle_rag.tui.state.job_request import JobRequest
    from subtitle_rag.tui.state.model_offer import ModelDownload
    from subtitle_rag.tui.state.removal import Removal
    from subtitle_rag.tui.state.scene_surroundings import Surroundings
    from subtitle_rag.tui.state.source_field import FieldCheck
    from subtitle_rag.tui.state.stage_progress import StageName, StageProgress


class AppMessage(Message):
    """A message that the app handles (`connections`). The other messages go to a screen or a widget."""


@dataclass
class LibraryOpened(AppMessage):
    """The library's size is known; searching may still be getting ready."""

    counts: "Counts"
    followed: int = 0
    """Sources in which `sync` looks for new videos."""
    offer: "ModelDownload | None" = None
    """The packages and models that are not here."""
    update: "ExtractorUpdate | None" = None
    """The update of yt-dlp that is due."""


@dataclass
class RequestsRestored(AppMessage):
    """What was unfinished when the app ended the last time."""

    requests: "list[JobRequest]"


@dataclass
class SearchReady(AppMessage):
    """The index and the analyzer are loaded."""


@dataclass
class LibraryFailed(AppMessage):
    """The library or its index cannot be used."""

    error: "AppError"


@dataclass
class LibraryRetried(AppMessage):
    """The user tries again to open the library."""


@dataclass
class AddressGiven(AppMessage):
    """An address was pasted where a query is written: it belongs into the library's field."""

    address: str


@dataclass
class ScenesFound(Message):
    """A query's scenes; unless the result is final, the same query's in a better order follow."""

    text: str
    """What was typed, tidied."""
    result: "SearchResult"


@dataclass
class SearchFailed(Message):
    text: str
    error: "AppError"


@dataclass
class SurroundingsRead(Message):
    """What surrounds the scenes of a video; for a search's scenes it comes once more, with where the query is met."""

    video_id: str
    result: "SearchResult | None"
    """The search that found them."""
    found: "Surroundings"


@dataclass
class RecentsRead(Message):
    """The last searches, the newest first."""

    recents: list[str]


@dataclass
class SuggestionsMade(Message):
    """Queries that find something, for one that does not."""

    text: str
    found: "list[Suggestion]"


@dataclass
class OffersRead(Message):
    """What a search can be narrowed to."""

    catalogue: "FilterCatalogue"


@dataclass
class Jumped(AppMessage):
    scene: "Scene"
    player: str


@dataclass
class VideoOpened(AppMessage):
    """A video's page; on a web page it is the viewer's browser that opens it."""

    link: str
    title: str


@dataclass
class LinkCopied(AppMessage):
    link: str
    arrived: bool
    """It is in the clipboard already; else the terminal is to be asked."""
    instead: bool
    """It was copied because nothing can be played here."""


@dataclass
class PlayersFound(AppMessage):
    """What can play a scene here."""

    scene: "Scene"
    offers: tuple[tuple[str, str], ...]
    """Each player's name, and what it does with the scene; none where there is no screen, and the link is copied."""
    default: str


@dataclass
class PlayerPreferred(AppMessage):
    name: str


@dataclass
class ActionFailed(AppMessage):
    """Something that the user has asked for could not be done."""

    error: "AppError"


@dataclass
class NotRemembered(AppMessage):
    """The library could not note something; the app goes on without."""

    error: "AppError"


@dataclass
class FieldChecked(Message):
    typed: str
    check: "FieldCheck"


@dataclass
class FieldTaken(Message):
    """Enter was pressed, or the key that takes the whole list."""

    typed: str
    check: "FieldCheck"
    whole_list: bool


@dataclass
class VideosListed(Message):
    videos: "list[VideoState]"
    channels: "list[ChannelState]"
    """And playlists."""


@dataclass
class VideoChosen(AppMessage):
    """Scenes are to be searched in one video alone."""

    query: str
    """The filter, to be typed on."""


@dataclass
class RemovalPlanned(AppMessage):
    """What would leave the library with what the user has chosen."""

    removal: "Removal"


@dataclass
class RemovalEnded(AppMessage):
    """It has left, or why it could not."""

    error: "AppError | None"


@dataclass
class ChannelRead(Message):
    """What is set for a channel."""

    form: "ChannelForm"


@dataclass
class ModelsRead(Message):
    """The models of Ollama that are here."""

    names: list[str]


@dataclass
class NamesProposed(Message):
    """Likely names of a channel."""

    names: list[str]


@dataclass
class ChannelSaved(Message):
    """A channel's settings were written."""

    name: str
    changes: "ChannelChanges"


@dataclass
class ChannelFailed(Message):
    """They could not be written, or its captions not be read."""

    error: "AppError"


@dataclass
class ChannelChanged(AppMessage):
    """A channel's settings were written, and their screen is closed."""

    name: str
    changes: "ChannelChanges"


@dataclass
class JobAdvanced(AppMessage):
    """A running job's sums; a newer one replaces those that wait."""

    job: "Job"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobAdvanced)


@dataclass
class JobEnded(AppMessage):
    job: "Job"
    error: "AppError | None"
    """Why it ended before its work did."""
    stopped: bool
    """By the user."""


@dataclass
class StageAdvanced(AppMessage):
    """Work in the background goes on; a newer one replaces those of the same stage that wait."""

    stage: "StageName"
    progress: "StageProgress"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StageAdvanced) and message.stage == self.stage


@dataclass
class StageEnded(AppMessage):
    """No more of it is done for now: the progress says why."""

    stage: "StageName"
    progress: "StageProgress"
    halted: bool
    """It was told to end before its work did."""


@dataclass
class EvidenceFound(Message):
    """What a question is answered from."""

    turn: "QuestionTurn"
    evidence: "Evidence"


@dataclass
class AnswerGrew(Message):
    """All of an answer so far; a newer one replaces those that wait."""

    turn: "QuestionTurn"
    text: str

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, AnswerGrew) and message.turn is self.turn


@dataclass
class AnswerEnded(Message):
    """The answer, or why there is none."""

    turn: "QuestionTurn"
    answer: "Answer | None" = None
    error: "AppError | None" = None


@dataclass
class AnswersLeft(AppMessage):
    """The answer screen was left."""


@dataclass
class AnswersListed(Message):
    """The kept answers, the newest first, and the videos of their scenes that are still in the library."""

    kept: "list[StoredAnswer]"
    videos: "dict[str, Video]"
