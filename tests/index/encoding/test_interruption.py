"""kill -9 at random moments of making vectors, of the run and now and then of the processes that serve it.

What is noted as made is in the index, whatever was killed; the next run goes on where that one was.
`SUBTITLE_RAG_KILLS` sets the number of moments (3).
"""

import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.vectors.named_vectors import pieces_name, vector_names
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from tests.support.invented import caption_folder, end_hosts
from tests.support.processes import kill_host, kill_when, needs_sigkill, start

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 3)

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    needs_sigkill,
]


@pytest.fixture
def home(tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library with a tiny encoder, searchable by words."""
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "2")
    monkeypatch.setenv("SUBTITLE_RAG_NEURAL_LINGER", "20")
    home = tmp_path / "home"
    home.mkdir()
    settings = f'[models]\nencoder = "{encoder_folder}"\nreranker = ""\n'
    (home / "config.toml").write_text(settings)
    with Runtime(config.load(home)) as runtime:
        list(runtime.indexer.index([caption_folder(tmp_path / "captions", 6 + 2 * KILLS, minutes=8)]))
    yield home
    end_hosts(list(places(home)))


def places(home: Path) -> tuple[Path, Path]:
    """The folders of the processes that hold the index and the models."""
    paths = config.Paths.under(home)
    return paths.index, paths.cache / "neural"


def noted(library: Library) -> int:
    """How many windows have vectors, and how many have vectors of their pieces."""
    vectors = library.vectors
    return sum(len(notes) for notes in vectors.stored(vectors.windows()).values())


def made(home: Path) -> int:
    library = Library(config.Paths.under(home).library)
    try:
        return noted(library)
    finally:
        library.close()


def check(home: Path) -> int:
    """See that the index holds what is noted; how much that is."""
    with Runtime(config.load(home)) as runtime:
        vectors = runtime.library.vectors
        encoder = runtime.neural.encoder()
        assert encoder is not None
        pieces = pieces_name(encoder.id)
        stored = vectors.stored(vectors.windows())
        points = {point.id: point.vectors.keys() for point in runtime.index.get(list(stored))}
        assert points.keys() == stored.keys()
        for id, notes in stored.items():
            assert points[id] >= {"bm25", *(note.name for note in notes)}
            assert pieces not in {note.name for note in notes} or points[id] == {
                "bm25",
                *vector_names(encoder.id),
                pieces,
            }
        return noted(runtime.library)


def test_a_run_killed_again_and_again_keeps_what_it_noted_and_gets_there(home: Path) -> None:
    rng = random.Random(KILLS)
    with Runtime(config.load(home)) as runtime:
        windows = runtime.library.counts().windows
    killed, before = 0, 0
    for number in range(KILLS):
        host = (None, *places(home))[number % 3]
        # also while vectors of pieces are made, which come after those of all windows
        count = before + 1 if number % 3 < 2 else max(before + 1, windows + windows // 3)
        process = start(home, "vectors")
        is_reached = lambda count=count: made(home) >= count  # noqa: E731
        killed += kill_when(process, is_reached, rng.uniform(0, 0.1), partial(kill_host, host))
        now = check(home)
        assert now >= before
        before = now
    assert killed > 0
    assert before > 0
    assert start(home, "vectors").wait() == 0
    assert check(home) == 2 * windows
    assert start(home, "vectors").wait() == 0
