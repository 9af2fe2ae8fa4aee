"""The composition of doors."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.support.invented import caption_folder


def test_a_closed_runtime_opens_its_doors_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "1")
    with Runtime(config.load(tmp_path / "home")) as runtime:
        list(runtime.indexer.index([caption_folder(tmp_path / "captions", 1, minutes=2)]))
        word = runtime.library.windows_of(runtime.library.videos()[0].video.id)[0].text.split()[0]
        first = runtime.searcher.search(parse_query(word)).scenes
        runtime.close()
        assert [scene.id for scene in runtime.searcher.search(parse_query(word)).scenes] == [
            scene.id for scene in first
        ]
        assert first


def test_threads_that_read_a_door_at_the_same_time_get_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first thread is held while it opens the library; the other waits for what it opens."""
    from subtitle_rag.library import store

    opening, go_on = threading.Event(), threading.Event()
    built: list[object] = []

    class SlowLibrary:
        database = SimpleNamespace(has_changed=False)

        def __init__(self, _path: Path) -> None:
            built.append(self)
            opening.set()
            go_on.wait(10)

        def close(self) -> None:
            pass

    monkeypatch.setattr(store, "Library", SlowLibrary)
    with Runtime(config.load(tmp_path / "home")) as runtime:
        found: list[object] = []
        first, second = (threading.Thread(target=lambda: found.append(runtime.library)) for _ in range(2))
        first.start()
        assert opening.wait(10)
        second.start()
        go_on.set()
        first.join(10)
        second.join(10)
        assert found == built * 2
