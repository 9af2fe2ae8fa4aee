"""Halves of a set of questions: one to choose numbers with, the other to judge them."""

import random
from collections import Counter
from collections.abc import Sequence

from subtitle_rag.evaluation.questions import Question


def halves(questions: Sequence[Question], seed: int) -> tuple[list[int], list[int]]:
    """Return the indices of the training half and of the test half, fixed by questions and seed.

    Questions that share a video are in the same half, and both halves have about as many of each kind. Groups are
    assigned by size, largest first, to the half that they make more even.
    """
    groups = _groups(questions)
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    dealt: tuple[list[int], list[int]] = [], []
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for group in groups:
        kinds = Counter(questions[at].kind for at in group)
        half = min((0, 1), key=lambda half: _split_imbalance(counts, half, kinds))
        dealt[half].extend(group)
        counts[half].update(kinds)
    return sorted(dealt[0]), sorted(dealt[1])


def _split_imbalance(counts: tuple[Counter[str], Counter[str]], half: int, kinds: Counter[str]) -> tuple[int, int]:
    """Return the differences by kind and in total if the group went to this half."""
    this, that = Counter(counts[half]), counts[1 - half]
    this.update(kinds)
    return sum(abs(this[kind] - that[kind]) for kind in {*this, *that}), abs(this.total() - that.total())


def _groups(questions: Sequence[Question]) -> list[list[int]]:
    """Return the indices of questions that share videos, directly or through others."""
    groups: list[tuple[set[str], list[int]]] = []
    for at, question in enumerate(questions):
        videos, indices = {gold.video for gold in question.gold}, [at]
        for group in [group for group in groups if not group[0].isdisjoint(videos)]:
            groups.remove(group)
            videos, indices = videos | group[0], indices + group[1]
        groups.append((videos, indices))
    return sorted(sorted(indices) for _videos, indices in groups)
