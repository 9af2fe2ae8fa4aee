"""Measures what three retrievers take through the host process, without encoding the query.

    scripts/bench hybrid [--data FOLDER] [--sizes 1000,20000,100000] [--tokens 60]
                                 [--dimensions 384] [--pieces 4]

The windows are those of `bench`. Their neural vectors are made up: dense ones around 200 topics,
sparse ones of 100 tokens out of 250,000, the common ones common. A query's are those of some window, a little changed.
With `--tokens` every window has so many token vectors, too (a gigabyte for each 65,000 windows of 60 tokens), and the
order of 300 windows by them is a row. With `--pieces` every window has vectors of so many pieces, and the searches
compare the candidates by them.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    Analysed,
    Filling,
    analysed,
    corpus_folders,
    end_host,
    grown,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, numbers, spread, timed
from subtitle_rag.domain import byte_size
from subtitle_rag.retrieval.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.named_vectors import PIECES, multivector_name, piece_id, vector_names
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.search import DEPTH, Searcher
from subtitle_rag.retrieval.search.fusion import BY_RANKS
from subtitle_rag.retrieval.search.parts import RETRIEVERS
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.values import DenseVector, Filter, MultiVector, SparseVector, Vector, VectorSearch

TOPICS, NOISE = 200, 0.8
TOKEN_DIMENSIONS, TOKENS_IN_LATE_QUERY, LATE_WINDOWS = 128, 12, 300
TOKENS, TOKENS_IN_WINDOW, TOKENS_IN_QUERY = 250_000, 100, 10
CHANNELS, DAYS = 5, 364
FIRST_DAY = date(2025, 1, 1)
ENCODER = "made-up@00000000"
BUDGET_MS, PIECES_BUDGET_MS = 12, 15
SETTLE_S = 8.0
"""After filling: the host optimizes when it has been idle for 5 s."""
BATCH = 250


class MadeUp:
    """`Models` and its encoder in one: vectors that look like an encoder's, and cost nothing."""

    id = ENCODER
    has_sparse = True
    is_light = False
    must_wait = False
    token_dimensions = 0

    def __init__(self, dimensions: int, pieces: int) -> None:
        import numpy as np

        self.dimensions, self.pieces, self.has_pieces = dimensions, pieces, pieces > 0
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

    def _made(self, count: int, tokens: int) -> Iterator[Encoded]:
        topics = self._topics[self.random.integers(TOPICS, size=count)]
        dense = topics + NOISE * self.random.normal(size=(count, self.dimensions))
        draws = self.random.zipf(1.3, size=(count, 3 * tokens)) % TOKENS
        for values, ids in zip(dense.tolist(), draws.tolist(), strict=True):
            token_ids = tuple(dict.fromkeys(ids))[:tokens]
            weights = tuple(self.random.uniform(0.05, 0.4, size=len(token_ids)).tolist())
            yield Encoded(DenseVector(tuple(values)), SparseVector(token_ids, weights))


def placed(video: Analysed) -> Analysed:
    """In one of five channels, on one of 364 days."""
    number = sum(video.video.id.encode())
    channel = f"channel {number % CHANNELS}"
    day = FIRST_DAY + timedelta(days=number * 37 % DAYS)
    return replace(video, video=replace(video.video, channel=channel, channel_id=channel, published=day))


def part_vectors(random: Any, count: int, dimensions: int = TOKEN_DIMENSIONS) -> MultiVector:
    return MultiVector(dimensions, random.normal(size=(count, dimensions)).astype("<f2").tobytes())


def encode(filling: Filling, models: MadeUp, done: set[str], tokens: int) -> float:
    """Write the vectors of the windows without any; return the seconds of writing."""
    dense, sparse = vector_names(ENCODER)
    filling.index.add_vector(dense, models.dimensions)
    filling.index.add_vector(sparse)
    if tokens:
        filling.index.add_vector(multivector_name(ENCODER), TOKEN_DIMENSIONS)
    if models.pieces:
        filling.index.add_vector(multivector_name(piece_id(ENCODER)), models.dimensions)
    ids = [w.id for state in filling.library.videos() for w in filling.library.windows_of(state.video.id)]
    pending, seconds = [id for id in ids if id not in done], 0.0
    for start in range(0, len(pending), BATCH):
        batch = pending[start : start + BATCH]
        encoded = dict(zip(batch, models.passages(batch), strict=True))
        vectors: dict[str, dict[str, Any]] = {
            dense: {id: encoding.dense for id, encoding in encoded.items()},
            sparse: {id: encoding.sparse for id, encoding in encoded.items()},
        }
        if tokens:
            vectors[multivector_name(ENCODER)] = {id: part_vectors(models.random, tokens) for id in batch}
        if models.pieces:
            vectors[multivector_name(piece_id(ENCODER))] = {
                id: part_vectors(models.random, models.pieces, models.dimensions) for id in batch
            }
        for name, by_id in vectors.items():
            seconds += timed(lambda name=name, by_id=by_id: filling.index.replace_vector(name, by_id))  # type: ignore[misc]
        done.update(batch)
    filling.library.vectors.activate(ENCODER)
    return seconds


def filtered(text: str) -> Query:
    """A query over two of five channels and half of the days."""
    query = parse_query(text)
    middle = FIRST_DAY + timedelta(days=DAYS // 2)
    return replace(query, channels=("channel 0", "channel 1"), after=middle)


def vectors_of(texts: Sequence[str], analyzer: HostedQueryAnalyzer, models: MadeUp) -> list[dict[str, Vector]]:
    """The queries' vectors, by the names that they have in the index."""
    dense, sparse = vector_names(ENCODER)
    encoded_queries: list[dict[str, Vector]] = []
    for text in texts:
        encoded = models.query(parse_query(text).text)
        assert encoded.sparse
        encoded_queries.append({"bm25": analyzer.analyze(text).vector, dense: encoded.dense, sparse: encoded.sparse})
    return encoded_queries


def processor_ms(pid: int) -> float:
    """Return the processor time of this process and the host; 0 without `/proc`."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return 1000 * ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + time.process_time())


def measured(
    filling: Filling, what: str, most_ms: float | None, work: Callable[[Any], object], items: Sequence[Any]
) -> Cells:
    """Latency, and the processor's time a query, which does not hang on what else the machine does."""
    before = processor_ms(filling.index.host_pid)
    times = [timed(lambda item=item: work(item)) for item in items]  # type: ignore[misc]
    cpu = (processor_ms(filling.index.host_pid) - before) / len(items)
    p50, p95 = spread(times)
    figure = f"{p50:.1f} / {p95:.1f} ms ({cpu:.1f} ms of processor)"
    limit = f"≤ {most_ms} ms p95" if most_ms else ""
    return budget(f"{what}, p50 / p95", figure, limit, p95 <= most_ms if most_ms else None)


def late_row(filling: Filling, models: MadeUp, texts: Sequence[str], searcher: Searcher, size: int) -> Cells:
    """Order the first windows of each query by token vectors."""
    name = multivector_name(ENCODER)
    searches = []
    for text in texts:
        best = frozenset(hit.window_id for hit in searcher.rank(parse_query(text), depth=DEPTH)[:LATE_WINDOWS])
        query = part_vectors(models.random, TOKENS_IN_LATE_QUERY)
        searches.append(VectorSearch(name, query, len(best), Filter(only=best)))
    what = f"{size:,} windows: `late` over {LATE_WINDOWS}"
    return measured(filling, what, None, lambda search: filling.index.search_all([search]), searches)


def piece_rows(
    filling: Filling, models: MadeUp, texts: Sequence[str], searcher: Searcher, size: int
) -> Iterator[Cells]:
    """Retrieve, and compare the pieces of the candidates; find the nearest pieces of the first twenty windows."""
    dense, _sparse = vector_names(ENCODER)
    name = multivector_name(piece_id(ENCODER))
    where = Filter(channels=("channel 0", "channel 1"), after=FIRST_DAY + timedelta(days=DAYS // 2))
    hybrid: list[tuple[list[VectorSearch], VectorSearch]] = []
    jumps: list[tuple[DenseVector, list[str]]] = []
    encoded = vectors_of(texts, HostedQueryAnalyzer(filling.index, filling.library.path), models)
    for text, vectors in zip(texts, encoded, strict=True):
        ranked = searcher.rank(filtered(text), retrievers=("bm25", "dense"))
        query = vectors[dense]
        assert isinstance(query, DenseVector)
        found = frozenset(entry.window_id for entry in ranked)
        first = [VectorSearch(each, vectors[each], DEPTH, where) for each in ("bm25", dense)]
        hybrid.append((first, VectorSearch(name, MultiVector.of([query.values]), len(found), Filter(only=found))))
        jumps.append((query, [entry.window_id for entry in ranked[:20]]))

    def both(item: tuple[list[VectorSearch], VectorSearch]) -> None:
        filling.index.search_all(item[0])
        filling.index.search_all([item[1]])

    def pieces(item: tuple[list[VectorSearch], VectorSearch]) -> object:
        return filling.index.search_all([item[1]])

    counts = [search.limit for _first, search in hybrid]
    what = f"pieces of {sum(counts) // max(1, len(counts))} candidates"
    yield measured(filling, f"{size:,} windows: {what}", None, pieces, hybrid)
    yield measured(filling, f"{size:,} windows: two retrievers and pieces, filter", PIECES_BUDGET_MS, both, hybrid)
    nearest = lambda item: filling.index.nearest_parts(name, *item)  # noqa: E731
    yield measured(filling, f"{size:,} windows: nearest pieces of 20", None, nearest, jumps)


def space_row(filling: Filling, size: int) -> Cells:
    """Return what the index takes on the disk, and the host in memory."""
    used = sum(path.stat().st_blocks * 512 for path in filling.paths.index.rglob("*") if path.is_file())
    status = Path(f"/proc/{filling.index.host_pid}/status")
    memory = (
        [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS")]
        if status.exists()
        else []
    )
    resident = f", host {byte_size(1024 * int(memory[0]))} resident" if memory else ""
    return budget(f"{size:,} windows: index on disk", f"{byte_size(used)}{resident}")


def rows(filling: Filling, models: MadeUp, texts: Sequence[str], size: int, tokens: int) -> Iterator[Cells]:
    analyzer = HostedQueryAnalyzer(filling.index, filling.library.path)
    searcher = Searcher(filling.library, filling.index, analyzer, models)
    parts = (*RETRIEVERS, PIECES) if models.pieces else RETRIEVERS
    assert [searcher.search(filtered(text)).retrievers for text in texts[:10]] == [parts] * 10
    query_vectors = vectors_of(texts, analyzer, models)
    where = Filter(channels=("channel 0", "channel 1"), after=FIRST_DAY + timedelta(days=DAYS // 2))
    names = ("bm25", *vector_names(ENCODER))

    def hits(only: Sequence[str], where: Filter | None) -> Callable[[dict[str, Vector]], object]:
        return lambda vectors: [
            filling.index.search_all([VectorSearch(name, vectors[name], DEPTH, where)]) for name in only
        ]

    yield measured(filling, f"{size:,} windows: analysis of the query", None, analyzer.analyze, texts)
    for retriever, name in zip(RETRIEVERS, names, strict=True):
        yield measured(filling, f"{size:,} windows: `{retriever}`, filter", None, hits([name], where), query_vectors)
    yield measured(filling, f"{size:,} windows: three retrievers, filter", BUDGET_MS, hits(names, where), query_vectors)
    yield measured(filling, f"{size:,} windows: three retrievers, no filter", None, hits(names, None), query_vectors)
    by_ranks = Searcher(filling.library, filling.index, analyzer, models, fusion=BY_RANKS)
    if tokens:
        yield late_row(filling, models, texts, searcher, size)
    if models.pieces:
        yield from piece_rows(filling, models, texts, searcher, size)
    stages: dict[str, Callable[[str], object]] = {
        "`Searcher.rank` by ranks, filter": lambda text: by_ranks.rank(filtered(text)),
        "`Searcher.rank`, filter": lambda text: searcher.rank(filtered(text)),
        "`Searcher.search`, filter": lambda text: searcher.search(filtered(text)),
        "`Searcher.search`, no filter": lambda text: searcher.search(parse_query(text)),
    }
    for what, work in stages.items():
        yield measured(filling, f"{size:,} windows: {what}", None, work, texts)


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--sizes", type=numbers, default=(1_000, 20_000, 100_000))
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--dimensions", type=int, default=1024)
    parser.add_argument("--pieces", type=int, default=0)
    options = parser.parse_args()
    analyzer = Analyzer()
    analyzer.load()
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
    with _frame.machine(ANALYZER), tempfile.TemporaryDirectory(prefix="subtitle-rag-bench-") as name:
        table = Table(*BUDGET_COLUMNS)
        scratch = Path(name)
        corpus = analysed(corpus_folders(options.data, scratch), analyzer)
        filling, models, done = (
            Filling(scratch / "grown", analyzer),
            MadeUp(options.dimensions, options.pieces),
            set[str](),
        )
        for size, _seconds in grown(filling, corpus, options.sizes, placed):
            seconds, new = encode(filling, models, done, options.tokens), len(done)
            table.row(*budget(f"{size:,} windows: neural vectors written in", f"{seconds:.0f} s ({new:,} in all)"))
            time.sleep(SETTLE_S)
            table.row(*space_row(filling, size))
            for row in rows(filling, models, typed(corpus), size, options.tokens):
                table.row(*row)
        filling.close()
        end_host(filling.home)
