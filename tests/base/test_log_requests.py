"""Every request is in the log, with its status and milliseconds, and nothing that only its receiver may know."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from subtitle_rag.base import redaction
from subtitle_rag.base.config.settings import LlmSettings, QdrantSettings
from subtitle_rag.base.domain.errors import AppError, FetchError, LlmError
from subtitle_rag.base.log_file import logging_to
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.youtube.session import PAGE_CLIENT, Session
from tests.index.points import COLLECTION, META, point, search, server_index, sparse
from tests.models.conftest import commit as commit, hub as hub, store as store
from tests.models.tiny import ENCODER, WANTED
from tests.stand_ins.hub import Hub
from tests.stand_ins.ollama import Model, StandIn as Ollama
from tests.stand_ins.qdrant import StandIn as Qdrant
from tests.stand_ins.youtube import QUICK, Clip, stand_in

KEY = "s3cret-key-of-mine"
TEXT = "비밀스러운 벚꽃 국수"
WATCH = "https://www.youtube.com/watch?v=slowcook001&key=s3cret-key-of-mine"

Read = Callable[[], list[str]]


@pytest.fixture(params=[False, True], ids=["info", "debug"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Read]:
    """The lines so far, of level info on, as `level message`; no secret is in any line."""

    def read() -> list[str]:
        lines = (tmp_path / "log" / "cli.log").read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if KEY in line]
        told = [line for line in lines if " DEBUG " not in line]
        assert not [line for line in told if TEXT in line]
        return [re.sub(r"^\S+ (\w+) +\S+ \S+: ", r"\1 ", line) for line in told]

    with logging_to(tmp_path / "log", "cli", debug=request.param):
        yield read
    redaction._SECRETS.clear()


def requests(lines: list[str], begin: str) -> list[str]:
    """Those that begin so, with the milliseconds as `N` and ports as `P`."""
    return [re.sub(r"\d+ ms", "N ms", re.sub(r":\d{4,5}/", ":P/", line)) for line in lines if line.startswith(begin)]


def test_youtube(log: Read) -> None:
    session = Session(QUICK)
    with stand_in() as youtube:
        youtube.add(Clip("slowcook001", TEXT))
        session.video_info(WATCH, TEXT, PAGE_CLIENT)
        asked = youtube.count()
        youtube.stop()
        with pytest.raises(FetchError):
            session.body(WATCH, TEXT)
        session.close()
    told = [line for line in log() if " ms" in line]
    assert len(requests(told, "INFO ")) == asked
    assert requests(told, "INFO ")[0].startswith("INFO GET ")
    assert requests(told, "INFO ")[0].endswith("/watch?v=slowcook001 200 in N ms")
    assert requests(told, "WARNING ")[0].endswith("/watch?v=slowcook001 failed after N ms")
    assert any("which led to" in line for line in log())


def test_a_refusal_of_youtube_tells_when_to_ask_again(log: Read) -> None:
    session = Session(QUICK)
    with stand_in() as youtube:
        youtube.refuse("watch", 429, headers={"Retry-After": "70"})
        with pytest.raises(FetchError):
            session.body(WATCH, TEXT)
        session.close()
    assert requests(log(), "WARNING GET")[0].endswith("/watch?v=slowcook001 429 in N ms, Retry-After 70")


def test_ollama(log: Read) -> None:
    said = [{"role": "user", "content": TEXT}]
    with Ollama() as ollama:
        ollama.add(Model("writer:q4"))
        llm = Llm(ollama.base, LlmSettings())
        llm.chat(said, model="writer:q4", num_ctx=2048, num_predict=16, seed=7)
        with pytest.raises(LlmError):
            llm.chat(said, model="absent:q4", num_ctx=2048, num_predict=16, seed=7)
    with pytest.raises(LlmError):  # nobody is there any more
        llm.chat(said, model="writer:q4", num_ctx=2048, num_predict=16, seed=7)
    llm.close()
    lines = log()
    assert "INFO POST 127.0.0.1:P/api/chat 200 in N ms" in requests(lines, "INFO POST")
    assert requests(lines, "WARNING POST")[0] == "WARNING POST 127.0.0.1:P/api/show 404 in N ms"
    assert requests(lines, "WARNING POST")[-1] == "WARNING POST http://127.0.0.1:P/api/chat failed after N ms"
    assert any("httpx.ConnectError: [Errno" in line for line in lines)


def test_qdrant(log: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with Qdrant(key=KEY) as qdrant:
        settings = QdrantSettings(url=qdrant.base, api_key_env="MY_KEY")
        index = server_index(settings, META)
        index.insert([point(1, text=TEXT)])
        before = len(log())
        search(index, "bm25", sparse({1: 1.0}), limit=5)
        assert len(log()) == before  # of a search nothing is told, for each key makes one
        qdrant.failing = lambda _method, _path: (500, {"status": {"error": f"{TEXT} {KEY}"}})
        with pytest.raises(AppError):
            index.count()
        index.close()
    lines = log()
    assert f"INFO PUT 127.0.0.1:P/collections/{COLLECTION}/points 200 in N ms" in requests(lines, "INFO PUT")
    assert requests(lines, "WARNING POST")[0].endswith(f"/collections/{COLLECTION}/points/count 500 in N ms")


def test_the_hub(log: Read, hub: Hub, commit: str, store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setenv("HF_TOKEN", f"hf_{KEY}")
    list(store.fetch(ENCODER))
    sent = [{name.lower(): value for name, value in asked.headers.items()} for asked in hub.asked]
    assert any(headers.get("authorization") == f"Bearer hf_{KEY}" for headers in sent)
    assert log() == [
        f"INFO files of {ENCODER} are listed by {hub.base}",
        *(f"INFO {path} of {ENCODER} is downloaded from byte 0 on" for path in WANTED),
    ]
