"""Questions, the ranges of video that answer them, and the windows that show these ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.domain import Video, Window

OVERLAP_MS = 5_000
"""A window answers a question when it shares so much with a gold range."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A stretch of a video that answers a question; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int
    grade: int = 1
    """Only nDCG tells grades apart."""

    def answered_by(self, start_ms: int, end_ms: int) -> bool:
        """Return whether a window of the same video shows enough of this range: `OVERLAP_MS`.

        A range or window that is itself shorter can never share that much. Half of the shorter one is enough then,
        which also finds a short range that a cut divides.
        """
        shorter = min(self.end_ms - self.start_ms, end_ms - start_ms)
        needed = OVERLAP_MS if shorter >= OVERLAP_MS else shorter / 2
        return min(self.end_ms, end_ms) - max(self.start_ms, start_ms) >= needed


@dataclass(frozen=True, slots=True)
class Question:
    """A query with the ranges that answer it; any one of them is a hit."""

    id: str
    query: str
    kind: str
    gold: tuple[Gold, ...]
    answer: str = ""
    """The reference answer for `eval judge`, if the file has one."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, and the documents of a set that brings its own."""

    path: Path
    questions: tuple[Question, ...]
    documents: tuple[tuple[Video, tuple[Window, ...]], ...] = field(default=(), repr=False)
    by_model: bool = False
    """Whether a model made the questions (`eval make`)."""


def answers(question: Question, windows: Mapping[str, Sequence[Window]]) -> dict[str, frozenset[int]]:
    """Return the windows that answer a question, each with the numbers of the gold ranges that it shows.

    `windows` has, for each video named in gold, its windows in the library.
    """
    ranges_by_window: dict[str, frozenset[int]] = {}
    for number, gold in enumerate(question.gold):
        for window in windows.get(gold.video, ()):
            if gold.answered_by(window.start_ms, window.end_ms):
                ranges_by_window[window.id] = ranges_by_window.get(window.id, frozenset()) | {number}
    return ranges_by_window
