"""What surrounds a scene in its video: the speech around it, and where else the query is met."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subtitle_rag.domain import Heat

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Place
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.runtime import Runtime

KEPT_VIDEOS = 16
"""Videos whose lines are kept while one answer stands: a megabyte or two."""

Spoken = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of one video; None is what is not known yet."""

    spoken: Spoken | None = None
    """All its lines: when each begins (ms), and what is said in it."""
    end_ms: int = 0
    """Where its last window ends."""
    heat: Sequence[Heat] = ()
    places: "Sequence[Place] | None" = None


def read_surroundings(runtime: "Runtime", video_id: str, result: "SearchResult | None") -> Iterator[Surroundings]:
    """What the library knows, then also where the index finds the query of `result`.

    Of a video that only a shared index knows there are places, but no lines. Raises what the doors raise.
    """
    windows = runtime.library.windows_of(video_id)
    spoken = sorted((line for window in windows for line in window.spoken()), key=lambda line: line[0])
    end = max((window.end_ms for window in windows), default=0)
    found = Surroundings(spoken, end, runtime.library.details(video_id).heatmap)
    yield found
    if result is not None:
        yield replace(found, places=runtime.searcher.places(result.query, video_id))
