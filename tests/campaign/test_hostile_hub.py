"""Models are fetched from a hub that lies and breaks off."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from huggingface_hub import close_session, constants, file_download, utils

from subtitle_rag.models import download
from subtitle_rag.models.download import fetch
from subtitle_rag.models.manifest import FilePattern, NeuralModel
from tests.campaign.figures import SEED, Figures, Say, count, say
from tests.campaign.hostile_http import ENDLESS, Answer, Attacked, HostileServer, Query
from tests.models.tiny import safetensors
from tests.stand_ins.hub import Asked, Hub

__all__ = ["say"]
pytestmark = pytest.mark.campaign(part="hostile")

COUNT = count("SUBTITLE_RAG_ATTACKS", 150)
MAX_S = 10.0
MAX_BYTES = 20 << 20
NAME = "maker/hostile"
FILES = {
    "config.json": json.dumps({"model_type": "xlm-roberta"}).encode(),
    "tokenizer.json": b"{}",
    "1_Pooling/config.json": b"{}",
    "model.safetensors": safetensors(50_000),
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(download, "_TIMEOUT", 1.0)
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1.0)
    for module in (file_download, utils._http):
        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=lambda _seconds: None))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    yield
    close_session()


HUB = Hub()
HUB.push(NAME, FILES)


def honest(query: Query) -> Answer:
    path = unquote(query.path.partition("?")[0])
    start = int(query.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
    reply = HUB.answer(Asked(query.method, path, start, query.headers))
    headers = dict(reply.headers)
    if "Location" in headers:  # within the same server
        headers["Location"] = "/" + headers["Location"].split("/", 3)[3]
    return Answer(reply.status, headers, reply.content)


def model(pinned: bool) -> NeuralModel:
    patterns = ["*.json", "*/config.json", "model.safetensors"]
    files = tuple(FilePattern(path) for path in patterns)
    revision = next(iter(HUB._files[NAME])) if pinned else ""
    return NeuralModel(
        kind="encoder",
        name=NAME,
        family="Tiny",
        licence="MIT",
        files=files,
        max_tokens=512,
        dtype="float32",
        disk_gb=0.1,
        memory_gb=0.1,
        memory_bf16_gb=0.1,
        confirmed=True,
        note={},
        revision=revision,
    )


def outside(folder: Path) -> set[str]:
    """Files that are not of the model."""
    own = folder / "models" / NAME.replace("/", "--")
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if own != path and own not in path.parents}


def test_a_model_of_a_hostile_hub_is_whole_or_refused(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = Figures("hostile hub")
    hostile = Attacked(honest, ENDLESS | {"redirect"})
    with HostileServer(hostile.respond) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        for number in range(COUNT):
            chance = random.Random(f"{SEED} hub {number}")
            label = f"{number} {hostile.aim(chance, [0, 0, 0, 1, 2, 3, 4, 5])}"
            folder = tmp_path / str(number)
            (folder / "models").mkdir(parents=True)
            (folder / "models" / "other").write_text("another model")
            server.sent = 0

            def fetched(folder: Path = folder, chance: random.Random = chance) -> str:
                list(fetch(folder / "models", model(chance.random() < 0.5)))
                return "whole"

            result = figures.attempt(label, MAX_S, fetched)
            strays = {path for path in outside(folder) if not path.startswith("models/.")}
            if strays != {"models", "models/other"}:
                figures.wrong.append(f"{label}: {strays} lie outside")
            if server.sent > MAX_BYTES and hostile.name != "bomb":
                figures.wrong.append(f"{label}: {server.sent} bytes")
            if result != "whole" or number % 10 == 0:  # the same command ends well with an honest hub
                hostile.name = ""
                try:
                    list(fetch(folder / "models", model(True)))
                except Exception as error:
                    figures.wrong.append(f"{label}, then honest: {error!r}"[:300])
    figures.check(say, "refused", "whole")
