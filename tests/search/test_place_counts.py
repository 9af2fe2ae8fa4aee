"""How many videos and places say the typed words: of captions whose true counts are known."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.said_words import PlaceCount
from subtitle_rag.search.own_words import spellings_by_word
from subtitle_rag.search.place_counts import counts_text
from subtitle_rag.search.query import parse_query
from tests.support.cases import cases
from tests.support.searchable import Searchable, put_talk, video

CHICKEN = video("chicken0001", "치킨 먹는 날", "느긋한 식탁", "2024-03-01")
MARKET = video("market00001", "시장 구경", "느긋한 식탁", "2025-06-01")
TRIP = video("trip0000001", "여행 이야기", "바다 채널")
COPY = video("copy0000001", "쇼츠", "바다 채널", "2025-07-01")
SAUCE = "치킨을 청귤 소스에 찍어 먹었어요"
TALKS = {
    CHICKEN: [[SAUCE, "치킨 치킨 치킨"], ["치킨이 식었네요"], ["오늘은 여기까지"], ["치킨집 사장님이에요"]],
    MARKET: [["소스가 세 가지예요"], ["양념치킨이 삼천 원이에요"], ["핸드 크림을 샀어요"], ["르메르를 봤어요"]],
    TRIP: [["바다에서 먹었습니다"], ["핸드크림이 좋아요", "2019년에 왔어요"]],
    COPY: [[SAUCE, "치킨 치킨 치킨"]],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Searchable]:
    made = Searchable(tmp_path_factory.mktemp("counts"), analyzer, TALKS)
    yield made
    made.close()


@cases(
    ("query", "videos", "places"),
    [
        ("치킨", 3, 5),  # three times in a minute are one place, and a copy is one too
        ("치킨이", 3, 5),
        ("치킨 소스", 2, 2),  # both in one minute
        ("소스 치킨", 2, 2),
        ("먹다", 3, 3),  # whatever the ending
        ("먹었어", 3, 3),
        ("르메르", 1, 1),
        ("핸드크림", 2, 2),  # however it is spaced
        ("핸드 크림", 2, 2),
        ("2019년", 1, 1),
        ("집", 1, 1),
        ("여행", 0, 0),  # a title says nothing
        ("우주선", 0, 0),
        ("치킨 우주선", 0, 0),
        ("치킨 -소스", 2, 3),
        ("치킨 -쇼츠", 3, 5),  # a title takes nothing away
        ('"청귤 소스"', 2, 2),
        ('"치킨 치킨"', 2, 2),
        ('"소스 청귤"', 0, 0),
        ('치킨 "사장님"', 1, 1),
        ("치킨 channel:느긋한", 2, 4),
        ("치킨 video:chicken0001", 1, 3),
        ("치킨 after:2025-01-01", 2, 2),
        ("치킨 before:2024-12-31", 1, 3),
        ("먹었어 after:2000-01-01", 2, 2),  # nobody knows the day of the trip
        ("치킨 채널:바다 이후:2025", 1, 1),
    ],
)
def test_the_places_of_all_typed_words_are_counted(made: Searchable, query: str, videos: int, places: int) -> None:
    assert made.searcher.search(parse_query(query)).counts == PlaceCount(videos, places)


@cases("query", ["치킨", "소스", "먹었어", "핸드크림", "르메르", "치킨 소스", "치킨 -소스", "치킨 channel:바다"])
def test_a_search_shows_every_place_that_is_counted(made: Searchable, query: str) -> None:
    """The windows of the scenes and of their copies, whose own captions say each word."""
    parsed = parse_query(query)
    result = made.searcher.search(parsed)
    assert result.lexical is not None
    spellings = spellings_by_word(result.lexical).values()
    shown = made.searcher.rank(parsed)
    forms = made.library.forms([entry.window_id for entry in shown])
    saying = {
        entry.window_id: entry.video_id
        for entry in shown
        if all(any(each <= {*forms[entry.window_id].split("\n")} for each in of_word) for of_word in spellings)
    }
    assert result.counts == PlaceCount(len({*saying.values()}), len(saying))


def test_a_query_without_words_has_no_counts(made: Searchable) -> None:
    assert made.searcher.search(parse_query("치킨")).counts is not None
    assert [each._asdict() for each in made.searcher.word_counts(parse_query("치킨 우주선"))] == [
        {"word": "치킨", "videos": 3, "places": 5},
        {"word": "우주선", "videos": 0, "places": 0},
    ]


def test_counts_follow_the_library(tmp_path: Path, analyzer: Analyzer) -> None:
    made = Searchable(tmp_path, analyzer, TALKS)

    def counted() -> PlaceCount | None:
        return made.searcher.search(parse_query("치킨")).counts

    made.library.remove_videos([COPY.id])
    assert counted() == PlaceCount(2, 4)
    put_talk(made.library, CHICKEN, [["이제 국수를 먹어요"]])
    assert counted() == PlaceCount(1, 1)  # its new captions wait
    for _event in made.indexer.finish():
        pass
    assert counted() == PlaceCount(1, 1)
    for _event in made.indexer.rebuild():
        pass
    assert counted() == PlaceCount(1, 1)
    made.library.forget_index()
    assert made.library.database.row("SELECT count(*) FROM said") == (0,)
    made.close()


def test_no_window_is_read_to_count_words(made: Searchable) -> None:
    statements: list[str] = []
    with made.library.database.read() as db:
        db.set_trace_callback(statements.append)
        made.searcher.word_counts(parse_query("치킨"))
        db.set_trace_callback(None)
    counting = [each for each in statements if "MATCH" in each]
    assert len(counting) == 1
    plan = " ".join(row[3] for row in made.library.database.rows(f"EXPLAIN QUERY PLAN {counting[0]}"))
    assert "window" not in plan
    assert "said VIRTUAL TABLE" in plan


def test_counts_are_told_in_words() -> None:
    assert counts_text(PlaceCount(8, 42)) == "8 videos, 42 places"
    assert counts_text(PlaceCount(1, 1)) == "1 video, 1 place"
    assert counts_text(PlaceCount(0, 0)) == "No place says all of the words. The nearest:"
