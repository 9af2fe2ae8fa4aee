import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given, strategies as st

from subtitle_rag.base.domain.values import Line
from subtitle_rag.base.vectors.points import SparseVector
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.korean.morphemes import Analyzer, words
from subtitle_rag.search.highlights import Span, WordMark, best_line, marks, spans, spoken_forms
from tests.support.cases import cases

TEXT = st.text(
    st.sampled_from("꽃게찜를먹었어요 가  abAB1.,-'☕🔥👨\u200d👩İﬁＡ½①㎏éßſ") | st.characters(codec="utf-8"),
    max_size=40,
).map(lambda text: unicodedata.normalize("NFC", text))


def typed(analyzer: Analyzer, text: str) -> LexicalQuery:
    """The query without a library: no variants."""
    forms = next(analyzer.morphemes([text])).forms
    return LexicalQuery(SparseVector((), ()), frozenset(forms), tuple(words(text)))


def typed_marks(analyzer: Analyzer, text: str, query: LexicalQuery) -> list[Span]:
    return marks(text, spoken_forms(next(analyzer.morphemes([text])), query.forms), query).typed


def marked(analyzer: Analyzer, text: str, query: str) -> list[str]:
    return [text[a:b] for a, b in typed_marks(analyzer, text, typed(analyzer, query))]


@given(text=TEXT, query=TEXT)
@example(text="İstanbul 치킨", query="istanbul 치킨")
@example(text="ﬁne ﬁ ﬁ", query="fi")
def test_spans_are_in_order_apart_and_end_at_letters(analyzer: Analyzer, text: str, query: str) -> None:
    found = typed_marks(analyzer, text, typed(analyzer, query))
    assert found == sorted(found)
    assert all(a[1] < b[0] for a, b in pairwise(found))
    for start, end in found:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()


@given(before=TEXT, after=TEXT)
def test_a_word_of_three_letters_is_marked_wherever_it_stands(analyzer: Analyzer, before: str, after: str) -> None:
    text = f"{before} 르메르 {after}"
    at = len(before) + 1
    assert any(a <= at and at + 3 <= b for a, b in spans(text, typed(analyzer, "르메르")))


@cases(
    ("query", "text", "expected"),
    [
        ("꽃게", "꽃게를 꽃게찜이랑 꽃게도", ["꽃게", "꽃게", "꽃게"]),
        ("먹었", "어제 먹었어요 그리고 먹고", ["먹었어요", "먹고"]),
        ("가다", "집에 갔어요", ["갔어요"]),
        ("예쁜", "참 예뻤다", ["예뻤다"]),
        ("르메르", "르메르셔츠를 샀다", ["르메르"]),
        ("꽃게찜", "꽃게 찜을 했다", ["꽃게 찜"]),
        ("사이버트럭", "사이버 트럭이 왔다", ["사이버 트럭"]),
        ("치킨 소스", "🔥치킨 😀소스", ["치킨", "소스"]),
        ("abc", "ＡＢＣ 가나", ["ＡＢＣ"]),
        ("fine", "ﬁne day", ["ﬁne"]),
        ("istanbul", "오늘 İstanbul 치킨", ["İstanbul"]),
        ("치킨", "İİİİ ﬁﬁﬁ ㎏ 치킨", ["치킨"]),
        ("ㅋㅋㅋ", "아 ㅋㅋㅋ 치킨", ["ㅋㅋㅋ"]),
        ("kpop", "우리는 K-POP 팬", ["K-POP"]),
        ("소", "소스 소금", []),
        ("C++", "C++ 그리고 c", ["C++"]),
        ("치킨", "닭고기", []),
        ("", "닭고기", []),
        ("닭", "", []),
    ],
)
def test_what_a_query_marks(analyzer: Analyzer, query: str, text: str, expected: list[str]) -> None:
    assert marked(analyzer, text, query) == expected


@pytest.mark.parametrize("text", ["먹고 기다려", "최고 기록", "가고 기억"])
def test_two_letters_that_meet_across_a_space_are_not_a_word(analyzer: Analyzer, text: str) -> None:
    assert marked(analyzer, text, "고기") == []


def test_a_word_of_two_letters_is_marked_inside_another(analyzer: Analyzer) -> None:
    text = "소고기국밥"
    assert [text[a:b] for a, b in spans(text, typed(analyzer, "고기"))] == ["고기"]


def test_variants_are_marked_like_what_was_typed(analyzer: Analyzer) -> None:
    text = "통닭을 시켰어요"
    query = LexicalQuery(SparseVector((), ()), frozenset({"치킨", "통닭"}), ("치킨",))
    assert [text[a:b] for a, b in typed_marks(analyzer, text, query)] == ["통닭"]


def test_without_an_analysis_the_letters_are_marked(analyzer: Analyzer) -> None:
    assert spans("꽃게를", typed(analyzer, "꽃게")) == [(0, 2)]


def test_a_word_of_a_thousand_letters_is_searched_without_trying_every_piece() -> None:
    class Counting(str):
        asked = 0

        def __getitem__(self, key: object) -> str:
            Counting.asked += 1
            return str.__getitem__(self, key)  # type: ignore[index]

    word = Counting("".join(chr(0xAC00 + i * 7919 % 11172) for i in range(1_000)))
    text = str(word[::-1]) + str(word[300:700])
    found = spans(text, LexicalQuery(SparseVector((), ()), frozenset(), (word,)))
    assert (1_000, 1_400) in found
    assert Counting.asked < 5_000


LINES = (Line(0, 0), Line(3, 1_000), Line(6, 2_000), Line(9, 3_000))
SAID = "가나 다라 가나 마바"


@pytest.mark.parametrize(
    ("at", "start"),
    [
        ([], 0),
        ([(0, 2)], 0),
        ([(3, 5)], 1_000),
        ([(9, 11)], 3_000),
        ([(0, 2), (6, 8)], 0),
        ([(0, 2), (6, 8), (9, 11)], 2_000),
        ([(3, 5), (9, 11)], 1_000),
        ([(0, 2), (3, 5), (9, 11)], 0),
        ([(2, 3)], 0),
    ],
)
def test_the_jump_goes_to_the_line_where_most_is_said(at: list[tuple[int, int]], start: int) -> None:
    assert best_line(LINES, word_marks(SAID, at), [], {}).line.start_ms == start


def word_marks(text: str, at: list[tuple[int, int]]) -> list[WordMark]:
    return [WordMark(start, end, text[start:end], text[start:end]) for start, end in at]


@cases(
    ("marks", "related", "start"),
    [
        # one long word against two short ones
        ([(0, 2, "어쿠스틱기타"), (9, 10, "꿀"), (10, 11, "팁")], [], 30_000),
        # inflections of one word against two words
        ([(0, 2, "먹다"), (3, 5, "먹다"), (9, 10, "꿀"), (10, 11, "팁")], [], 30_000),
        # the same words: the line that says them more often
        ([(0, 2, "꿀"), (9, 10, "꿀"), (10, 11, "꿀")], [], 30_000),
        # the same words as often: the line with a variant beside them
        ([(0, 2, "꿀"), (9, 11, "꿀")], [(10, 11)], 30_000),
        # no variant outweighs a typed word
        ([(0, 2, "꿀")], [(9, 10), (10, 11)], 0),
        # the words in one line before those in two
        ([(0, 2, "꿀"), (3, 4, "꿀"), (4, 5, "팁")], [], 10_000),
    ],
)
def test_the_jump_counts_typed_words_then_how_often_then_variants(
    marks: list[tuple[int, int, str]], related: list[tuple[int, int]], start: int
) -> None:
    # each span is another piece of text: letters and spellings count for nothing
    said = [WordMark(begin, end, word, word) for begin, end, word in marks]
    lines = [Line(line.offset, 10 * line.start_ms) for line in LINES]
    assert best_line(lines, said, related, {}).line.start_ms == start


@cases(
    ("said", "rarity", "start"),
    [
        # both words in eight seconds, though not in lines beside each other
        ([(0, "자두"), (40, "자두"), (48, "살구")], {}, 40_000),
        # and not in nine
        ([(0, "자두"), (40, "자두"), (49, "살구")], {}, 0),
        # one line says both
        ([(0, "자두"), (4, "살구"), (50, "자두"), (50, "살구")], {}, 50_000),
        # far apart: the rarer word, however often the other is said
        ([(0, "자두"), (0, "자두"), (30, "살구")], {"자두": 1.5, "살구": 3.0}, 30_000),
    ],
)
def test_the_jump_goes_to_words_that_are_said_together(
    said: list[tuple[int, str]], rarity: dict[str, float], start: int
) -> None:
    lines = [Line(3 * second, 1_000 * second) for second in range(60)]
    marks = [WordMark(3 * at, 3 * at + 2, word, word) for at, word in said]
    assert best_line(lines, marks, [], rarity).line.start_ms == start


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5)), max_size=8),
)
def test_the_jump_always_goes_to_one_of_the_lines(lengths: list[int], at: list[tuple[int, int]]) -> None:
    lines = [Line(sum(lengths[:i]), i * 1_000) for i in range(len(lengths))]
    text = "가나다라마" * 20
    assert best_line(lines, word_marks(text, [(a, a + b) for a, b in sorted(at)]), [], {}).line in lines
