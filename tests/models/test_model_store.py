"""Which models are here, what of them is wrong, and folders that the user names."""

import json
import shutil
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.models import local, manifest
from subtitle_rag.models.model_store import ModelFiles, ModelStore, State
from tests.models.tiny import CONFIG, ENCODER, ENCODER_FILES, RERANKER, RERANKER_FILES, WANTED, WEIGHTS, safetensors
from tests.stand_ins.hub import Hub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that somebody put there."""
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**CONFIG, "architectures": ["XLMRobertaModel"]}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(safetensors(100_000))
    return folder


def code(store: ModelStore, name: str, kind: manifest.Kind = "encoder") -> str:
    with pytest.raises(AppError) as caught:
        store.files(name, kind)
    assert caught.value.message
    return caught.value.code


def test_a_fetched_model_is_found_by_its_name(commit: str, store: ModelStore) -> None:
    assert code(store, ENCODER) == "model_missing"
    assert store.state(ENCODER) == State("missing", 0, None, commit)
    list(store.fetch(ENCODER))
    size = sum(len(ENCODER_FILES[path]) for path in WANTED)
    assert store.state(ENCODER) == State("here", size, size, commit)
    path = store.folder / "maker--tiny-m3"
    assert store.files("TINY-m3", "encoder") == ModelFiles(
        name=ENCODER,
        path=path,
        id=f"tiny-m3@{commit[:8]}",
        kind="encoder",
        has_sparse=True,
        dimensions=32,
        max_tokens=8192,
    )


def test_an_encoder_is_no_reranker(store: ModelStore) -> None:
    with pytest.raises(UsageError) as caught:
        store.files(ENCODER, "reranker")
    assert caught.value.code == "model_kind"
    assert "no reranker" in caught.value.message


@pytest.mark.parametrize("name", ["", "maker/unknown", "qwen3.5:2b", "/not/there"])
def test_what_is_neither_offered_nor_a_folder_is_unknown(store: ModelStore, name: str) -> None:
    assert code(store, name) == "unknown"
    for verb in (store.state, store.remove, lambda name: list(store.fetch(name))):
        with pytest.raises(UsageError) as caught:
            verb(name)
        assert caught.value.code == "unknown"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a model, without the record of their download."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_every_damage_is_mended_by_fetching_again(store: ModelStore) -> None:
    list(store.fetch(ENCODER))
    path = store.folder / "maker--tiny-m3"
    whole = contents(path)
    flipped = bytearray(WEIGHTS)
    flipped[1_234_567] ^= 1
    (path / "pytorch_model.bin").write_bytes(flipped)
    (path / "tokenizer.json").write_bytes(b'{"MODEL": {}}')
    (path / "colbert_linear.pt").write_bytes(b"colbert")
    (path / "1_Pooling" / "config.json").unlink()
    assert code(store, ENCODER) == "model_damaged"
    assert store.state(ENCODER).status == "partial"
    list(store.fetch(ENCODER))
    assert contents(path) == whole


def test_a_fetched_folder_keeps_its_name_where_it_is_taken_to(commit: str, store: ModelStore, tmp_path: Path) -> None:
    list(store.fetch(ENCODER))
    moved = tmp_path / "elsewhere"
    shutil.copytree(store.folder / "maker--tiny-m3", moved)
    found = store.files(str(moved), "encoder")
    assert (found.path, found.id, found.has_sparse) == (moved, f"tiny-m3@{commit[:8]}", True)


def test_a_record_that_cannot_be_read_is_made_anew(hub: Hub, store: ModelStore) -> None:
    list(store.fetch(ENCODER))
    (store.folder / "maker--tiny-m3" / ".subtitle-rag.json").write_text('{"schema": 1, "files": 3}')
    assert code(store, ENCODER) == "model_missing"
    hub.asked.clear()
    list(store.fetch(ENCODER))
    assert [asked.path.split("/")[1] for asked in hub.asked] == ["api"]  # the files themselves are right
    assert store.files(ENCODER, "encoder")


def test_a_folder_of_one_s_own_serves_without_a_hub(hub: Hub, store: ModelStore, folder: Path) -> None:
    found = store.files(str(folder), "encoder")
    assert found.id == f"my-model@{local.digest(folder)}"
    assert (found.kind, found.has_sparse, found.dimensions, found.max_tokens) == ("encoder", False, 32, 8192)
    assert store.state(str(folder)).status == "here"
    assert not hub.asked
    assert code(store, str(folder), "reranker") == "model_kind"
    for head in local.HEADS:
        assert not store.files(str(folder), "encoder").has_sparse  # FlagEmbedding needs both
        (folder / head).write_bytes(b"head")
    assert store.files(str(folder), "encoder").has_sparse
    with pytest.raises(UsageError):
        store.remove(str(folder))
    assert folder.is_dir()


def test_a_folder_s_id_is_its_content(store: ModelStore, folder: Path, tmp_path: Path) -> None:
    first = store.files(str(folder), "encoder").id
    copied = tmp_path / "copies" / folder.name
    shutil.copytree(folder, copied, copy_function=shutil.copyfile)  # other times
    assert store.files(str(copied), "encoder").id == first
    (copied / "README.md").write_text("nothing that counts")
    assert store.files(str(copied), "encoder").id == first
    (copied / "tokenizer.json").write_text("{ }")
    assert store.files(str(copied), "encoder").id != first
    tuned = bytearray((folder / "model.safetensors").read_bytes())
    tuned[100:] = bytes(byte ^ 1 for byte in tuned[100:])  # of the same length
    (folder / "model.safetensors").write_bytes(tuned)
    assert store.files(str(folder), "encoder").id != first


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("config.json", None),
        ("config.json", b"not json"),
        ("config.json", b"[]"),
        ("config.json", b"{}"),
        ("model.safetensors", None),
        ("model.safetensors", b""),
        ("model.safetensors", safetensors(100_000)[:-1]),
        ("model.safetensors", b"\xff" * 100),
    ],
)
def test_a_folder_that_lacks_something_is_told(
    store: ModelStore, folder: Path, path: str, content: bytes | None
) -> None:
    (folder / path).unlink()
    if content is not None:
        (folder / path).write_bytes(content)
    assert code(store, str(folder)) == "model_damaged"


def test_weights_in_several_files_are_all_looked_at(store: ModelStore, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model-1.safetensors").write_bytes(safetensors(1_000))
    assert list(local.problems(folder, "")) == [("model-2.safetensors", "missing")]


@pytest.mark.models
def test_a_truncated_torch_file_is_found(store: ModelStore, folder: Path) -> None:
    import torch

    (folder / "model.safetensors").unlink()
    torch.save({"w": torch.zeros(1_000)}, folder / "pytorch_model.bin")
    assert store.files(str(folder), "encoder")
    whole = (folder / "pytorch_model.bin").read_bytes()
    (folder / "pytorch_model.bin").write_bytes(whole[:-100])
    assert code(store, str(folder)) == "model_damaged"


def test_removing_frees_the_disk(store: ModelStore) -> None:
    list(store.fetch(RERANKER))
    freed = store.remove(RERANKER)
    assert freed > len(RERANKER_FILES["model.safetensors"])
    assert store.state(RERANKER).status == "missing"
    with pytest.raises(AppError) as caught:
        store.remove(RERANKER)
    assert caught.value.code == "model_missing"


def test_looking_makes_no_folder(commit: str, tmp_path: Path) -> None:
    store = ModelStore(tmp_path / "none" / "yet", ModelSettings())
    assert store.state(ENCODER).status == "missing"
    with pytest.raises(AppError):
        store.files(ENCODER, "encoder")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("layers", "width", "is_light"), [(12, 384, True), (12, 768, False), (24, 1024, False), (None, 384, False)]
)
def test_a_folder_is_light_by_the_size_of_its_layers(
    folder: Path, store: ModelStore, layers: int | None, width: int, *, is_light: bool
) -> None:
    shape = {"num_hidden_layers": layers, "hidden_size": width}
    (folder / "config.json").write_text(json.dumps({**CONFIG, **shape, "architectures": ["XLMRobertaModel"]}))
    assert store.files(str(folder), "encoder").is_light is is_light
