"""Videos and sources that leave a library together."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from subtitle_rag.library.rows import Counts

if TYPE_CHECKING:
    from subtitle_rag.library.sources import FollowedSource
    from subtitle_rag.library.store import Library


@dataclass(frozen=True, slots=True)
class RemovalSet:
    """Videos to delete, and sources to unfollow. Every function here can raise the errors of `Library`."""

    videos: frozenset[str] = frozenset()
    sources: dict[int, str] = field(default_factory=dict)
    """Id → address."""

    def __or__(self, second: "RemovalSet") -> "RemovalSet":
        return RemovalSet(self.videos | second.videos, self.sources | second.sources)


def of_channels(
    library: "Library", channels: Collection[str], sources: Collection["FollowedSource"] = ()
) -> RemovalSet:
    """Return the videos of channels (ids or names), and the videos listed only by these sources."""
    all_videos = [state.video for state in library.videos()]
    videos = {video.id for video in all_videos if video.channel_id in channels or video.channel in channels}
    videos.update(*(library.sources.only_of(source.id) for source in sources))
    return RemovalSet(frozenset(videos), {source.id: source.url for source in sources})


def window_counts(library: "Library", videos: Iterable[str]) -> tuple[int, int]:
    """Count the windows of these videos, and those with a context."""
    windows, with_context = library.database.row(
        """SELECT count(*), count(*) FILTER (WHERE id IN (SELECT window_id FROM context WHERE text <> ''))
           FROM window WHERE video_id IN (SELECT value FROM json_each(?))""",
        (json.dumps(list(videos)),),
    )
    return windows, with_context


def source_addresses(library: "Library", sources: Iterable[int]) -> frozenset[str]:
    query = "SELECT url FROM alias WHERE source_id IN (SELECT value FROM json_each(?))"
    return frozenset(library.database.column(query, (json.dumps(list(sources)),)))


def counts_without(library: "Library", videos: Collection[str]) -> Counts:
    if not videos:
        return library.counts()
    row = library.database.row(
        """WITH stays AS MATERIALIZED
             (SELECT id, channel_id FROM video WHERE id NOT IN (SELECT value FROM json_each(?)))
           SELECT (SELECT count(DISTINCT channel_id) FROM stays), (SELECT count(*) FROM stays),
                  (SELECT count(*) FROM stage JOIN stays ON id = video_id WHERE state = 'due'),
                  (SELECT count(*) FROM stage JOIN stays ON id = video_id WHERE state = 'failed'),
                  (SELECT count(*) FROM window JOIN stays ON stays.id = video_id),
                  (SELECT count(*) FROM indexed JOIN window ON window.id = window_id
                     JOIN stays ON stays.id = video_id WHERE vector = 'bm25')""",
        (json.dumps(list(videos)),),
    )
    return Counts(*row)
