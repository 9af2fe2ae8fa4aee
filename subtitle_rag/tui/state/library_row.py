"""A row of the library's tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from subtitle_rag.tui.state.removal import RemovalTarget

if TYPE_CHECKING:
    from subtitle_rag.library import ChannelState, VideoState


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """A video, or a channel or playlist with its displayed name. Neither on the row of all videos."""

    video: "VideoState | None" = None
    channel: "ChannelState | None" = None

    @property
    def removal_target(self) -> RemovalTarget | None:
        if self.video:
            return RemovalTarget(self.video.video.title, video=self.video.video.id)
        if self.channel:
            return RemovalTarget(self.channel.name, "", self.channel.channel_id, self.channel.sources)
        return None
