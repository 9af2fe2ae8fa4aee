"""Removals from the library: hidden at once, carried out when the time for undo is over or the app quits.

Nothing is written before: a killed app leaves the library whole.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.removing import RemovalTarget, plan_removal
from subtitle_rag.requests import JobRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from subtitle_rag.domain import Video
    from subtitle_rag.library import ChannelState, Library, VideoState


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


@dataclass(frozen=True, slots=True)
class Removal:
    """The content of a target at the time of the user's request."""

    target: RemovalTarget
    videos: frozenset[str]
    addresses: frozenset[str]
    """All spellings of the sources' addresses."""
    files: frozenset[str]
    """Files of the videos."""
    windows: int
    contexts: int

    @classmethod
    def of(cls, target: RemovalTarget, library: "Library") -> "Removal":
        """Read the content of a target. Raises the errors of `Library`."""
        from subtitle_rag.library import window_counts

        plan = plan_removal(library, target)
        windows, contexts = window_counts(library, plan.titles)
        files = frozenset(video.source for video in library.videos_by_id(*plan.titles).values() if video.source)
        return cls(target, frozenset(plan.titles), library.sources.addresses(plan.sources), files, windows, contexts)

    def named_by(self, request: JobRequest) -> bool:
        """Return whether the request would bring some of it back."""
        if request.source:
            return request.source.url in self.addresses or request.source.key in self.videos
        return any(Path(file).is_relative_to(path.absolute()) for file in self.files for path in request.paths)


@dataclass(slots=True)
class PendingRemoval:
    """A removal before the end of its time for undo."""

    removal: Removal
    due_at: float
    """When it is carried out (monotonic seconds)."""
    requests: tuple[JobRequest, ...] = ()
    """The job requests withdrawn for it, which ran or waited."""
    stopped: tuple[JobRequest, ...] = ()
    """Requests that were stopped: undoing leaves their start to the user."""


@dataclass(slots=True)
class Removals:
    """The waiting removals, the newest last, and the current one."""

    waiting: list[PendingRemoval] = field(default_factory=list)
    current: PendingRemoval | None = None

    @property
    def all(self) -> list[PendingRemoval]:
        return [*([self.current] if self.current else []), *self.waiting]

    @property
    def videos(self) -> frozenset[str]:
        """Ids of the hidden videos."""
        return frozenset().union(*(pending.removal.videos for pending in self.all))

    @property
    def sources(self) -> frozenset[int]:
        return frozenset().union(*(pending.removal.target.sources for pending in self.all))

    def hidden(self, videos: "Iterable[Video]") -> frozenset[str]:
        """Return the ids of these videos that belong to a removal, also of those a job has just brought."""
        ids, channels = self.videos, {pending.removal.target.channel_id for pending in self.all}
        return frozenset(video.id for video in videos if video.id in ids or video.channel_id in channels)

    def next(self, now: float) -> PendingRemoval | None:
        """Make the next due removal the current one: it cannot be undone any more."""
        ready = [pending for pending in self.waiting if pending.due_at <= now]
        self.current = min(ready, key=lambda pending: pending.due_at, default=None)
        if self.current:
            self.waiting.remove(self.current)
        return self.current

    def defer(self, until: float) -> None:
        """Let the current removal wait again: it failed for the moment."""
        if self.current:
            self.waiting.insert(0, replace(self.current, due_at=until))
            self.current = None

    def undo(self, request: JobRequest | None = None) -> PendingRemoval | None:
        """Drop and return the newest one, or the newest whose videos a request would bring back."""
        matches = [pending for pending in self.waiting if request is None or pending.removal.named_by(request)]
        if not matches:
            return None
        self.waiting.remove(matches[-1])
        return matches[-1]


def rows_without(
    removals: Removals, videos: "Sequence[VideoState]", channels: "Sequence[ChannelState]"
) -> "tuple[list[VideoState], list[ChannelState]]":
    """Return the rows of the library without hidden videos, and sums of channels to match."""
    if not removals.all:
        return list(videos), list(channels)
    hidden = removals.hidden(state.video for state in videos)
    hidden_rows = [state for state in videos if state.video.id in hidden]
    targets = [pending.removal.target for pending in removals.all if pending.removal.target.is_source]
    visible = [
        state
        for state in channels
        if not any(
            (target.channel_id is not None and target.channel_id == state.channel_id)
            or set(state.sources) & set(target.sources)
            for target in targets
        )
    ]
    return [state for state in videos if state.video.id not in hidden], [
        _channel_without(state, hidden_rows) for state in visible
    ]


def _channel_without(channel: "ChannelState", hidden_rows: "Iterable[VideoState]") -> "ChannelState":
    members = [s for s in hidden_rows if s.video.id in channel.listed or channel.channel_id == s.video.channel_id]
    if not members:
        return channel
    failures = dict(channel.failures)
    for state in members:
        if state.failure in failures:
            failures[state.failure] -= 1
    return replace(
        channel,
        videos=channel.videos - len(members),
        windows=channel.windows - sum(state.windows for state in members),
        due=channel.due - sum(state.due for state in members),
        done=channel.done - sum(not state.due and not state.failure for state in members),
        failures={code: count for code, count in failures.items() if count},
    )
