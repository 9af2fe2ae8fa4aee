"""A hub with two small models, a manifest that offers them, and a store for what comes."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import close_session, constants, file_download

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.models import manifest
from subtitle_rag.models.model_store import ModelStore
from tests.models.tiny import ENCODER, ENCODER_FILES, RERANKER, RERANKER_FILES, clear, write_manifest
from tests.stand_ins.hub import Hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    monkeypatch.setattr(file_download, "time", SimpleNamespace(sleep=lambda _seconds: None))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)  # nobody's own
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.base)
        yield hub
        close_session()


@pytest.fixture
def commit(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The encoder's pinned commit; the manifest offers it."""
    commit = hub.push(ENCODER, ENCODER_FILES)
    hub.push(ENCODER, {"config.json": b"newer"})
    hub.push(RERANKER, RERANKER_FILES)
    path = tmp_path / "models.toml"
    write_manifest(path, commit)
    monkeypatch.setattr(manifest, "_MANIFESTS", (path,))
    clear()
    yield commit
    clear()


@pytest.fixture
def store(commit: str, tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "fetched", ModelSettings(encoder=ENCODER, reranker=RERANKER))
