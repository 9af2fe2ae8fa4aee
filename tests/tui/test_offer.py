"""Models in the app: offered once, fetched from a stand-in of the hub, and used without a new start."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.models import download, manifest, record
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import background, downloads, stage_threads
from subtitle_rag.tui.shared.progress import model_lines, offers
from subtitle_rag.tui.shared.progress.offers import ModelDownload, model_download
from tests.models.tiny import ENCODER, RERANKER, clear, write_manifest
from tests.stand_ins.hub import Hub, Reply
from tests.support.invented import end_hosts
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    bar,
    commands,
    index_sample,
    left_promptly,
    press,
    running,
    settle,
    stage,
    toasts,
    typed,
    until,
)

LOADING_S = 60
"""PyTorch's import included, on a machine with much else to do."""
OFFER = "Ctrl+G fetches tiny-m3, tiny-reranker ("


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the process that holds models."""
    folder = tmp_path_factory.mktemp("neural")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "30")
        yield folder
        end_hosts([folder])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def offered(
    hub: Hub, encoder_folder: Path, reranker_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hub]:
    """The manifest offers tiny models, and a hub has them."""
    commit = hub.push(ENCODER, contents(encoder_folder))
    hub.push(RERANKER, contents(reranker_folder))
    path = tmp_path / "models.toml"
    write_manifest(path, commit, sorted(contents(encoder_folder)))
    monkeypatch.setattr(manifest, "_MANIFESTS", (path,))
    clear()
    yield hub
    clear()


@pytest.fixture
def bare(empty: Runtime, offered: Hub, host: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A runtime on an empty library, whose models are not here."""
    monkeypatch.setattr(background, "SEARCH_AGAIN_S", 0.05)
    monkeypatch.setattr(downloads, "ELSEWHERE_S", 0.05)
    monkeypatch.setattr(stage_threads, "REPORT_S", 0.0)
    empty.settings = replace(empty.settings, models=ModelSettings(encoder=ENCODER, reranker=RERANKER))
    with closing(HostedModels(host, empty.models)) as neural:
        empty.__dict__["neural"] = neural
        yield empty


@pytest.fixture
def indexed(bare: Runtime) -> Runtime:
    """With one video, of eight windows."""
    list(bare.indexer.index(sorted(SAMPLE.glob("*sample-0001*"))))
    return bare


def welcome(app: SubtitleApp) -> str:
    """The calm page, with the news below its searches; empty where it is not shown."""
    parts = [str(app.search_screen.query_one(name, Static).content) for name in ("#notice", "#tips")]
    return "\n".join(parts).rstrip("\n") if app.search_screen.query_one("#calm").display else ""


async def arrived(pilot: AppPilot) -> None:
    """Until models and vectors are here."""
    app = pilot.app
    await until(
        pilot,
        lambda: "offer" not in app.stages and stage(app, "vectors").state == "done" and not app.background.runs,
        LOADING_S,
    )
    await settle(pilot)


def parts(runtime: Runtime) -> list[Path]:
    return list(runtime.models.folder.rglob("*.part"))


class TestOffer:
    @pytest.mark.campaign(part="app")
    async def test_it_is_made_calmly_where_there_is_something_to_search(self, bare: Runtime, offered: Hub) -> None:
        async with running(SubtitleApp(bare), size=(120, 40)) as (app, pilot):
            assert bar(app, "offer") == ""  # in an empty library
            index_sample(app)
            await settle(pilot)
            await until(pilot, lambda: OFFER in welcome(app))
            assert "6.0 MB) onto this computer, Ctrl+X hides this." in welcome(app)
            assert bar(app, "offer") == ""  # the page tells it
            await press(pilot, "ctrl+l")
            assert "Models: fetch" in commands(app)
            assert set(toasts(app)) <= {"9 videos can be searched now."}
            assert offered.asked == []

    @pytest.mark.campaign(part="app")
    async def test_put_away_it_stays_away_and_the_command_stays(self, indexed: Runtime, offered: Hub) -> None:
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await press(pilot, "ctrl+x")
            assert "ctrl+g" not in welcome(app)
        async with running(SubtitleApp(indexed), size=(120, 40)) as (again, pilot):
            assert "ctrl+g" not in welcome(again)
            await press(pilot, "ctrl+l")
            assert bar(again, "offer") == ""
            assert "Models: fetch" in commands(again)
            again.action_download_models()
            await arrived(pilot)

    @pytest.mark.campaign(part="app")
    async def test_the_keys_do_nothing_where_it_is_not_seen(self, indexed: Runtime, offered: Hub) -> None:
        async with running(SubtitleApp(indexed), "소스", size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+g")
            app.search_screen.query_line.select_all()
            await pilot.press("ctrl+x")  # cuts
            await settle(pilot)
            assert app.search_screen.query_line.value == ""
            assert OFFER in welcome(app)
            assert offered.asked == []

    @pytest.mark.parametrize("encoder", ["", "folder"])
    @pytest.mark.campaign(part="app")
    async def test_who_wants_none_or_has_one_is_not_asked(
        self, indexed: Runtime, encoder_folder: Path, encoder: str
    ) -> None:
        own = ModelSettings(encoder=encoder and str(encoder_folder), reranker=RERANKER)
        indexed.models.settings = own
        assert offers.find_download(indexed) is None

    async def test_another_process_that_fetches_them_is_waited_for(self, indexed: Runtime, offered: Hub) -> None:
        name = manifest.encoders()[0]
        begun = indexed.models.fetch(ENCODER)
        next(begun)  # holds the lock
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: "Another subtitle-rag is fetching tiny-m3, tiny-reranker." in welcome(app))
            assert not app.check_action("download_models", ())
            list(begun)
            await until(
                pilot, lambda: stage(app, "vectors").state == "done" and stage(app, "vectors").processed, LOADING_S
            )
            assert "Another" not in welcome(app)
            with record.hold_model(indexed.models.folder, name):
                pass


class TestFetching:
    @pytest.mark.campaign(part="app")
    async def test_from_the_key_to_scenes_by_meaning(self, indexed: Runtime, offered: Hub) -> None:
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+g")
            await arrived(pilot)
            assert "ctrl+g" not in welcome(app)
            said = "The models are here. Scenes are found by what they mean, too, as vectors are made."
            assert set(toasts(app)) <= {said}
            await typed(pilot, "소스")
            await until(pilot, lambda: "+reranked" in str(app.search_screen.scenes.border_subtitle or ""), LOADING_S)
            assert app.search_screen.scenes.row_count

    @pytest.mark.campaign(part="app")
    async def test_it_stops_and_goes_on_with_the_rest(self, indexed: Runtime, offered: Hub) -> None:
        offered.slow = 0.2
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+g")
            await until(pilot, lambda: stage(app, "offer").progress and stage(app, "offer").progress.done > 100_000)
            told = welcome(app).rpartition("\n")[2]
            assert told.startswith("Fetching ")
            assert told.endswith("  tiny-m3, tiny-reranker  Ctrl+G stops")
            assert "Models: stop" in commands(app)
            await pilot.press("ctrl+g")
            assert "MB fetched. Ctrl+G fetches the rest, Ctrl+X hides this." in welcome(app)
            await until(pilot, lambda: not app.background.runs)
            assert parts(indexed)
            offered.slow = 0.0
            await pilot.press("ctrl+g")
            await arrived(pilot)
            begun = [asked.path for asked in offered.large_requests() if not asked.start]
            assert len(begun) == len(set(begun)) == 4  # no file came twice
            assert parts(indexed) == []

    @pytest.mark.campaign(part="app")
    async def test_a_failure_is_told_with_what_to_do_and_tried_again_by_key(
        self, indexed: Runtime, offered: Hub
    ) -> None:
        offered.refusals = [Reply(429)]
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+g")
            await until(pilot, lambda: "HTTP 429" in welcome(app))
            assert welcome(app).endswith("  Ctrl+G tries again")
            assert toasts(app) == []
            app.context.opening.look_up()  # as at the end of a job
            await settle(pilot)
            assert "HTTP 429" in welcome(app)
            await pilot.press("ctrl+l", "ctrl+g")
            await arrived(pilot)

    async def test_a_disk_that_is_too_small_is_told_before_anything_comes(
        self, indexed: Runtime, offered: Hub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(download, "RESERVE", 10**18)
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await pilot.press("ctrl+g")
            await until(pilot, lambda: "GB are free" in welcome(app))
            assert offered.large_requests() == []

    @pytest.mark.campaign(part="app")
    async def test_leaving_meanwhile_is_prompt_and_the_next_time_goes_on(self, indexed: Runtime, offered: Hub) -> None:
        offered.slow = 0.2
        async with left_promptly(SubtitleApp(indexed)) as (app, pilot):
            await pilot.press("ctrl+g")
            await until(pilot, lambda: stage(app, "offer").progress and stage(app, "offer").progress.done > 100_000)
        app.background.runs["offer"].join(10)
        with record.hold_model(indexed.models.folder, manifest.encoders()[0]):
            assert parts(indexed)
        async with running(SubtitleApp(indexed), size=(120, 40)) as (again, _):
            assert "fetched. Ctrl+G fetches the rest" in welcome(again)


def fetching(**changes: Any) -> ModelDownload:
    return replace(model_download("working", ["BAAI/bge-m3", "a/b"], 812_000_000, 4_560_000_000), **changes)


class TestLines:
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({}, "Fetching 0.8/4.6 GB  bge-m3, b  Ctrl+G stops"),
            (
                {"progress": Progress("models", 812_000_000, 4_560_000_000, "bge-m3, b", rate=4.2e6, left_s=900.0)},
                "Fetching 0.8/4.6 GB  4.2 MB/s  about 15 min left  bge-m3, b  Ctrl+G stops",
            ),
            (
                {"state": "offered", "progress": Progress("models", 0, 4_560_000_000)},
                "Search by meaning, too: Ctrl+G fetches bge-m3, b (4.6 GB) onto this computer, Ctrl+X hides this.",
            ),
            (
                {"state": "paused"},
                "bge-m3, b: 812 MB of 4.6 GB fetched. Ctrl+G fetches the rest, Ctrl+X hides this.",
            ),
            ({"state": "elsewhere"}, "Another subtitle-rag is fetching bge-m3, b."),
            ({"state": "dismissed"}, ""),
            ({"state": "done"}, ""),
        ],
    )
    def test_every_state_is_told_in_a_line(self, changes: dict[str, Any], told: str) -> None:
        assert model_lines.download_line(fetching(**changes)) == told

    def test_what_comes_from_outside_is_cleaned(self) -> None:
        error = BusyError("hub_unreachable", host="h\x1b", name="n", reason="\u202er[b]")
        told = model_lines.download_line(fetching(state="failed", error=error))
        assert told == "! Downloading n from h· failed: ·r[b]. What has arrived is kept.  Ctrl+G tries again"

    def test_nothing_is_said_of_nothing(self) -> None:
        assert model_lines.download_line(None) == ""
