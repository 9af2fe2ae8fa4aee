"""Removals from the library: hidden at once, carried out when nobody has undone them in time, or when the app is quit.

Nothing is written before: if the app is killed meanwhile, the library is whole.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.library import leaving
from subtitle_rag.library.leaving import Leaving
from subtitle_rag.tui.state.job_request import JobRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from subtitle_rag.domain import Video
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.library.rows import VideoState
    from subtitle_rag.library.store import Library


@dataclass(frozen=True, slots=True)
class RemovalTarget:
    """What is to leave: one video, or a channel or a playlist with its videos."""

    name: str
    video: str = ""
    channel_id: str | None = None
    sources: tuple[int, ...] = ()
    """Under which it is followed."""

    @property
    def whole(self) -> bool:
        """It is more than one video."""
        return not self.video

    def leaving(self, library: "Library") -> Leaving:
        """What that is at the moment; a job may have brought more of it."""
        if self.video:
            return Leaving(frozenset({self.video}))
        own = [source for source in library.sources.followed() if source.id in self.sources]
        return leaving.of_channels(library, {self.channel_id} if self.channel_id else (), own)


@dataclass(frozen=True, slots=True)
class Removal:
    """What leaves with a target, as it was when the user said so."""

    target: RemovalTarget
    videos: frozenset[str]
    addresses: frozenset[str]
    """Of the sources, as anybody may write them."""
    files: frozenset[str]
    """From which the videos came."""
    windows: int
    contexts: int

    @classmethod
    def of(cls, target: RemovalTarget, library: "Library") -> "Removal":
        """Raises what `Library` raises."""
        meant = target.leaving(library)
        windows, contexts = leaving.size(library, meant.videos)
        found = (library.video(id) for id in meant.videos)
        files = frozenset(video.source for video in found if video and video.source)
        return cls(target, meant.videos, leaving.addresses(library, meant.sources), files, windows, contexts)

    def named_by(self, request: JobRequest) -> bool:
        """Return whether the request would bring some of it back."""
        if request.source:
            return request.source.url in self.addresses or request.source.key in self.videos
        return any(Path(file).is_relative_to(path.absolute()) for file in self.files for path in request.paths)

    def carry_out(self, library: "Library", indexer: "Indexer") -> None:
        """Take it out of the library and of the index; raises what `Indexer.remove` raises."""
        meant = self.target.leaving(library)
        for _removed in indexer.remove(sorted(meant.videos)):
            pass
        library.sources.unfollow(meant.sources)


@dataclass(slots=True)
class PendingRemoval:
    """A removal that can be undone still."""

    removal: Removal
    due: float
    """When it is carried out (monotonic seconds)."""
    requests: tuple[JobRequest, ...] = ()
    """The job requests that were withdrawn for it."""


@dataclass(slots=True)
class Removals:
    """Those that wait, the newest last, and the one that is being carried out."""

    waiting: list[PendingRemoval] = field(default_factory=list)
    current: PendingRemoval | None = None

    @property
    def all(self) -> list[PendingRemoval]:
        return [*([self.current] if self.current else []), *self.waiting]

    @property
    def videos(self) -> frozenset[str]:
        """The videos that are hidden."""
        return frozenset().union(*(one.removal.videos for one in self.all))

    @property
    def sources(self) -> frozenset[int]:
        return frozenset().union(*(one.removal.target.sources for one in self.all))

    def hidden(self, videos: "Iterable[Video]") -> frozenset[str]:
        """Those of these videos that are leaving, if only since a job has brought them."""
        ids, channels = self.videos, {one.removal.target.channel_id for one in self.all}
        return frozenset(video.id for video in videos if video.id in ids or video.channel_id in channels)

    def next(self, now: float) -> PendingRemoval | None:
        """The one that is to be carried out now; it can be undone no more."""
        due = [one for one in self.waiting if one.due <= now]
        self.current = min(due, key=lambda one: one.due, default=None)
        if self.current:
            self.waiting.remove(self.current)
        return self.current

    def put_off(self, until: float) -> None:
        """What is being carried out could not be; it waits again."""
        if self.current:
            self.waiting.insert(0, replace(self.current, due=until))
            self.current = None

    def undo(self, request: JobRequest | None = None) -> PendingRemoval | None:
        """Take the newest one back, or the newest that a request would bring back."""
        found = [one for one in self.waiting if request is None or one.removal.named_by(request)]
        if not found:
            return None
        self.waiting.remove(found[-1])
        return found[-1]


def rows_without(
    removals: Removals, videos: "Sequence[VideoState]", channels: "Sequence[ChannelState]"
) -> "tuple[list[VideoState], list[ChannelState]]":
    """The rows of the library without what is leaving; the sums of channels are those of what stays."""
    if not removals.all:
        return list(videos), list(channels)
    hidden = removals.hidden(state.video for state in videos)
    gone = [state for state in videos if state.video.id in hidden]
    whole = [one.removal.target for one in removals.all if one.removal.target.whole]
    left = [
        state
        for state in channels
        if not any(
            (target.channel_id is not None and target.channel_id == state.channel_id)
            or set(state.sources) & set(target.sources)
            for target in whole
        )
    ]
    return [state for state in videos if state.video.id not in hidden], [_less(state, gone) for state in left]


def _less(channel: "ChannelState", gone: "Iterable[VideoState]") -> "ChannelState":
    own = [s for s in gone if s.video.id in channel.listed or channel.channel_id == s.video.channel_id]
    if not own:
        return channel
    failures = dict(channel.failures)
    for state in own:
        if state.failure in failures:
            failures[state.failure] -= 1
    due = sum(state.due for state in own)
    return replace(
        channel,
        videos=channel.videos - len(own),
        windows=channel.windows - sum(state.windows for state in own),
        due=channel.due - due,
        done=channel.done - sum(not state.due and not state.failure for state in own),
        failures={code: count for code, count in failures.items() if count},
    )
