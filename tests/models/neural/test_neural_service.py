"""What the neural host does with models, without a process around it."""

import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind
from subtitle_rag.models.model_store import ModelFiles
from subtitle_rag.models.neural import device, neural_host
from subtitle_rag.models.neural.encoder import FlagEncoder
from subtitle_rag.models.neural.neural_host import NeuralService
from subtitle_rag.models.neural.reranker import CrossReranker
from tests.support.failures import failing
from tests.support.models_here import EXACT


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NeuralService]:
    monkeypatch.setattr(device, "plan_device", lambda: EXACT)
    made = NeuralService(tmp_path / "depths.json", idle_s=600)
    yield made
    made.unload()


def model(folder: Path, kind: Kind = ENCODER, *, has_sparse: bool = True) -> ModelFiles:
    return ModelFiles("", folder, f"{folder.name}@00000000", kind, has_sparse, 32, 512)


def held(service: NeuralService) -> list[str]:
    """The names of the models that are loaded."""
    return sorted(model.id.partition("@")[0] for model in service.state().models)


@pytest.mark.campaign(part="models")
def test_a_model_is_loaded_once_whoever_asks(
    service: NeuralService, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    load = FlagEncoder._load

    def counted(self: FlagEncoder, kind: Any) -> Any:
        loads.append(self.id)
        return load(self, kind)

    monkeypatch.setattr(FlagEncoder, "_load", counted)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: service.query(model(encoder_folder), f"질문 {n % 2}"), range(8)))
    assert loads == ["tiny-m3@00000000"]
    assert found[0] == found[2] != found[1]


@pytest.mark.campaign(part="models")
def test_two_encoders_and_a_reranker_are_held_at_most(
    service: NeuralService, encoder_folder: Path, other_encoder_folder: Path, dense_folder: Path, reranker_folder: Path
) -> None:
    first, second, third = model(encoder_folder), model(other_encoder_folder), model(dense_folder, has_sparse=False)
    reranker = model(reranker_folder, RERANKER)
    service.load(reranker)
    service.load(first)
    service.load(second)
    assert held(service) == ["tiny-m3", "tiny-m3-other", "tiny-reranker"]
    service.query(first, "청귤")  # so that the second is the one that was not used for the longest time
    assert service.query(third, "청귤").sparse is None
    assert held(service) == ["tiny-dense", "tiny-m3", "tiny-reranker"]
    other = replace(reranker, id="other@00000000")
    service.load(other)
    assert held(service) == ["other", "tiny-dense", "tiny-m3"]


def test_only_what_is_unused_goes(tmp_path: Path, encoder_folder: Path, reranker_folder: Path) -> None:
    service = NeuralService(tmp_path / "depths.json", idle_s=0.0)
    service.load(model(reranker_folder, RERANKER))
    with service._using(model(encoder_folder)) as engine:
        engine.load()
        assert not service.rest(1.0, leaving=True)
        assert held(service) == ["tiny-m3"]
    assert service.rest(1.0, leaving=True)
    assert held(service) == []


def test_it_stays_while_something_is_held_or_under_way(tmp_path: Path, encoder_folder: Path) -> None:
    service = NeuralService(tmp_path / "depths.json", idle_s=60.0)
    assert not service.rest(1.0, leaving=False)
    assert service.rest(61.0, leaving=False)
    service.load(model(encoder_folder))
    assert not service.rest(61.0, leaving=False)
    service.unload()
    assert not service.rest(0.0, leaving=False)
    assert service.rest(0.1, leaving=False)
    assert service.query(model(encoder_folder), "청귤").dense.values  # it was asked again before it left
    assert not service.rest(0.1, leaving=False)
    service.unload()


def test_a_failed_load_is_tried_again(service: NeuralService, encoder_folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(encoder_folder, tmp_path / "copy")
    config = (copy / "config.json").read_bytes()
    (copy / "config.json").write_text("{}")
    with failing("model_damaged"):
        service.load(model(copy))
    (copy / "config.json").write_bytes(config)
    service.load(model(copy))
    assert held(service) == ["copy"]


def test_the_rerankers_speed_is_measured_once_in_a_calm_moment(
    service: NeuralService, reranker_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    measure = CrossReranker.measure

    def counted(self: CrossReranker) -> int:
        measured.append(measure(self))
        return measured[-1]

    monkeypatch.setattr(CrossReranker, "measure", counted)
    monkeypatch.setattr(neural_host, "CALM_S", 3_600.0)
    reranker = model(reranker_folder, RERANKER)
    assert service.depth(reranker) is None
    assert held(service) == []  # to ask loads nothing
    service.scores(reranker, "소스", ["바다"])
    service.rest(0.0, leaving=False)
    assert measured == []  # somebody has just searched
    monkeypatch.setattr(neural_host, "CALM_S", 0.0)
    service.rest(0.0, leaving=False)
    service.rest(0.0, leaving=False)
    assert [service.depth(reranker)] == measured
    ((key, depth),) = json.loads((tmp_path / "depths.json").read_text()).items()
    assert "float32" in key
    assert depth == measured[0]
    again = NeuralService(tmp_path / "depths.json", idle_s=600)
    again.load(reranker)
    again.rest(0.0, leaving=False)
    assert [again.depth(reranker)] == measured
    again.unload()


def test_a_measurement_that_cannot_be_kept_disturbs_nothing(
    tmp_path: Path, reranker_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(neural_host, "CALM_S", 0.0)
    (tmp_path / "file").write_text("")
    service = NeuralService(tmp_path / "file" / "depths.json", idle_s=600)
    service.load(model(reranker_folder, RERANKER))
    assert not service.rest(0.0, leaving=False)
    assert not service.rest(0.0, leaving=False)
    assert caplog.text.count("measuring the reranker failed") == 1
    assert service.depth(model(reranker_folder, RERANKER)) is not None
    service.unload()


def test_what_a_library_refuses_is_no_fault_of_the_call(service: NeuralService, encoder_folder: Path) -> None:
    assert "close" not in service.methods  # the server refuses all others
    broken: Any = [None]
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, it is not taken for a wrong request
        service.call(None, "passages", (model(encoder_folder), broken), {})
    assert not isinstance(caught.value, ValueError)


def test_after_it_closed_no_pass_begins(tmp_path: Path, encoder_folder: Path) -> None:
    service = NeuralService(tmp_path / "depths.json", idle_s=600)
    service.load(model(encoder_folder))
    with service._using(model(encoder_folder)) as engine:
        service.close()
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(engine.query("청귤")), daemon=True)
        asking.start()
        asking.join(0.3)
        assert answers == []
        service._lock.release()
        service._final_pass.__exit__(None, None, None)
        asking.join()
    assert len(answers) == 1
    service.unload()
