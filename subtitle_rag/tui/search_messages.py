"""Messages of a search, from its threads to the search screen and its widgets."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.errors import AppError
    from subtitle_rag.retrieval import SearchResult, Suggestion
    from subtitle_rag.tui.state import FilterCatalogue, SpokenLines, Surroundings


@dataclass
class ScenesFound(Message):
    """A query's scenes. Unless the result is final, the same query has a better order soon."""

    text: str
    """The query, tidied."""
    result: "SearchResult"


@dataclass
class SearchFailed(Message):
    text: str
    error: "AppError"


@dataclass
class SurroundingsRead(Message):
    """The surroundings of the scenes of a video. For a search they come a second time, with the query's matches."""

    video_id: str
    result: "SearchResult | None"
    """The result with the scenes, if there is one."""
    surroundings: "Surroundings"


@dataclass
class TranscriptRead(Message):
    """All lines of a video, for its transcript."""

    lines: "SpokenLines"


@dataclass
class RecentsRead(Message):
    """The last searches, the newest first."""

    recents: list[str]


@dataclass
class SuggestionsMade(Message):
    """Queries with scenes, for a similar one without."""

    text: str
    suggestions: "list[Suggestion]"


@dataclass
class OffersRead(Message):
    """The filters of the library's contents."""

    catalogue: "FilterCatalogue"
