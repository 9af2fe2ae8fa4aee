"""What the preview tells of a scene's video beside the scene: the speech around it, and where else the query is met."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.content import Content

from subtitle_rag.domain import Heat, clock
from subtitle_rag.tui import text
from subtitle_rag.tui.text import MUTED, TIME_CELLS
from subtitle_rag.tui.timeline import Timeline

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Place, Scene
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.runtime import Runtime

KEPT = 16
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


def look(runtime: "Runtime", video_id: str, result: "SearchResult | None") -> Iterator[Surroundings]:
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


def timeline(scene: "Scene", known: Surroundings, listed: "Sequence[Scene]", cited: Sequence[int] = ()) -> Timeline:
    """The timeline of a scene's video; `listed` are the scenes of it that the list holds, `cited` further times.

    A video whose length nobody has told ends with its last window.
    """
    video = scene.video
    places = known.places or ()
    ends = [one.end_ms for one in (*listed, scene)] + [place.end_ms for place in places]
    beside = (
        place.at_ms for place in places if not any(one.start_ms <= place.at_ms < one.end_ms for one in (*listed, scene))
    )
    return Timeline(
        video.duration_ms or max(known.end_ms, *ends),
        scene.at_ms,
        sorted({*(one.at_ms for one in listed if one.id != scene.id), *cited}),
        list(beside),
        known.heat,
        [chapter.start_ms for chapter in video.chapters],
    )


def transcript(scene: "Scene", known: Surroundings, width: int, height: int) -> tuple[list[Content], int]:
    """The scene's lines between those around it, about `height` rows of them on either side, and the matched row.

    Before the video's lines are read, the matched line has its place already, under room for what is said before it.
    """
    above, below = _around(scene, known.spoken or ())
    own = replace(scene, overlap_before="", overlap_after="") if above or below else scene
    rows, matched = text.transcript(own, width)
    before = _said(above[-height:], width) if height > 0 else []
    after = _said(below[:height], width)
    if known.spoken is None:
        before = [Content("")] * max(0, height // 3 - matched)
    return [*before, *rows, *after], matched + len(before)


def _around(scene: "Scene", spoken: Spoken) -> tuple[Spoken, Spoken]:
    """The video's lines before and after those of the scene."""
    if not scene.lines:
        return (), ()
    first, last = scene.lines[0].start_ms, scene.lines[-1].start_ms
    above = bisect_left(spoken, first, key=lambda line: line[0])
    return spoken[:above], spoken[bisect_right(spoken, last, key=lambda line: line[0]) :]


def _said(lines: Spoken, width: int) -> list[Content]:
    rows: list[Content] = []
    for start, said in lines:
        head = f" {clock(start).rjust(TIME_CELLS - 1)}"
        rows += text.hanging(head, Content.styled(text.clean(said), MUTED), width)
    return rows
