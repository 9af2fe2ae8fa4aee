"""The composition of doors."""

from pathlib import Path

import pytest

from subtitle_rag import config
from subtitle_rag.retrieval.query import parse
from subtitle_rag.runtime import Runtime
from tests.invented import caption_folder


def test_a_closed_runtime_opens_its_doors_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "1")
    with Runtime(config.load(tmp_path / "home")) as runtime:
        list(runtime.indexer.index([caption_folder(tmp_path / "captions", 1, minutes=2)]))
        word = runtime.library.windows_of(runtime.library.videos()[0].video.id)[0].text.split()[0]
        first = runtime.searcher.search(parse(word)).scenes
        runtime.close()
        assert [scene.id for scene in runtime.searcher.search(parse(word)).scenes] == [scene.id for scene in first]
        assert first
