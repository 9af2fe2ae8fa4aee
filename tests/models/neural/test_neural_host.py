"""The process that holds the neural models, with tiny ones; it is killed by the pid that it told."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from subtitle_rag.base.config.settings import ModelSettings, Paths, Settings
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.neural.device import plan_device
from subtitle_rag.models.neural.encoder import FlagEncoder
from subtitle_rag.models.neural.neural_client import HostedEncoder, HostedModels, HostedReranker
from subtitle_rag.runtime import Runtime
from tests.support.failures import failing
from tests.support.invented import alive, came_true, end_hosts

pytestmark = pytest.mark.hosts

if TYPE_CHECKING:
    from subtitle_rag.models.neural.protocols import Encoder, Models, Reranker

ROOT = Path(__file__).parents[3]
LOADING_S = 60
"""PyTorch's import included, on a machine with much else to do."""

CLIENT = """
import sys
from pathlib import Path
from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.neural.neural_client import HostedModels
folder, encoder, reranker = sys.argv[1:]
models = HostedModels(Path(folder), ModelStore(Path(folder), ModelSettings(encoder=encoder, reranker=reranker)))
models.encoder().query("청귤 소스")
models.reranker().scores("청귤 소스", ["바다", "소스"])
print(models.host_pid)
heavy = {"torch", "transformers", "FlagEmbedding", "sentence_transformers", "numpy", "huggingface_hub"}
print(sorted(heavy & set(sys.modules)))
"""


def made(folder: Path, *, encoder: Path | str = "", reranker: Path | str = "") -> HostedModels:
    own = ModelSettings(encoder=str(encoder), reranker=str(reranker))
    return HostedModels(folder, ModelStore(folder / "models", own))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder, and so one process, for all tests that need no other."""
    folder = tmp_path_factory.mktemp("neural")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "30")
        yield folder
        end_hosts([folder])


@pytest.fixture
def models(shared: Path, encoder_folder: Path, reranker_folder: Path) -> Iterator[HostedModels]:
    opened = made(shared, encoder=encoder_folder, reranker=reranker_folder)
    yield opened
    opened.close()


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a process that a test has to itself; it is gone at the end."""
    monkeypatch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "0.2")
    yield tmp_path / "neural"
    end_hosts([tmp_path / "neural"])


def encoder_of(models: HostedModels) -> HostedEncoder:
    encoder = models.encoder()
    assert isinstance(encoder, HostedEncoder)
    return encoder


def reranker_of(models: HostedModels) -> HostedReranker:
    reranker = models.reranker()
    assert reranker is not None
    return reranker


# what the files tell


def test_it_is_what_the_search_asks_for(models: HostedModels, dense_folder: Path, shared: Path) -> None:
    as_seen: Models = models
    found = as_seen.encoder(), as_seen.reranker()
    assert None not in found
    encoder: Encoder = encoder_of(models)
    reranker: Reranker = reranker_of(models)
    assert found == (encoder, reranker)
    assert (encoder.id.partition("@")[0], encoder.dimensions, encoder.has_sparse) == ("tiny-m3", 32, True)
    assert reranker.id.startswith("tiny-reranker@")
    assert models.encoder() is encoder
    assert models.encoder(encoder.id) is encoder
    assert models.encoder("tiny-m3@00000000") is None
    other = made(shared, encoder=dense_folder)
    assert not encoder_of(other).has_sparse
    assert other.reranker() is None


def test_what_is_not_here_or_not_wanted_is_none_and_starts_nothing(alone: Path) -> None:
    absent = made(alone, encoder="BAAI/bge-m3", reranker="BAAI/bge-reranker-v2-m3")
    unwanted = made(alone)
    for models in (absent, unwanted):
        found = models.encoder(), models.encoder("bge-m3@5617a9f6"), models.reranker(), models.state()
        assert found == (None, None, None, None)
        models.load_soon(None)
        models.unload()
        models.close()
    assert not alone.exists()


def test_a_wrong_setting_is_told(alone: Path, encoder_folder: Path) -> None:
    with failing("unknown", UsageError):
        made(alone, encoder="no/such-model").encoder()
    with failing("model_kind", UsageError):
        made(alone, reranker=encoder_folder).reranker()
    assert made(alone, encoder="no/such-model").encoder("tiny@00000000") is None


def test_a_folder_whose_files_changed_is_another_model(alone: Path, encoder_folder: Path) -> None:
    copy = shutil.copytree(encoder_folder, alone.with_name("copy"))
    models = made(alone, encoder=copy)
    before = encoder_of(models).id
    weights = bytearray((copy / "colbert_linear.pt").read_bytes())
    (copy / "colbert_linear.pt").write_bytes(weights + b"\0")
    after = encoder_of(models).id
    assert before != after
    assert models.encoder(before) is None


# answers


def test_vectors_and_scores_are_the_models_own(models: HostedModels, encoder_folder: Path) -> None:
    direct = FlagEncoder(encoder_folder, "tiny", plan_device())
    encoder, reranker = encoder_of(models), reranker_of(models)
    assert encoder.query("청귤 소스") == direct.query("청귤 소스")
    texts = ["바다에 갔어요", "", "소스를 만들어 볼게요 " * 30]
    assert encoder.passages(texts) == direct.passages(texts)
    assert encoder.passages([]) == []
    forward = reranker.scores("소스", texts)
    assert len(set(forward)) == 3
    assert reranker.scores("소스", texts[::-1]) == pytest.approx(forward[::-1], abs=0.02)


def test_queries_are_answered_while_passages_are_encoded(models: HostedModels) -> None:
    encoder = encoder_of(models)
    encoder.query("먼저")
    stop, calls = threading.Event(), list[int]()

    def work() -> None:
        while not stop.is_set():
            calls.append(len(calls))
            encoder.passages([f"{n}번째 문장을 길게 이어서 말해요. " * 20 for n in range(64)])

    worker = threading.Thread(target=work)
    worker.start()
    for n in range(3):
        before = len(calls)
        assert came_true(lambda before=before: len(calls) > before)  # type: ignore[misc]
        assert encoder.query(f"{n}번째 질문").dense.values
        assert worker.is_alive()
    stop.set()
    worker.join()


@pytest.mark.campaign(part="models")
def test_clients_share_one_process_and_stay_light_and_silent(
    models: HostedModels, shared: Path, encoder_folder: Path, reranker_folder: Path
) -> None:
    encoder_of(models).query("둘")
    arguments = [sys.executable, "-c", CLIENT, str(shared), str(encoder_folder), str(reranker_folder)]
    ended = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == (f"{models.host_pid}\n[]\n", "")
    assert (shared / "host.log").read_text() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="told by /proc")
def test_it_steps_back_behind_other_programs(models: HostedModels) -> None:
    encoder_of(models).query("셋")
    assert os.getpriority(os.PRIO_PROCESS, models.host_pid) > os.getpriority(os.PRIO_PROCESS, 0)
    mine, its = (int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (os.getpid(), models.host_pid))
    assert its > mine or its == 1000


# failures


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert came_true(lambda: not alive(pid))


@pytest.mark.campaign(part="models")
def test_a_killed_process_is_started_again_by_the_next_call(alone: Path, encoder_folder: Path) -> None:
    models = made(alone, encoder=encoder_folder)
    encoder = encoder_of(models)
    before, found = encoder.passages(["바다에 갔어요"]), encoder.query("바다")
    killed = models.host_pid
    kill(killed)
    assert encoder.query("바다") == found  # remembered: nobody is asked
    assert models.state() is None
    assert encoder.passages(["바다에 갔어요"]) == before
    assert models.host_pid != killed
    models.close()
    assert came_true(lambda: not alive(models.host_pid))


# leaving


@pytest.mark.campaign(part="models")
def test_it_leaves_when_told_to_and_loads_ahead(models: HostedModels) -> None:
    encoder = encoder_of(models)
    encoder.query("넷")
    left = models.host_pid
    models.unload()
    assert came_true(lambda: not alive(left))
    assert models.state() is None
    models.load_soon(encoder.id)

    def loaded() -> bool:
        state = models.state()
        return state is not None and [held.kind for held in state.models] == ["encoder", "reranker"]

    assert came_true(loaded, LOADING_S)
    state = models.state()
    assert state is not None
    assert state.pid == models.host_pid != left
    assert {held.id for held in state.models} == {encoder.id, reranker_of(models).id}
    assert state.bytes is None or state.bytes > 10**8


def test_a_runtime_without_models_starts_no_process(tmp_path: Path) -> None:
    settings = Settings(Paths.under(tmp_path / "home"), "en")
    with Runtime(settings) as runtime:
        runtime.preload_neural()
        assert (runtime.neural.encoder(), runtime.neural.reranker()) == (None, None)
    assert not (settings.paths.cache / "neural").exists()
