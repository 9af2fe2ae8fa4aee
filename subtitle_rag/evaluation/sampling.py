"""Choose windows for questions by a seed, spread over channels, videos and the parts of a video."""

import os
import random
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from subtitle_rag.domain import Video, Window, nfc
from subtitle_rag.library.store import Library

MULTI = "multi_context"
SHARES = {"simple": 0.4, "reasoning": 0.2, MULTI: 0.4}
"""Kinds of questions and their parts of a set, as in the seed article's settings of RAGAS's test set generator."""
LEAST_LETTERS = 40
"""Of a window that is worth a question."""
MIN_DISTANCE = 2
"""Least distance of the windows of a pair: neighbours may come back as one scene."""
_PARTS = 3
"""Beginning, middle and end."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Windows of one video for a question of this kind; `name` is the video's in gold ranges."""

    kind: str
    video: Video
    name: str
    windows: tuple[Window, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(window.id for window in self.windows)


def quotas(count: int) -> dict[str, int]:
    """Return how many questions of each kind make `count`, by largest remainders."""
    exact = {kind: share * count for kind, share in SHARES.items()}
    counts = {kind: int(value + 1e-9) for kind, value in exact.items()}
    rest = sorted(exact, key=lambda kind: counts[kind] - exact[kind])[: count - sum(counts.values())]
    return {kind: number + (kind in rest) for kind, number in counts.items()}


def candidates(library: Library, kind: str, seed: int) -> Iterator[Candidate]:
    """Return all candidates of a kind, the same ones in the same order for the same library and seed.

    Channels take turns, in a channel its videos, in a video its beginning, middle and end.
    """
    videos = sorted((state.video for state in library.videos() if state.windows), key=lambda video: video.id)
    files = Counter(_file(video) for video in videos)
    channels: dict[str, list[Video]] = {}
    for video in videos:
        channels.setdefault(video.channel_id, []).append(video)
    rng = random.Random(f"{seed}/{kind}")
    return _woven(
        _woven(_of_video(library, kind, seed, video, _name(video, files)) for video in rng.sample(videos, len(videos)))
        for videos in rng.sample(list(channels.values()), len(channels))
    )


def _of_video(library: Library, kind: str, seed: int, video: Video, name: str) -> Iterator[Candidate]:
    rng = random.Random(f"{seed}/{kind}/{video.id}")
    windows = [window for window in library.windows_of(video.id) if _letters(window.text) >= LEAST_LETTERS]
    parts = [windows[len(windows) * at // _PARTS : len(windows) * (at + 1) // _PARTS] for at in range(_PARTS)]
    shuffled = [iter(rng.sample(part, len(part))) for part in rng.sample(parts, _PARTS)]
    ordered = _woven(shuffled)
    if kind != MULTI:
        yield from (Candidate(kind, video, name, (window,)) for window in ordered)
        return
    forms = {
        id: frozenset(analysis.forms) for id, analysis in library.morphemes([window.id for window in windows]).items()
    }
    pairs: set[tuple[Window, Window]] = set()
    for window in ordered:
        pair = _pair(window, windows, forms)
        if pair and pair not in pairs:
            pairs.add(pair)
            yield Candidate(kind, video, name, pair)


def _pair(window: Window, windows: Sequence[Window], forms: dict[str, frozenset[str]]) -> tuple[Window, Window] | None:
    """Return the window and its most similar one (Jaccard index of morphemes), in order."""

    def similarity(candidate: Window) -> tuple[float, int]:
        a, b = (forms.get(id, frozenset[str]()) for id in (window.id, candidate.id))
        return len(a & b) / max(1, len(a | b)), -candidate.ordinal

    candidates = [candidate for candidate in windows if abs(candidate.ordinal - window.ordinal) >= MIN_DISTANCE]
    if not candidates:
        return None
    partner = max(candidates, key=similarity)
    return (window, partner) if window.ordinal < partner.ordinal else (partner, window)


def _woven(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield one of each source in turn, until all are empty."""
    queue = deque(sources)
    while queue:
        source = queue.popleft()
        try:
            yield next(source)
        except StopIteration:
            continue
        queue.append(source)


def _name(video: Video, files: Counter[str]) -> str:
    """Return a video's name in gold ranges: YouTube's id, or its caption file if its name is unique."""
    file = _file(video)
    return file if not video.url and file and files[file] == 1 else video.id


def _file(video: Video) -> str:
    return nfc(os.path.basename(video.source or ""))  # noqa: PTH119


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)
