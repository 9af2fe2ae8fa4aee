"""Cues as in caption files, regular and irregular."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from hypothesis import strategies as st

from subtitle_rag.base.domain.values import Cue, Window

WORDS = st.text("가나다라마바사아요 .?", min_size=1, max_size=30).map(lambda t: " ".join(t.split()) or "음")


def cue(start: float, end: float, text: str = "말을 하고 있어요") -> Cue:
    return Cue(round(start * 1000), round(end * 1000), text)


def speech(seconds: float, *, every: float = 3.0, start: float = 0.0, text: str = "말을 하고 있어요") -> list[Cue]:
    """Return cues that follow each other without a pause."""
    count = round(seconds / every)
    return [cue(start + i * every, start + (i + 1) * every, text) for i in range(count)]


@st.composite
def captions(draw: st.DrawFn) -> list[Cue]:
    """Generate irregular cues: in any order, overlapping, without duration, minutes long, with word times."""
    made = []
    for start in draw(st.lists(st.integers(0, 400_000), max_size=25)):
        duration = draw(st.sampled_from([0, 1, 900, 3_000, 12_000, 89_999, 90_000, 90_001, 250_000]))
        text = draw(WORDS) if draw(st.integers(0, 9)) else "긴 이야기 " * draw(st.integers(1, 600)) + "끝"
        starts: tuple[int, ...] = ()
        if draw(st.booleans()):
            count = len(text.split())
            steps = draw(st.lists(st.integers(0, max(1, 2 * duration // count)), min_size=count, max_size=count))
            starts = tuple(min(start + duration, start + at) for at in accumulate(steps))
        made.append(Cue(start, start + duration, text, starts))
    return made


def words_of(texts: Sequence[str]) -> list[str]:
    return sorted(word for text in texts for word in text.split())


def lines_of(window: Window) -> list[str]:
    offsets = [line.offset for line in window.lines]
    return [window.text[a : b - 1] for a, b in pairwise([*offsets, len(window.text) + 1])]


def divisions(cues: Sequence[Cue], cut: Sequence[bool]) -> list[tuple[int, int]]:
    edges = [0, *(at + 1 for at, here in enumerate(cut) if here), len(cues)]
    return [(cues[a].start_ms, cues[b - 1].end_ms) for a, b in pairwise(edges)] if cues else []
