"""A processor that lacks instructions: it is told, and words go on."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import ModelSettings
from subtitle_rag.base.hosting import host_client
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.models.model_store import ModelStore
from subtitle_rag.models.neural import device
from subtitle_rag.models.neural.neural_client import HostedModels
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.support.failures import failing
from tests.support.invented import end_hosts
from tests.support.searchable import Searchable, video
from tests.support.tiny_graphs import tiny_graph

QUERY = parse_query("치킨 소스")
CPU = "processor\t: 0\nmodel name\t: Pentium(R) E5400\nflags\t\t: fpu sse sse2 ssse3{more}\n\nprocessor\t: 1\n"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostedModels]:
    """A light encoder whose onnxruntime does as the real one on a processor without AVX: it is ended by SIGILL."""
    monkeypatch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "0.2")
    stand_in = tmp_path / "packages"
    stand_in.mkdir()
    (stand_in / "onnxruntime.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGILL)  # in this thread, before its next line\n"
    )
    monkeypatch.syspath_prepend(stand_in)
    settings = ModelSettings(encoder=str(tiny_graph(tmp_path / "tiny")), reranker="")
    made = HostedModels(tmp_path / "neural", ModelStore(tmp_path / "models", settings))
    yield made
    made.close()
    end_hosts([tmp_path / "neural"])


@pytest.mark.campaign(part="flows")
@pytest.mark.hosts
@pytest.mark.skipif(sys.platform == "win32", reason="SIGILL is POSIX's")
def test_a_processor_that_ends_the_models_process_is_told_and_words_go_on(
    models: HostedModels, tmp_path: Path, analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = models.encoder()
    assert encoder is not None
    videos = {video("a"): [["치킨을 소스에 찍어 먹어요"]], video("b"): [["바다에 갔어요"]]}
    with closing(Searchable(tmp_path, analyzer, videos)) as made:
        made.library.vectors.activate(encoder.id)
        searcher = Searcher(made.library, made.index, QueryAnalyzer(made.library, analyzer), models)
        result = searcher.search(QUERY)
        assert [scene.video.id for scene in result.scenes] == ["a"]
        assert (result.retrievers, result.final) == (("bm25",), True)
        assert {error.code for _name, error in result.missing} == {"model_unsupported"}
        for sentence in (str(result.missing[0][1].message), str(result.missing[0][1].hint)):
            assert sentence
        assert 'encoder = ""' in result.missing[0][1].hint

        def started(*_arguments: object) -> None:
            raise AssertionError("a processor does not change: no other process is started")

        monkeypatch.setattr(host_client, "_detached", started)
        assert searcher.search(QUERY).scenes == result.scenes
        with failing("model_unsupported"):
            encoder.passages(["치킨"])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the flags of its processors")
@pytest.mark.parametrize(("flags", "why"), [("", "no_avx2"), (" avx", "no_avx2"), (" avx avx2", "graph")])
def test_a_processor_without_avx2_is_told_with_the_plan(
    flags: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    device.CPU_INFO.write_text(CPU.format(more=flags))
    plan = device.plan_graph(waits=False)
    assert (plan.why, "Pentium(R) E5400" in plan.line) == (why, True)
    assert ("AVX2" in plan.line) == (why == "no_avx2")
