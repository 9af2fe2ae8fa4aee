from datetime import date

import pytest

from subtitle_rag.korean.periods import parse_period
from subtitle_rag.search.query import offer_period, parse_day, parse_query

TODAY = date(2026, 3, 31)


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("2024-01-05", "2024-01-05", "2024-01-05"),
        ("20240105", "2024-01-05", "2024-01-05"),
        ("2024.1.5", "2024-01-05", "2024-01-05"),
        ("2024. 1. 5.", "2024-01-05", "2024-01-05"),
        ("2024/1/5", "2024-01-05", "2024-01-05"),
        ("2024년 1월 5일", "2024-01-05", "2024-01-05"),
        ("2024년 2월", "2024-02-01", "2024-02-29"),
        ("2024.2", "2024-02-01", "2024-02-29"),
        ("2024년", "2024-01-01", "2024-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("작년", "2025-01-01", "2025-12-31"),
        ("지난달", "2026-02-01", "2026-02-28"),
        ("지난 달", "2026-02-01", "2026-02-28"),
        ("지난주", "2026-03-23", "2026-03-29"),
        ("어제", "2026-03-30", "2026-03-30"),
        ("1개월 전", "2026-02-28", "2026-02-28"),
        ("2주 전", "2026-03-17", "2026-03-17"),
        ("last month", "2026-02-01", "2026-02-28"),
    ],
)
def test_days_are_read_as_they_are_written(typed: str, first: str, last: str) -> None:
    assert parse_period(typed, TODAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("typed", ["", "2026-0", "2026-13", "2026.2.30", "0000", "언젠가", "9999년 전", "2024년월"])
def test_other_texts_name_no_day(typed: str) -> None:
    assert parse_period(typed, TODAY) is None


def test_a_filter_takes_the_first_or_the_last_day() -> None:
    assert (parse_day("after", "2024년 2월"), parse_day("before", "2024년 2월")) == (
        date(2024, 2, 1),
        date(2024, 2, 29),
    )
    assert parse_day("since", "작년", today=TODAY) == date(2025, 1, 1)


@pytest.mark.parametrize("typed", ["이후:2024년 1월 5일 치킨", "치킨 after:2024. 1. 5.", "after:2024.1.5 치킨"])
def test_a_date_with_spaces_needs_no_quotes(typed: str) -> None:
    query = parse_query(typed)
    assert (query.text, query.after) == ("치킨", date(2024, 1, 5))


def test_a_number_behind_a_full_date_is_a_word() -> None:
    assert parse_query("after:2024-01-05 3 치킨").text == "3 치킨"


TYPED = [
    ("치킨 2024년 10월", "2024-10-01", "2024-10-31"),
    ("셔츠 작년", "2025-01-01", "2025-12-31"),
    ("셔츠 작년 3월", "2025-03-01", "2025-03-31"),
    ("작년 3월 셔츠", "2025-03-01", "2025-03-31"),
    ("코트 2024년 봄", "2024-03-01", "2024-05-31"),
    ("치킨 24.1.1", "2024-01-01", "2024-01-01"),
    ("치킨 석 달 전", "2026-08-01", "2026-08-31"),
    ("치킨 3달전", "2026-08-01", "2026-08-31"),
    ("수박 지난 여름", "2026-06-01", "2026-08-31"),
    ("지난여름에 먹은 수박", "2026-06-01", "2026-08-31"),
    ("코트 지난 겨울", "2025-12-01", "2026-02-28"),
    ("코트 지난 가을", "2025-09-01", "2025-11-30"),
    ("단풍 올가을", "2026-09-01", "2026-11-30"),
    ("발표 2019", "2019-01-01", "2019-12-31"),
    ("발표 2019년 8월 15일", "2019-08-15", "2019-08-15"),
    ("발표 지난달", "2026-10-01", "2026-10-31"),
    ("지난주에 올라온 발표", "2026-11-16", "2026-11-22"),
    ("발표 재작년 가을", "2024-09-01", "2024-11-30"),
    ("발표 3년 전", "2023-01-01", "2023-12-31"),
    ("발표 3년 전 여름", "2023-06-01", "2023-08-31"),
    ("발표 두 달 전", "2026-09-01", "2026-09-30"),
    ("발표 최근 3개월", "2026-08-26", "2026-11-26"),
    ("발표 최근 한 달 동안", "2026-10-26", "2026-11-26"),
    ("발표 2023년 하반기", "2023-07-01", "2023-12-31"),
    ("발표 2023년 1분기", "2023-01-01", "2023-03-31"),
    ("발표 24년 10월", "2024-10-01", "2024-10-31"),
    ("발표 지난 3월", "2026-03-01", "2026-03-31"),
    ("지난 12월 발표", "2025-12-01", "2025-12-31"),
    ("발표 올해 유월", "2026-06-01", "2026-06-30"),
    ("발표 작년 시월", "2025-10-01", "2025-10-31"),
    ("발표 2024/10/05", "2024-10-05", "2024-10-05"),
    ("발표 이번 달", "2026-11-01", "2026-11-30"),
    ("일주일 전 커피", "2026-11-16", "2026-11-22"),
    ("talk last year", "2025-01-01", "2025-12-31"),
    ("어제 올린 영상", "2026-11-25", "2026-11-25"),
    ("엊그제 올라온 발표", "2026-11-24", "2026-11-24"),
    ("6월에 올라온 치킨", "2026-06-01", "2026-06-30"),
    ("12월에 올라온 치킨", "2025-12-01", "2025-12-31"),
    ("이천이십사년 국수", "2024-01-01", "2024-12-31"),
    ("이십사년 시월 치킨", "2024-10-01", "2024-10-31"),
    ("올해 초 치킨", "2026-01-01", "2026-03-31"),
    ("작년 말 국수", "2025-10-01", "2025-12-31"),
    ("반년 전 국수", "2026-05-01", "2026-05-31"),
    ("열흘 전 국수", "2026-11-16", "2026-11-16"),
    ("최근 보름 국수", "2026-11-11", "2026-11-26"),
    ("올 초 국수", "2026-01-01", "2026-03-31"),
    ("지난 주말 국수", "2026-11-21", "2026-11-22"),
    ("저저번 주 국수", "2026-11-09", "2026-11-15"),
    ("재재작년 국수", "2023-01-01", "2023-12-31"),
    ("'24년 봄 국수", "2024-03-01", "2024-05-31"),
    ("그끄저께 올라온 국수", "2026-11-23", "2026-11-23"),
    ("2019년부터 2021년까지 국수", "2019-01-01", "2021-12-31"),
    ("국수 2019~2021", "2019-01-01", "2021-12-31"),
    ("국수 2024년 1월부터 3월까지", "2024-01-01", "2024-03-31"),
    ("국수 작년 3월에서 올해 2월 사이", "2025-03-01", "2026-02-28"),
    ("noodles october 2024", "2024-10-01", "2024-10-31"),
    ("noodles Oct 2024", "2024-10-01", "2024-10-31"),
    ("noodles last summer", "2026-06-01", "2026-08-31"),
    ("noodles 2 years ago", "2024-01-01", "2024-12-31"),
    ("noodles last 3 months", "2026-08-26", "2026-11-26"),
]


@pytest.mark.parametrize(("typed", "first", "last"), TYPED)
def test_a_date_among_the_words_is_offered(typed: str, first: str, last: str) -> None:
    today = date(2026, 11, 26)
    offer = offer_period(typed, today)
    assert offer is not None
    assert offer.before is not None
    assert (offer.after, offer.before) == (date.fromisoformat(first), date.fromisoformat(last))
    taken = parse_query(offer.query)
    assert (taken.after, taken.before or today) == (offer.after, min(offer.before, today))
    assert offer_period(offer.query, today) is None
    assert not {"올라온", *offer.typed.split()} & set(taken.text.split())


@pytest.mark.parametrize(
    ("typed", "after", "before", "query", "sentence"),
    [
        ("국수 작년부터", "2025-01-01", None, "국수 이후:2025", "→ only what was uploaded from 2025-01-01 on"),
        ("2020년 이후 국수", "2020-01-01", None, "국수 이후:2020", "→ only what was uploaded from 2020-01-01 on"),
        ("3년 전부터 국수", "2023-01-01", None, "국수 이후:2023", "→ only what was uploaded from 2023-01-01 on"),
        (
            "국수 2020년 3월까지",
            None,
            "2020-03-31",
            "국수 이전:2020-03",
            "→ only what was uploaded up to 2020-03-31",
        ),
        ("2020년 이전 국수", None, "2020-12-31", "국수 이전:2020", "→ only what was uploaded up to 2020-12-31"),
    ],
)
def test_a_date_may_be_open(typed: str, after: str | None, before: str | None, query: str, sentence: str) -> None:
    offer = offer_period(typed, date(2026, 11, 26))
    assert offer is not None
    days = [day and day.isoformat() for day in (offer.after, offer.before)]
    assert (*days, offer.query, offer.sentence) == (after, before, query, sentence)


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "오늘부터 다이어트",
            "처음부터 끝까지",
            "1부터 100까지 국수",
            "국수 2030년부터",
        ),
        *("3월부터 듣는 수업", "이전 발표", "발표 이후", "may 국수", "abc2024 국수"),
        *("24년 전통 국밥", "오늘 점심", "3월의 토끼", "98년생 모임", "30000원 치킨", "1984 소설", "봄 코트", "1/3 컵"),
        *(
            "작년",
            "2024년 10월",
            "치킨 2030년",
            "치킨 after:2024 작년",
            '치킨 "작년"',
            "치킨 -작년",
            "",
            "세 달란트",
            "이십사년 전통 국밥",
            "6월에 먹은 수박",
            "어제 먹은 치킨",
        ),
    ],
)
def test_other_words_are_no_date(typed: str) -> None:
    assert offer_period(typed, date(2026, 11, 26)) is None
