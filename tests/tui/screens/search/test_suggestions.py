"""Where nothing is found: queries that do find something, one Enter away; else what helps in general."""

from collections.abc import Callable
from typing import Any

import pytest

from subtitle_rag.base import i18n
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.search.suggestions import TRIES, Suggestion, suggest_queries, suggestion_reason
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.search.empty_state_page import ReadyQueryList
from tests.tui.conftest import MakeApp, Outside, drawn_by, press, running, shown

NARROW = "치킨 이후:2030-01-01 이전:2031-01-01"


@pytest.fixture
def found(runtime: Runtime) -> Callable[[str], list[Suggestion]]:
    return lambda query: suggest_queries(runtime.searcher, runtime.library, query)


@pytest.fixture
def asked(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The searches that are made, which ask the index once each."""
    texts: list[str] = []
    search = runtime.searcher.search

    def counted(query: Query, **options: Any) -> SearchResult:
        texts.append(query.raw)
        assert options["retrievers"] == ("bm25",)
        assert not options["rerank"]
        return search(query, **options)

    monkeypatch.setattr(runtime.searcher, "search", counted)
    return texts


def count(runtime: Runtime, query: str) -> int:
    return len(runtime.searcher.search(parse_query(query), retrievers=("bm25",), rerank=False).scenes)


class TestQueries:
    @pytest.mark.parametrize(
        ("query", "kind", "changed", "instead"),
        [
            ("치퀸", "spelling", "치퀸", "치킨"),
            ("치퀸을", "spelling", "치퀸", "치킨을"),
            ("캠팽 줸면", "spelling", "캠팽", "캠핑 줸면"),
            ("clzls thtm", "layout", "clzls thtm", "치킨 소스"),
            ('"CLZLS"', "layout", "CLZLS", '"치킨"'),
            ('"치킨 먹방 소스"', "quotes", '"치킨 먹방 소스"', "치킨 먹방 소스"),
            ("치킨 after:2030-01-01", "filter", "after:2030-01-01", "치킨"),
            ('치킨 before:2000-01-01 "소스"', "filter", "before:2000-01-01", '치킨 "소스"'),
        ],
    )
    def test_what_is_suggested_is_near_and_finds_what_it_says(
        self,
        runtime: Runtime,
        found: Callable[[str], list[Suggestion]],
        query: str,
        kind: str,
        changed: str,
        instead: str,
    ) -> None:
        assert count(runtime, query) == 0
        first = found(query)[0]
        assert (first.kind, first.changed, first.query) == (kind, changed, instead)
        assert first.scenes == count(runtime, instead) > 0

    def test_a_word_that_sounds_alike_is_suggested_although_it_is_found(
        self, runtime: Runtime, found: Callable[[str], list[Suggestion]]
    ) -> None:
        result = runtime.searcher.search(parse_query("치킹"), retrievers=("bm25",), rerank=False)
        assert result.scenes
        assert not result.has_known_word
        assert [(each.kind, each.query) for each in found("치킹")] == [("spelling", "치킨")]

    def test_a_misspelt_word_stays_within_its_filter(
        self, runtime: Runtime, found: Callable[[str], list[Suggestion]]
    ) -> None:
        (first,) = found("영상:치킨 치퀸")
        assert (first.query, first.scenes) == ("영상:치킨 치킨", count(runtime, "영상:치킨 치킨"))

    def test_of_filters_that_leave_nothing_together_each_may_go(self, found: Callable[[str], list[Suggestion]]) -> None:
        told = [(each.kind, each.query) for each in found("치킨 영상:치킨 이후:2030-01-01")]
        assert told == [("filter", "치킨 영상:치킨"), ("filters", "치킨")]

    def test_an_exclusion_that_leaves_nothing_is_named(
        self, runtime: Runtime, found: Callable[[str], list[Suggestion]]
    ) -> None:
        query = '"찍어" -찍어'
        assert count(runtime, query) == 0
        first = found(query)[0]
        assert (first.kind, first.changed, first.query) == ("exclusion", "-찍어", '"찍어"')

    @pytest.mark.parametrize("query", ["쀍쀍쀍", "xyzzy", "after:2030-01-01", "치킨 after:2030-1", "", "쀍 -쀍"])
    def test_nothing_is_made_up(self, found: Callable[[str], list[Suggestion]], query: str) -> None:
        assert [each for each in found(query) if not each.scenes] == []
        if "치킨" not in query:
            assert found(query) == []

    @pytest.mark.parametrize(
        "query",
        ["치킹 캠핌 쇼스 꼳게 김쟝", f"{NARROW} 영상:캠핑 -비 -밤 -물 '가스'", '"치킹" "캠핌" "쇼스" 이후:2030-01-01'],
    )
    def test_only_a_handful_of_searches_are_made(
        self, found: Callable[[str], list[Suggestion]], asked: list[str], query: str
    ) -> None:
        found(query)
        assert 0 < len(asked) <= TRIES
        assert len(set(asked)) == len(asked)

    def test_it_ends_where_somebody_types_on(self, runtime: Runtime, asked: list[str]) -> None:
        assert suggest_queries(runtime.searcher, runtime.library, NARROW, lambda: True) == []
        assert asked == []


class TestPage:
    @pytest.mark.campaign(part="app")
    async def test_they_are_named_and_enter_takes_one(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(), "치킨 영상:치킨 이후:2030-01-01", size=(120, 40)) as (app, pilot):
            assert prompts(app) == [
                "치킨 영상:치킨\n  Nothing is left within 이후:2030-01-01; without it there are 4 scenes.",
                "치킨\n  Nothing is left within 영상:치킨 이후:2030-01-01; without it there are 9 scenes.",
            ]
            await press(pilot, "enter")
            assert app.search_screen.query_line.value == "치킨 영상:치킨 이후:2030-01-01"
            await press(pilot, "down", "down", "enter")
            assert app.search_screen.results.text == app.search_screen.query_line.value == "치킨"
            assert app.search_screen.scenes.row_count == 9
            assert outside.played == []

    @pytest.mark.campaign(part="app")
    async def test_one_is_followed_by_a_sentence_that_helps_in_general(self, app_of: MakeApp) -> None:
        async with running(app_of("ko"), size=(80, 24)) as (app, pilot):
            await press(pilot, *"치퀸", "enter")
            assert len(prompts(app)) == 1
            assert shown(app, "#tips").count("·") == 1
            assert "치킨" in drawn_by(app)

    @pytest.mark.campaign(part="app")
    async def test_without_any_there_are_two_sentences(self, app_of: MakeApp) -> None:
        async with running(app_of(), "쀍쀍쀍", size=(120, 40)) as (app, _):
            assert prompts(app) == []
            assert shown(app, "#notice").count("· Try") == 2
            assert shown(app, "#tips") == ""

    @pytest.mark.campaign(part="app")
    async def test_they_go_with_the_query_that_they_are_for(self, app_of: MakeApp, unhurried: None) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            await press(pilot, *"치퀸", "enter")
            assert len(prompts(app)) == 1
            await pilot.press("down", *" 꽃게")  # the highlighted one must not be taken for what is typed now
            await press(pilot, "enter")
            assert app.search_screen.results.text == "치퀸 꽃게"
            assert prompts(app) == []
            assert app.search_screen.scenes.row_count
            await press(pilot, "escape")
            assert "9 videos" in shown(app, "#notice")
            assert shown(app, "#tips") == ""

    async def test_a_failure_takes_nothing_down(self, app_of: MakeApp) -> None:
        app = app_of(scenes=[])  # a searcher that answers live search alone
        async with running(app, "치킨 after:2030-01-01", size=(120, 40)):
            assert "Take away a filter" in shown(app, "#notice")
            assert prompts(app) == []


def prompts(app: SubtitleApp) -> list[str]:
    choices = app.search_screen.query_one(ReadyQueryList)
    return [str(option.prompt) for option in choices.options] if choices.display and choices.region else []


class TestField:
    async def test_a_query_whose_words_nobody_says_is_replaced_by_one_key(self, app_of: MakeApp) -> None:
        async with running(app_of(), "바사골", size=(120, 40)) as (app, pilot):
            assert app.search_screen.scenes.row_count
            assert "바사골 · → 바삭골" in str(app.search_screen.page.query_bar.border_subtitle)
            await press(pilot, "left", "right", "right")
            assert app.search_screen.results.text == app.search_screen.query_line.typed == "바삭골"
            assert not app.search_screen.page.query_bar.border_subtitle

    async def test_a_date_is_taken_as_a_filter_by_the_same_key(self, app_of: MakeApp) -> None:
        async with running(app_of("ko"), "치킨 2024년 10월", size=(120, 40)) as (app, pilot):
            assert app.search_screen.scenes.row_count  # searched as words until then
            assert "→ 2024년 10월에 올라온 것만" in str(app.search_screen.page.query_bar.border_subtitle)
            await press(pilot, "right")
            assert app.search_screen.query_line.typed == "치킨 이후:2024-10 이전:2024-10"

    async def test_the_key_moves_the_cursor_where_nothing_is_offered(self, app_of: MakeApp) -> None:
        async with running(app_of(), "치킨", size=(120, 40)) as (app, pilot):
            await press(pilot, "home", "right", "right", "right")
            assert (app.search_screen.query_line.typed, app.search_screen.query_line.cursor_position) == ("치킨", 2)


@pytest.mark.parametrize(
    ("language", "more", "expected"),
    [
        ("en", False, "No scene says “힌트” with the rest; without it there are 20 scenes."),
        ("en", True, "No scene says “힌트” with the rest; without it there are more than 20 scenes."),
        ("ko", False, "“힌트”까지 함께 나오는 장면은 없습니다. 빼면 장면이 20개 있습니다."),
        ("ko", True, "“힌트”까지 함께 나오는 장면은 없습니다. 빼면 장면이 20개 넘게 있습니다."),
    ],
)
def test_more_scenes_than_were_counted_are_told_in_words(language: str, more: bool, expected: str) -> None:
    i18n.activate(language)
    assert suggestion_reason(Suggestion("words", "치킨", "힌트", scenes=20, more=more)) == expected
