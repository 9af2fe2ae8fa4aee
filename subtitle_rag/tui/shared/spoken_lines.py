"""Lines of a video: search in them, lines as a playable scene, and the surroundings of a scene."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from subtitle_rag.base.domain.values import Heat, Line, Video, Window
from subtitle_rag.tui.shared.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.korean.lexical import LexicalQuery
    from subtitle_rag.library.store import Library
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.scenes import Mention, Scene
    from subtitle_rag.search.searcher import SearchResult

SpokenLines = Sequence[tuple[int, str]]
"""Lines of a video: start (ms) and text."""
Span = tuple[int, int]


class VideoMoment(NamedTuple):
    """The video and time at which a transcript opens."""

    video: Video
    at_ms: int | None = None
    query: "LexicalQuery | None" = None
    """The query that found it; the transcript marks its words."""


def find_query_words(lines: SpokenLines, query: "LexicalQuery | None") -> dict[int, list[Span]]:
    """Return the words of a query by line, by letters alone."""
    if query is None:
        return {}
    from subtitle_rag.search import highlights

    spans = {index: highlights.spans(text, query) for index, (_start, text) in enumerate(lines)}
    return {index: line_spans for index, line_spans in spans.items() if line_spans}


def read_spoken_lines(windows: Iterable[Window]) -> list[tuple[int, str]]:
    """Return the lines of a video's windows as start (ms) and clean text, without empty lines."""
    lines = ((start, clean(text)) for window in windows for start, text in window.dialogue())
    return sorted((line for line in lines if line[1].strip()), key=lambda line: line[0])


def read_gap_lines(library: "Library", video_id: str) -> list[tuple[int, str]]:
    """Return a line for each stretch of speech that the transcription here did not understand."""
    from subtitle_rag.captions.heard_tracks import read_gaps
    from subtitle_rag.listening.gaps import gap_line

    track = library.track(video_id)
    return [(gap.start_ms, f"[{gap_line(gap)}]") for gap in (read_gaps(track) if track else ())]


def line_at(lines: SpokenLines, at_ms: int) -> int:
    """Return the index of the line at a time."""
    return max(0, bisect_right(lines, at_ms, key=lambda line: line[0]) - 1)


def find_spoken(lines: SpokenLines, typed: str) -> dict[int, list[Span]]:
    """Return the matches of a typed text by line, ignoring spaces and case.

    Ignores the half-composed syllable at the end of a text still being typed.
    """
    characters = "".join(unicodedata.normalize("NFC", typed).split())
    letters = re.sub("[ㄱ-ㅣ]+$", "", characters) or characters
    if not letters:
        return {}
    pattern = re.compile(r"\s*".join(map(re.escape, letters)), re.IGNORECASE)
    spans = {index: [match.span() for match in pattern.finditer(text)] for index, (_start, text) in enumerate(lines)}
    return {index: matches for index, matches in spans.items() if matches}


def scene_of_line(video: Video, at_ms: int, text: str) -> "Scene":
    """Return a line as a scene, to play and copy."""
    return scene_of_lines(video, [(at_ms, text)], at_ms, (at_ms, at_ms))


def scene_of_lines(video: Video, lines: SpokenLines, at_ms: int, span_ms: Span) -> "Scene":
    """Return lines as a scene with the span `span_ms`, to play and export."""
    from subtitle_rag.search.scenes import Scene

    offsets, offset = [], 0
    for start, text in lines:
        offsets.append(Line(offset, start))
        offset += len(text) + 1
    return Scene(
        rank=0,
        id="",
        video=video,
        start_ms=span_ms[0],
        end_ms=span_ms[1],
        text=" ".join(text for _start, text in lines),
        lines=tuple(offsets),
        highlights=(),
        at_ms=at_ms,
        score=0.0,
        scores={},
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The lines around a scene of one video; None if not read yet."""

    lines: SpokenLines | None = None
    """All its lines: start (ms) and text."""
    end_ms: int = 0
    """End of its last window."""
    heat: Sequence[Heat] = ()
    matches: "Sequence[Mention] | None" = None
    gaps: SpokenLines = ()
    """A line for each stretch of speech that was not understood."""


def read_surroundings(runtime: "Runtime", video_id: str, result: "SearchResult | None") -> Iterator[Surroundings]:
    """Yield the surroundings from the library, then with the index's matches for the query of `result`.

    Raises the errors of library and index.
    """
    windows = runtime.library.windows_of(video_id)
    lines = read_spoken_lines(windows)
    end = max((window.end_ms for window in windows), default=0)
    gaps = read_gap_lines(runtime.library, video_id)
    surroundings = Surroundings(lines, end, runtime.library.details(video_id).heatmap, gaps=gaps)
    yield surroundings
    if result is not None:
        yield replace(surroundings, matches=runtime.searcher.mentions(result.query, video_id))
