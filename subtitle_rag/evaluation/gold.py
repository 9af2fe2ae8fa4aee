"""Find the windows of a library that answer a set's questions."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.domain import Window, nfc
from subtitle_rag.evaluation.json_lines import bad_queries
from subtitle_rag.evaluation.metrics import GoldWindows
from subtitle_rag.evaluation.questions import Dataset, Question, answers
from subtitle_rag.i18n import _
from subtitle_rag.library.store import Library

_BRACKETED_ID = re.compile(r"\[([A-Za-z0-9_-]{11})\]")


@dataclass(frozen=True, slots=True)
class GoldSet:
    """The questions that count, and the right windows of each."""

    questions: tuple[Question, ...]
    windows: tuple[GoldWindows, ...]
    missing: tuple[str, ...]
    """Videos named in gold that the library has no windows of."""

    @property
    def kinds(self) -> list[str]:
        return [question.kind for question in self.questions]


def all_windows(library: Library) -> dict[str, list[Window]]:
    """Return the windows of every video, by its id."""
    return {state.video.id: library.windows_of(state.video.id) for state in library.videos() if state.windows}


def windows_by_name(
    library: Library, windows: Mapping[str, Sequence[Window]], names: Collection[str]
) -> dict[str, list[Window]]:
    """Return the windows of each of these videos; none for a video that the library lacks.

    A name is a video's id, its caption file's name, or another caption file's that carries the id as yt-dlp writes
    it. One name may stand for several videos: files of the same name in different folders.
    """
    files: dict[str, list[str]] = {}
    for state in library.videos():
        if state.video.source:
            files.setdefault(nfc(os.path.basename(state.video.source)), []).append(state.video.id)  # noqa: PTH119
    by_name = {}
    for name in names:
        ids = {name, *files.get(name, ()), *_BRACKETED_ID.findall(name)}
        by_name[name] = [window for id in sorted(ids) for window in windows.get(id, ())]
    return by_name


def gold_set(dataset: Dataset, library: Library, windows: Mapping[str, Sequence[Window]]) -> GoldSet:
    """Return the set's questions over these windows of the library (video id → windows).

    Raises:
        UsageError: `bad_queries` where the library has none of the gold videos.
    """
    by_name = windows_by_name(
        library, windows, {gold.video for question in dataset.questions for gold in question.gold}
    )
    questions = tuple(q for q in dataset.questions if any(by_name[gold.video] for gold in q.gold))
    if not questions:
        raise bad_queries(dataset.path, 1, _("the library has none of the videos that the questions are about"))
    missing = tuple(sorted(name for name, some in by_name.items() if not some))
    return GoldSet(questions, tuple(_gold_windows(question, by_name) for question in questions), missing)


def _gold_windows(question: Question, by_name: Mapping[str, Sequence[Window]]) -> GoldWindows:
    """Return the right windows; ranges of videos without windows do not count, and the best grade of a window does."""
    ranges_by_window = answers(question, by_name)
    ranges = sum(bool(by_name[gold.video]) for gold in question.gold)
    grades = {id: max(question.gold[number].grade for number in numbers) for id, numbers in ranges_by_window.items()}
    return GoldWindows(ranges, ranges_by_window, grades)
