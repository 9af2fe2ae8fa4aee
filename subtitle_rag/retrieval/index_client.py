"""The client of the index host (`index_host`), which it starts when needed: `Index`, and analyzers of texts."""

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from subtitle_rag.domain import Morphemes
from subtitle_rag.errors import AppError
from subtitle_rag.hosting.host_client import Client
from subtitle_rag.library.app_state import EMBEDDED
from subtitle_rag.retrieval.index import Filter, Hit, Index, Point, Searched, Vector, VectorSearch
from subtitle_rag.retrieval.index_host import KIND
from subtitle_rag.retrieval.index_rules import check_name, check_payloads, check_points, check_vectors
from subtitle_rag.retrieval.lexical import LexicalQuery

if TYPE_CHECKING:
    from subtitle_rag.retrieval.index_edge import EdgeIndex

logger = logging.getLogger(__name__)

POINTS = 250
"""Points in a request: about 50 ms of the host, so that searches of other clients get in between."""
TEXTS = 16
"""Texts in a request for analysis: enough for both of Kiwi's workers, and a short wait for an exiting client."""

V = TypeVar("V")


def open_index(folder: Path, meta: dict[str, Any] | None, *, hosted: bool = True, fresh: bool = False) -> Index:
    """Open the embedded index in `folder` through its host process or, with `hosted=False`, in this one."""
    if hosted:
        return HostedIndex(folder, meta, fresh=fresh)
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    return EdgeIndex(folder, meta, fresh=fresh)


def _chunks(values: Mapping[str, V]) -> Iterator[dict[str, V]]:
    items = list(values.items())
    for start in range(0, len(items), POINTS):
        yield dict(items[start : start + POINTS])


class HostedIndex(Client):
    """`Index` through the host process of `folder`. Thread-safe.

    The constructor starts the host if none runs (0.3 s). A call takes the engine's time and 0.2 ms, but it may wait
    while the host optimizes (seconds, after `index_host.IDLE_S` without a call) or restarts (0.3 s): call from a worker
    thread. `fresh` empties the index, in whatever state, and puts it under `meta`. Without `meta` the index is opened
    for a rescue: whatever its record is, as far as it can be read.
    """

    place = EMBEDDED

    def __init__(self, folder: Path, meta: dict[str, Any] | None, *, fresh: bool = False) -> None:
        super().__init__(KIND, folder, meta=meta, fresh=False)
        self._give_back(self._connect(fresh=fresh))

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`; 20,000 points take about 5 s."""
        check_points(points)
        for start in range(0, len(points), POINTS):
            self._call("insert", list(points[start : start + POINTS]))

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        check_name(name, dimensions)
        self._call("add_vector", name, dimensions)

    def drop_vector(self, name: str) -> None:
        self._call("drop_vector", name)

    def vectors(self) -> dict[str, int | None]:
        dimensions: dict[str, int | None] = self._call("vectors")
        return dimensions

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        check_vectors(name, vectors)
        for chunk in _chunks(vectors):
            self._call("replace_vector", name, chunk)

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        check_payloads(payloads)
        for chunk in _chunks(payloads):
            self._call("replace_payload", chunk)

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        self._call("delete_video", video_id, keep=frozenset(keep))

    def delete_videos(self, video_ids: Sequence[str]) -> None:
        self._call("delete_videos", list(video_ids))

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        hits = self._call("search", name, query, limit=limit, where=where, payload=payload)
        return [Hit(*hit) for hit in hits]

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return [[Hit(*hit) for hit in hits] for hits in self._call("search_all", list(searches))]

    def ids(self, video_id: str) -> set[str]:
        ids: set[str] = self._call("ids", video_id)
        return ids

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        points: list[Point] = self._call("points", after, limit=limit)
        return points

    def get(self, ids: Collection[str]) -> list[Point]:
        return [point for chunk in _chunks(dict.fromkeys(ids)) for point in self._call("get", list(chunk))]

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        points: list[Point] = self._call("get_neural", list(ids))
        return points

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """See `Index.shared_payloads`: the embedded index belongs to one library."""
        return {}

    def count(self) -> int:
        return int(self._call("count"))

    def clear(self, videos: Collection[str] = ()) -> None:  # noqa: ARG002
        self._call("clear")

    def stage(self) -> "EdgeIndex":
        """See `Index.stage`; it is opened in this process, and is free for the host once it is closed."""
        from subtitle_rag.retrieval.index_edge import stage

        return stage(self._folder, self._call("meta_record"))

    def adopt(self, staged: "EdgeIndex") -> None:
        staged.complete()
        self._call("adopt")

    def load(self) -> None:
        """Load the host's analyzer, if it has not been loaded (0.7 s)."""
        self._call("load")

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`, with the priority of queries."""
        yield from self._call("morphemes", list(texts))

    def text_morphemes(self, texts: Sequence[str]) -> list[Morphemes]:
        """As `Analyzer.morphemes`, with a lower priority than queries; see `HostedAnalyzer`."""
        analyses: list[Morphemes] = self._call("text_morphemes", list(texts))
        return analyses

    def search_text(self, library: Path, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """As `QueryAnalyzer.search`, with the vocabulary of the library at this path; one call."""
        lexical, hits = self._call("search_text", str(library), text, limit=limit, where=where)
        return lexical, [Hit(*hit) for hit in hits]

    def analyze(self, library: Path, text: str) -> LexicalQuery:
        """As `QueryAnalyzer.analyze`, with the vocabulary of the library at this path."""
        lexical: LexicalQuery = self._call("analyze", str(library), text)
        return lexical

    def related(self, forms: Sequence[str], *, limit: int = 8) -> dict[str, dict[str, float]]:
        """As `Analyzer.related`."""
        related: dict[str, dict[str, float]] = self._call("related", list(forms), limit=limit)
        return related


class HostedAnalyzer:
    """`TextMorphemes` by the host of an index, with a lower priority than queries."""

    def __init__(self, host: HostedIndex) -> None:
        self._host = host

    def load_soon(self) -> None:
        """Begin to load in the background. A failure is logged; the first use raises it."""
        threading.Thread(target=self._load, name="analyzer-loader", daemon=True).start()

    def _load(self) -> None:
        try:
            self._host.load()
        except (AppError, RuntimeError):  # RuntimeError: the client was closed meanwhile
            logger.info("the analyzer was not loaded ahead", exc_info=True)

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`; the host works ahead while the results are consumed.

        Raises the failures of calls to the host; each request may restart the host once.
        """
        executor = ThreadPoolExecutor(1, "analysis")
        parts = (list(texts[at : at + TEXTS]) for at in range(0, len(texts), TEXTS))
        try:
            futures = [executor.submit(self._host.text_morphemes, part) for part in parts]
            for future in futures:
                yield from future.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


class HostedQueryAnalyzer:
    """`LexicalSearch` by the host of an index, which reads the vocabulary of the library at `library`."""

    def __init__(self, host: HostedIndex, library: Path) -> None:
        self._host = host
        self._library = library.absolute()

    def analyze(self, text: str) -> LexicalQuery:
        return self._host.analyze(self._library, text)

    def search(
        self,
        index: Searched,  # noqa: ARG002 - the host's own
        text: str,
        *,
        limit: int,
        where: Filter,
    ) -> tuple[LexicalQuery, list[Hit]]:
        return self._host.search_text(self._library, text, limit=limit, where=where)
