"""The surroundings of a scene in its video: the speech around it, and further matches of the query."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from subtitle_rag.contexts import left_out
from subtitle_rag.domain import Heat
from subtitle_rag.tui.state.spoken_lines import SpokenLines, spoken_lines

if TYPE_CHECKING:
    from subtitle_rag.retrieval import Mention, SearchResult
    from subtitle_rag.runtime import Runtime

KEPT_VIDEOS = 16
"""Videos in the cache of one answer: a megabyte or two."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of one video; None means not read yet."""

    lines: SpokenLines | None = None
    """All its lines: start (ms) and text."""
    end_ms: int = 0
    """End of its last window."""
    heat: Sequence[Heat] = ()
    matches: "Sequence[Mention] | None" = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why the contexts of some windows are left out, by window."""


def read_surroundings(runtime: "Runtime", video_id: str, result: "SearchResult | None") -> Iterator[Surroundings]:
    """Yield the library's part, then the same with the index's matches of the query of `result`.

    A video from a shared index has matches, but no lines. Raises the errors of the doors.
    """
    windows = runtime.library.windows_of(video_id)
    lines = spoken_lines(windows)
    end = max((window.end_ms for window in windows), default=0)
    reasons = {id: left_out.reason(context) for id, context in runtime.library.contexts.left_out(video_id).items()}
    surroundings = Surroundings(lines, end, runtime.library.details(video_id).heatmap, left_out=reasons)
    yield surroundings
    if result is not None:
        yield replace(surroundings, matches=runtime.searcher.mentions(result.query, video_id))
