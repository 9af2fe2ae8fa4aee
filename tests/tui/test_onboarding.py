"""The empty library: one field, what is ready and what mends the rest, models with their sizes, and a sample."""

from dataclasses import replace

import pytest
from textual.widgets import Static

from subtitle_rag import doctor, models
from subtitle_rag.config.settings import LlmSettings, ModelSettings
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.widgets.check_list import Onboarding, check_names
from tests.models.tiny import ENCODER, RERANKER
from tests.stand_ins.hub import Hub
from tests.stand_ins.ollama import Model, StandIn as Ollama
from tests.stand_ins.youtube import stand_in
from tests.tui.conftest import AppPilot, bar, drawn_by, index_sample, press, running, settle, toasts, until
from tests.tui.test_checks import looked, rows
from tests.tui.test_offer import offered

__all__ = ["looked", "offered"]

SECONDS = 60


@pytest.fixture
def new(empty: Runtime, offered: Hub) -> Runtime:
    """A runtime on an empty library, whose models are not here."""
    empty.settings = replace(empty.settings, models=ModelSettings(encoder=ENCODER, reranker=RERANKER))
    return empty


async def checks_made(pilot: AppPilot) -> None:
    onboarding = pilot.app.screen.query_one(Onboarding)
    await until(pilot, lambda: onboarding.checks.results and not onboarding.checks.busy, SECONDS)
    await settle(pilot)


def seen(app: SubtitleApp) -> set[str]:
    """The rows that have a place on the screen."""
    return {str(row.id).removeprefix("check-") for row in app.screen.query(".check") if row.region}


class TestChecks:
    @pytest.mark.campaign(part="app")
    async def test_what_is_ready_is_told_with_what_mends_the_rest(self, empty: Runtime, looked: dict[str, int]) -> None:
        with stand_in() as youtube:
            async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
                await checks_made(pilot)
                told = rows(app)
                assert told["terminal"] == "✓ Terminal UTF-8"
                assert told["kiwi"].startswith("✓ Korean analysis kiwipiepy ")
                assert told["ollama"].startswith("! Ollama ")
                assert "Search works without it." in told["ollama"]
                assert "→ Optional: with contexts" in drawn_by(app)
                assert "Ctrl+D opens a sample" in drawn_by(app)
                assert app.screen.query_one("#path").has_focus
            assert youtube.count() == 0
        assert looked == dict.fromkeys(check_names(empty.settings), 1)
        assert "network" not in looked

    @pytest.mark.campaign(part="app")
    async def test_an_ollama_that_is_there_is_told(self, empty: Runtime) -> None:
        with Ollama() as ollama:
            ollama.add(Model(models.default_context_model().name))
            empty.settings = replace(empty.settings, llm=LlmSettings(hosts=(ollama.base,)))
            async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
                await checks_made(pilot)
                assert rows(app)["ollama"].startswith("✓ Ollama ")
            assert ollama.count("chat") == 0

    @pytest.mark.campaign(part="app")
    async def test_where_there_is_little_room_what_is_well_is_one_line(self, empty: Runtime) -> None:
        async with running(SubtitleApp(empty), size=(80, 24)) as (app, pilot):
            await checks_made(pilot)
            assert "terminal" not in seen(app)
            assert "ollama" in seen(app)
            assert "✓ Terminal · Disk · Korean analysis" in drawn_by(app)
            await pilot.resize_terminal(120, 40)
            await settle(pilot)
            assert {"terminal", "ollama"} <= seen(app)
            assert "✓ Terminal · Disk" not in drawn_by(app)

    @pytest.mark.campaign(part="app")
    async def test_a_library_that_holds_something_is_not_checked_unasked(
        self, runtime: Runtime, looked: dict[str, int]
    ) -> None:
        async with running(SubtitleApp(runtime), size=(120, 40)) as (app, pilot):
            await press(pilot, "ctrl+l")
            assert not app.screen.query_one(Onboarding).region
            assert looked == {}

    @pytest.mark.campaign(part="app")
    async def test_pictures_do_not_differ_from_machine_to_machine(self, empty: Runtime, looked: dict[str, int]) -> None:
        async with running(SubtitleApp(empty, show_times=False), size=(120, 40)) as (app, _):
            assert app.screen.query_one(Onboarding).region
            assert looked == {}

    def test_only_what_sends_nothing_is_looked_at(self, empty: Runtime) -> None:
        assert set(check_names(empty.settings)) <= doctor.OFFLINE
        server = replace(empty.settings, qdrant=replace(empty.settings.qdrant, url="http://127.0.0.1:1"))
        assert "qdrant" in check_names(server)


class TestModels:
    @pytest.mark.campaign(part="app")
    async def test_they_are_offered_with_sizes_and_come_while_the_user_goes_on(
        self, new: Runtime, offered: Hub
    ) -> None:
        offered.slow = 0.05
        async with running(SubtitleApp(new), size=(120, 40)) as (app, pilot):
            await checks_made(pilot)
            said = rows(app)["models"]
            assert said.startswith("! Models Optional: search for words works without them.\n→ ")
            assert "Ctrl+G fetches tiny-m3, tiny-reranker (6.0 MB) onto this computer" in said
            assert bar(app, "offer") == ""  # told once
            assert seen(app).isdisjoint({"encoder", "reranker"})
            assert offered.asked == []
            await pilot.press("ctrl+g")
            await until(pilot, lambda: rows(app)["models"].startswith("… Models Fetching tiny-m3, tiny-reranker"))
            index_sample(app)
            await until(pilot, lambda: app.screen is app.search_screen, SECONDS)
            offered.slow = 0.0
            await until(pilot, lambda: "offer" not in app.stages and not app.jobs.busy, SECONDS)
            await until(pilot, lambda: any("The models are here." in toast for toast in toasts(app)), SECONDS)

    async def test_when_they_are_here_it_is_told(self, new: Runtime) -> None:
        async with running(SubtitleApp(new), size=(120, 40)) as (app, pilot):
            await checks_made(pilot)
            await pilot.press("ctrl+g")
            await until(pilot, lambda: "offer" not in app.stages and not app.background.runs, SECONDS)
            await checks_made(pilot)
            assert rows(app)["encoder"].startswith("✓ Encoder tiny-m3@")
            assert {"encoder", "reranker"} <= seen(app)
            assert "models" not in seen(app)

    @pytest.mark.campaign(part="app")
    async def test_put_away_they_are_offered_no_more(self, new: Runtime) -> None:
        async with running(SubtitleApp(new), size=(120, 40)) as (app, pilot):
            await checks_made(pilot)
            await press(pilot, "ctrl+x")
            assert "models" not in seen(app)
            assert "Search for words works without it." in rows(app)["encoder"]
        async with running(SubtitleApp(new), size=(120, 40)) as (again, pilot):
            await checks_made(pilot)
            assert "ctrl+g" not in drawn_by(again)

    @pytest.mark.campaign(part="app")
    async def test_the_calm_page_says_once_that_words_alone_are_searched(self, new: Runtime) -> None:
        async with running(SubtitleApp(new), size=(120, 40)) as (app, pilot):
            await checks_made(pilot)
            index_sample(app)
            await until(pilot, lambda: app.screen is app.search_screen, SECONDS)
            await settle(pilot)
            notice = str(app.search_screen.query_one("#notice", Static).content)
            assert notice.count("by their words alone") == 1
            assert "Ctrl+G fetches" in notice
