"""Which made questions are refused, and where a quote is said."""

import unicodedata
from collections.abc import Callable

import pytest

from subtitle_rag.evaluation.question_drafts import Draft, gold_ranges, is_plain, locate, normalized, refusal_reason
from subtitle_rag.evaluation.questions import Gold
from subtitle_rag.korean.morphemes import Analyzer
from tests.evaluation.making_desk import SAID, candidate

ONE = candidate(SAID)
GOOD = "메밀 반죽을 누구와 만들었나요?"
QUOTE = "할머니와 같이 반죽을 했습니다"


Why = Callable[..., str | None]


@pytest.fixture
def why(analyzer: Analyzer) -> Why:
    """Return why a question is refused."""

    def reason(
        query: str = GOOD, answer: str = "할머니입니다.", quote: str = QUOTE, queries: tuple[str, ...] = ()
    ) -> str | None:
        return refusal_reason(normalized(Draft(query, answer, (quote,))), ONE, queries, analyzer)

    return reason


def test_a_good_question_passes(why: Why) -> None:
    assert why() is None
    assert why("PyTorch DataLoader로 메밀 반죽 사진을 어떻게 읽나요?") is None


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("왜요?", "length"),
        ("메밀 반죽을 " * 20 + "했나요?", "length"),
        ("Who made the dough with grandma?", "language"),
        ("메밀 반죽을 谁一起做了? 该公司位于韩国", "language"),
        ("이 영상에서 누구와 반죽을 만들었나요?", "deictic"),
        ("해당 구간에서 산 것은 무엇인가요?", "deictic"),
        ("위 자막의 할머니는 무엇을 했나요?", "deictic"),
        ("두 장면에서 산 것은 무엇인가요?", "deictic"),
        ("반죽하는 날 기록에서 누가 나오나요?", "names_video"),
        ("반죽하는날기록 편에서 누가 나오나요?", "names_video"),
        ("talk-1 영상의 할머니는 무엇을 샀나요?", "names_video"),
        ("메밀 반죽은 누구와 -할머니 만들었나요?", "syntax"),
        ("채널:부엌 메밀 반죽은 누구와 만들었나요?", "syntax"),
        ("시장에서 메밀가루를 두 봉지 샀나요?", "copied"),
        ("그는 무엇을 말했나요?", "nameless"),
        ("그녀는 왜 울고 있었나요?", "nameless"),
        ("그 사람의 이름은 무엇인가요?", "nameless"),
        ("3가지 이유는 무엇인가요?", "nameless"),
        ("가장 중요한 것은 무엇인가요?", "nameless"),
        ("뭐가 제일 좋았다고 했나요?", "nameless"),
    ],
)
def test_a_bad_question_is_refused(why: Why, query: str, reason: str) -> None:
    assert why(query) == reason


@pytest.mark.parametrize("query", ["빈대떡은 누가 부쳤나요?", "PyTorch는 어디에 썼나요?", "지수는 어디로 갔나요?"])
def test_one_name_is_enough_also_one_that_the_window_has_not(why: Why, query: str) -> None:
    assert why(query) is None


def test_a_quote_must_stand_in_the_window(why: Why) -> None:
    assert why(quote="할머니와 함께 반죽을 했습니다") == "quote"
    assert why(quote="네") == "quote"
    assert why(quote="") == "quote"


def test_an_answer_must_be_there_and_korean(why: Why) -> None:
    assert why(answer="") == "length"
    assert why(answer="该公司位于韩国首尔特别市") == "language"


def test_an_answer_must_be_more_than_the_question(why: Why) -> None:
    assert why(answer=GOOD) == "echo"
    assert why("메밀 반죽을 누구와 같이 만들었나요?", answer="메밀 반죽을 누구와 같이 만들었나요") == "echo"
    assert why(answer="메밀 반죽은 할머니와 만들었습니다.") is None


def test_what_was_asked_before_is_refused(why: Why) -> None:
    assert why(queries=("메밀반죽을 누구와 만들었나요?",)) == "duplicate"
    assert why(queries=("메밀 반죽에 물을 얼마나 넣었나요?",)) is None


def test_double_quotes_become_single_ones() -> None:
    query = normalized(Draft('"메밀" 반죽을 누구와 만들었나요?', "", ())).query
    assert query == "'메밀' 반죽을 누구와 만들었나요?"
    assert is_plain(query)
    assert not is_plain('"메밀" 반죽을 누구와')


@pytest.mark.parametrize(
    "quote",
    [
        QUOTE,
        "“할머니와 같이  반죽을 했습니다.”",
        "할머니와같이 반죽을 했습니다…",
        unicodedata.normalize("NFD", QUOTE),
    ],
)
def test_a_quote_is_found_whatever_its_spaces_marks_and_form(quote: str) -> None:
    window = ONE.windows[0]
    at = SAID.index(QUOTE)
    span = locate(quote, window)
    assert span is not None
    start, end = span
    assert start <= at * 1_000 < (at + len(QUOTE)) * 1_000 <= end
    assert {start, end} <= {window.end_ms, *(line.start_ms for line in window.lines)}


def test_a_quote_of_brackets_is_found_as_the_model_was_shown_it() -> None:
    window = candidate("화면에 <메밀국수 만들기> 라고 적혀 있었어요 그래서 따라 했죠").windows[0]
    assert locate("‹메밀국수 만들기› 라고", window) is not None


def test_a_question_of_two_windows_has_a_range_in_each() -> None:
    second = "저녁에는 들기름을 넉넉히 둘러서 메밀전을 부쳤는데 아주 얇게 잘 되었습니다"
    two = candidate(SAID, second, kind="multi_context")
    span = gold_ranges(Draft(GOOD, "답", (QUOTE, second[:20])), two)
    assert [line.video for line in span] == ["talk-1", "talk-1"]
    assert span[0].end_ms <= 120_000 <= span[1].start_ms
    assert gold_ranges(Draft(GOOD, "답", (QUOTE, QUOTE)), two) == ()
    assert all(isinstance(line, Gold) for line in span)
