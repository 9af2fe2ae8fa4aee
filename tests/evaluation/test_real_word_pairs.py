"""Pairs of nouns that exactly one window of real captions says: its scene comes first."""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from kiwipiepy import Kiwi

from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.campaign.figures import SEED, Say, count, say as say

pytestmark = pytest.mark.kiwi

PAIRS = count("SUBTITLE_RAG_PAIRS", 200)
LEAST_FIRST = 0.98
FREQUENCY = range(2, 81)
"""Windows that say a noun of a pair: rarer ones make no pair, commoner ones say little."""


def noun_pairs(runtime: Runtime, pairs: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield two nouns of Hangul and the id of the only window that says both."""
    library = runtime.library
    ids = [window.id for state in library.videos() for window in library.windows_of(state.video.id)]
    saying: defaultdict[str, set[str]] = defaultdict(set)
    for id, analysis in library.morphemes(ids).items():
        for form in analysis.forms:
            saying[form].add(id)
    kiwi = Kiwi()
    nouns = sorted(form for form in saying if len(saying[form]) in FREQUENCY and is_noun(runtime, kiwi, form))
    chooser = random.Random(seed)
    while pairs:
        first, second = chooser.sample(nouns, 2)
        both = saying[first] & saying[second]
        if len(both) == 1:
            pairs -= 1
            yield first, second, next(iter(both))


def is_noun(runtime: Runtime, kiwi: Kiwi, form: str) -> bool:
    """Whether a form is one noun of Hangul, alone as in its sentence: 반하 is the stem of 반하다."""
    if len(form) < 2 or not all("가" <= letter <= "힣" for letter in form):
        return False
    if [token.tag for token in kiwi.tokenize(form)] not in (["NNG"], ["NNP"]):
        return False
    return next(runtime.analyzer.morphemes([f"{form}를"])).forms == (form,)


@pytest.mark.campaign(part="data")
def test_the_window_that_says_both_nouns_is_first(runtime: Runtime, real_data: Path, say: Say) -> None:
    for _event in runtime.indexer.index([real_data / "fashion_asr", real_data / "pyconkr_2019"]):
        pass
    misses = []
    for first, second, id in noun_pairs(runtime, PAIRS, SEED):
        query = f"{first} {second}"
        ranked = runtime.searcher.rank(parse_query(query), depth=5)
        if not ranked or ranked[0].window_id != id:
            misses.append(query)
    say(f"pairs of nouns: {PAIRS}, seed {SEED}, first {PAIRS - len(misses)}, others: {', '.join(misses) or 'none'}")
    assert len(misses) <= (1 - LEAST_FIRST) * PAIRS
