"""A question with the ranges of video that answer it, and which windows do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import Window
from subtitle_rag.errors import UsageError

OVERLAP_MS = 5_000
"""A window answers a question when it shares so much with a gold range."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A stretch of a video that answers a question; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int
    grade: int = 1
    """How well it answers, where the set has grades; only nDCG tells them apart."""

    def answered_by(self, start_ms: int, end_ms: int) -> bool:
        """Whether a window of the same video shows enough of this range: `OVERLAP_MS`.

        A range or window that is itself shorter can never share that much: half of the shorter one is enough then,
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
    """What a right answer says, where the file tells it; `eval judge` measures with it."""


def bad_queries(path: Path, line: int, reason: str) -> UsageError:
    return UsageError("bad_queries", path=str(path), line=line, reason=reason)


def grades(question: Question, shown: Mapping[str, frozenset[int]]) -> dict[str, int]:
    """Of windows that answer a question (see `answers`) the best grade among the ranges that each shows."""
    return {id: max(question.gold[number].grade for number in numbers) for id, numbers in shown.items()}


def answers(question: Question, windows: Mapping[str, Sequence[Window]]) -> dict[str, frozenset[int]]:
    """The windows that answer a question, each with the numbers of the gold ranges that it shows.

    `windows` has, for each video named in gold, the windows that it has in the library.
    """
    found: dict[str, frozenset[int]] = {}
    for number, gold in enumerate(question.gold):
        for window in windows.get(gold.video, ()):
            if gold.answered_by(window.start_ms, window.end_ms):
                found[window.id] = found.get(window.id, frozenset()) | {number}
    return found
