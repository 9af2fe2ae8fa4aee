"""Offered encoders from a stand-in of the hub: the files that the manifest names are all that their libraries need."""

from pathlib import Path

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.models import local, manifest
from subtitle_rag.models.model_store import ModelFiles, ModelStore
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.models.neural.neural_host import NeuralService
from subtitle_rag.models.record import Record
from tests.stand_ins.hub import Hub
from tests.support.tiny_models import sentence_folders

__all__ = ["sentence_folders"]


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_encoder_without_a_known_revision_is_fetched_recorded_and_runs(
    hub: Hub, sentence_folders: dict[str, Path], tmp_path: Path
) -> None:
    name, source = "nlpai-lab/KURE-Sparse-nano", sentence_folders["sparse"]
    commit = hub.push(name, files(source))
    store = ModelStore(tmp_path / "models", ModelSettings(encoder=name))
    offer = manifest.neural_model(name)
    assert offer
    assert (offer.revision, offer.confirmed) == ("", False)

    list(store.fetch(name))
    record = Record.read(store.folder / offer.folder)
    hub.push(name, {**files(source), "config.json": b"newer"})
    assert list(store.fetch(name))[-1].fetched_bytes == 0  # type: ignore[union-attr]
    encoder = HostedModels(tmp_path / "host", store).encoder()
    found = getattr(encoder, "files", None)
    assert isinstance(found, ModelFiles)
    service = NeuralService(tmp_path / "depths.json", idle_s=600)
    [passage], query = service.passages(found, ["감자를 깎아서 넣어요"]), service.query(found, "감자")
    service.unload()

    assert record
    assert (record.revision, store.state(name).revision) == (commit, commit)
    assert all(file.bytes and file.digest for file in record.files)
    assert found.vectors == local.vector_kind(source) == "sparse"
    assert passage.sparse
    assert passage.sparse.indices
    assert query.sparse
