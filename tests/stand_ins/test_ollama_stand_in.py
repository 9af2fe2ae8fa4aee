"""The stand-in of Ollama serves the official client, and does to prompts what the real one does."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import ollama
import pytest

from tests.stand_ins.ollama import Model, StandIn, Turn, shared_prefix

NAME = "writer:q4"
TRANSCRIPT = "오늘은 멸치 국수를 삶아 볼게요. 육수는 어제 냈습니다. " * 60


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as made:
        made.add(Model(NAME))
        yield made


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


def test_it_answers_with_a_context_of_the_window(client: ollama.Client) -> None:
    said = client.chat(NAME, prompt("멸치육수를 냄비에 붓고 끓입니다"), options={"num_ctx": 8192})
    assert (
        said.message.content == "멸치 국수 끓이기 영상에서 멸치육수를, 끓입니다, 냄비에, 붓고 이야기를 하는 부분입니다."
    )
    assert (said.done, said.done_reason) == (True, "stop")
    assert said.message.content == client.chat(NAME, prompt("멸치육수를 냄비에 붓고 끓입니다")).message.content


def test_it_streams_in_chunks_that_split_syllables(server: StandIn, client: ollama.Client) -> None:
    whole = client.chat(NAME, prompt("국수를 삶습니다")).message.content
    server.split = 1
    parts = list(client.chat(NAME, prompt("국수를 삶습니다"), stream=True))
    assert "".join(part.message.content or "" for part in parts) == whole
    assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
    assert len(parts) > 5


def test_a_schema_is_kept_to(client: ollama.Client) -> None:
    schema = {"type": "object", "properties": {"context": {"type": "string"}}}
    said = client.chat(NAME, prompt("국수를 삶습니다"), format=schema)
    assert list(json.loads(said.message.content or "")) == ["context"]


def test_its_lists_are_the_client_s(server: StandIn, client: ollama.Client) -> None:
    server.add(Model("far", remote_host="https://ollama.com:443", capabilities=("completion", "thinking")))
    assert [entry.model for entry in client.list().models] == [NAME, "far:latest"]
    shown = client.show(NAME)
    assert shown.modelinfo is not None
    assert shown.modelinfo["qwen2.context_length"] == 16_384
    assert shown.capabilities == ["completion"]
    assert httpx.get(f"{server.base}/api/tags", trust_env=False).json()["models"][1]["remote_host"]
    client.chat(NAME, prompt("국수"), options={"num_ctx": 2048})
    assert [(entry.model, entry.context_length) for entry in client.ps().models] == [(NAME, 2048)]
    server.unload()
    assert list(client.ps().models) == []


def test_refusals_are_worded_as_the_real_ones(server: StandIn, client: ollama.Client) -> None:
    with pytest.raises(ollama.ResponseError) as failure:
        client.show("nobody")
    assert (failure.value.status_code, failure.value.error) == (404, "model 'nobody' not found")
    with pytest.raises(ollama.ResponseError) as failure:
        client.chat(NAME, prompt("국수"), think=True)
    assert failure.value.status_code == 400
    with pytest.raises(ollama.ResponseError) as failure:
        client.generate(NAME, "국수")
    assert failure.value.status_code == 404
    assert [asked.outcome for asked in server.requests] == ["refused"] * 3


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


def test_answers_are_scripted_one_after_the_other(server: StandIn, client: ollama.Client) -> None:
    server.answer("첫째", lambda sent: sent["messages"][-1]["content"][:4], Turn("넷째 다섯째", done_reason="length"))
    said = [client.chat(NAME, prompt("국수")).message.content for _ in range(4)]
    assert said[:3] == ["첫째", "<구간>", "넷째 다섯째"]
    assert (said[3] or "").startswith("멸치 국수 끓이기")


def test_num_predict_ends_an_answer(client: ollama.Client) -> None:
    said = client.chat(NAME, prompt("국수"), options={"num_predict": 2})
    assert (said.done_reason, said.eval_count, said.message.content) == ("length", 2, "멸치 국수 끓이")


@pytest.mark.parametrize("behaviour", ["preamble", "think_leak", "chinese", "empty", "refusal", "loop", "slow"])
def test_models_misbehave_in_words(server: StandIn, client: ollama.Client, behaviour: str) -> None:
    server.add(Model("odd", behaviour=behaviour))
    said = client.chat("odd", prompt("국수"))
    assert said.done
    assert (said.message.content or "").startswith("멸치 국수") == (behaviour == "slow")


def test_a_model_that_can_think_does_unless_told_not_to(server: StandIn, client: ollama.Client) -> None:
    server.add(Model("thinker", behaviour="thinks", capabilities=("completion", "thinking")))
    assert any(part.message.thinking for part in client.chat("thinker", prompt("국수"), stream=True))
    parts = client.chat("thinker", prompt("국수"), think=False, stream=True)
    assert not any(part.message.thinking for part in parts)


@pytest.mark.parametrize(
    ("behaviour", "raised"),
    [
        ("dying", httpx.RemoteProtocolError),
        ("error", ollama.ResponseError),
        ("garbled", json.JSONDecodeError),
        ("out_of_memory", ollama.ResponseError),
        ("busy", ollama.ResponseError),
    ],
)
def test_models_fail(server: StandIn, client: ollama.Client, behaviour: str, raised: type[Exception]) -> None:
    server.add(Model("ill", behaviour=behaviour))
    with pytest.raises(raised):
        list(client.chat("ill", prompt("국수"), stream=True))


def test_a_stream_may_end_without_done(server: StandIn, client: ollama.Client) -> None:
    server.add(Model("ill", behaviour="unfinished"), Model("mute", behaviour="silent"))
    assert not any(part.done for part in client.chat("ill", prompt("국수"), stream=True))
    assert list(client.chat("mute", prompt("국수"), stream=True)) == []


def test_a_pull_goes_on_where_it_broke_off(server: StandIn, client: ollama.Client) -> None:
    server.offer(Model("fresh", layers=(1_000, 50)))
    server.dies_after = 700
    with pytest.raises(httpx.RemoteProtocolError):
        list(client.pull("fresh", stream=True))
    completed = [part.completed for part in client.pull("fresh", stream=True) if part.completed]
    assert completed[0] == 800
    assert client.show("fresh").capabilities
    with pytest.raises(ollama.ResponseError, match="file does not exist"):
        list(client.pull("unheard-of", stream=True))


def test_whoever_waits_may_go_away(server: StandIn) -> None:
    hold = server.hold()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.base}/api/chat", json={"model": NAME}, timeout=0.1, trust_env=False)
    asked = server.requests[-1]
    assert asked.ended.wait(5)
    assert asked.outcome == "gone"
    hold.release()


def test_it_can_be_taken_away_and_brought_back(server: StandIn, client: ollama.Client) -> None:
    client.chat(NAME, prompt("국수"))
    server.stop()
    with pytest.raises(ConnectionError):
        client.list()
    server.start()
    assert list(client.ps().models) == []
    assert client.list().models


def test_taking_it_away_breaks_answers_off(server: StandIn, client: ollama.Client) -> None:
    server.answer(Turn("국수를 삶고 " * 2_000, pace=0.005))
    parts = client.chat(NAME, prompt("국수"), stream=True)
    next(parts)
    server.stop()
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        list(parts)
    assert server.asked("chat")[0].ended.wait(5)
    assert server.asked("chat")[0].outcome == "gone"
