"""What the workers tell, roughly in the order in which it happens. Workers only post these; handlers change state."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.library.rows import Counts, VideoState
    from subtitle_rag.retrieval.search import Scene, SearchResult
    from subtitle_rag.tui.contexts import Progress
    from subtitle_rag.tui.field import Check
    from subtitle_rag.tui.jobs import Job


@dataclass
class LibraryOpened(Message):
    """The library's size is known; searching may still be getting ready."""

    counts: "Counts"
    followed: int = 0
    """Sources in which `sync` looks for new videos."""


@dataclass
class SearchReady(Message):
    """The index and the analyzer are loaded."""


@dataclass
class LibraryFailed(Message):
    """The library or its index cannot be used."""

    error: "AppError"


@dataclass
class ScenesFound(Message):
    text: str
    """What was typed, tidied."""
    result: "SearchResult"


@dataclass
class SearchFailed(Message):
    text: str
    error: "AppError"


@dataclass
class Jumped(Message):
    scene: "Scene"
    player: str


@dataclass
class LinkCopied(Message):
    link: str
    arrived: bool
    """It is in the clipboard already; else the terminal is to be asked."""
    instead: bool
    """It was copied because nothing can be played here."""


@dataclass
class JumpFailed(Message):
    error: "AppError"


@dataclass
class FieldChecked(Message):
    typed: str
    check: "Check"


@dataclass
class FieldTaken(Message):
    """Enter was pressed, or the key that takes the whole list."""

    typed: str
    check: "Check"
    whole_list: bool


@dataclass
class VideosListed(Message):
    videos: "list[VideoState]"


@dataclass
class JobAdvanced(Message):
    """A running job's sums; a newer one replaces those that wait."""

    job: "Job"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, JobAdvanced)


@dataclass
class JobEnded(Message):
    job: "Job"
    error: "AppError | None"
    """Why it ended before its work did."""
    stopped: bool
    """By the user."""


@dataclass
class ContextsAdvanced(Message):
    """Contexts are being written; a newer one replaces those that wait."""

    progress: "Progress"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ContextsAdvanced)


@dataclass
class ContextsEnded(Message):
    """No more contexts are written for now: the progress says why."""

    progress: "Progress"
    halted: bool
    """It was told to end before its work did."""
