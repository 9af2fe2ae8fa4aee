"""The stand-in of Ollama does to prompts what the real one does; that it serves the official client is test_llm's."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import ollama
import pytest

from tests.models.ollama.conftest import NAME
from tests.stand_ins.ollama import Model, StandIn, shared_prefix

TRANSCRIPT = "오늘은 멸치 국수를 삶아 볼게요. 육수는 어제 냈습니다. " * 60


@pytest.fixture
def client(server: StandIn) -> Iterator[ollama.Client]:
    made = ollama.Client(server.base, trust_env=False, timeout=10)
    yield made
    made.close()  # type: ignore[no-untyped-call]


def prompt(window: str, transcript: str = TRANSCRIPT) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": f"제목: 멸치 국수 끓이기\n<자막>{transcript}</자막>"},
        {"role": "user", "content": f"<구간>{window}</구간>\n한 문장으로 쓰세요."},
    ]


def post(server: StandIn, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.base}/api/chat", json={"stream": False, **body}, trust_env=False)


def test_an_over_long_prompt_loses_its_front(server: StandIn) -> None:
    """The numbers of ollama #17427 and #17889."""
    server.add(Model("bos", bos=True, context_length=262_144))
    for name, num_ctx, left in ((NAME, 4_096, 2_050), (NAME, 16_384, 8_194), ("bos", 32_768, 16_387)):
        body = {"model": name, "messages": prompt("국수", TRANSCRIPT * 40), "options": {"num_ctx": num_ctx}}
        assert post(server, **body).json()["prompt_eval_count"] == left
        assert server.requests[-1].cut


def test_without_truncation_it_refuses(server: StandIn) -> None:
    body = {"model": NAME, "messages": prompt("국수", TRANSCRIPT * 4), "truncate": False}
    refused = post(server, **body, options={"num_ctx": 4096})
    assert refused.status_code == 400
    assert json.loads(refused.json()["error"])["error"]["type"] == "exceed_context_size_error"
    assert post(server, **body, options={"num_ctx": 8192}).status_code == 200
    crowded = {"num_ctx": 8192, "num_predict": 4096}
    assert post(server, **body, options=crowded).status_code == 400
    server.strict = False
    assert post(server, **body, options=crowded).status_code == 200


def test_the_prefix_cache_rewards_the_window_at_the_end(server: StandIn, client: ollama.Client) -> None:
    for number in range(5):
        client.chat(NAME, prompt(f"{number}번째 국수를 삶습니다"), options={"num_ctx": 4096})
    asked = server.asked("chat")
    assert shared_prefix(asked) > 0.95
    assert asked[0].cached == 0
    assert all(each.evaluated < 60 for each in asked[1:])
    server.clear()
    for number in range(5):
        backward = [{"role": "user", "content": f"<구간>{number}번째</구간>{TRANSCRIPT}"}]
        client.chat(NAME, backward, options={"num_ctx": 4096})
    assert shared_prefix(server.requests) < 0.05


def test_another_context_size_loads_the_model_anew(server: StandIn, client: ollama.Client) -> None:
    for num_ctx in (4096, 4096, 8192, 8192, 4096, 99_999):
        client.chat(NAME, prompt("국수"), options={"num_ctx": num_ctx})
    assert [asked.reloaded for asked in server.requests] == [True, False, True, False, True, True]
    assert [asked.cached > 0 for asked in server.requests] == [False, True, False, True, False, False]
    assert server.requests[-1].num_ctx == 16_384


def test_a_hybrid_model_forgets_before_a_long_window(server: StandIn, client: ollama.Client) -> None:
    server.add(Model("hybrid", hybrid=True))
    for window in ("국수를 삶습니다 " * 20, "육수를 냅니다 " * 20, "파를 썹니다 " * 120):
        client.chat("hybrid", prompt(window), options={"num_ctx": 8192})
    assert [asked.cached > 0 for asked in server.requests] == [False, True, False]
