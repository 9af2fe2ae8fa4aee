"""Divide questions into two halves: one to choose settings with, one to measure the choice."""

import random
from collections import Counter
from collections.abc import Sequence

from subtitle_rag.evaluation.questions import Question

SEED = 7


def halves(questions: Sequence[Question], seed: int = SEED) -> tuple[list[int], list[int]]:
    """Return the indices of the train half and of the test half; the same for the same questions and seed.

    All questions that share a video are in one half, and the halves have about as many of each kind. The groups go out
    largest first, each to the half that it leaves more even.
    """
    groups = _groups(questions)
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    dealt: tuple[list[int], list[int]] = [], []
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for group in groups:
        kinds = Counter(questions[at].kind for at in group)
        half = min((0, 1), key=lambda half: _unevenness(counts, half, kinds))
        dealt[half].extend(group)
        counts[half].update(kinds)
    return sorted(dealt[0]), sorted(dealt[1])


def _unevenness(counts: tuple[Counter[str], Counter[str]], half: int, kinds: Counter[str]) -> tuple[int, int]:
    """Return the differences by kind and in all, if the group went to this half."""
    this, that = Counter(counts[half]), counts[1 - half]
    this.update(kinds)
    return sum(abs(this[kind] - that[kind]) for kind in {*this, *that}), abs(this.total() - that.total())


def _groups(questions: Sequence[Question]) -> list[list[int]]:
    """Return the indices of questions that share videos, directly or through others."""
    parent = list(range(len(questions)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    first: dict[str, int] = {}
    for at, question in enumerate(questions):
        for gold in question.gold:
            parent[root(at)] = root(first.setdefault(gold.video, at))
    groups: dict[int, list[int]] = {}
    for at in range(len(questions)):
        groups.setdefault(root(at), []).append(at)
    return list(groups.values())
