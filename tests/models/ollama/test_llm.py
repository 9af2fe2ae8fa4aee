"""The door to Ollama: what it sends, what it makes of answers, and which words failures get."""

import json
import logging
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from subtitle_rag.base import i18n
from subtitle_rag.base.config.settings import HOSTS_VARIABLE, OLLAMA_VARIABLE, LlmSettings
from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import Reply
from tests.models.ollama.conftest import NAME
from tests.stand_ins.ollama import Model, StandIn, Turn, shared_prefix
from tests.support.cases import cases

TRANSCRIPT = "오늘은 멸치 국수를 삶아 볼게요. 육수는 어제 냈습니다. " * 60
SCHEMA = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}


def prompt(window: str = "국수를 삶습니다", transcript: str = TRANSCRIPT) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": f"제목: 멸치 국수 끓이기\n<자막>{transcript}</자막>"},
        {"role": "user", "content": f"<구간>{window}</구간>\n한 문장으로 쓰세요."},
    ]


def ask(llm: Llm, window: str = "국수를 삶습니다", *, model: str = NAME, num_ctx: int = 4096, **more: Any) -> Reply:
    return llm.chat(prompt(window), model=model, num_ctx=num_ctx, num_predict=256, seed=7, **more)


def failure(llm: Llm, **more: Any) -> LlmError:
    with pytest.raises(LlmError) as raised:
        ask(llm, **more)
    return raised.value


def test_an_answer_comes_with_its_counts(server: StandIn, llm: Llm) -> None:
    first, second = ask(llm), ask(llm, "육수를 냅니다")
    assert first.text == "멸치 국수 끓이기 영상에서 삶습니다, 국수를 이야기를 하는 부분입니다."
    assert (first.done_reason, first.model, first.num_ctx, first.cached_tokens) == ("stop", NAME, 4096, 0)
    assert first.prompt_tokens == server.asked("chat")[0].evaluated > 1000
    assert second.cached_tokens == server.asked("chat")[1].cached > 1000
    assert second.prompt_ms < first.prompt_ms
    assert first.ms == first.prompt_ms + 1 + first.tokens * 50


def test_every_setting_of_the_model_is_sent(server: StandIn, llm: Llm) -> None:
    ask(llm, schema=SCHEMA)
    sent = server.asked("chat")[0].sent
    assert sent.pop("messages") == prompt()
    assert sent == {
        "model": NAME,
        "stream": True,
        "think": False,
        "truncate": False,
        "keep_alive": "30m",
        "format": SCHEMA,
        "options": {"num_ctx": 4096, "num_predict": 256, "temperature": 0, "seed": 7},
    }


def test_a_schema_gives_json(llm: Llm) -> None:
    assert list(json.loads(ask(llm, schema=SCHEMA).text)) == ["context"]


def test_the_windows_of_a_video_share_their_prefix(server: StandIn, llm: Llm) -> None:
    for number in range(6):
        ask(llm, f"{number}번째 국수를 삶습니다")
    assert shared_prefix(server.requests) > 0.95
    assert [asked.reloaded for asked in server.asked("chat")] == [True] + [False] * 5
    assert [server.count(kind) for kind in ("version", "show", "tags", "ps")] == [1, 1, 1, 1]


@cases("split", [1, 2, 7, 10_000])
def test_syllables_may_come_in_parts(server: StandIn, llm: Llm, split: int) -> None:
    server.split = split
    server.answer("뜨거운 국물에 달걀을 풀고 ｈａｎｇｕｌ 한글 🍜 을 얹는 장면입니다.\n")
    pieces: list[str] = []
    reply = ask(llm, on_text=pieces.append)
    assert reply.text == "뜨거운 국물에 달걀을 풀고 ｈａｎｇｕｌ 한글 🍜 을 얹는 장면입니다.\n" == "".join(pieces)
    assert len(pieces) > 3


def test_an_answer_may_be_empty_or_cut_off(server: StandIn, llm: Llm) -> None:
    """Judging the words is the cleaning parser's work."""
    server.answer("", Turn("국수를 삶는 장면이", done_reason="length"))
    assert (ask(llm).text, ask(llm).done_reason) == ("", "length")


def test_thoughts_are_no_answer(server: StandIn, llm: Llm) -> None:
    server.answer(lambda sent: Turn("국수 장면입니다.", thinking="생각합니다."))
    server.add(Model(NAME, only_thinks=True))
    assert ask(llm).text == "국수 장면입니다."


def test_check_says_what_a_model_is(server: StandIn, llm: Llm) -> None:
    found = llm.check(NAME.upper())
    assert (found.name, found.context_length, found.server) == (NAME.upper(), 16_384, "0.33.3")
    assert found.size == 4_400_000_000
    assert len(found.digest) == 64
    assert found.structured
    assert server.count("chat") == 0


@pytest.mark.parametrize(("version", "structured"), [("0.21.0", False), ("0.21.1", True), ("1.0", True), ("", False)])
def test_older_servers_forget_schemas(version: str, structured: bool) -> None:
    with StandIn(version=version) as server:
        server.add(Model(NAME))
        llm = Llm(server.base, LlmSettings())
        assert llm.check(NAME).structured is structured
        llm.close()


def test_what_is_there_and_what_is_loaded(server: StandIn, llm: Llm) -> None:
    server.add(Model("other", size=7), Model("far", remote_host="https://ollama.com:443"))
    assert [(found.name, found.size, bool(found.remote_host)) for found in llm.models()] == [
        (NAME, 4_400_000_000, False),
        ("other:latest", 7, False),
        ("far:latest", 4_400_000_000, True),
    ]
    assert llm.loaded() == []
    ask(llm)
    (loaded,) = llm.loaded()
    assert (loaded.name, loaded.context_length) == (NAME, 4096)
    assert (llm.loaded_model(NAME), llm.loaded_model("other")) == (loaded, None)


def test_two_hosts_share_the_work(server: StandIn, llm: Llm) -> None:
    with StandIn() as second:
        second.add(Model(NAME))
        other = Llm(second.base, LlmSettings())
        hold = server.hold()
        waiting = threading.Thread(target=ask, args=(llm,))
        waiting.start()
        assert hold.arrived.wait(5)
        assert ask(other).text  # while the first host is busy
        hold.release()
        waiting.join(5)
        other.close()
        assert (server.count("chat"), second.count("chat")) == (1, 1)


# what goes wrong


def test_nobody_answers(server: StandIn, llm: Llm) -> None:
    ask(llm)
    server.stop()
    assert failure(llm).code == "llm_not_running"
    for question in (llm.models, llm.loaded, llm.version, lambda: llm.check(NAME), lambda: list(llm.pull("fresh"))):
        with pytest.raises(LlmError) as raised:
            question()
        assert (raised.value.code, raised.value.details["host"]) == ("llm_not_running", server.base)
    server.start()
    assert ask(llm).text


@pytest.mark.parametrize(
    ("variable", "hosts", "origin"),
    [
        ("http://127.0.0.1:1", ("http://127.0.0.1:1",), " (OLLAMA_HOST)"),
        ("127.0.0.1:1", ("127.0.0.1:1",), " (OLLAMA_HOST)"),
        ("http://127.0.0.1:3", ("http://127.0.0.1:1",), " (hosts under [llm] in the config)"),
        ("http://127.0.0.1:3", ("http://127.0.0.1:2", "http://127.0.0.1:1"), " (hosts under [llm] in the config)"),
        ("", ("http://127.0.0.1:2",), ""),
    ],
)
def test_a_silent_host_is_named_with_what_names_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, hosts: tuple[str, ...], origin: str
) -> None:
    monkeypatch.delenv(HOSTS_VARIABLE, raising=False)
    monkeypatch.setenv(OLLAMA_VARIABLE, variable)
    host = hosts[-1] if origin else "http://127.0.0.1:1"
    with closing(Llm(host, LlmSettings(hosts=hosts))) as llm:
        error = failure(llm)
    assert (error.code, error.details["host"]) == ("llm_not_running", f"http://127.0.0.1:1{origin}")


def test_a_model_is_missing(server: StandIn, llm: Llm) -> None:
    missing = failure(llm, model="nobody")
    assert (missing.code, missing.details) == ("llm_model_missing", {"model": "nobody", "host": server.base})
    ask(llm)
    server.remove(NAME)
    assert failure(llm).code == "llm_model_missing"
    assert server.asked("chat")[-1].outcome == "refused"


@pytest.mark.parametrize(
    ("behaviour", "code", "detail"),
    [
        ("out_of_memory", "llm_out_of_memory", "requires more system memory (6.1 GiB)"),
        ("busy", "llm_broke_off", "maximum pending requests"),
        ("dying", "llm_broke_off", "incomplete chunked read"),
        ("unfinished", "llm_nonsense", "unfinished"),
        ("silent", "llm_nonsense", "empty"),
        ("garbled", "llm_nonsense", "Unterminated string"),
        ("error", "llm_failed", "an error was encountered while running the model"),
    ],
)
def test_a_model_fails(server: StandIn, llm: Llm, behaviour: str, code: str, detail: str) -> None:
    server.add(Model("ill", behaviour=behaviour))
    raised = failure(llm, model="ill")
    assert raised.code == code
    assert detail in raised.details["reason"]
    assert isinstance(raised, AppError)


@pytest.mark.parametrize(("behaviour", "reason"), [("unfinished", "답이 끝나지 않음"), ("silent", "답이 비어 있음")])
def test_what_is_wrong_with_an_answer_is_said_in_the_users_language(
    server: StandIn, llm: Llm, behaviour: str, reason: str
) -> None:
    server.add(Model("ill", behaviour=behaviour))
    i18n.activate("ko")
    assert failure(llm, model="ill").message == f"{llm.host}의 Ollama가 잘못된 답을 보냈습니다: {reason}."


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("llama-server reported out-of-memory during startup: cudaMalloc failed: out of memory", "llm_out_of_memory"),
        ("llama runner process has terminated: signal: killed", "llm_out_of_memory"),
        ("prediction aborted, token repeat limit reached", "llm_nonsense"),
        ({"code": 500, "message": "Compute error."}, "llm_nonsense"),  # the client itself stumbles over an object
        ('{"error": {"code": 500, "message": "Compute error.", "type": "server_error"}}', "llm_failed"),
        ("the input length exceeds the context length", "llm_overflow"),
    ],
)
def test_an_error_may_come_in_the_stream(server: StandIn, llm: Llm, error: Any, code: str) -> None:
    server.answer(Turn("국수를", error=error))
    assert failure(llm).code == code


@cases("line", [b"[]\n", b'"hello"\n', b"{}\n", b'{"message": 3}\n', b"null\n", b"\xff\xfe\n", b"\n"])
def test_a_line_may_be_anything(server: StandIn, llm: Llm, line: bytes) -> None:
    server.answer(Turn(garbled=line))
    assert failure(llm).code == "llm_nonsense"


def test_another_server_may_be_there(server: StandIn, llm: Llm) -> None:
    page = b"<html>\x1b[31m\r\n<h1>502 Bad\x00 Gateway</h1>" + b"x" * 5000
    server.refuse("version", 502, raw=page)
    raised = failure(llm)
    assert (raised.code, raised.details["status"]) == ("llm_failed", 502)
    assert raised.details["reason"].startswith("<html> [31m <h1>502 Bad Gateway</h1>xxx")
    assert len(raised.details["reason"]) == 200
    for raw in (b"<html>", b"[]", b"3"):
        server.refuse("version", 200, raw=raw)
        assert failure(llm).code == "llm_nonsense"


def test_odd_facts_count_as_missing(server: StandIn, llm: Llm) -> None:
    server.refuse("show", 200, raw=b'{"model_info": {"x.context_length": "8k"}, "template": 3, "capabilities": "all"}')
    server.refuse("tags", 200, raw=b'{"models": null}')
    found = llm.check(NAME)
    assert (found.context_length, found.capabilities, found.digest) == (0, (), "")


def test_silence_has_an_end(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.models.ollama.llm_client.TIMEOUT_S", 1)
    llm = Llm(server.base, LlmSettings())
    llm.check(NAME)
    hold = server.hold()
    with pytest.raises(LlmError) as raised:
        llm.chat([{"role": "user", "content": "국수"}], model=NAME, num_ctx=4096, num_predict=9, seed=1)
    assert (raised.value.code, raised.value.details["seconds"]) == ("llm_timeout", 1)
    hold.release()
    llm.close()


def test_a_lost_look_at_the_memory_loses_no_answer(server: StandIn, llm: Llm) -> None:
    server.refuse("ps", 500)
    assert ask(llm).num_ctx == 0
    assert ask(llm).num_ctx == 4096


def test_a_failing_listener_is_not_the_models_fault(server: StandIn, llm: Llm) -> None:
    def stumble(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="멸치"):
        ask(llm, on_text=stumble)
    assert server.asked("chat")[-1].ended.wait(5)
    assert ask(llm).text


# cancellation


def test_stopping_while_the_model_reads(server: StandIn, llm: Llm) -> None:
    llm.check(NAME)
    hold, stop = server.hold(), threading.Event()
    threading.Thread(target=lambda: hold.arrived.wait(5) and stop.set()).start()  # type: ignore[func-returns-value]
    assert failure(llm, stop=stop).code == "llm_stopped"  # while the answer is still held
    asked = server.asked("chat")[-1]
    assert asked.ended.wait(5)
    assert asked.outcome == "gone"


def test_stopping_in_the_middle_of_an_answer(server: StandIn, llm: Llm) -> None:
    stop = threading.Event()
    server.answer(Turn("국수를 삶고 " * 2_000, pace=0.01))
    assert failure(llm, stop=stop, on_text=lambda text: stop.set()).code == "llm_stopped"
    asked = server.asked("chat")[-1]
    assert asked.ended.wait(5)
    assert asked.outcome == "gone"


def test_stopped_before_it_began(server: StandIn, llm: Llm) -> None:
    stop = threading.Event()
    stop.set()
    assert failure(llm, stop=stop).code == "llm_stopped"
    assert server.count("chat") == 0
    with pytest.raises(LlmError) as raised:
        list(llm.pull("fresh", stop=stop))
    assert raised.value.code == "llm_stopped"


def test_no_thread_outlives_an_answer(llm: Llm) -> None:
    before = threading.active_count()
    for _ in range(3):
        ask(llm, stop=threading.Event())
    for _ in range(40):
        if threading.active_count() <= before + 1:  # the server's own
            break
        time.sleep(0.05)
    assert threading.active_count() <= before + 1


# fetching a model


def test_a_pull_tells_how_far_it_is(server: StandIn, llm: Llm) -> None:
    server.offer(Model("fresh", layers=(1_000, 50)))
    told = list(llm.pull("fresh"))
    assert [each.completed for each in told] == sorted(each.completed for each in told)
    assert (told[0].status, told[0].total) == ("pulling manifest", 0)
    assert {each.total for each in told} == {0, 1_000, 1_050}
    assert [each.completed for each in told if each.status == "success"] == [told[-1].completed] == [1_050]
    assert llm.check("fresh").digest


def test_a_pull_is_taken_up_again(server: StandIn, llm: Llm) -> None:
    server.offer(Model("fresh", layers=(1_000, 50)))
    server.dies_after = 700
    with pytest.raises(LlmError) as raised:
        list(llm.pull("fresh"))
    assert raised.value.code == "llm_broke_off"
    assert next(each.completed for each in llm.pull("fresh") if each.completed) == 800


def test_a_pull_can_be_left(server: StandIn, llm: Llm) -> None:
    server.offer(Model("fresh", layers=(1_000, 50)))
    pulling = llm.pull("fresh")
    next(pulling)
    pulling.close()  # type: ignore[attr-defined]
    assert server.asked("pull")[0].ended.wait(5)


def test_nobody_offers_such_a_model(llm: Llm) -> None:
    with pytest.raises(LlmError) as raised:
        list(llm.pull("unheard-of"))
    assert (raised.value.code, raised.value.details["model"]) == ("unknown", "unheard-of")


LOOKUP = "dial tcp: lookup registry.ollama.ai on 10.0.0.2:53: no such host"
MANIFEST = "https://registry.ollama.ai/v2/library/m/manifests/q4"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        (f'pull model manifest: Get "{MANIFEST}": {LOOKUP}', "registry.ollama.ai"),
        (f'pull model manifest: Get "{MANIFEST}": net/http: TLS handshake timeout', "registry.ollama.ai"),
        ('Head "https://hf.co/v2/a/b/blobs/sha256:1": dial tcp 1.2.3.4:443: i/o timeout', "hf.co"),
        ('max retries exceeded: Get "https://r2.example/x?y=1": connect: network is unreachable', "r2.example"),
        ('pull model manifest: Get "https://hf.co/v2/a": proxyconnect tcp: EOF', "hf.co"),
    ],
)
def test_a_server_without_the_internet_is_told_in_words_of_one_s_own(
    server: StandIn, llm: Llm, text: str, host: str
) -> None:
    server.no_internet = text
    with pytest.raises(LlmError) as raised:
        list(llm.pull("m:q4"))
    assert (raised.value.code, raised.value.details["host"]) == ("hub_unreachable", host)
    message = f"{raised.value.message} {raised.value.hint}"
    assert host in message
    assert "m:q4" in message
    for raw in ("10.0.0.2", "dial", "lookup", "manifest", "pdate"):
        assert raw not in message


def test_a_runner_that_cannot_be_reached_is_no_missing_internet(server: StandIn, llm: Llm) -> None:
    server.no_internet = 'Post "http://127.0.0.1:4455/completion": dial tcp 127.0.0.1:4455: connection refused'
    with pytest.raises(LlmError) as raised:
        list(llm.pull("m:q4"))
    assert raised.value.code == "llm_failed"


# quiet


def test_nothing_is_said(
    server: StandIn, llm: Llm, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        ask(llm)
        failure(llm, model="nobody")
    assert capfd.readouterr() == ("", "")
    assert "국수" not in caplog.text
