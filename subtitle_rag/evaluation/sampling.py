"""Which windows a model is to make questions of: spread over channels, videos and the parts of a video, by a seed."""

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
"""Kinds of questions and their parts of a set, as RAGAS's test set generator was told in the seed article."""
LEAST_LETTERS = 40
"""Of a window that something can be asked about."""
APART = 2
"""Windows from one to the other of a pair, at least: neighbours may be returned as one scene."""
_PARTS = 3
"""Beginning, middle and end."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Windows of one video that a question of this kind may be made of; `name` is the video's in gold ranges."""

    kind: str
    video: Video
    name: str
    windows: tuple[Window, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(window.id for window in self.windows)


def quotas(count: int) -> dict[str, int]:
    """How many questions of each kind make `count`, by largest remainders."""
    exact = {kind: share * count for kind, share in SHARES.items()}
    whole = {kind: int(value + 1e-9) for kind, value in exact.items()}
    rest = sorted(exact, key=lambda kind: whole[kind] - exact[kind])[: count - sum(whole.values())]
    return {kind: number + (kind in rest) for kind, number in whole.items()}


def candidates(library: Library, kind: str, seed: int) -> Iterator[Candidate]:
    """All candidates of a kind, the same ones in the same order for the same library and seed.

    Channels take turns, in a channel its videos, in a video its beginning, middle and end.
    """
    videos = sorted((state.video for state in library.videos() if state.windows), key=lambda video: video.id)
    files = Counter(_file(video) for video in videos)
    channels: dict[str, list[Video]] = {}
    for video in videos:
        channels.setdefault(video.channel_id, []).append(video)
    rng = random.Random(f"{seed}/{kind}")
    return _woven(
        _woven(_of_video(library, kind, seed, video, _name(video, files)) for video in rng.sample(own, len(own)))
        for own in rng.sample(list(channels.values()), len(channels))
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
    forms = {id: frozenset(found.forms) for id, found in library.morphemes([one.id for one in windows]).items()}
    seen: set[frozenset[str]] = set()
    for window in ordered:
        pair = _pair(window, windows, forms)
        if pair and frozenset(one.id for one in pair) not in seen:
            seen.add(frozenset(one.id for one in pair))
            yield Candidate(kind, video, name, pair)


def _pair(window: Window, windows: Sequence[Window], forms: dict[str, frozenset[str]]) -> tuple[Window, Window] | None:
    """The window with the one that speaks most of the same things (Jaccard index of morphemes), in order."""
    own = forms.get(window.id, frozenset())

    def alike(other: Window) -> tuple[float, int]:
        theirs = forms.get(other.id, frozenset())
        return len(own & theirs) / max(1, len(own | theirs)), -other.ordinal

    others = [one for one in windows if abs(one.ordinal - window.ordinal) >= APART]
    if not others:
        return None
    other = max(others, key=alike)
    return (window, other) if window.ordinal < other.ordinal else (other, window)


def _woven(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """One of each source in turn, until all are empty."""
    waiting = deque(sources)
    while waiting:
        source = waiting.popleft()
        try:
            yield next(source)
        except StopIteration:
            continue
        waiting.append(source)


def _name(video: Video, files: Counter[str]) -> str:
    """What gold ranges call a video: YouTube's id, or its caption file where no other one is called the same."""
    file = _file(video)
    return file if not video.url and file and files[file] == 1 else video.id


def _file(video: Video) -> str:
    return nfc(os.path.basename(video.source or ""))  # noqa: PTH119


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)
