"""The two BM25 baselines against the formula."""

import math
from collections import Counter

import pytest

from subtitle_rag.evaluation.baselines import BASELINES, K1, B, letter_pairs, rankings, words

WORDS, PAIRS = BASELINES.values()
WINDOWS = [
    ("c", "메밀국수 육수 국수"),
    ("a", "메밀국수 메밀국수 산책"),
    ("b", "강가 산책 돌다리 왜가리 벤치"),
    ("d", "산책"),
]


def test_words_are_what_stands_between_spaces() -> None:
    assert words("[음악]  메밀국수, (Python) C++ ?!") == ["메밀국수", "python", "c++"]


def test_letter_pairs_stay_inside_words() -> None:
    assert letter_pairs("메밀국수 맛 집이") == ["메밀", "밀국", "국수", "맛", "집이"]


def scores(query: str) -> dict[str, float]:
    """BM25 as Lucene has it (without the constant factor k1 + 1)."""
    terms = {id: Counter(words(text)) for id, text in WINDOWS}
    average = sum(count.total() for count in terms.values()) / len(terms)
    ranked = dict.fromkeys(terms, 0.0)
    for term in words(query):
        spread = sum(term in count for count in terms.values())
        idf = math.log(1 + (len(terms) - spread + 0.5) / (spread + 0.5))
        for id, count in terms.items():
            ranked[id] += idf * count[term] / (count[term] + K1 * (1 - B + B * count.total() / average))
    return ranked


@pytest.mark.parametrize("query", ["메밀국수", "산책 국수", "육수 메밀국수 산책", "왜가리 산책", "없는말 산책"])
def test_the_order_is_the_formula_s(query: str) -> None:
    expected = [id for id, score in sorted(scores(query).items(), key=lambda pair: (-pair[1], pair[0])) if score]

    assert rankings(WORDS, WINDOWS, [query], depth=10) == [expected]


def test_equal_scores_are_ordered_by_id() -> None:
    same = [(id, "같은 말") for id in "dbca"]

    assert rankings(WORDS, same, ["말"], depth=3) == [["a", "b", "c"]]


def test_a_window_without_a_common_term_is_no_hit() -> None:
    assert rankings(WORDS, WINDOWS, ["없는말", "", "국수를"], depth=10) == [[], [], []]
    assert rankings(PAIRS, WINDOWS, ["국수를"], depth=10) == [["c", "a"]]


def test_no_windows_and_windows_without_words() -> None:
    assert rankings(WORDS, [], ["국수"], depth=10) == [[]]
    assert rankings(WORDS, [("a", "국수"), ("b", "[음악]")], ["국수"], depth=10) == [["a"]]


def test_nothing_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    rankings(WORDS, WINDOWS, ["국수"], depth=10)

    assert capfd.readouterr() == ("", "")
