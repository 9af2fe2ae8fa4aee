"""Rows of the library that can be removed, and the extent of a removal."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.workflows.requests import JobRequest

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import VideoState
    from subtitle_rag.library.store import Library
    from subtitle_rag.workflows.removing import RemovalTarget


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """A video, or a channel or playlist with its displayed name. The row of all videos has neither."""

    video: "VideoState | None" = None
    channel: "ChannelState | None" = None

    @property
    def removal_target(self) -> "RemovalTarget | None":
        from subtitle_rag.workflows.removing import RemovalTarget

        if self.video:
            return RemovalTarget(self.video.video.title, video=self.video.video.id)
        if self.channel:
            return RemovalTarget(self.channel.name, "", self.channel.channel_id, self.channel.sources)
        return None


@dataclass(frozen=True, slots=True)
class Removal:
    """The content of a target when the user asks to remove it."""

    target: "RemovalTarget"
    videos: frozenset[str]
    addresses: frozenset[str]
    """All spellings of the sources' addresses."""
    files: frozenset[str]
    """Files of the videos."""
    sentence: str
    """The removal in numbers."""

    @classmethod
    def of(cls, target: "RemovalTarget", library: "Library") -> "Removal":
        """Read the content of a target. Raises the errors of `Library`."""
        from subtitle_rag.workflows.removing import plan_removal

        plan = plan_removal(library, target)
        files = frozenset(video.source for video in library.videos_by_id(*plan.titles).values() if video.source)
        addresses = library.sources.addresses(plan.sources)
        return cls(target, frozenset(plan.titles), addresses, files, plan.sentence(library))

    def named_by(self, request: JobRequest) -> bool:
        """Return whether the request would restore some of it."""
        if request.source:
            return request.source.url in self.addresses or request.source.key in self.videos
        return any(Path(file).is_relative_to(path.absolute()) for file in self.files for path in request.paths)
