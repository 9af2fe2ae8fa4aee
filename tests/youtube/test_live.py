"""A real Ollama, for machines that have it: `pytest -m ollama`. The stand-in cannot show what the real one answers."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.answer_values import Answer
from subtitle_rag.base.domain.errors import LlmError
from subtitle_rag.base.domain.events import ContextReport
from subtitle_rag.base.domain.values import Video
from subtitle_rag.contexts import context_prompt
from subtitle_rag.contexts.cleaning import clean_context
from subtitle_rag.evaluation.generate_questions import MakeReport, make_questions
from subtitle_rag.models.manifest import default_context_model
from subtitle_rag.models.ollama.llm_client import Llm
from subtitle_rag.models.ollama.responses import Reply
from subtitle_rag.runtime import Runtime
from subtitle_rag.search import query
from tests.support.invented import caption_folder, windows

OLLAMA = os.environ.get("SUBTITLE_RAG_TEST_OLLAMA") or LlmSettings().hosts[0]


@pytest.fixture
def model() -> str:
    return os.environ.get("SUBTITLE_RAG_TEST_MODEL") or default_context_model().name


@pytest.fixture
def host() -> Iterator[Llm]:
    with closing(Llm(OLLAMA, LlmSettings())) as opened:
        yield opened


@pytest.fixture
def runtime(tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A library of two short videos, and the real Ollama."""
    monkeypatch.setenv(config.HOSTS_VARIABLE, OLLAMA)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f'[llm]\nmodel = "{model}"\n', encoding="utf-8")
    with Runtime(config.load(home)) as opened:
        list(opened.indexer.index([caption_folder(tmp_path / "captions", 2, minutes=2)]))
        yield opened


def asked(host: Llm, plan: context_prompt.PromptPlan, model: str, ordinal: int) -> Reply:
    messages = plan.messages(ordinal).as_list()
    return host.chat(
        messages,
        model=model,
        num_ctx=plan.num_ctx,
        num_predict=context_prompt.NUM_PREDICT,
        seed=7,
        schema=context_prompt.SCHEMA,
    )


@pytest.mark.ollama
def test_a_model_writes_a_context_and_reads_the_prefix_once(host: Llm, model: str) -> None:
    own = windows("v", 6)
    plan = context_prompt.plan(Video("v", "국수 삶기", "c", "느린 부엌"), own)
    assert host.check(model).digest
    replies = [asked(host, plan, model, ordinal) for ordinal in range(2)]
    assert all(clean_context(reply.text, window=own[0].text) for reply in replies)
    assert replies[1].prompt_ms < replies[0].prompt_ms


@pytest.mark.ollama
def test_a_long_video_is_asked_for_by_blocks(host: Llm, model: str) -> None:
    own = windows("v", 2_000)
    plan = context_prompt.plan(Video("v", "국수 삶기", "c", "느린 부엌"), own, largest=8_192)
    assert plan.scope == "block"
    for ordinal in (0, 1_999):
        assert clean_context(asked(host, plan, model, ordinal).text, window=own[ordinal].text)


@pytest.mark.ollama
def test_a_run_that_is_stopped_goes_on_where_it_was(runtime: Runtime, model: str) -> None:
    stop = threading.Event()
    with runtime.writer(model, stop) as writer:
        for _event in writer.run():
            if runtime.library.contexts.of_video("invented000") or runtime.library.contexts.of_video("invented001"):
                stop.set()
    with runtime.writer(model) as writer:
        *_events, report = writer.run()
    assert isinstance(report, ContextReport)
    known = [w.id for state in runtime.library.videos() for w in runtime.library.windows_of(state.video.id)]
    assert 0 < report.written < len(known)
    assert len(runtime.library.contexts.of_windows(known)) + report.empty + report.failed >= len(known)


@pytest.mark.ollama
def test_a_question_is_answered(runtime: Runtime, model: str) -> None:
    with runtime.answerer(model) as answerer:
        *_events, answer = answerer.conversation().ask(query.parse_query("국수를 먹었나요?"))
    assert isinstance(answer, Answer)
    assert answer.ending in ("whole", "cut")
    assert answer.text


@pytest.mark.ollama
def test_questions_are_made(runtime: Runtime, model: str, tmp_path: Path) -> None:
    with runtime.llms() as hosts:
        path = tmp_path / "made.jsonl"
        *_events, report = make_questions(runtime.library, hosts, runtime.analyzer, path, 2, default=model, seed=7)
    assert isinstance(report, MakeReport)
    assert report.new + sum(report.refused.values()) > 0


@pytest.mark.ollama
@pytest.mark.parametrize(("words", "fits"), [(200, True), (6_000, False)])
def test_a_prompt_at_the_edge_of_num_ctx(host: Llm, model: str, words: int, fits: bool) -> None:
    messages = [{"role": "user", "content": "국수 " * words + "한 낱말로 답하세요."}]
    if fits:
        assert host.chat(messages, model=model, num_ctx=2_048, num_predict=16, seed=7).text
        return
    with pytest.raises(LlmError) as caught:
        host.chat(messages, model=model, num_ctx=2_048, num_predict=16, seed=7)
    assert caught.value.code == "llm_overflow"
