"""The words of a library: what begins, sounds and is spelled like a typed one."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rapidfuzz.distance import Levenshtein

from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.vocabulary import NEAR_SPELLINGS, Vocabulary, nearest, spellings
from tests.support.searchable import filled, video


@given(
    st.sets(st.text("가나각낙김긴", min_size=2, max_size=5), max_size=60),
    st.text("가나각낙김긴", min_size=3, max_size=5),
)
def test_variants_by_number_of_letters_are_those_of_the_whole_vocabulary(forms: set[str], typed: str) -> None:
    letters = unicodedata.normalize("NFD", typed)
    distances = [
        (Levenshtein.distance(letters, unicodedata.normalize("NFD", form)), form) for form in forms if len(form) >= 3
    ]
    near = sorted(pair for pair in distances if pair[0] <= 1)[:NEAR_SPELLINGS]
    assert nearest(typed, spellings(forms)) == [form for _distance, form in near if form != typed]


@pytest.fixture
def vocabulary(tmp_path: Path, analyzer: Analyzer) -> Iterator[Vocabulary]:
    library = filled(
        tmp_path / "library.db", analyzer, {video("invented001"): [["떡볶이와 떡국을 먹고 김밥도 먹어요"]]}
    )
    yield Vocabulary(library)
    library.close()


@pytest.mark.parametrize(
    ("typed", "begun"), [("떡", {"떡볶이", "떡국"}), ("떡ㅂ", {"떡볶이"}), ("김바", {"김밥"}), ("밥", set())]
)
def test_words_begin_with_the_keys_of_an_unfinished_one(vocabulary: Vocabulary, typed: str, begun: set[str]) -> None:
    assert {form for form in vocabulary.begun(typed) if len(form) > 1} == begun


def test_it_has_its_own_words_alone(vocabulary: Vocabulary) -> None:
    assert vocabulary.has("김밥")
    assert not vocabulary.has("김")
    assert not vocabulary.has("김밥천국")


def test_names_are_those_of_titles(vocabulary: Vocabulary) -> None:
    title = video("invented001").title.split()[0]
    assert vocabulary.names_any([title])
    assert not vocabulary.names_any(["떡볶이"])
    assert not vocabulary.names_any([title[:1]]), "one letter is chance"
