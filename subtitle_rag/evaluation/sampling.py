"""Choice of windows for questions by a seed, spread over channels, videos and parts of a video."""

import random
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.library.portable_names import file_counts, portable_name
from subtitle_rag.library.store import Library

MULTI = "multi_context"
SHARES = {"simple": 0.4, "reasoning": 0.2, MULTI: 0.4}
"""Kinds of questions and their shares, as in the seed article's settings of RAGAS's test set generator."""
SPANNING_SHARE = 0.5
"""Share of the questions of `MULTI` whose two windows are in two videos."""
PARTNERS = 12
"""Other videos to search for a window's partner."""
LEAST_LETTERS = 40
"""Minimum letters of a window for a question."""
MIN_DISTANCE = 2
"""Minimum distance of the windows of a pair, since adjacent ones may become one scene."""
_PARTS = 3
"""Beginning, middle and end."""

T = TypeVar("T")


NamedVideo = tuple[Video, str]
"""A video with its name in gold ranges."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Windows for a question of this kind, and the video of each."""

    kind: str
    windows: tuple[Window, ...]
    videos: tuple[NamedVideo, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(window.id for window in self.windows)

    @property
    def video(self) -> Video:
        """The video of the first window."""
        return self.videos[0][0]

    @property
    def is_spanning(self) -> bool:
        """Whether the windows are in two videos."""
        return self.videos[0] != self.videos[-1]


def quotas(count: int) -> dict[str, int]:
    """Return the number of questions of each kind out of `count`, by largest remainders."""
    exact = {kind: share * count for kind, share in SHARES.items()}
    counts = {kind: int(value + 1e-9) for kind, value in exact.items()}
    rest = sorted(exact, key=lambda kind: counts[kind] - exact[kind])[: count - sum(counts.values())]
    return {kind: number + (kind in rest) for kind, number in counts.items()}


def drawn_videos(library: Library, count: int, seed: int) -> tuple[str, ...]:
    """Return `count` random ids of videos with windows; all of them if there are fewer."""
    ids = sorted(state.video.id for state in library.videos() if state.windows)
    return tuple(sorted(random.Random(f"{seed}/videos").sample(ids, min(count, len(ids)))))


def candidates(
    library: Library, kind: str, seed: int, only: Collection[str] | None = None, *, spanning: bool = False
) -> Iterator[Candidate]:
    """Yield all candidates of a kind, in the same order for the same library and seed.

    Channels take turns, in a channel its videos, in a video its beginning, middle and end.

    Args:
        library: the library.
        kind: kind of question.
        seed: for the random order.
        only: ids of the videos to choose from.
        spanning: whether the windows of a pair are in two videos.
    """
    videos = sorted((state.video for state in library.videos() if state.windows), key=lambda video: video.id)
    files = file_counts(videos)
    videos = [video for video in videos if only is None or video.id in only]
    channels: dict[str, list[Video]] = {}
    for video in videos:
        channels.setdefault(video.channel_id, []).append(video)
    names = {video.id: (video, portable_name(video, files)) for video in videos}
    rng = random.Random(f"{seed}/{kind}/spanning" if spanning else f"{seed}/{kind}")
    return _round_robin(
        _round_robin(
            _across_videos(library, seed, names[video.id], names)
            if spanning
            else _of_video(library, kind, seed, names[video.id])
            for video in rng.sample(videos, len(videos))
        )
        for videos in rng.sample(list(channels.values()), len(channels))
    )


def _worth_windows(library: Library, video_id: str) -> list[Window]:
    return [w for w in library.windows_of(video_id) if sum(map(str.isalpha, w.text)) >= LEAST_LETTERS]


def _by_parts(windows: Sequence[Window], rng: random.Random) -> Iterator[Window]:
    """Yield the windows at random, from the beginning, the middle and the end in turn."""
    parts = [windows[len(windows) * at // _PARTS : len(windows) * (at + 1) // _PARTS] for at in range(_PARTS)]
    return _round_robin([iter(rng.sample(part, len(part))) for part in rng.sample(parts, _PARTS)])


def _across_videos(library: Library, seed: int, this: NamedVideo, names: dict[str, NamedVideo]) -> Iterator[Candidate]:
    """Yield each window of a video with the most similar one in `PARTNERS` random other videos."""
    video, _name = this
    rng = random.Random(f"{seed}/{MULTI}/spanning/{video.id}")
    ids = [id for id in sorted(names) if id != video.id]
    partners = [window for id in rng.sample(ids, min(PARTNERS, len(ids))) for window in _worth_windows(library, id)]
    windows = _worth_windows(library, video.id)
    forms = _forms(library, [*windows, *partners]) if partners else {}
    for window in _by_parts(windows, rng) if partners else ():
        partner = max(partners, key=lambda each: (_similarity(window, each, forms), each.id))
        first, second = sorted((window, partner), key=lambda each: each.id)
        yield Candidate(MULTI, (first, second), (names[first.video_id], names[second.video_id]))


def _forms(library: Library, windows: Sequence[Window]) -> dict[str, frozenset[str]]:
    analyses = library.morphemes([window.id for window in windows])
    return {id: frozenset(analysis.forms) for id, analysis in analyses.items()}


def _similarity(window: Window, partner: Window, forms: dict[str, frozenset[str]]) -> float:
    """Return the Jaccard index of the morphemes of two windows."""
    a, b = (forms.get(id, frozenset[str]()) for id in (window.id, partner.id))
    return len(a & b) / max(1, len(a | b))


def _of_video(library: Library, kind: str, seed: int, this: NamedVideo) -> Iterator[Candidate]:
    video, _name = this
    windows = _worth_windows(library, video.id)
    ordered = _by_parts(windows, random.Random(f"{seed}/{kind}/{video.id}"))
    if kind != MULTI:
        yield from (Candidate(kind, (window,), (this,)) for window in ordered)
        return
    forms = _forms(library, windows)
    pairs: set[tuple[Window, Window]] = set()
    for window in ordered:
        partners = [each for each in windows if abs(each.ordinal - window.ordinal) >= MIN_DISTANCE]
        if partners:
            partner = max(partners, key=lambda each: (_similarity(window, each, forms), -each.ordinal))
            pair = (window, partner) if window.ordinal < partner.ordinal else (partner, window)
            if pair not in pairs:
                pairs.add(pair)
                yield Candidate(kind, pair, (this, this))


def _round_robin(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield one item of each source in turn, until all are empty."""
    queue = deque(sources)
    while queue:
        source = queue.popleft()
        try:
            yield next(source)
        except StopIteration:
            continue
        queue.append(source)
