"""The first screen while one query's scenes come in a better and a better order."""

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL, RETRIEVERS
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import Searcher, SearchResult
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.search import live_search
from subtitle_rag.tui.shared.messages import ScenesFound
from subtitle_rag.tui.shared.scenes.video_groups import SHOWN, group_by_video
from tests.support.models_here import Here, Read
from tests.support.tiny_models import tiny_reranker
from tests.tui.conftest import (
    Answers,
    AppPilot,
    MakeApp,
    Outside,
    press,
    run_command,
    running,
    scene,
    settle,
    toasts,
    typed,
    until,
)

Order = Sequence[int]


def scenes(order: Order) -> tuple[Scene, ...]:
    return tuple(scene(number, title=f"제목 {number}") for number in order)


def by_words(query: Query, order: Order, *, final: bool = False) -> SearchResult:
    return SearchResult(query, LEXICAL, scenes(order), {"retrieve": 1.0}, final=final)


def by_all(query: Query, order: Order, *, final: bool = False) -> SearchResult:
    return SearchResult(query, RETRIEVERS, scenes(order), {"retrieve": 1.0}, final=final)


def reranked(query: Query, order: Order) -> SearchResult:
    return SearchResult(query, RETRIEVERS, scenes(order), {"retrieve": 1.0}, reranked=True)


class Steps:
    """Answers a query in three orders, each when it is let through."""

    def __init__(self, *orders: Order) -> None:
        self.orders = orders
        self.gates = [threading.Event() for _order in orders]
        self.begun = [threading.Event() for _order in orders]

    def __call__(self, query: Query) -> Iterator[SearchResult]:
        for make, order, gate, begun in zip(
            (by_words, by_all, reranked), self.orders, self.gates, self.begun, strict=True
        ):
            begun.set()
            assert gate.wait(10)
            yield make(query, order)

    async def let(self, pilot: AppPilot, step: int) -> None:
        """Let an answer through and wait until the next one is under way, or the search has ended."""
        self.gates[step].set()
        if step + 1 < len(self.begun):
            while not self.begun[step + 1].is_set():
                await pilot.pause(0.01)
            await pilot.pause()
        else:
            await settle(pilot)


@asynccontextmanager
async def searching(
    app: SubtitleApp, answer: Callable[[Query], Iterator[SearchResult]], query: str = "치킨", **options: Any
) -> AsyncIterator[AppPilot]:
    """The pilot when the query has been typed, which is answered like this."""
    async with running(app, **options) as (_, pilot):
        app.runtime.__dict__["searcher"] = Answers(answer)
        app.search_screen.query_line.insert_text_at_cursor(query)
        yield pilot


def note(app: SubtitleApp) -> str:
    """What the border of the list tells of its order."""
    return str(app.search_screen.scenes.border_subtitle or "")


def listed(app: SubtitleApp) -> list[str]:
    return [id[-2:] for id in app.search_screen.scenes.rows]


class TestOneQuery:
    async def test_the_list_is_put_in_order_under_the_highlight(self, app_of: MakeApp, outside: Outside) -> None:
        app, steps = app_of(scenes=[]), Steps((1, 2, 3, 4), (3, 1, 4, 2), (4, 3, 2, 1))
        async with searching(app, steps, size=(120, 30)) as pilot:
            await steps.let(pilot, 0)
            assert listed(app) == ["01", "02", "03", "04"]
            assert note(app) == "…"
            await pilot.press("down")
            await steps.let(pilot, 1)
            assert listed(app) == ["03", "01", "04", "02"]
            assert note(app) == "+meaning …"
            assert (app.search_screen.scenes.value, app.search_screen.scenes.cursor) == (scenes([2])[0], 3)
            assert str(app.search_screen.preview.border_title) == "제목 2"
            await steps.let(pilot, 2)
            assert listed(app) == ["04", "03", "02", "01"]
            assert note(app) == "+reranked"
            assert app.search_screen.scenes.cursor == 2
            await press(pilot, "enter")
            assert [play["link"] for play in outside.played] == ["https://youtu.be/video-00002?t=61"]

    @pytest.mark.campaign(part="app")
    async def test_enter_plays_what_is_highlighted_before_the_better_order_came(
        self, app_of: MakeApp, outside: Outside
    ) -> None:
        app, steps = app_of(scenes=[]), Steps((1, 2), (2, 1), (2, 1))
        async with searching(app, steps) as pilot:
            await steps.let(pilot, 0)
            await pilot.press("enter", "enter")  # the first one goes to the list
            for gate in steps.gates:
                gate.set()
            await settle(pilot)
            assert [play["link"] for play in outside.played] == ["https://youtu.be/video-00001?t=61"]
            assert app.search_screen.scenes.value == scenes([1])[0]

    @pytest.mark.campaign(part="app")
    async def test_the_list_stays_where_it_is_scrolled_to(self, app_of: MakeApp) -> None:
        first = list(range(1, 31))
        app, steps = app_of(scenes=[]), Steps(first, [2, 1, *first[2:]], [3, *first[:2], *first[3:]])
        async with searching(app, steps, size=(120, 20)) as pilot:
            await steps.let(pilot, 0)
            await pilot.press("down", "pagedown", "pagedown", "up")
            place = (app.search_screen.scenes.scroll_y, app.search_screen.scenes.cursor)
            assert place[0] > 0
            await steps.let(pilot, 1)
            await steps.let(pilot, 2)
            assert listed(app)[0] == "03"
            assert (app.search_screen.scenes.scroll_y, app.search_screen.scenes.cursor) == place

    @pytest.mark.campaign(part="app")
    async def test_a_library_that_grows_brings_no_worse_order_back(self, app_of: MakeApp) -> None:
        app, steps = app_of(scenes=[]), Steps((1, 2), (2, 1), (2, 1))
        async with searching(app, steps) as pilot:
            for step in range(3):
                await steps.let(pilot, step)
            assert "+reranked" in note(app)
            for event in (*steps.gates[1:], *steps.begun):
                event.clear()
            app.search_screen.page.search_again()
            await steps.let(pilot, 0)
            assert (listed(app), "+reranked" in note(app)) == (["02", "01"], True)
            for gate in steps.gates:
                gate.set()
            await settle(pilot)
            assert (listed(app), "+reranked" in note(app)) == (["02", "01"], True)


class TestTheNextQuery:
    async def test_a_better_order_of_an_earlier_query_is_dropped(self, app_of: MakeApp) -> None:
        gate, begun, done = threading.Event(), threading.Event(), threading.Event()

        def answer(query: Query) -> Iterator[SearchResult]:
            yield by_words(query, (1,), final=query.raw != "치킨")
            if query.raw == "치킨":
                begun.set()
                assert gate.wait(10)
                done.set()
                yield by_all(query, (9,), final=True)

        app = app_of(scenes=[])
        async with searching(app, answer) as pilot:
            while not begun.is_set():
                await pilot.pause(0.01)
            app.search_screen.query_line.insert_text_at_cursor(" 소스")
            while app.search_screen.results.text != "치킨 소스":
                await pilot.pause(0.01)
            gate.set()
            await settle(pilot)
            assert done.is_set()
            app.search_screen.post_message(ScenesFound("치킨", by_all(parse_query("치킨"), (9,), final=True)))
            await settle(pilot)
            assert (app.search_screen.results.text, listed(app)) == ("치킨 소스", ["01"])
            assert note(app) == ""

    @pytest.mark.campaign(part="app")
    async def test_models_are_not_asked_for_what_is_still_being_typed(
        self, app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ended, encoded = threading.Event(), list[str]()
        monkeypatch.setattr(
            live_search, "time", SimpleNamespace(sleep=lambda _seconds: ended.wait(10), monotonic=time.monotonic)
        )

        def answer(query: Query) -> Iterator[SearchResult]:
            yield by_words(query, (1,))
            encoded.append(query.raw)
            yield by_all(query, (1,), final=True)

        app = app_of(scenes=[])
        async with searching(app, answer, "") as pilot:
            for text in ("치", "킨", " 소스"):
                app.search_screen.query_line.insert_text_at_cursor(text)
                while app.search_screen.results.text != app.search_screen.query_line.typed:
                    await pilot.pause(0.01)
            ended.set()
            await settle(pilot)
            assert encoded == ["치킨 소스"]

    @pytest.mark.campaign(part="app")
    async def test_going_back_to_the_text_that_is_shown_takes_its_order_up_again(self, app_of: MakeApp) -> None:
        app, steps = app_of(scenes=[]), Steps((1, 2), (2, 1), (2, 1))
        async with searching(app, steps) as pilot:
            await steps.let(pilot, 0)
            await pilot.press("집", "backspace")
            for gate in steps.gates:
                gate.set()
            await settle(pilot)
            assert (listed(app), "+reranked" in note(app)) == (["02", "01"], True)


class TestModels:
    async def test_a_model_that_fails_is_told_once_and_signed_always(self, app_of: MakeApp) -> None:
        missing = tuple((name, AppError("model_damaged", name="tiny", reason="cut")) for name in ("dense", "sparse"))

        def answer(query: Query) -> Iterator[SearchResult]:
            yield by_words(query, (1,))
            yield SearchResult(query, LEXICAL, scenes((1,)), {}, missing=missing)

        app = app_of(scenes=[])
        async with searching(app, answer, "") as pilot:
            for text in ("치킨", " 소스"):
                await typed(pilot, text)
                assert note(app) == "!"
            assert len(toasts(app)) == 1

    @pytest.mark.campaign(part="app")
    async def test_a_real_reranker_orders_the_sample_s_scenes(
        self, app_of: MakeApp, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tiny_reranker(tmp_path_factory.mktemp("models") / "tiny-reranker")
        app, here = app_of(), Here(read=Read(folder))
        async with running(app, size=(120, 30)) as (_, pilot):
            queries = QueryAnalyzer(runtime.library, runtime.analyzer)
            searcher = Searcher(runtime.library, runtime.index, queries, here)
            runtime.__dict__["searcher"] = searcher
            await typed(pilot, "치킨")
            query = app.search_screen.results.result.query  # type: ignore[union-attr]
            *_, last = searcher.stages(query, per_video=SHOWN)
            assert last.reranked
            groups = group_by_video(last.scenes, {}).values()
            listed_first = [scene.id for group in groups for scene in group.scenes]
            assert [scene.id for scene in app.search_screen.scenes.values if scene][: len(listed_first)] == listed_first
            assert "+reranked" in note(app)


class TestRefinement:
    """The reranker reads on."""

    @pytest.mark.campaign(part="app")
    async def test_it_shows_its_progress_and_the_highlighted_row_stays_where_it_is(self, app_of: MakeApp) -> None:
        first = list(range(1, 31))
        refining = Refining(first, [20, 15, *first[:14], *first[15:19], *first[20:]])
        app = app_of(scenes=[])
        async with searching(app, refining, size=(120, 20)) as pilot:
            await settle(pilot)
            for _row in range(14):
                await pilot.press("down")
            rows = app.search_screen.scenes
            line = rows.cursor_line
            chosen = rows.cursor_key

            await run_command(pilot, "search.refine")
            await refining.reached(pilot)
            assert "+reranked 16/150 …" in note(app)
            assert (listed(app)[:2], rows.cursor, rows.cursor_key) == (["20", "15"], 1, chosen)
            await pilot.press("down", *["down"] * 9)
            chosen, line = rows.cursor_key, rows.cursor_line
            refining.end.set()
            await settle(pilot)
            assert (rows.cursor_key, listed(app)[0]) == (chosen, "01")
            assert rows.cursor_line == line
            assert "…" not in note(app)

    @pytest.mark.parametrize("stops", [partial(run_command, id="search.refine"), lambda pilot: press(pilot, "escape")])
    async def test_it_can_be_stopped_and_the_order_so_far_stays(
        self, app_of: MakeApp, stops: Callable[[AppPilot], Awaitable[None]]
    ) -> None:
        refining = Refining([1, 2, 3], [3, 1, 2])
        app = app_of(scenes=[])
        async with searching(app, refining) as pilot:
            await settle(pilot)
            await run_command(pilot, "search.refine")
            await refining.reached(pilot)
            await stops(pilot)
            refining.end.set()
            await settle(pilot)
            assert (listed(app), app.search_screen.query_line.typed) == (["03", "01", "02"], "치킨")
            assert "…" not in note(app)

    async def test_without_a_reranker_it_says_so(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene(1)])) as (app, pilot):
            app.search_screen.action_refine()
            await typed(pilot, "치킨")
            await run_command(pilot, "search.refine")
            await settle(pilot)
            assert [text.split(" Ctrl")[0] for text in toasts(app)] == [
                "There are no scenes to refine yet.",
                "There is no reranker.",
            ]


class Refining:
    """Answers a first search by words; a second one reads on, step by step."""

    def __init__(self, first: Order, order: Order) -> None:
        self.first, self.order = first, order
        self.searches = 0
        self.end = threading.Event()

    def __call__(self, query: Query) -> Iterator[SearchResult]:
        self.searches += 1
        yield by_words(query, self.first, final=self.searches == 1)
        if self.searches > 1:
            yield replace(reranked(query, self.order), final=False, rerank_progress=(16, 150))
            assert self.end.wait(10)
            yield reranked(query, self.first)

    async def reached(self, pilot: AppPilot) -> None:
        """Wait until the step is shown."""
        app = pilot.app
        await until(pilot, lambda: "16/150" in note(app))
