"""Questions, the ranges of video that answer them, and the windows with these ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.base.i18n import _
from subtitle_rag.base.json_lines import bad_queries
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import GoldWindows, Values
from subtitle_rag.library.portable_names import windows_by_name
from subtitle_rag.library.store import Library

OVERLAP_MS = 5_000
"""Minimum overlap of a window with a gold range, in ms."""


Document = tuple[Video, Sequence[Window]]
"""A video with its windows."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A range of a video that answers a question; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int

    def answered_by(self, start_ms: int, end_ms: int) -> bool:
        """Whether a window of the same video has enough of this range: `OVERLAP_MS`.

        For a shorter range or window, half of the shorter one is enough, which also finds a short range divided by a
        cut.
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
    """The questions in a file."""

    path: Path
    questions: tuple[Question, ...]
    by_model: bool = False
    """Whether a model wrote the questions (`eval make`)."""


def answers(question: Question, windows: Mapping[str, Sequence[Window]]) -> dict[str, frozenset[int]]:
    """Return the windows that answer a question, each with the numbers of its gold ranges.

    `windows` has the library's windows of each video in gold.
    """
    ranges_by_window: dict[str, frozenset[int]] = {}
    for number, gold in enumerate(question.gold):
        for window in windows.get(gold.video, ()):
            if gold.answered_by(window.start_ms, window.end_ms):
                ranges_by_window[window.id] = ranges_by_window.get(window.id, frozenset()) | {number}
    return ranges_by_window


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The questions that count, and the right windows of each."""

    questions: tuple[Question, ...]
    windows: tuple[GoldWindows, ...]
    missing: tuple[str, ...]
    """Gold videos without windows in the library."""
    left_out: tuple[str, ...]
    """Ids of the questions that do not count, because all their videos are missing."""

    @property
    def by_kind(self) -> dict[str, list[int]]:
        """Return the indices of each kind's questions."""
        positions: dict[str, list[int]] = {}
        for at, question in enumerate(self.questions):
            positions.setdefault(question.kind, []).append(at)
        return positions

    def measure(self, rankings: Sequence[Sequence[str]]) -> Values:
        """Return a row of `metrics.METRICS` per question, from its windows' ids, best first."""
        return metrics.per_question(self.windows, rankings)


def gold_set(dataset: Dataset, library: Library, windows: Mapping[str, Sequence[Window]]) -> GoldSet:
    """Return the questions with these windows of the library (video id → windows).

    Raises:
        UsageError: `bad_line` if the library has none of the gold videos.
    """
    by_name = windows_by_name(
        library, windows, {gold.video for question in dataset.questions for gold in question.gold}
    )
    counts = {question.id: any(by_name[gold.video] for gold in question.gold) for question in dataset.questions}
    questions = tuple(question for question in dataset.questions if counts[question.id])
    if not questions:
        raise bad_queries(dataset.path, 1, _("the library has none of the videos that the questions are about"))
    return GoldSet(
        questions,
        # ranges in videos without windows do not count
        tuple(
            GoldWindows(sum(bool(by_name[gold.video]) for gold in question.gold), answers(question, by_name))
            for question in questions
        ),
        missing=tuple(sorted(name for name, some in by_name.items() if not some)),
        left_out=tuple(id for id, is_counted in counts.items() if not is_counted),
    )
