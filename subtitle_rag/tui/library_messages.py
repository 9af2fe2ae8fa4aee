"""Messages of the library's screens, from their threads."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from subtitle_rag.content_overview import ChannelOverview, VideoOverview
    from subtitle_rag.errors import AppError
    from subtitle_rag.library import ChannelState, VideoState
    from subtitle_rag.tui.state import ChannelChanges, ChannelForm, FieldCheck


@dataclass
class FieldChecked(Message):
    typed: str
    check: "FieldCheck"


@dataclass
class FieldTaken(Message):
    """The user submitted the field; `whole_list` asks for the list in a video's address."""

    typed: str
    check: "FieldCheck"
    whole_list: bool


@dataclass
class VideosListed(Message):
    videos: "list[VideoState]"
    channels: "list[ChannelState]"
    """Playlists too."""


@dataclass
class OverviewRead(Message):
    """What a video or channel is about."""

    overview: "VideoOverview | ChannelOverview"


@dataclass
class ChannelRead(Message):
    """A channel's settings were read."""

    form: "ChannelForm"


@dataclass
class ModelsRead(Message):
    """The installed models of Ollama."""

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
    """A channel's settings were not written, or its captions not read."""

    error: "AppError"
