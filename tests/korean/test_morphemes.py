import math
import os
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import astuple
from threading import Thread

import pytest
from hypothesis import given, strategies as st

from subtitle_rag.base.vectors.named_vectors import check_vector
from subtitle_rag.korean.morphemes import (
    AVERAGE_BIGRAMS,
    AVERAGE_MORPHEMES,
    DEFAULT_PARAMS,
    NICENESS,
    SPANNING_WEIGHT,
    Analyzer,
    blank_unspoken,
    document_bigrams,
    document_vector,
    key,
    query_bigrams,
    sparse,
    term_id,
    words,
)

pytestmark = pytest.mark.kiwi

TEXT = st.text(
    st.sampled_from("꽃게찜를을먹었어요 했다  ㅋㅎabcABC12.,!?[]>♪#@-'☕🔥👨\u200d👩İﬁＡ½①㎏é한")
    | st.characters(codec="utf-8"),
    max_size=40,
)


def analysed(analyzer: Analyzer, text: str) -> list[tuple[str, str]]:
    """(form, what it stands for in the text)"""
    found = next(analyzer.morphemes([text]))
    return [(form, text[a:b]) for form, a, b in zip(found.forms, found.starts, found.ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("꽃게를 꽃게찜", [("꽃게", "꽃게"), ("꽃게찜", "꽃게찜"), ("꽃게", "꽃게"), ("찜", "찜")]),
        ("어제 먹었어요", [("어제", "어제"), ("먹", "먹었어요")]),
        ("예뻤다", [("예쁘", "예뻤다")]),
        ("집에 갔어요", [("집", "집"), ("가", "갔어요")]),
        ("🔥치킨 😀먹었어요 🇰🇷 소스", [("치킨", "치킨"), ("먹", "먹었어요"), ("소스", "소스")]),
        ("👨\u200d👩\u200d👧 가족", [("가족", "가족")]),
        ("[음악] 치킨 >> 소스 ♪♪ 먹고", [("치킨", "치킨"), ("소스", "소스"), ("먹", "먹고")]),
        ("İstanbul", [("i̇stanbul", "İstanbul")]),
        ("... !? 🔥", []),
        ("#치킨\x1f", [("#치킨", "#치킨")]),
        ("#\x1e", []),
        ("", []),
        ("   ", []),
    ],
)
def test_morphemes_stand_where_their_words_are(analyzer: Analyzer, text: str, expected: list[tuple[str, str]]) -> None:
    assert analysed(analyzer, text) == expected


@pytest.mark.parametrize("before", ["", "🔥", "🔥" * 50, "가나다 ", "[음악] ", "\U0001f1f0\U0001f1f7 é ", "a\n"])
def test_what_stands_before_a_word_does_not_shift_it(analyzer: Analyzer, before: str) -> None:
    text = before + " 꽃게를 먹었어요"
    assert analysed(analyzer, text)[-2:] == [("꽃게", "꽃게"), ("먹", "먹었어요")]


@given(texts=st.lists(TEXT, max_size=4))
def test_spans_are_inside_the_text_and_hold_something(analyzer: Analyzer, texts: list[str]) -> None:
    texts = [unicodedata.normalize("NFC", text) for text in texts]
    for text, found in zip(texts, analyzer.morphemes(texts), strict=True):
        assert len(found.forms) == len(found.starts) == len(found.ends)
        assert list(found.starts) == sorted(found.starts)
        for form, start, end in zip(found.forms, found.starts, found.ends, strict=True):
            assert 0 <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip() != ""
            assert form == key(form) != ""


def test_many_texts_come_back_in_their_order(analyzer: Analyzer) -> None:
    found = list(analyzer.morphemes([f"치킨{'🔥' * (i % 3)} 소스 {i}" for i in range(300)]))
    assert [one.forms[-1] for one in found] == [str(i) for i in range(300)]
    assert list(analyzer.morphemes([])) == []


def test_several_threads_share_one_kiwi() -> None:
    fresh, loaded = Analyzer(), []
    threads = [Thread(target=lambda: loaded.append(fresh.load())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(kiwi) for kiwi in loaded}) == 1
    assert len(loaded) == 4


LOAD_YIELDING = """
import os
import time
from subtitle_rag.korean.morphemes import Analyzer
analyzer = Analyzer(yields=True)
assert len(next(analyzer.morphemes(["간장에 조린 두부"])).forms) == 3
deadline = time.monotonic() + 10
while len(os.listdir("/proc/self/task")) > 3 and time.monotonic() < deadline:
    time.sleep(0.01)  # the system lists an ended thread a moment longer than Python
priorities = {int(id): os.getpriority(os.PRIO_PROCESS, int(id)) for id in os.listdir("/proc/self/task")}
print(priorities.pop(os.getpid()), *sorted(priorities.values()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes have a priority, threads none")
def test_kiwi_s_threads_yield_and_no_other() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    run = subprocess.run([sys.executable, "-c", LOAD_YIELDING], capture_output=True, text=True, check=True)
    assert list(map(int, run.stdout.split())) == [own, NICENESS, NICENESS]


@pytest.mark.parametrize(("word", "other"), [("무늬", "문양"), ("골짜기", "계곡"), ("월급", "봉급")])
def test_a_noun_has_relatives_that_may_stand_for_it(analyzer: Analyzer, word: str, other: str) -> None:
    assert other in analyzer.related([word])[word]


@pytest.mark.parametrize(
    "pair",
    ["북쪽 남쪽", "수출 수입", "긍정 부정", "불신 신뢰", "수요일 화요일", "여당 야당", "후반 초반"],
)
def test_opposites_and_words_of_a_series_are_no_relatives(analyzer: Analyzer, pair: str) -> None:
    word, other = pair.split()
    assert other not in analyzer.related([word])[word]
    assert word not in analyzer.related([other])[other]


@pytest.mark.parametrize("word", ["산", "사람", "크", "만들", "아아", "볼", "것", "서울"])
def test_words_of_one_letter_verbs_names_and_interjections_have_no_bound_nouns_for_relatives(
    analyzer: Analyzer, word: str
) -> None:
    related = analyzer.related([word])[word]
    assert not {"것", "일", "대", "호", "볼", "작", "친구", "부산"}.intersection(related)


def test_a_known_word_is_near_to_another_even_without_relatives(analyzer: Analyzer) -> None:
    assert analyzer.related(["사이즈"])["사이즈"] == ()
    nearness = analyzer.nearness(["사이즈", "치킨", "은솔포"])
    assert 0 < nearness["사이즈"] < 1
    assert 0 < nearness["치킨"] < 1
    assert nearness["은솔포"] == 0


@given(form=TEXT)
def test_any_form_may_be_asked_for_its_relatives(analyzer: Analyzer, form: str) -> None:
    assert key(form) not in analyzer.related([key(form)])[key(form)]


@given(TEXT)
def test_cleaning_keeps_every_other_character_in_its_place(text: str) -> None:
    cleaned = blank_unspoken(text)
    assert len(cleaned) == len(text)
    assert all(new in (old, " ") for old, new in zip(text, cleaned, strict=True))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("[음악] 치킨", "     치킨"),
        ("치킨 [박수] 소스", "치킨      소스"),
        (">> 치킨", "   치킨"),
        ("♪♪♪ 치킨 ♪", "    치킨  "),
        ("[이건 열두 자가 넘는 글입니다] 치킨", "[이건 열두 자가 넘는 글입니다] 치킨"),
        ("[[음악]]", "[    ]"),
        ("a > b [", "a > b ["),
    ],
)
def test_sound_tags_and_speaker_marks_are_blanked(text: str, cleaned: str) -> None:
    assert blank_unspoken(text) == cleaned


def test_words_are_runs_of_letters_in_their_indexed_form() -> None:
    assert words("Ｋ-POP! 꽃게찜,먹방 🔥 ﬁne_1 [음악]") == ["k", "pop", "꽃게찜", "먹방", "fine", "1"]


def test_bigrams_run_across_spaces_and_a_letter_alone_is_a_gram() -> None:
    assert document_bigrams("꽃 게찜") == Counter({"꽃게": 1, "게찜": 1, "꽃": 1})
    assert list(query_bigrams("꽃 게찜")) == [("꽃", 1.0), ("꽃게", SPANNING_WEIGHT), ("게찜", 1.0)]
    assert document_bigrams("꽃") == Counter({"꽃": 1})
    assert document_bigrams("🔥 !") == Counter()


@given(TEXT)
def test_a_query_has_the_grams_that_the_same_text_has_as_a_document(text: str) -> None:
    assert Counter(gram for gram, _weight in query_bigrams(text)) == document_bigrams(text)


def test_a_million_marks_take_no_longer_than_a_million_letters() -> None:
    """A pattern that tries again at every mark would take hours."""
    assert document_bigrams("." * 1_000_000 + "가" + "-" * 1_000_000) == Counter({"가": 1})


@pytest.mark.parametrize(
    ("field", "term", "id"), [("m", "치킨", 3413994515), ("b", "치킨", 308117183), ("m", "a", 1218567729)]
)
def test_term_ids_never_change(field: str, term: str, id: int) -> None:
    """An index that was filled yesterday holds these numbers."""
    assert term_id(field, term) == id


def test_a_documents_weights_are_bm25s() -> None:
    forms, text = ["치킨", "치킨", "소스"], "치킨 치킨 소스"

    def weight(tf: int, length: int, average: float) -> float:
        return (
            tf
            * (DEFAULT_PARAMS.k1 + 1)
            / (tf + DEFAULT_PARAMS.k1 * (1 - DEFAULT_PARAMS.b + DEFAULT_PARAMS.b * length / average))
        )

    expected = {
        term_id("m", "치킨"): weight(2, 3, AVERAGE_MORPHEMES),
        term_id("m", "소스"): weight(1, 3, AVERAGE_MORPHEMES),
        term_id("b", "치킨"): DEFAULT_PARAMS.bigrams * weight(2, 5, AVERAGE_BIGRAMS),
        term_id("b", "킨치"): DEFAULT_PARAMS.bigrams * weight(1, 5, AVERAGE_BIGRAMS),
        term_id("b", "킨소"): DEFAULT_PARAMS.bigrams * weight(1, 5, AVERAGE_BIGRAMS),
        term_id("b", "소스"): DEFAULT_PARAMS.bigrams * weight(1, 5, AVERAGE_BIGRAMS),
    }
    vector = document_vector(forms, text)
    assert vector.indices == tuple(sorted(expected))
    assert vector.values == pytest.approx([expected[id] for id in sorted(expected)])


def test_a_term_of_the_context_counts_as_often_as_its_weight_says() -> None:
    vector = document_vector(["치킨"], "", context_forms=["치킨", "양념"])
    counts = {"치킨": 1 + DEFAULT_PARAMS.context, "양념": DEFAULT_PARAMS.context}
    norm = DEFAULT_PARAMS.k1 * (1 - DEFAULT_PARAMS.b + DEFAULT_PARAMS.b * sum(counts.values()) / AVERAGE_MORPHEMES)
    expected = {term_id("m", form): tf * (DEFAULT_PARAMS.k1 + 1) / (tf + norm) for form, tf in counts.items()}
    assert DEFAULT_PARAMS.context > 1
    assert dict(zip(vector.indices, vector.values, strict=True)) == pytest.approx(expected)


def test_pairs_of_letters_of_the_context_count_as_often_too() -> None:
    inside = document_vector([], "치킨 양념")
    in_context = document_vector([], "치킨", context="양념")
    pair = term_id("b", "양념")
    assert dict(zip(*astuple(in_context), strict=True))[pair] > dict(zip(*astuple(inside), strict=True))[pair]


@given(st.lists(TEXT, max_size=8), TEXT)
def test_the_index_takes_every_documents_vector(forms: list[str], text: str) -> None:
    vector = document_vector(map(key, forms), text)
    check_vector("bm25", vector)
    assert all(weight > 0 and math.isfinite(weight) for weight in vector.values)


def test_nothing_has_an_empty_vector() -> None:
    assert document_vector([], "") == sparse({})
    assert sparse({}).indices == ()


def test_adverbs_and_their_like_name_nothing(analyzer: Analyzer) -> None:
    some = ["훨씬", "꾸준히", "여기", "화려", "치킨", "유튜브", "은솔포", "python"]
    assert analyzer.adverbs(some) == {"훨씬", "꾸준히", "여기", "화려"}
