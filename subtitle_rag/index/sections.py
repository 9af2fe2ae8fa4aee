"""Sections of a video: its chapters, or parts by topic if it has none.

Parts by topic are cut by TextTiling (Hearst 1997, "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages")
over the analysed words of the windows, without a model. They are computed from the library at each call, so that they
follow windows that are cut again.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from subtitle_rag.base.domain.values import Morphemes, Video, Window
from subtitle_rag.index.index_document import EARLY_MS, keywords
from subtitle_rag.korean.expansion import inverse_document_frequency

BLOCK = 3
"""Windows to compare on each side of a gap."""
SHORTEST = 3
"""Windows of the shortest part by topic."""
WORDS = 6
"""Most distinctive words of a section."""


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter or a part by topic. A chapter shorter than a window may have no windows."""

    start_ms: int
    end_ms: int
    title: str
    """Title of the chapter; empty for a part by topic."""
    words: tuple[str, ...]
    """The words that best distinguish it from the video's other sections."""
    window_ids: tuple[str, ...]


def split_sections(video: Video, windows: Sequence[Window], analyses: Mapping[str, Morphemes]) -> list[Section]:
    """Return the sections of a video in order; each window is in one of them.

    `windows` are all of the video's, in order; a window without an analysis counts as one without words.
    """
    if not windows:
        return []
    forms = [analyses[window.id].forms if window.id in analyses else () for window in windows]
    if len(video.chapters) > 1:
        starts, titles, firsts = _chapters(video, windows)
    else:
        firsts = [0, *_topic_cuts(forms)]
        starts = [windows[first].start_ms for first in firsts]
        titles = [""] * len(firsts)
    bounds = [*firsts, len(windows)]
    parts = [range(first, last) for first, last in zip(bounds, bounds[1:], strict=False)]
    joined = [Morphemes(tuple(form for at in part for form in forms[at]), (), ()) for part in parts]
    ends = [*starts[1:], max(video.duration_ms or 0, windows[-1].end_ms, starts[-1])]
    return [
        Section(start, end, title, tuple(words), tuple(windows[at].id for at in part))
        for start, end, title, words, part in zip(starts, ends, titles, keywords(joined, WORDS), parts, strict=True)
    ]


def _chapters(video: Video, windows: Sequence[Window]) -> tuple[list[int], list[str], list[int]]:
    """Return start, title and first window of each chapter, and of the part before the first chapter."""
    starts = [chapter.start_ms for chapter in video.chapters]
    titles = [chapter.title for chapter in video.chapters]
    if windows[0].start_ms + EARLY_MS < starts[0]:
        starts, titles = [windows[0].start_ms, *starts], ["", *titles]
    firsts = [sum(window.start_ms + EARLY_MS < start for window in windows) for start in starts]
    return starts, titles, firsts


def _topic_cuts(forms: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the windows at which a new topic begins."""
    depths = _depths(_similarities(forms))
    if not depths:
        return []
    threshold = fmean(depths) - pstdev(depths) / 2
    cuts: list[int] = []
    for gap in sorted(range(len(depths)), key=lambda gap: (-depths[gap], gap)):
        at, depth = gap + 1, depths[gap]
        is_far = all(abs(at - border) >= SHORTEST for border in (0, len(forms), *cuts))
        if depth > max(threshold, 0) and is_far:
            cuts.append(at)
    return sorted(cuts)


def _similarities(forms: Sequence[Sequence[str]]) -> list[float]:
    """Return the cosine of the blocks before and after each gap between two windows."""
    counts = [Counter(window) for window in forms]
    spread = Counter(form for count in counts for form in count)
    weights = {form: inverse_document_frequency(number, len(counts)) for form, number in spread.items()}
    return [
        _cosine(_block(counts[max(0, at - BLOCK) : at], weights), _block(counts[at : at + BLOCK], weights))
        for at in range(1, len(counts))
    ]


def _block(counts: Sequence[Counter[str]], weights: Mapping[str, float]) -> dict[str, float]:
    total = Counter[str]()
    for count in counts:
        total.update(count)
    return {form: (1 + math.log(number)) * weights[form] for form, number in total.items()}


def _cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    product = math.fsum(weight * second[form] for form, weight in first.items() if form in second)
    norm = math.sqrt(math.fsum(w * w for w in first.values()) * math.fsum(w * w for w in second.values()))
    return product / norm if norm else 0.0


def _depths(similarities: Sequence[float]) -> list[float]:
    """Return the depth of each gap below the nearest peaks on its left and right."""
    return [
        _climb(similarities[at::-1]) + _climb(similarities[at:]) - 2 * similarity
        for at, similarity in enumerate(similarities)
    ]


def _climb(similarities: Sequence[float]) -> float:
    """Return the peak that is reached from the first value without a descent."""
    peak = similarities[0]
    for similarity in similarities[1:]:
        if similarity < peak:
            break
        peak = similarity
    return peak
