"""`rebuild` with another index in the settings: from the library's folder to a server, and back."""

import hashlib
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings
from subtitle_rag.base.vectors.named_vectors import piece_id, pieces_name, vector_names
from subtitle_rag.base.vectors.points import DenseVector, SparseVector
from subtitle_rag.contexts import context_file
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.library.app_state import index_address
from subtitle_rag.library.store import Library
from subtitle_rag.models.neural.protocols import Encoded
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.stand_ins.qdrant import StandIn
from tests.support.models_here import Here
from tests.support.served import QUERY, Machine, videos

WIDTH = 16
QUERIES = 50
SCENES = 20


class Letters:
    """An `Encoder` whose vectors are counts of pairs of letters."""

    id, dimensions, has_sparse, is_light, has_pieces, must_wait = "letters@1", WIDTH, True, True, True, False

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Encoded:
        counts = [0.1] * WIDTH
        for pair in zip(text, text[1:], strict=False):
            counts[hashlib.sha256("".join(pair).encode()).digest()[0] % WIDTH] += 1
        length = math.hypot(*counts)
        terms = {ord(letter): 1.0 for letter in text if letter.isalpha()}
        return Encoded(
            DenseVector(tuple(count / length for count in counts)), SparseVector(tuple(terms), tuple(terms.values()))
        )


LETTERS = Letters()


@pytest.fixture
def machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Machine]:
    """A home with an index in its folder that has contexts, vectors and pieces."""
    made = Machine(tmp_path / "home", capsys)
    made.use("")
    assert made("index", videos(tmp_path / "captions", 0, 1, 2, 3, 4)).code == 0
    with Runtime(settings.load(made.home)) as runtime:
        windows = [
            window for state in runtime.library.videos() for window in runtime.library.windows_of(state.video.id)
        ]
        context_file.store(runtime.library, {window.id: f"{window.ordinal}번째로 끓인다." for window in windows[::2]})
        runtime.indexer.add_contexts(runtime.library.contexts.unindexed())
        for _event in EncodingRun(runtime.library, runtime.index, LETTERS, Here([LETTERS])).run(patient=False):
            pass
    assert made("rebuild").code == 0  # the engine counts a word's earlier windows until its segments are made anew
    yield made
    made.end()


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


def queries(library: Library) -> list[str]:
    """Texts of the library in part: of windows, a few words from changing places."""
    texts = [window.text.split() for state in library.videos() for window in library.windows_of(state.video.id)]
    return [" ".join(texts[at % len(texts)][at // 3 % 5 :][: 2 + at % 4]) for at in range(QUERIES)]


Shown = tuple[str, int, int, int]
Scores = dict[Shown, float]
ROUNDED = 0.01
"""Of a score between 0 and 1: the folder keeps a byte for each dimension of a piece, the stand-in all of it."""


def scenes(machine: Machine) -> list[Scores]:
    """The best scenes of every query, by words, meaning and pieces, in their order, with their scores."""
    with Runtime(settings.load(machine.home)) as runtime:
        analyzer = QueryAnalyzer(runtime.library, runtime.analyzer)
        searcher = Searcher(runtime.library, runtime.index, analyzer, Here([LETTERS]))
        results = [searcher.search(parse_query(text), limit=SCENES) for text in queries(runtime.library)]
    assert all(result.retrievers == ("bm25", "dense", "sparse", "pieces") for result in results)
    return [
        {(scene.id, scene.start_ms, scene.end_ms, scene.at_ms): scene.scores["fused"].score for scene in result.scenes}
        for result in results
    ]


def same_order(scores: Scores, others: Scores) -> bool:
    """Whether the scenes are the same in the same order, equal scores aside."""
    places = {scene: place for place, scene in enumerate(scores)}
    return scores.keys() == others.keys() and all(
        places[first] < places[second] or abs(scores[first] - scores[second]) < ROUNDED
        for first, second in itertools.pairwise(others)
    )


def due(machine: Machine) -> tuple[int, int, int]:
    """Count the windows with contexts, and those without vectors and without vectors of pieces."""
    with Runtime(settings.load(machine.home)) as runtime:
        vectors = runtime.library.vectors
        contexts = len(runtime.library.contexts.texts())
        return contexts, vectors.counts(LETTERS.id).due, vectors.counts(piece_id(LETTERS.id)).due


def test_the_index_moves_to_a_server_and_back_with_contexts_vectors_and_pieces(
    machine: Machine, server: StandIn
) -> None:
    before, counts = scenes(machine), due(machine)
    assert counts[1:] == (0, 0)
    assert sum(map(len, before)) > QUERIES
    for url, wanted in ((server.base, server.base), ("", "embedded")):
        machine.use(url)
        told = machine(*QUERY)
        assert told.failure == "index_elsewhere"
        assert "subtitle-rag rebuild" in told.err
        moved = machine("rebuild", "--json")
        assert moved.code == 0
        assert f"to {wanted}; the vectors of" in moved.err
        after = scenes(machine)
        assert len(after) == QUERIES
        assert all(map(same_order, before, after))
        assert sum(list(one) == list(other) for one, other in zip(before, after, strict=True)) >= QUERIES - 5
        assert due(machine) == counts
        with Runtime(settings.load(machine.home)) as runtime:
            assert index_address(runtime.library) == runtime.index.place


def test_what_an_index_that_does_not_open_has_is_told_beforehand_and_made_again(
    machine: Machine, server: StandIn
) -> None:
    machine.use(server.base)
    assert machine("rebuild").code == 0
    counts = due(machine)
    server.stop()
    machine.use("")
    moved = machine("rebuild", "--json")
    assert moved.code == 0
    assert f"cannot be read from {server.base}: they have to be made again" in moved.err
    assert moved.err.index("made again") < moved.err.index("subtitle-rag vectors ")
    assert due(machine)[:2] == (counts[0], sum(1 for _id in windows(machine)))
    assert machine(*QUERY).code == 0


def windows(machine: Machine) -> list[str]:
    with Runtime(settings.load(machine.home)) as runtime:
        return [w.id for state in runtime.library.videos() for w in runtime.library.windows_of(state.video.id)]


def test_an_earlier_time_of_the_folder_lends_no_vectors(machine: Machine, server: StandIn) -> None:
    """The index in the folder stays when the library moves: what it has of then is not what the library has now."""
    machine.use(server.base)
    assert machine("rebuild").code == 0
    with Runtime(settings.load(machine.home)) as runtime:
        for _event in EncodingRun(runtime.library, runtime.index, LETTERS, Here([LETTERS])).run(patient=False):
            pass
    (machine.embedded / "meta.json").write_text('{"schema": 1, "analyzer": "another"}', encoding="utf-8")
    server.stop()
    machine.use("")
    assert machine("rebuild").code == 0
    assert due(machine)[1] == len(windows(machine))


class OtherLetters(Letters):
    id = "other-letters@1"


def test_a_server_loses_the_vectors_of_an_encoder_that_is_no_longer_used(machine: Machine, server: StandIn) -> None:
    machine.use(server.base)
    assert machine("rebuild").code == 0
    other = OtherLetters()
    with Runtime(settings.load(machine.home)) as runtime:
        assert names_of(LETTERS.id) <= runtime.index.vectors().keys()
        list(EncodingRun(runtime.library, runtime.index, other, Here([other])).run(patient=False))
        assert runtime.index.vectors().keys() == {"bm25", *names_of(other.id)}


def names_of(encoder_id: str) -> set[str]:
    return {*vector_names(encoder_id), pieces_name(encoder_id)}
