"""Questions, the ranges of video that answer them, and the windows that show these ranges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain.values import Video, Window
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.metrics import GoldWindows, Values
from subtitle_rag.i18n import _
from subtitle_rag.json_lines import bad_queries
from subtitle_rag.library.portable_names import windows_by_name
from subtitle_rag.library.store import Library

OVERLAP_MS = 5_000
"""A window answers a question when it shares so much with a gold range."""


Document = tuple[Video, Sequence[Window]]
"""A video with its windows."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A stretch of a video that answers a question; `video` is a YouTube id or the NFC name of a caption file."""

    video: str
    start_ms: int
    end_ms: int

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
    """The questions of a file."""

    path: Path
    questions: tuple[Question, ...]
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


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The questions that count, and the right windows of each."""

    questions: tuple[Question, ...]
    windows: tuple[GoldWindows, ...]
    missing: tuple[str, ...]
    """Videos named in gold that the library has no windows of."""
    left_out: tuple[str, ...]
    """Ids of the questions that do not count, because all their videos are missing."""

    @property
    def by_kind(self) -> dict[str, list[int]]:
        """Return the places of each kind's questions."""
        positions: dict[str, list[int]] = {}
        for at, question in enumerate(self.questions):
            positions.setdefault(question.kind, []).append(at)
        return positions

    def measure(self, rankings: Sequence[Sequence[str]]) -> Values:
        """Return a row of `metrics.METRICS` for every question, from its windows' ids, the best first."""
        return metrics.per_question(self.windows, rankings)


def gold_set(dataset: Dataset, library: Library, windows: Mapping[str, Sequence[Window]]) -> GoldSet:
    """Return the set's questions over these windows of the library (video id → windows).

    Raises:
        UsageError: `bad_line` where the library has none of the gold videos.
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
        # ranges of videos without windows do not count
        tuple(
            GoldWindows(sum(bool(by_name[gold.video]) for gold in question.gold), answers(question, by_name))
            for question in questions
        ),
        missing=tuple(sorted(name for name, some in by_name.items() if not some)),
        left_out=tuple(id for id, is_counted in counts.items() if not is_counted),
    )
