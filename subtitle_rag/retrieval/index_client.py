"""The embedded index for everybody: a client of the host process (`index_host`), which it starts when needed."""

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from subtitle_rag.domain import Morphemes
from subtitle_rag.errors import AppError
from subtitle_rag.hosting.host_client import Client
from subtitle_rag.library.app_state import EMBEDDED
from subtitle_rag.retrieval.index import Filter, Hit, Index, Point, Searched, Vector, VectorSearch
from subtitle_rag.retrieval.index_host import KIND
from subtitle_rag.retrieval.index_rules import check_id, check_name, check_payload, check_points, check_vector
from subtitle_rag.retrieval.lexical import LexicalQuery

logger = logging.getLogger(__name__)

CHUNK = 250
"""Points a request carries: about 50 ms of the host, so that searches of others get in between."""


TEXTS = 16
"""Texts that a request to analyse carries: enough for both of Kiwi's workers, and a short wait for who leaves."""


def open_index(folder: Path, meta: dict[str, Any], *, hosted: bool = True, fresh: bool = False) -> Index:
    """The embedded index in `folder`, through its host process or (`hosted=False`) in this one."""
    if hosted:
        return HostedIndex(folder, meta, fresh=fresh)
    from subtitle_rag.retrieval.index_edge import EdgeIndex

    return EdgeIndex(folder, meta, fresh=fresh)


class HostedIndex(Client):
    """`Index` through the host process of `folder`; safe from any number of threads.

    The constructor starts the host where none runs (0.3 s). A call takes the engine's time and 0.2 ms, but it
    waits while the host optimizes (seconds, only after `index_host.IDLE_S` without a call) or starts again (0.3 s):
    call from a worker thread. `fresh` empties the index, whatever state it is in, and puts it under `meta`.
    """

    place = EMBEDDED

    def __init__(self, folder: Path, meta: dict[str, Any], *, fresh: bool = False) -> None:
        super().__init__(KIND, folder, meta=meta, fresh=False)
        self._give_back(self._connect(fresh=fresh))

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`; 20,000 points take some 5 s."""
        check_points(points)
        for start in range(0, len(points), CHUNK):
            self._call("insert", list(points[start : start + CHUNK]))

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        check_name(name, dimensions)
        self._call("add_vector", name, dimensions)

    def drop_vector(self, name: str) -> None:
        self._call("drop_vector", name)

    def vectors(self) -> dict[str, int | None]:
        found: dict[str, int | None] = self._call("vectors")
        return found

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        for point_id, vector in vectors.items():
            check_id(point_id)
            check_vector(name, vector)
        items = list(vectors.items())
        for start in range(0, len(items), CHUNK):
            self._call("replace_vector", name, dict(items[start : start + CHUNK]))

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        for point_id, payload in payloads.items():
            check_payload(point_id, payload)
        items = list(payloads.items())
        for start in range(0, len(items), CHUNK):
            self._call("replace_payload", dict(items[start : start + CHUNK]))

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        self._call("delete_video", video_id, keep=frozenset(keep))

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        found = self._call("search", name, query, limit=limit, where=where, payload=payload)
        return [Hit(*hit) for hit in found]

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return [[Hit(*hit) for hit in found] for found in self._call("search_all", list(searches))]

    def ids(self, video_id: str) -> set[str]:
        found: set[str] = self._call("ids", video_id)
        return found

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        found: list[Point] = self._call("points", after, limit=limit)
        return found

    def get(self, ids: Collection[str]) -> list[Point]:
        asked = list(ids)
        chunks = (asked[start : start + CHUNK] for start in range(0, len(asked), CHUNK))
        return [point for chunk in chunks for point in self._call("get", chunk)]

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:  # noqa: ARG002
        """See `Index.shared_payloads`: the embedded index belongs to one library."""
        return {}

    def count(self) -> int:
        return int(self._call("count"))

    def clear(self, videos: Collection[str] = ()) -> None:  # noqa: ARG002
        self._call("clear")

    def load(self) -> None:
        """Have the host load its analyzer, if it has not yet (0.7 s)."""
        self._call("load")

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`, by the host's analyzer: for queries, which are short and must start at once."""
        yield from self._call("morphemes", list(texts))

    def text_morphemes(self, texts: Sequence[str]) -> list[Morphemes]:
        """The morphemes of texts that nobody waits for: the host's queries go first. See `HostedAnalyzer`."""
        found: list[Morphemes] = self._call("text_morphemes", list(texts))
        return found

    def search_text(self, library: Path, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """As `QueryAnalyzer.search`, with the vocabulary of the library at this path; one call."""
        lexical, found = self._call("search_text", str(library), text, limit=limit, where=where)
        return lexical, [Hit(*hit) for hit in found]

    def analyze(self, library: Path, text: str) -> LexicalQuery:
        """As `QueryAnalyzer.analyze`, with the vocabulary of the library at this path."""
        lexical: LexicalQuery = self._call("analyze", str(library), text)
        return lexical

    def related(self, forms: Sequence[str], *, limit: int = 8) -> dict[str, dict[str, float]]:
        """As `Analyzer.related`, by the host's analyzer."""
        found: dict[str, dict[str, float]] = self._call("related", list(forms), limit=limit)
        return found


class HostedAnalyzer:
    """`TextMorphemes` by the host of an index, in which queries go first."""

    def __init__(self, host: HostedIndex) -> None:
        self._host = host

    def load_soon(self) -> None:
        """Begin to load in the background. A hint: whoever needs the analyzer meets the failure, if there is one."""
        threading.Thread(target=self._load, name="analyzer-loader", daemon=True).start()

    def _load(self) -> None:
        try:
            self._host.load()
        except (AppError, RuntimeError):  # a RuntimeError where the client was closed meanwhile
            logger.info("the analyzer was not loaded ahead", exc_info=True)

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """As `Analyzer.morphemes`; the host goes on with the next texts while these are looked at.

        Raises what calls of the host raise; one that is gone is started again, once for each request.
        """
        ahead = ThreadPoolExecutor(1, "analysis")
        parts = (list(texts[at : at + TEXTS]) for at in range(0, len(texts), TEXTS))
        try:
            coming = [ahead.submit(self._host.text_morphemes, part) for part in parts]
            for future in coming:
                yield from future.result()
        finally:
            ahead.shutdown(wait=False, cancel_futures=True)


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
