"""F2: why a scene stands where it does."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from textual.content import Content

from subtitle_rag.domain import AppError, clock
from subtitle_rag.retrieval.search.fusion import RetrieverScore
from subtitle_rag.retrieval.search.parts import RETRIEVERS
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.search.reasons import FoundWord
from subtitle_rag.retrieval.search.searcher import SearchResult
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.dialogs.text_pages import ExplainScreen
from subtitle_rag.tui.screens.search_screen import SearchScreen
from subtitle_rag.tui.text import explain
from tests.tui.conftest import Answers, MakeApp, commands, drawn_by, press, running, scene, shown, toasts, typed

SCORES = {
    "bm25": RetrieverScore(12, 11.2),
    "dense": RetrieverScore(1, 0.63441),
    "fused": RetrieverScore(2, 0.03251),
    "rerank": RetrieverScore(1, 0.912),
}
HYBRID = SearchResult(
    parse_query("치킨"), RETRIEVERS, (), {"retrieve": 4.4, "encode": 30.0, "rerank": 812.2}, reranked=True
)


def rows(
    result: SearchResult, width: int = 46, *, times: bool = False, numbers: bool = True, **changes: Any
) -> list[str]:
    explained = scene(scores=SCORES, **changes)
    return [row.plain for row in explain.explain_rows(explained, result, width, times=times, numbers=numbers)]


def table(said: list[str]) -> list[str]:
    _words, numbers, *_answer = "\n".join(said).split("\n\n")
    return numbers.split("\n")


class TestRows:
    def test_the_videos_that_say_the_same_are_listed_with_their_seconds(self) -> None:
        copy = scene(id="copy")
        said = rows(HYBRID, 60, numbers=False, copies=(copy,))
        at = said.index("Said in other videos, too")
        assert said[at + 1] == f"  {clock(copy.at_ms)}  {copy.video.title}"
        assert said[at + 2] == f"  {copy.jump_url}"
        assert said[at + 3] == "  Alt+↓ plays one of them."
        assert "Said in other videos, too" not in rows(HYBRID, 60, numbers=False)

    def test_every_retriever_the_fusion_and_the_reranker_stand_in_columns(self) -> None:
        assert table(rows(HYBRID)) == [
            "  bm25      words           #12   11.20",
            "  dense     meaning          #1   0.634",
            "  sparse    weighted words    –",
            "  fused                      #2  0.0325",
            "  reranked                   #1   0.912",
        ]

    def test_a_score_that_was_computed_has_no_rank(self) -> None:
        scores = SCORES | {"sparse": RetrieverScore(None, 0.081)}
        said = [row.plain for row in explain.explain_rows(scene(scores=scores), HYBRID, 46, times=False, numbers=True)]
        assert "  sparse    weighted words    –   0.081" in said

    def test_the_shares_of_the_fused_score_are_told(self) -> None:
        said = rows(replace(HYBRID, shares={"bm25": 0.2, "dense": 0.7, "sparse": 0.1}))
        assert "  Shares       bm25 20 % · dense 70 % · sparse 10 %" in said
        assert not any("Shares" in row for row in rows(HYBRID))

    def test_without_room_there_is_no_word_of_what_they_go_by(self) -> None:
        assert table(rows(HYBRID, 34))[:3] == [
            "  bm25      #12   11.20",
            "  dense      #1   0.634",
            "  sparse      –",
        ]

    def test_with_just_the_room_all_columns_stand_and_with_a_cell_less_they_do_not(self) -> None:
        whole = table(rows(HYBRID))
        widest = max(map(len, whole))
        assert table(rows(HYBRID, widest)) == whole
        assert table(rows(HYBRID, widest - 1)) == table(rows(HYBRID, 34))

    def test_words_alone_need_no_fusion(self) -> None:
        assert table(rows(replace(HYBRID, retrievers=("bm25",), reranked=False))) == ["  bm25  words  #12  11.20"]

    @given(st.integers(20, 120), st.sampled_from(["ko", "en"]))
    @pytest.mark.campaign(part="app")
    def test_the_table_keeps_within_the_width(self, width: int, language: str) -> None:
        from subtitle_rag import i18n

        i18n.activate(language)
        try:
            told = explain.explain_rows(scene(scores=SCORES), HYBRID, width, times=False, numbers=True)
            first, last = (at for at, row in enumerate(told) if not row.plain)
            lines = told[first + 1 : last]
        finally:
            i18n.activate("en")
        assert all(line.cell_length <= max(width, 26) for line in lines)
        assert {line.plain.find("#") >= 0 or line.plain.endswith("–") for line in lines} == {True}

    def test_the_words_are_told_by_where_they_stand(self, runtime: Runtime) -> None:
        found = runtime.searcher.search(parse_query("배추 김장"), limit=1)
        said = [row.plain for row in explain.explain_rows(found.scenes[0], found, 60, times=False)]
        assert "  said  배추 · 김장" in said
        assert "  Sure: every word of the query is said here." in said
        words = (FoundWord("배추", "title"), FoundWord("김장", "related", "김치"), FoundWord("소금", "missing"))
        said = [
            row.plain for row in explain.explain_rows(replace(found.scenes[0], words=words), found, 60, times=False)
        ]
        assert "  in the title  배추" in said
        assert "  related       김장 → 김치" in said
        assert "  not there     소금" in said

    def test_what_was_found_by_its_sense_says_so_in_the_place_of_words(self) -> None:
        said = rows(HYBRID, width=120, numbers=False, highlights=(), reason="meaning")
        assert said[1] == "  Less sure (similar meaning): no word of the query is said here."

    @pytest.mark.parametrize(
        ("sources", "sentence"),
        [
            (["text", "text"], "Sure: "),
            (["text", "missing"], "In part: "),
            (["text", "title"], "Likely: "),
            (["title", "missing"], "Less sure: no word"),
            (["nearby"], "Less sure: no word"),
            (["missing"], "Less sure"),
        ],
    )
    def test_how_sure_it_is_follows_from_where_the_words_stand(self, sources: list[Any], sentence: str) -> None:
        words = tuple(FoundWord(f"말{at}", source) for at, source in enumerate(sources))
        assert explain.certainty(scene(words=words, reason="meaning")).startswith(sentence)

    def test_numbers_stand_one_key_further(self) -> None:
        said = "\n".join(rows(HYBRID, width=80, numbers=False))
        assert "F2 once more shows the numbers." in said
        assert not any(number in said for number in ("bm25", "#12", "0.912", "Answered by"))
        assert said.startswith("Why this scene comes first") == (scene().rank == 1)

    def test_what_is_missing_is_told_with_the_reason_once(self) -> None:
        error = AppError("model_missing", name="bge-m3")
        result = replace(
            HYBRID,
            retrievers=("bm25",),
            reranked=False,
            missing=(("dense", error), ("sparse", error), ("rerank", AppError("model_missing", name="x"))),
        )
        said = rows(result)
        assert [row.split() for row in table(said)][1:] == [
            ["dense", "meaning", "#1", "0.634"],
            ["sparse", "weighted", "words", "–"],
            ["reranked", "–"],
        ]
        told = [row for row in said if "!" in row]
        assert told == [f"  ! dense, sparse, reranked had no part: {error.message}"]

    def test_times_are_told_where_they_are_wanted(self) -> None:
        assert "  Answered by  bm25 · dense · sparse · reranked" in rows(HYBRID)
        assert "  Time         retrieve 4 ms · encode 30 ms · rerank 812 ms" in rows(HYBRID, times=True)
        assert not any(" ms" in row for row in rows(HYBRID))
        assert "  Answered by  bm25 · dense · sparse · reranked …" in rows(replace(HYBRID, final=False))

    def test_hostile_words_are_shown_literally(self) -> None:
        said = rows(HYBRID, text="[red]치\x1b[31m킨\u202e", highlights=((0, 15),))
        assert "  said         [red]치[31m킨" in said


def explained(query: Query) -> SearchResult:
    return replace(
        HYBRID, query=query, scenes=(scene(1, scores=SCORES), scene(2, scores={"fused": RetrieverScore(7, 0.01)}))
    )


class TestOnTheScreen:
    @pytest.mark.campaign(part="app")
    async def test_f2_tells_and_stays_while_the_highlight_moves(self, app_of: MakeApp, runtime: Runtime) -> None:
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            runtime.__dict__["searcher"] = Answers(explained)
            await typed(pilot, "치킨")
            assert "Why this scene" not in drawn_by(app)
            assert "F2 Explain" in drawn_by(app)
            await press(pilot, "f2")
            assert "Why this scene" in drawn_by(app)
            assert "#12   11.20" not in drawn_by(app)
            await press(pilot, "f2")
            assert "#12   11.20" in drawn_by(app)
            assert "retrieve 4 ms" in drawn_by(app)
            await press(pilot, "down")
            assert shown(app, "#reasons").startswith("Why this scene is number 2\n")
            assert "#7  0.0100" in drawn_by(app)
            assert "▶" in drawn_by(app)
            await press(pilot, "f2")
            assert "Why this scene" not in drawn_by(app)

    @pytest.mark.parametrize("key", ["f2", "escape"])
    async def test_where_the_preview_is_folded_away_it_is_a_page(
        self, app_of: MakeApp, runtime: Runtime, key: str
    ) -> None:
        async with running(app_of(show_times=False), size=(60, 24)) as (app, pilot):
            runtime.__dict__["searcher"] = Answers(explained)
            await typed(pilot, "치킨")
            await press(pilot, "f2")
            assert isinstance(app.screen, ExplainScreen)
            assert "#12   11.20" not in drawn_by(app)
            await press(pilot, "f2")
            assert "#12   11.20" in drawn_by(app)
            assert " ms" not in drawn_by(app)
            assert "Esc closes" in drawn_by(app)
            await pilot.press(key)
            assert [type(one) for one in app.screen_stack] == [SearchScreen]
            assert app.search_screen.query_line.value == "치킨"

    @pytest.mark.campaign(part="app")
    async def test_without_a_scene_there_is_nothing_to_explain(self, app_of: MakeApp) -> None:
        async with running(app_of(), size=(120, 30)) as (app, pilot):
            await pilot.press("f2")
            assert toasts(app) == ["No scene is chosen yet."]
            assert "Find: explain" in commands(app)

    @pytest.mark.campaign(part="app")
    async def test_the_matched_line_stays_in_sight_under_it(self, app_of: MakeApp) -> None:
        async with running(app_of(), "소스 찍어 먹는 치킨", size=(120, 24)) as (app, pilot):
            await press(pilot, "f2")
            assert "▶" in drawn_by(app)
            await press(pilot, "down")
            assert "▶" in drawn_by(app)

    async def test_rows_are_cut_by_cells(self) -> None:
        wide = scene(text="김장" * 40, highlights=tuple((at, at + 2) for at in range(0, 80, 2)))
        cut = explain.explain_rows(
            replace(wide, text="".join(map(chr, range(0xAC00, 0xAC50)))), HYBRID, 30, times=False
        )
        said = next(row for row in cut if "said" in row.plain)
        assert Content(said.plain).cell_length <= 30
        assert said.plain.endswith("…")
