"""What the door to Ollama does not allow: prompts cut without a word, other computers, clouds, things from outside."""

import socket
import subprocess
import sys
from typing import Any

import pytest

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.models.ollama.host_guard import address, canonical, is_cloud_name
from subtitle_rag.models.ollama.llm_client import Gauge, Llm, left_after_cut
from subtitle_rag.models.ollama.responses import Reply
from tests.models.ollama.conftest import NAME
from tests.stand_ins.ollama import Model, StandIn
from tests.support.cases import cases

SENTENCE = "오늘은 멸치 국수를 삶아 볼게요. "


def ask(llm: Llm, sentences: int = 100, *, model: str = NAME, num_ctx: int = 4096, num_predict: int = 256) -> Reply:
    messages = [{"role": "system", "content": SENTENCE * sentences}, {"role": "user", "content": "한 문장으로."}]
    return llm.chat(messages, model=model, num_ctx=num_ctx, num_predict=num_predict, seed=7)


def failure(llm: Llm, *given: Any, **more: Any) -> LlmError:
    with pytest.raises(LlmError) as raised:
        ask(llm, *given, **more)
    return raised.value


# prompts that do not fit


def test_a_long_prompt_is_refused_with_its_numbers(llm: Llm) -> None:
    raised = failure(llm, 500)
    assert raised.code == "llm_overflow"
    assert raised.details["exact"]
    assert raised.details["n_ctx"] == 4096
    assert raised.details["n_prompt_tokens"] == ask(llm, 500, num_ctx=8192).prompt_tokens > 4096


@pytest.mark.parametrize("num_ctx", [2_048, 4_096, 8_192])
@pytest.mark.parametrize("bos", [False, True])
def test_a_server_that_does_not_heed_is_found_out(server: StandIn, llm: Llm, num_ctx: int, bos: bool) -> None:
    server.add(Model("deaf", heeds_truncate=False, bos=bos))
    raised = failure(llm, 800, model="deaf", num_ctx=num_ctx)
    assert server.asked("chat")[0].cut
    assert (raised.code, raised.details["exact"], raised.details["n_ctx"]) == ("llm_overflow", False, num_ctx)
    assert raised.details["n_prompt_tokens"] > num_ctx > raised.details["read"] > 0
    assert "reads {:,}".format(raised.details["read"]).replace(",", "") in raised.message.replace(",", "")
    assert ask(llm, 20, model="deaf", num_ctx=num_ctx).text


def test_a_cut_is_found_out_by_the_model_s_own_rate(server: StandIn, llm: Llm) -> None:
    server.add(Model("deaf", heeds_truncate=False, tokens_per_character=0.41))
    assert ask(llm, 300, model="deaf").prompt_tokens > 2_000
    for sentences in (540, 600, 2_000):
        assert failure(llm, sentences, model="deaf").code == "llm_overflow"
    for sentences in range(250, 270):  # as many tokens as a cut would leave, and none was cut
        assert ask(llm, sentences, model="deaf").text


def test_a_smaller_context_than_asked_for_is_seen(server: StandIn, llm: Llm) -> None:
    server.add(Model("small", context_length=2_048))
    assert ask(llm, 100, model="small", num_ctx=8192).num_ctx == 2_048
    assert failure(llm, 300, model="small", num_ctx=8192).details["n_ctx"] == 2_048
    server.add(Model("small-and-deaf", context_length=2_048, heeds_truncate=False))
    assert failure(llm, 200, model="small-and-deaf", num_ctx=8192).details["n_ctx"] == 2_048


def test_an_answer_that_pushed_the_prompt_out_is_none(server: StandIn, llm: Llm) -> None:
    server.strict = False
    server.answer(" ".join(f"국수 {n}그릇을" for n in range(200)))
    assert failure(llm, 340, num_predict=400).code == "llm_overflow"


def test_servers_that_count_nothing_are_believed(server: StandIn, llm: Llm) -> None:
    server.counts_cached = False
    assert ask(llm).cached_tokens is None
    gauge = Gauge()
    assert not gauge.was_cut([{"role": "user", "content": SENTENCE * 999}], 0, num_ctx=2048, answer=9)


def test_far_too_few_tokens_are_a_cut_by_other_rules() -> None:
    messages, more = ([{"role": "user", "content": SENTENCE * count}] for count in (100, 400))
    gauge = Gauge()
    assert gauge.was_cut(more, 1_500, num_ctx=8192, answer=9)
    assert not gauge.was_cut(more, 1_800, num_ctx=8192, answer=9)
    gauge.learn(messages, 1_200)
    assert gauge.was_cut(more, 2_300, num_ctx=8192, answer=9)
    assert not gauge.was_cut(more, 2_500, num_ctx=8192, answer=9)


def test_what_fills_the_context_to_its_last_token_was_not_cut() -> None:
    messages = [{"role": "user", "content": SENTENCE * 100}]
    gauge = Gauge()
    assert not gauge.was_cut(messages, 1_900, num_ctx=2_000, answer=100)
    assert gauge.was_cut(messages, 1_900, num_ctx=2_000, answer=101)


def test_the_cut_s_size_is_the_servers() -> None:
    """Measured: ollama #17427, #17889, #3839."""
    assert [left_after_cut(num_ctx)[0] for num_ctx in (4_096, 16_384, 65_536)] == [2_050, 8_194, 32_770]
    assert left_after_cut(32_768)[1] == 16_387


def test_estimates_become_the_model_s_own(server: StandIn, llm: Llm) -> None:
    messages = [{"role": "user", "content": SENTENCE * 100}]
    assert llm.estimate(NAME, messages) == round(0.75 * 1_900) + 1
    exact = ask(llm).prompt_tokens
    assert abs(llm.estimate(NAME, messages) - exact) < 0.05 * exact
    assert llm.estimate("other", messages) == round(0.75 * 1_900) + 1


# other computers


@cases(
    ("host", "url"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("localhost:9/", "http://localhost:9"),
        ("HTTP://LOCALHOST", "http://localhost:80"),
        ("https://127.1.2.3", "https://127.1.2.3:443"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://[::]:8080", "http://[::1]:8080"),
        ("[::1]", "http://[::1]:11434"),
        (":41496", "http://127.0.0.1:41496"),
        ("http://:41496", "http://127.0.0.1:41496"),
        ("http://[::ffff:127.0.0.1]:1", "http://[::ffff:7f00:1]:1"),
        ("http://127.0.0.1:8080/ollama/", "http://127.0.0.1:8080/ollama"),
    ],
)
def test_this_computer_has_many_names(host: str, url: str) -> None:
    assert address(host, remote=False).replace("[::ffff:127.0.0.1]", "[::ffff:7f00:1]") == url


@cases(
    "host",
    [
        "192.168.0.7",
        "http://ollama.example:11434",
        "127.0.0.1.example",
        "2130706433",
        "127.1",
        "[fe80::1]",
        "localhost.x",
    ],
)
def test_other_computers_need_to_be_allowed(host: str) -> None:
    with pytest.raises(LlmError) as raised:
        Llm(host, LlmSettings())
    assert (raised.value.code, raised.value.details) == ("llm_host_refused", {"host": host})
    assert address(host, remote=True).endswith(":11434")


def test_a_refused_host_is_named_with_what_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "192.168.0.7")
    monkeypatch.delenv("SUBTITLE_RAG_OLLAMA", raising=False)
    with pytest.raises(LlmError, match=r"192\.168\.0\.7 \(OLLAMA_HOST\)"):
        Llm("192.168.0.7", LlmSettings(hosts=("192.168.0.7",)))


@cases(
    "host",
    [
        "",
        "http://",
        "ftp://127.0.0.1",
        "http://a@127.0.0.1",
        "http://127.0.0.1:x",
        "unix:///run/o",
        "http://[1",
        "a b",
        "?x",
    ],
)
def test_what_is_no_host(host: str) -> None:
    for remote in (False, True):
        with pytest.raises(LlmError) as raised:
            address(host, remote=remote)
        assert raised.value.code == "bad_value"


def test_a_host_cannot_send_us_elsewhere(server: StandIn, llm: Llm) -> None:
    with StandIn() as elsewhere:
        elsewhere.add(Model(NAME))
        llm.check(NAME)
        server.refuse("chat", 307, headers={"Location": f"{elsewhere.base}/api/chat"})
        assert failure(llm).code == "llm_failed"
        assert elsewhere.count() == 0


# clouds


def test_names_tell_of_a_cloud() -> None:
    clouds = ["gpt-oss:120b-cloud", "kimi-k2:cloud", "me/glm:CLOUD", "hf.co/x/y:1t-cloud"]
    assert all(map(is_cloud_name, clouds))
    assert not any(map(is_cloud_name, ["cloud", "cloud/nine:7b", "is_cloud_name:latest", "qwen3:8b", "my-cloud"]))
    assert canonical("Qwen3") == "qwen3:latest"
    assert canonical("hf.co/A/B:Q4_K_M") == "hf.co/a/b:q4_k_m"


@pytest.mark.parametrize("name", ["big:120b-cloud", "disguised"])
def test_a_model_in_the_cloud_gets_no_prompt(server: StandIn, llm: Llm, name: str) -> None:
    server.add(Model(name, remote_host="https://ollama.com:443"))
    raised = failure(llm, model=name)
    assert (raised.code, raised.details["model"]) == ("llm_cloud_refused", name)
    assert server.count("chat") == 0
    with pytest.raises(LlmError):
        llm.check(name)


def test_a_model_in_the_cloud_is_not_even_named(server: StandIn, llm: Llm) -> None:
    assert failure(llm, model="big:120b-cloud").code == "llm_cloud_refused"
    with pytest.raises(LlmError) as raised:
        list(llm.pull("big:120b-cloud"))
    assert raised.value.code == "llm_cloud_refused"
    assert server.count() == 0


def test_a_list_may_tell_of_the_cloud_where_show_does_not(server: StandIn, llm: Llm) -> None:
    server.add(Model("disguised", remote_host="https://ollama.com:443"))
    server.refuse("show", 200, raw=b'{"capabilities": ["completion"]}')
    assert failure(llm, model="disguised").details["remote_host"] == "https://ollama.com:443"


def test_the_cloud_is_allowed_by_name(server: StandIn) -> None:
    server.add(*(Model(name, remote_host="https://ollama.com:443") for name in ("big:120b-cloud", "other:cloud")))
    llm = Llm(server.base, LlmSettings(cloud=("Big:120b-cloud",)))
    assert ask(llm, model="big:120b-cloud").text
    assert llm.check("big:120b-cloud").remote_host
    assert failure(llm, model="other:cloud").code == "llm_cloud_refused"
    llm.close()


# the environment


def test_nothing_is_taken_from_the_environment(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as trap:  # whoever connects here waits for ever
        trap.bind(("127.0.0.1", 0))
        trap.listen()
        elsewhere = f"http://127.0.0.1:{trap.getsockname()[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy", "OLLAMA_HOST"):
            monkeypatch.setenv(name, elsewhere)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("OLLAMA_API_KEY", "secret-key")
        server.offer(Model("fresh"))
        llm = Llm(server.base, LlmSettings())
        ask(llm)
        llm.models()
        list(llm.pull("fresh"))
        llm.close()
    assert {asked.kind for asked in server.requests} == {"version", "show", "tags", "chat", "ps", "pull"}
    for asked in server.requests:
        assert "authorization" not in asked.headers
        assert "secret-key" not in str(asked)


def test_the_door_costs_nothing_until_it_is_opened() -> None:
    code = "import sys, subtitle_rag.models.ollama, subtitle_rag.models; print({'ollama', 'httpx'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "set()\n"
