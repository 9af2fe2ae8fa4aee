"""Models are fetched from a hub that lies, stalls, floods and sends its visitors elsewhere."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from huggingface_hub import close_session, constants

from subtitle_rag.domain import AppError
from subtitle_rag.models import download
from subtitle_rag.models.download import fetch
from subtitle_rag.models.manifest import FilePattern, NeuralModel
from tests.campaign.figures import SEED, Figures, Say, count, say
from tests.campaign.hostile_http import ATTACKS, Answer, HostileServer, Pieces, Query, chosen, plain
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
    monkeypatch.setattr(download, "PAUSES", (0.0,))
    for name, seconds in (("_TIMEOUT", 1.0), ("LISTING_S", 1.0), ("SLOW_S", 1.0)):
        monkeypatch.setattr(download, name, seconds)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    yield
    close_session()


class HostileHub:
    """A hub whose answers to some requests are attacks."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.hub.push(NAME, FILES)
        self.attack: tuple[str, range, random.Random] | None = None
        """Name, the numbers of the requests that are answered so, and chance."""
        self.foreign = ""
        self.seen = 0

    def respond(self, query: Query) -> Pieces:
        path = unquote(query.path.partition("?")[0])
        start = int(query.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        reply = self.hub.answer(Asked(query.method, path, start, query.headers))
        headers = dict(reply.headers)
        if "Location" in headers:  # within the same server
            headers["Location"] = "/" + headers["Location"].split("/", 3)[3]
        answer = Answer(reply.status, headers, reply.content)
        self.seen += 1
        if self.attack is None or self.seen - 1 not in self.attack[1]:
            return plain(answer)
        name, _numbers, chance = self.attack
        return ATTACKS[name](answer, chance, self.foreign)


def model(pinned: bool) -> NeuralModel:
    patterns = ["*.json", "*/config.json", "model.safetensors"]
    files = tuple(FilePattern(path) for path in patterns)
    revision = next(iter(PINNED._files[NAME])) if pinned else ""
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


PINNED = Hub()
PINNED.push(NAME, FILES)


def outside(folder: Path) -> set[str]:
    """Files that are not of the model."""
    own = folder / "models" / NAME.replace("/", "--")
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if own != path and own not in path.parents}


def test_a_model_of_a_hostile_hub_is_whole_or_refused(
    tmp_path: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = Figures("hostile hub", foreign=0)
    hostile, foreign = HostileHub(), HostileServer(lambda _query: plain(Answer(200, {}, b"taken")))
    with foreign, HostileServer(hostile.respond) as server:
        hostile.foreign = foreign.base
        monkeypatch.setenv("HF_ENDPOINT", server.base)
        for number in range(COUNT):
            chance = random.Random(f"{SEED} hub {number}")
            name, first = chosen(chance), chance.choice([0, 0, 0, 1, 2, 3, 4, 5])
            last = chance.choice([first, 99])
            label = f"{number} {name} from {first} to {last}"
            hostile.attack, hostile.seen = (name, range(first, last + 1), chance), 0
            folder = tmp_path / str(number)
            (folder / "models").mkdir(parents=True)
            (folder / "models" / "other").write_text("another model")
            server.sent, began = 0, time.monotonic()
            try:
                list(fetch(folder / "models", model(chance.random() < 0.5)))
                result = "whole"
            except AppError as error:
                result = "refused"
                if not (error.message and error.hint):
                    figures.wrong.append(f"{label}: {error!r} says nothing")
            except Exception as error:  # every one is listed, by its number
                result = "crashed"
                figures.wrong.append(f"{label}: {error!r}"[:300])
            took = time.monotonic() - began
            figures.tried += 1
            figures.results[result] += 1
            figures.slowest = max(figures.slowest, (took, label))
            strays = {path for path in outside(folder) if not path.startswith("models/.")}
            if strays != {"models", "models/other"}:
                figures.wrong.append(f"{label}: {strays} lie outside")
            if took > MAX_S or (server.sent > MAX_BYTES and name != "bomb"):
                figures.wrong.append(f"{label}: {took:.1f} s, {server.sent} bytes")
            if result != "whole" or number % 10 == 0:  # the same command ends well with an honest hub
                hostile.attack = None
                try:
                    list(fetch(folder / "models", model(True)))
                except Exception as error:
                    figures.wrong.append(f"{label}, then honest: {error!r}"[:300])
        figures.foreign = len(foreign.queries)
    say(figures.line())
    assert figures.wrong == []
    assert figures.foreign == 0
    assert figures.results["refused"]
    assert figures.results["whole"]
