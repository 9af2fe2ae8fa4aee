"""Shared setup of all tests: a separate home, English sentences, and one Kiwi."""

from tests.support import hermetic  # first, since the other imports may read their environment

# isort: split
import gc
import os
import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis.database import DirectoryBasedExampleDatabase

from scripts._campaign import MODEL_TEST
from subtitle_rag.base import i18n
from subtitle_rag.base.config import settings as config
from subtitle_rag.index import indexing
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.support.device_probe import remember_device_probes
from tests.support.hosts_in_process import HOSTS, share_kiwi
from tests.support.memory_disk import use_memory_disk
from tests.support.parsed_captions import share_parsed_captions
from tests.support.shared_analyses import ANALYSES
from tests.support.stylesheets import share_parsed_rules

if TYPE_CHECKING:
    from tests.stand_ins.ollama import StandIn
    from tests.stand_ins.youtube import StandIn as YouTubeStandIn
    from tests.support.commandline import Run
    from tests.support.place import Place

# Timings are no tests, and few examples that are the same for everybody suit the inner loop. The campaign looks for
# others each time and keeps those that failed.
settings.register_profile(
    "fast",
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "campaign",
    settings.get_profile("fast"),
    max_examples=int(os.environ.get("SUBTITLE_RAG_EXAMPLES") or 1_000),
    derandomize=False,
    database=DirectoryBasedExampleDatabase(os.environ.get("HYPOTHESIS_DATABASE", ".hypothesis/examples")),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))  # --hypothesis-profile goes before it


MODEL_FIXTURES = frozenset(
    {"dense_folder", "encoder_folder", "other_encoder_folder", "reranker_folder", "sentence_folders"}
)
REAL_HOSTS = "SUBTITLE_RAG_TEST_HOSTS"
"""If set to `processes`, all tests start hosts as processes, as users do."""

use_memory_disk()
share_kiwi()
ANALYSES.install()
share_parsed_rules()
share_parsed_captions()
remember_device_probes()
HOSTS.install()


@cache
def says_models(path: Path) -> bool:
    """Whether the campaign runs this file's tests as tests that load models."""
    return bool(re.search(MODEL_TEST, path.read_text(encoding="utf-8")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests that load models to the campaign, in one worker: importing PyTorch takes 10 s and 300 MB."""
    for item in items:
        if item.get_closest_marker("models") or MODEL_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            if not says_models(item.path):
                raise pytest.UsageError(f"{item.path} loads models: give it the mark models, by which it is found")
            item.add_marker(pytest.mark.xdist_group("models"))
            if not item.get_closest_marker("campaign"):
                item.add_marker(pytest.mark.campaign(part="models"))


def pytest_collection_finish() -> None:
    """Freeze the collected objects: scanning them takes a sixth of the time of tests that start apps."""
    # at its first example, Hypothesis looks for the holder of its random, which it does not see when that is frozen
    given(strategies.none())(lambda value: None)()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    HOSTS.processes = bool(item.get_closest_marker("hosts")) or os.environ.get(REAL_HOSTS) == "processes"
    ANALYSES.is_bypassed = bool(item.get_closest_marker("kiwi"))


def pytest_unconfigure() -> None:
    HOSTS.end_under(Path("/"))


@pytest.fixture(autouse=True)
def end_of_hosts(tmp_path: Path) -> Iterator[None]:
    """End all hosts in the test's own folder after it."""
    yield
    HOSTS.end_under(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table on the real YouTube: see `test_live_youtube`."""
    reports = [report for kind in ("passed", "failed", "skipped") for report in terminalreporter.getreports(kind)]
    told = [value for report in reports for name, value in getattr(report, "user_properties", ()) if name == "youtube"]
    if rows := list(dict.fromkeys(tuple(value) for value in told)):
        from tests.support.youtube_cases import table

        terminalreporter.section("YouTube")
        terminalreporter.write_line("\n".join(table(rows)))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(hermetic.Plugin(), "hermetic")


@pytest.fixture(autouse=True)
def isolated_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the user's own library, settings and language away from every test."""
    folder = tmp_path / "home"
    monkeypatch.setenv(config.HOME_VARIABLE, str(folder))
    monkeypatch.delenv(config.LANGUAGE_VARIABLE, raising=False)
    monkeypatch.setenv(config.HOSTS_VARIABLE, "")  # nor the user's own Ollama
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nor the Hugging Face hub: nothing listens there
    monkeypatch.setattr(indexing, "INTERACTIVE_TIMEOUT_S", 0.1)
    monkeypatch.setenv("LANGUAGE", "en")  # `activate` sets it; this restores it
    i18n.activate("en")
    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real captions and questions, which is not part of the project."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SUBTITLE_RAG_DATA") or beside)
    if not (folder / "scene_bench").is_dir():
        pytest.skip(f"no real data in {folder}; set SUBTITLE_RAG_DATA")
    return folder


@pytest.fixture
def place(tmp_path: Path, analyzer: Analyzer) -> "Iterator[Place]":
    """Return an empty library with its index in this process."""
    from tests.support.place import Place

    with closing(Place.at(tmp_path / "place", analyzer)) as opened:
        yield opened


@pytest.fixture
def youtube() -> "Iterator[YouTubeStandIn]":
    from tests.stand_ins.youtube import stand_in

    with stand_in() as server:
        yield server


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> "Run":
    """Runs commands in the test's home."""
    from tests.support.commandline import ran

    return partial(ran, capsys)


@pytest.fixture
def one_analyzer(monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer) -> None:
    """Let commands share one Kiwi, and their hosts linger only briefly."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    monkeypatch.setattr(Runtime, "analyzer", analyzer)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writer of contexts send requests without pauses."""
    from subtitle_rag.contexts.writer import Writer

    settings: Any = Writer.__init__
    monkeypatch.setitem(settings.__kwdefaults__, "pause", 0)


@pytest.fixture
def ollama_server(monkeypatch: pytest.MonkeyPatch) -> "Iterator[StandIn]":
    """Return an Ollama without models, the only host in the settings."""
    from tests.stand_ins.ollama import StandIn

    with StandIn() as server:
        monkeypatch.setenv(config.HOSTS_VARIABLE, server.base)
        yield server


@pytest.fixture
def command(isolated_home: Path, capsys: pytest.CaptureFixture[str], one_analyzer: None) -> "Iterator[Run]":
    """Runs commands in the test's home, and ends their hosts."""
    from tests.support.commandline import ran
    from tests.support.invented import end_hosts

    isolated_home.mkdir(parents=True, exist_ok=True)
    yield partial(ran, capsys)
    paths = config.Paths.under(isolated_home)
    end_hosts([paths.index, paths.cache / "neural"])


@pytest.fixture(scope="session")
def analyzer() -> Analyzer:
    """Return a shared analyzer: loading Kiwi takes 0.7 s."""
    made = Analyzer()
    made.load()
    return made
