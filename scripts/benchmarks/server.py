"""Measures search with a Qdrant server against search without one, and prints a Markdown table.

    scripts/bench server [--url http://…] [--runs 9]

Without `--url` the tests' stand-in answers on loopback. Each figure is the median of the runs, of this machine at this
moment: look at its load. The program's own share is measured with an answer of 150 hits from three retrievers that is
ready at once, beside the same request by httpx alone and by the models of Qdrant's client.
"""

import json
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import SAMPLE
from scripts.benchmarks._frame import Table, command, median_ms
from subtitle_rag.config.settings import QdrantSettings
from subtitle_rag.retrieval.index.index_server import TIES, ServerIndex
from subtitle_rag.retrieval.values import DenseVector, SparseVector, VectorSearch
from tests.stand_ins.qdrant import StandIn

QUERIES = ("치킨 소스", "국수", "바다", "떡볶이 맛집")
DEPTH = 150


def run(home: Path, *arguments: str) -> None:
    subprocess.run(command(home, *arguments), check=True, capture_output=True)


def processes(url: str, runs: int, server: StandIn | None) -> Iterator[tuple[str, str]]:
    """Yield the time of `search` in a new process with a warm host, and its requests."""
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-bench-") as folder:
        for name, address in (("without a server", ""), ("with a server", url)):
            home = Path(folder) / name
            home.mkdir()
            quiet = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
            (home / "config.toml").write_text(f'[qdrant]\nurl = "{address}"\n{quiet}')
            run(home, "index", str(SAMPLE))
            run(home, "search", QUERIES[0])
            before = len(server.asked) if server else 0
            took = median_ms(runs, lambda at, home=home: run(home, "search", QUERIES[at % len(QUERIES)]))  # type: ignore[misc]
            yield f"`search` in a new process, {name}", f"{took:.0f} ms"
            if server and address:
                yield "requests of one search by words", f"{(len(server.asked) - before) / runs:g}"


COLLECTION = "subtitle-rag-bench"


def opened(server: StandIn) -> ServerIndex:
    return ServerIndex(QdrantSettings(url=server.base), {"analyzer": "bench"}, COLLECTION, create=True)


def own_share(runs: int) -> Iterator[tuple[str, str]]:
    """Yield the time of one request with three retrievers whose answer is ready at once."""
    import httpx
    from qdrant_client import QdrantClient, models

    dense, terms = [0.03] * 1024, list(range(1, 40))
    with StandIn() as server, closing(opened(server)) as index:
        index.add_vector("dense-a", len(dense))
        index.add_vector("sparse-a")
        weights = SparseVector(tuple(terms), (0.5,) * len(terms))
        searches = [VectorSearch(name, weights, DEPTH) for name in ("bm25", "sparse-a")]
        searches.append(VectorSearch("dense-a", DenseVector(tuple(dense)), DEPTH))

        def points(count: int) -> dict[str, Any]:
            return {"points": [{"id": str(uuid.UUID(int=n)), "version": 1, "score": 1 / (n + 1)} for n in range(count)]}

        ready = {"result": [points(DEPTH + TIES), points(DEPTH + TIES), points(DEPTH + DEPTH // 3)]}
        answer = json.dumps({**ready, "status": "ok", "time": 0.0}).encode()
        server.failing = lambda _method, path: (200, answer) if path.endswith("/query/batch") else None
        took = median_ms(runs, lambda _: index.search_all(searches))
        yield "one request of three retrievers, by the program", f"{took:.1f} ms"
        sent = next(body for _method, path, body in reversed(server.asked) if path.endswith("/query/batch"))
        url = f"{server.base}/collections/{COLLECTION}/points/query/batch"
        with httpx.Client() as client:
            yield "the same by httpx alone", f"{median_ms(runs, lambda _: client.post(url, json=sent).json()):.1f} ms"
        with closing(QdrantClient(url=server.base, check_compatibility=False)) as qdrant:

            def by_models(_at: int) -> None:
                batch = models.QueryRequestBatch.model_validate(sent).searches
                qdrant.query_batch_points(COLLECTION, batch)

            yield "the same by the models of Qdrant's client", f"{median_ms(runs, by_models):.1f} ms"


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--url", default="", help="an empty server; its collection is left there")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with _frame.machine(), StandIn() as server:
        table = Table("what", "figure")
        rows = processes(options.url or server.base, options.runs, None if options.url else server)
        for what, figure in (*rows, *own_share(10 * options.runs)):
            table.row(what, figure)
