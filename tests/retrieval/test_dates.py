from datetime import date

import pytest

from subtitle_rag.retrieval.query import parse_day, parse_period, parse_query

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


@pytest.mark.parametrize(
    "typed", ["", "2026-0", "2026-13", "2026.2.30", "0000", "26.1.1", "언젠가", "9999년 전", "2024년월"]
)
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
