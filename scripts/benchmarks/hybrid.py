"""Measures what three retrievers take through the host process, without encoding the query.

    scripts/bench hybrid [--data FOLDER] [--sizes 1000,20000,100000] [--dimensions 384] [--pieces 4]
                         [--tokens 60]

The windows are made as `budgets` makes them. Their neural vectors are made up: dense ones around 200 topics, sparse
ones of 100 tokens out of 250,000, the common ones common. With `--pieces` every window has vectors of so many pieces,
and the searches compare the candidates by them. With `--tokens` every window has so many token vectors, too (a gigabyte
for each 65,000 windows of 60 tokens), and the order of 300 windows by them is a row.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    DAYS,
    LAST_DAY,
    SETTLE_S,
    Filling,
    analysed,
    channel_id,
    corpus_folders,
    end_host,
    grown,
    latency,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, numbers, timed
from subtitle_rag.retrieval.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.named_vectors import PIECES, multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.search import DEPTH, Searcher
from subtitle_rag.retrieval.search.parts import RETRIEVERS
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.values import DenseVector, Filter, MultiVector, SparseVector, Vector, VectorSearch

TOPICS, NOISE = 200, 0.8
TOKENS, TOKENS_IN_WINDOW, TOKENS_IN_QUERY = 250_000, 100, 10
TOKEN_DIMENSIONS, TOKENS_IN_LATE_QUERY, LATE_WINDOWS = 128, 12, 300
CHANNELS = 5
WHERE = Filter(channels=(channel_id(0), channel_id(1)), after=LAST_DAY - timedelta(days=DAYS // 2))
"""Two of five channels, and half of the days."""
ENCODER = "made-up@00000000"
TOKEN_VECTORS, PIECE_VECTORS = multivector_name(ENCODER), multivector_name(piece_id(ENCODER))
BUDGET_MS, PIECES_BUDGET_MS = 12, 15
BATCH = 250


class MadeUp:
    """`Models` and its encoder in one: vectors that look like an encoder's, and cost nothing."""

    id = ENCODER
    has_sparse = True
    is_light = False
    must_wait = False
    token_dimensions = 0

    def __init__(self, dimensions: int, pieces: int, tokens: int) -> None:
        import numpy as np

        self.dimensions, self.has_pieces = dimensions, pieces > 0
        parts = {PIECE_VECTORS: (pieces, dimensions), TOKEN_VECTORS: (tokens, TOKEN_DIMENSIONS)}
        self.parts = {name: size for name, size in parts.items() if size[0]}
        """Name of a multivector → the parts of a window, and their dimensions."""
        self.random = np.random.default_rng(1)
        self._topics = self.random.normal(size=(TOPICS, dimensions))
        self._queries: dict[str, Encoded] = {}

    def encoder(self, id: str | None = None) -> "MadeUp | None":
        return self if id in (None, ENCODER) else None

    def reranker(self) -> None:
        return None

    def query(self, text: str) -> Encoded:
        if text not in self._queries:
            [self._queries[text]] = self._made(1, TOKENS_IN_QUERY)
        return self._queries[text]

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return list(self._made(len(texts), TOKENS_IN_WINDOW))

    def multivector(self, count: int, dimensions: int) -> MultiVector:
        return MultiVector(dimensions, self.random.normal(size=(count, dimensions)).astype("<f2").tobytes())

    def _made(self, count: int, tokens: int) -> Iterator[Encoded]:
        topics = self._topics[self.random.integers(TOPICS, size=count)]
        dense = topics + NOISE * self.random.normal(size=(count, self.dimensions))
        draws = self.random.zipf(1.3, size=(count, 3 * tokens)) % TOKENS
        for values, ids in zip(dense.tolist(), draws.tolist(), strict=True):
            token_ids = tuple(dict.fromkeys(ids))[:tokens]
            weights = tuple(self.random.uniform(0.05, 0.4, size=len(token_ids)).tolist())
            yield Encoded(DenseVector(tuple(values)), SparseVector(token_ids, weights))


def encode(filling: Filling, models: MadeUp, done: set[str]) -> float:
    """Write the vectors of the windows without any; return the seconds of writing."""
    dense, sparse = vector_names(ENCODER)
    filling.index.add_vector(dense, models.dimensions)
    filling.index.add_vector(sparse)
    for name, (_count, dimensions) in models.parts.items():
        filling.index.add_vector(name, dimensions)
    ids = [w.id for state in filling.library.videos() for w in filling.library.windows_of(state.video.id)]
    pending, seconds = [id for id in ids if id not in done], 0.0
    for start in range(0, len(pending), BATCH):
        batch = pending[start : start + BATCH]
        encoded = dict(zip(batch, models.passages(batch), strict=True))
        vectors: dict[str, dict[str, Any]] = {
            dense: {id: encoding.dense for id, encoding in encoded.items()},
            sparse: {id: encoding.sparse for id, encoding in encoded.items()},
        }
        for name, size in models.parts.items():
            vectors[name] = {id: models.multivector(*size) for id in batch}
        for name, by_id in vectors.items():
            seconds += timed(lambda name=name, by_id=by_id: filling.index.replace_vector(name, by_id))  # type: ignore[misc]
        done.update(batch)
    filling.library.vectors.activate(ENCODER)
    return seconds


def filtered(text: str) -> Query:
    return replace(parse_query(text), channels=WHERE.channels, after=WHERE.after)


def vectors_of(texts: Sequence[str], analyzer: HostedQueryAnalyzer, models: MadeUp) -> list[dict[str, Vector]]:
    """The queries' vectors, by the names that they have in the index."""
    dense, sparse = vector_names(ENCODER)
    encoded_queries: list[dict[str, Vector]] = []
    for text in texts:
        encoded = models.query(parse_query(text).text)
        assert encoded.sparse
        encoded_queries.append({"bm25": analyzer.analyze(text).vector, dense: encoded.dense, sparse: encoded.sparse})
    return encoded_queries


def late_row(filling: Filling, models: MadeUp, texts: Sequence[str], searcher: Searcher, windows: str) -> Cells:
    """Order the first windows of each query by token vectors."""
    searches = []
    for text in texts:
        best = frozenset(hit.window_id for hit in searcher.rank(parse_query(text), depth=DEPTH)[:LATE_WINDOWS])
        query = models.multivector(TOKENS_IN_LATE_QUERY, TOKEN_DIMENSIONS)
        searches.append(VectorSearch(TOKEN_VECTORS, query, len(best), Filter(only=best)))
    order = lambda search: filling.index.search_all([search])  # noqa: E731
    return latency(filling, f"{windows} `late` over {LATE_WINDOWS}", order, searches)


def piece_rows(
    filling: Filling, models: MadeUp, texts: Sequence[str], searcher: Searcher, windows: str
) -> Iterator[Cells]:
    """Retrieve, and compare the pieces of the candidates; find the nearest pieces of the first twenty windows."""
    dense, _sparse = vector_names(ENCODER)
    hybrid: list[tuple[list[VectorSearch], VectorSearch]] = []
    jumps: list[tuple[DenseVector, list[str]]] = []
    encoded = vectors_of(texts, HostedQueryAnalyzer(filling.index, filling.library.path), models)
    for text, vectors in zip(texts, encoded, strict=True):
        ranked = searcher.rank(filtered(text), retrievers=("bm25", "dense"))
        query = vectors[dense]
        assert isinstance(query, DenseVector)
        found = frozenset(entry.window_id for entry in ranked)
        first = [VectorSearch(each, vectors[each], DEPTH, WHERE) for each in ("bm25", dense)]
        hybrid.append(
            (first, VectorSearch(PIECE_VECTORS, MultiVector.of([query.values]), len(found), Filter(only=found)))
        )
        jumps.append((query, [entry.window_id for entry in ranked[:20]]))

    def both(item: tuple[list[VectorSearch], VectorSearch]) -> None:
        filling.index.search_all(item[0])
        filling.index.search_all([item[1]])

    def pieces(item: tuple[list[VectorSearch], VectorSearch]) -> object:
        return filling.index.search_all([item[1]])

    def nearest(item: tuple[DenseVector, list[str]]) -> object:
        return filling.index.nearest_parts(PIECE_VECTORS, *item)

    counts = [search.limit for _first, search in hybrid]
    what = f"pieces of {sum(counts) // max(1, len(counts))} candidates"
    yield latency(filling, f"{windows} {what}", pieces, hybrid)
    yield latency(filling, f"{windows} two retrievers and pieces, filter", both, hybrid, PIECES_BUDGET_MS)
    yield latency(filling, f"{windows} nearest pieces of 20", nearest, jumps)


def rows(filling: Filling, models: MadeUp, texts: Sequence[str], size: int) -> Iterator[Cells]:
    analyzer = HostedQueryAnalyzer(filling.index, filling.library.path)
    searcher = Searcher(filling.library, filling.index, analyzer, models)
    parts = (*RETRIEVERS, PIECES) if models.has_pieces else RETRIEVERS
    assert [searcher.search(filtered(text)).retrievers for text in texts[:10]] == [parts] * 10
    query_vectors = vectors_of(texts, analyzer, models)
    names = ("bm25", *vector_names(ENCODER))

    def hits(only: Sequence[str], where: Filter | None) -> Callable[[dict[str, Vector]], object]:
        return lambda vectors: [
            filling.index.search_all([VectorSearch(name, vectors[name], DEPTH, where)]) for name in only
        ]

    windows = f"{size:,} windows:"
    yield latency(filling, f"{windows} analysis of the query", analyzer.analyze, texts)
    for retriever, name in zip(RETRIEVERS, names, strict=True):
        yield latency(filling, f"{windows} `{retriever}`, filter", hits([name], WHERE), query_vectors)
    yield latency(filling, f"{windows} three retrievers, filter", hits(names, WHERE), query_vectors, BUDGET_MS)
    yield latency(filling, f"{windows} three retrievers, no filter", hits(names, None), query_vectors)
    if TOKEN_VECTORS in models.parts:
        yield late_row(filling, models, texts, searcher, windows)
    if models.has_pieces:
        yield from piece_rows(filling, models, texts, searcher, windows)
    stages: dict[str, Callable[[str], object]] = {
        "`Searcher.rank`, filter": lambda text: searcher.rank(filtered(text)),
        "`Searcher.search`, filter": lambda text: searcher.search(filtered(text)),
        "`Searcher.search`, no filter": lambda text: searcher.search(parse_query(text)),
    }
    for what, work in stages.items():
        yield latency(filling, f"{windows} {what}", work, texts)


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--sizes", type=numbers, default=(1_000, 20_000, 100_000))
    parser.add_argument("--dimensions", type=int, default=1024)
    parser.add_argument("--pieces", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=0)
    options = parser.parse_args()
    analyzer = Analyzer()
    analyzer.load()
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
    with _frame.machine(ANALYZER), tempfile.TemporaryDirectory(prefix="subtitle-rag-bench-") as name:
        table = Table(*BUDGET_COLUMNS)
        corpus = analysed(corpus_folders(options.data, Path(name)), analyzer)
        filling = Filling(Path(name) / "grown", analyzer)
        models = MadeUp(options.dimensions, options.pieces, options.tokens)
        done: set[str] = set()
        for size, _seconds in grown(filling, corpus, options.sizes, CHANNELS):
            seconds = encode(filling, models, done)
            table.row(
                *budget(f"{size:,} windows: neural vectors written in", f"{seconds:.0f} s ({len(done):,} in all)")
            )
            time.sleep(SETTLE_S)
            for row in rows(filling, models, typed(corpus), size):
                table.row(*row)
        filling.close()
        end_host(filling.home)
