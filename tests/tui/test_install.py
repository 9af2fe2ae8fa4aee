"""Packages in the app, by a stand-in of pip: those for search by meaning, asked about and installed."""

import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.installation import extras, package_installer
from subtitle_rag.base.installation.extras import MEANING, NEURAL
from subtitle_rag.models import manifest
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.models.neural.ollama_encoder import OllamaEncoders
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.dialogs.install_screen import InstallScreen
from subtitle_rag.tui.shared.progress import model_lines, offers
from subtitle_rag.tui.shared.progress.offers import ModelDownload
from tests.base.installation.environments import program, use_environment
from tests.models.tiny import ENCODER, ENTRY, RERANKER, clear
from tests.stand_ins.hub import Hub
from tests.stand_ins.ollama import Model, StandIn as Ollama
from tests.support.tiny_graphs import WIDTH, tiny_graph
from tests.tui.conftest import AppPilot, drawn_by, running, settle, stage, toasts, until
from tests.tui.test_offer import arrived, bare, host, indexed, offered, welcome

__all__ = ["bare", "host", "indexed", "offered"]

PIP = """
import os, sys, time
folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
def at(name): return os.path.join(folder, name)
command, *arguments = sys.argv[3:]
with open(at("asked"), "a") as file: print(command, arguments[-1], file=file)
if os.path.exists(at("refused")):
    print("ERROR: No space is left [red]on[/] the device")
    sys.exit(1)
print("Collecting torch", flush=True)
while os.path.exists(at("held")): time.sleep(0.01)
open(at("installed"), "w").close()
"""
OFFERED = "Search by meaning, too: Ctrl+G installs it (1.6 GB), Ctrl+X hides this."
ADDRESS = "https://youtu.be/noodles0000"
STOPPED = "Installation of search by meaning stopped. Ctrl+G resumes, Ctrl+X hides this."


@dataclass(frozen=True)
class Pip:
    """The stand-in, steered by files beside it."""

    folder: Path

    def put(self, name: str) -> None:
        (self.folder / name).touch()

    def take(self, name: str) -> None:
        (self.folder / name).unlink()

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    @property
    def asked(self) -> list[str]:
        path = self.folder / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    """The program runs in an environment of pip's, on Linux without a GPU, without what search by meaning needs."""
    made = Pip(tmp_path / "environment")
    python = program(made.folder / "bin", "python", PIP)
    use_environment(monkeypatch, made.folder, python)
    monkeypatch.setattr(package_installer, "find_spec", lambda _name: object())  # pip, and PyTorch
    missing = {*NEURAL.modules, *MEANING.modules}
    monkeypatch.setattr(
        extras, "find_spec", lambda name: None if name in missing and not made.has("installed") else find_spec(name)
    )
    return made


def version_of_nothing(name: str) -> str:
    raise PackageNotFoundError(name)


def asking(app: SubtitleApp) -> bool:
    return isinstance(app.screen, InstallScreen)


async def asked(pilot: AppPilot, app: SubtitleApp) -> tuple[str, str]:
    """What is drawn when the key has asked, and the way that Enter goes."""
    await pilot.press("ctrl+g")
    await until(pilot, lambda: asking(app) and any(each.region.area for each in app.screen.children))
    await settle(pilot)
    assert isinstance(app.screen, InstallScreen)
    option = app.screen.rows.highlighted_option
    return drawn_by(app), (option.id if option else None) or ""


async def agree(pilot: AppPilot, app: SubtitleApp) -> None:
    """Have the installation begin, by its keys."""
    await asked(pilot, app)
    await pilot.press("enter")
    await until(pilot, lambda: not asking(app))


class TestInstalling:
    async def test_the_size_is_told_and_nothing_comes_before_the_user_agrees(
        self, indexed: Runtime, offered: Hub, pip: Pip
    ) -> None:
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            assert OFFERED in welcome(app)
            page, _ = await asked(pilot, app)
            assert "packages 1.6 GB · models 6.0 MB" in page
            assert "only into this program's own environment" in page
            await pilot.press("escape")
            await until(pilot, lambda: not asking(app))
            assert OFFERED in welcome(app)
            await asked(pilot, app)
            assert (pip.asked, offered.asked) == ([], [])

    async def test_it_stops_at_a_key_and_goes_on_with_the_rest(self, indexed: Runtime, offered: Hub, pip: Pip) -> None:
        indexed.models.settings = indexed.settings.models
        pip.put("held")
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await agree(pilot, app)
            await until(pilot, lambda: "Collecting torch" in welcome(app))
            assert welcome(app).endswith("Ctrl+G stops")
            await pilot.press("ctrl+g")
            await until(pilot, lambda: STOPPED in welcome(app))
            await until(pilot, lambda: not app.background.runs)
            assert not pip.has("installed")
            app.context.opening.look_up()  # as at the end of a job
            await settle(pilot)
            assert STOPPED in welcome(app)
            pip.take("held")
            pip.put("refused")  # from here on it would fail, if it came so far
            await pilot.press("ctrl+g")  # who has agreed is not asked again
            await until(pilot, lambda: "No space is left [red]on[/] the device" in welcome(app))
        assert len(pip.asked) == 2

    async def test_a_failure_is_told_in_the_installers_words_and_tried_again(
        self, indexed: Runtime, offered: Hub, pip: Pip
    ) -> None:
        pip.put("refused")
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await agree(pilot, app)
            await until(pilot, lambda: "Ctrl+G tries again" in welcome(app))
            assert "No space is left [red]on[/] the device" in welcome(app)
            assert toasts(app) == []
            page, _ = await asked(pilot, app)
            assert "No space is left [red]on[/] the" in page
            await pilot.press("escape")

    @pytest.mark.campaign(part="app")
    async def test_from_the_key_to_scenes_by_meaning(self, indexed: Runtime, offered: Hub, pip: Pip) -> None:
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await agree(pilot, app)
            await arrived(pilot)
            assert pip.has("installed")
            assert len(offered.large_requests()) == 4
            assert "ctrl+g" not in welcome(app)

    async def test_where_it_is_refused_the_line_is_shown_and_nothing_is_offered_to_press(
        self, indexed: Runtime, offered: Hub, pip: Pip, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (pip.folder / "pipx_metadata.json").touch()
        async with running(SubtitleApp(indexed), size=(160, 40)) as (app, pilot):
            page, way = await asked(pilot, app)
            assert way == ""
            assert "This copy of the program cannot install packages by itself." in page
            assert "pipx inject environment" in page
            await pilot.press("enter")
            await until(pilot, lambda: not asking(app))
            assert app.background.runs == {}
        assert pip.asked == []

    async def test_who_wants_no_encoder_is_not_offered_packages(self, indexed: Runtime, offered: Hub, pip: Pip) -> None:
        indexed.models.settings = replace(indexed.models.settings, encoder="")
        assert offers.find_download(indexed) is None


LIGHT = "maker/tiny-light"
STEPS = """
[[step]]
name = "light"
encoder = "{light}"
seconds = 30
title = {{ en = "Light", ko = "가벼운" }}
gain = {{ en = "In other words, too.", ko = "다른 말로도." }}
[[step]]
name = "full"
encoder = "{full}"
reranker = "{reranker}"
title = {{ en = "Full", ko = "전체" }}
gain = {{ en = "The best first.", ko = "가장 맞는 것부터." }}
"""


class TestLightStep:
    @pytest.fixture
    def light(self, bare: Runtime, offered: Hub, tmp_path: Path) -> str:
        """The manifest has steps, and the hub the light encoder. Its commit."""
        graph = tiny_graph(tmp_path / "graph")
        pushed = {path.relative_to(graph).as_posix(): path.read_bytes() for path in graph.rglob("*") if path.is_file()}
        commit = offered.push(LIGHT, pushed)
        wanted = ("config.json", "tokenizer.json", "onnx/model_quantized.onnx")
        entry = ENTRY.format(
            kind="encoder",
            name=LIGHT,
            revision=f'revision = "{commit}"\nis_light = true',
            shape=f'dimensions = {WIDTH}\npooling = "mean"\nquery_prompt = "query: "',
            files=", ".join(f'{{ path = "{path}" }}' for path in wanted),
        ).replace("default = true\n", "")
        path = manifest._MANIFESTS[0]
        steps = STEPS.format(light=LIGHT, full=ENCODER, reranker=RERANKER)
        path.write_text(path.read_text("utf-8") + entry + steps, "utf-8")
        clear()
        return commit

    async def test_it_is_offered_first_fetched_used_and_written_into_the_config(
        self, light: str, indexed: Runtime, offered: Hub, pip: Pip
    ) -> None:
        config = indexed.settings.paths.config
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            assert "Ctrl+G installs it (12" in welcome(app)
            page, way = await asked(pilot, app)
            assert "packages 120 MB · models 3.0 MB" in page
            assert "less than a minute for this library" in page
            assert "Light (recommended)" in page
            assert "Full" in page
            assert way == "light"
            await pilot.press("enter")
            await until(pilot, lambda: bool(stage(app, "vectors").state == "done" and not app.background.runs))
            await settle(pilot)
            assert stage(app, "offer").state == "dismissed"
            assert "by their words alone" not in welcome(app)
            assert (await asked(pilot, app))[1] == "full"  # still there for who asks
            await pilot.press("escape")
        assert {asked.path.split("/")[2] for asked in offered.asked if "/resolve/" in asked.path} == {"tiny-light"}
        assert tomllib.loads(config.read_text("utf-8"))["models"] == {"encoder": LIGHT}
        assert indexed.library.vectors.active() == f"tiny-light@{light[:8]}?query=query:+&document="

    def test_an_encoder_of_the_users_own_choice_has_no_steps(self, light: str, indexed: Runtime, pip: Pip) -> None:
        indexed.models.settings = replace(indexed.models.settings, encoder="gpahal/none")
        download = offers.find_download(indexed)
        assert download is None or not download.steps


class TestThroughOllama:
    @pytest.fixture
    def ollama(self, indexed: Runtime, pip: Pip) -> Iterator[Ollama]:
        """Ollama answers, and packages are missing."""
        with Ollama() as server:
            indexed.settings = replace(indexed.settings, llm=LlmSettings(hosts=(server.base,)))
            through = OllamaEncoders(indexed._open_ollama, indexed._is_writing_contexts)
            with closing(HostedModels(indexed.settings.paths.cache / "none", indexed.models, through)) as neural:
                indexed.__dict__["neural"] = neural
                yield server

    @pytest.mark.parametrize("by_hand", [False, True])
    async def test_its_encoder_is_offered_first_fetched_and_written_into_the_config(
        self, indexed: Runtime, ollama: Ollama, pip: Pip, by_hand: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if by_hand:
            (pip.folder / "pipx_metadata.json").touch()
        embedder = Model("bge-m3", capabilities=("embedding",), dimensions=1024)
        ollama.offer(embedder)
        ollama.dies_after = None if by_hand else 2_000
        config = indexed.settings.paths.config
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("# mine\n[search]\nlimit = 7\n", encoding="utf-8")
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: "by Ollama: Ctrl+G fetches bge-m3 (1.2 GB), Ctrl+X hides" in welcome(app))
            page, way = await asked(pilot, app)
            assert way == "ollama"
            assert "bge-m3 1.2 GB" in page
            assert ollama.count("pull") == 0
            await pilot.press("enter")
            if not by_hand:
                await until(pilot, lambda: welcome(app).endswith("Ctrl+G tries again") and not app.background.runs)
                assert "models" not in config.read_text("utf-8")
                app.context.opening.look_up()
                await settle(pilot)
                assert welcome(app).endswith("Ctrl+G tries again")
                await pilot.press("ctrl+g")
            await until(pilot, lambda: "offer" not in app.stages and stage(app, "vectors").state == "done")
            await settle(pilot)
        assert indexed.library.vectors.active() == f"ollama:bge-m3@{embedder.digest[:8]}"
        assert config.read_text("utf-8").startswith("# mine\n[search]\nlimit = 7\n")
        assert tomllib.loads(config.read_text("utf-8"))["models"] == {"encoder": "ollama:bge-m3"}
        assert pip.asked == []

    async def test_a_config_that_cannot_be_written_is_said(self, indexed: Runtime, ollama: Ollama) -> None:
        ollama.add(Model("bge-m3", capabilities=("embedding",), dimensions=1024))
        config = indexed.settings.paths.config
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("models = 1\n", encoding="utf-8")
        async with running(SubtitleApp(indexed), size=(120, 40)) as (app, pilot):
            await until(pilot, lambda: "which has bge-m3: Ctrl+G begins" in welcome(app))
            await agree(pilot, app)
            await until(
                pilot, lambda: any('says: [models] encoder = "ollama:bge-m3"' in toast for toast in toasts(app))
            )
        assert config.read_text("utf-8") == "models = 1\n"

    def test_where_packages_are_here_it_is_not_asked(
        self, indexed: Runtime, ollama: Ollama, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert offers.find_through_ollama(indexed)
        ollama.clear()
        monkeypatch.setattr(extras, "find_spec", lambda _name: True)
        assert offers.find_through_ollama(indexed) is None
        assert ollama.count() == 0


def offered_steps(*steps: manifest.SearchStep) -> tuple[offers.StepOffer, ...]:
    return tuple(offers.StepOffer(step, 1_000_000, 0) for step in steps)


class TestLines:
    def test_how_far_the_packages_have_come_is_told(self) -> None:
        working = ModelDownload(state="working", packages=1_600, progress=Progress("packages", total=1))
        assert model_lines.download_line(working) == "Installing search by meaning  Ctrl+G stops"
        told = model_lines.download_line(
            replace(working, progress=Progress("packages", total=1, text="Collecting tor\x1bch"))
        )
        assert told == "Installing search by meaning  Collecting torch  Ctrl+G stops"

    def test_models_that_are_here_are_not_counted(self) -> None:
        (way,) = model_lines.install_ways(ModelDownload(state="offered", packages=1_600))
        assert way.detail == "packages 1.6 GB"

    def test_the_best_step_that_is_quick_here_and_needs_no_pytorch_is_recommended(self) -> None:
        light, middle, full = manifest.encoder_steps()
        slow = replace(middle, seconds=1e6)
        for second, best in ((middle, middle), (slow, light)):
            recommended = ModelDownload(state="offered", steps=offered_steps(light, second, full)).recommended
            assert recommended is not None
            assert recommended.step is best
        by_hand = tuple(replace(each, by_hand="pip …") for each in offered_steps(light, middle))
        assert ModelDownload(state="offered", steps=by_hand).recommended is None
