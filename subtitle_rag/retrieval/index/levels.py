"""The levels above windows: a video's sections, and the video, as points of the index beside its windows.

Sarthi et al. 2024, "RAPTOR", arXiv:2401.18059, index summaries of parts and wholes beside the passages. A point of a
level has the words of all its windows, and those of its own text as a field that counts more: a video's summary, or
without one its title and the titles or most telling words of its sections; a section's title or words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from subtitle_rag.domain import Morphemes, Video, Window
from subtitle_rag.library import Level, LevelPlace
from subtitle_rag.retrieval.index.sections import Section, split_sections
from subtitle_rag.retrieval.korean.morphemes import Bm25Params, TextMorphemes, document_vector
from subtitle_rag.retrieval.named_vectors import LEVELS
from subtitle_rag.retrieval.values import Point

_NAMESPACE = UUID("5b0c2f0e-6d0f-5d0b-9d57-3c5a9f3f7c11")
_PARAMS = Bm25Params(bigrams=0.0)
"""Pairs of letters that match anywhere in minutes of speech say nothing."""


@dataclass(frozen=True, slots=True)
class LevelText:
    """The own text of a section or a video, and its windows, at least one."""

    level: Level
    text: str
    start_ms: int
    end_ms: int
    windows: tuple[Window, ...]


def level_texts(
    video: Video, windows: Sequence[Window], analyses: Mapping[str, Morphemes], summary: str = ""
) -> Iterator[LevelText]:
    """Yield the sections of a video in order, then the video; nothing without windows."""
    by_id = {window.id: window for window in windows}
    parts = [part for part in split_sections(video, windows, analyses) if part.window_ids]
    for part in parts:
        below = tuple(by_id[id] for id in part.window_ids)
        yield LevelText("section", _section_text(part), part.start_ms, part.end_ms, below)
    if windows:
        text = "\n".join([video.title, summary or "\n".join(map(_section_text, parts))])
        yield LevelText("video", text, windows[0].start_ms, windows[-1].end_ms, tuple(windows))


def level_points(
    video: Video, texts: Sequence[LevelText], analyses: Mapping[str, Morphemes], analyzer: TextMorphemes, source: str
) -> tuple[list[Point], dict[str, LevelPlace]]:
    """Return the points of a video's levels, and their places by id; those without a word are left out.

    `analyses` has those of all windows. `source` is what the points are made from: others have other ids.
    """
    points, level_places = [], {}
    text_analyses = analyzer.morphemes([each.text for each in texts])
    for each, analysis in zip(texts, text_analyses, strict=True):
        spoken_forms = [form for window in each.windows for form in analyses[window.id].forms]
        vector = document_vector(spoken_forms, "", _PARAMS, context_forms=analysis.forms, context=each.text)
        if not vector.indices:
            continue
        id = str(uuid5(_NAMESPACE, f"{video.id}\x1f{each.level}\x1f{each.start_ms}\x1f{source}"))
        points.append(Point(id, {LEVELS[each.level]: vector}, _payload(video, each)))
        level_places[id] = LevelPlace(video.id, each.level, each.windows[0].ordinal, each.windows[-1].ordinal)
    return points, level_places


def _section_text(section: Section) -> str:
    return section.title or " ".join(section.words)


def _payload(video: Video, each: LevelText) -> dict[str, Any]:
    return {
        "level": each.level,
        "video": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "published": video.published.isoformat() if video.published else None,
        "start_ms": each.start_ms,
        "end_ms": each.end_ms,
        "text": each.text,
    }
