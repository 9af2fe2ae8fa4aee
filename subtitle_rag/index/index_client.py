"""Clients of the index host (`index_host`), which they start. Each is an `Index` and an analyzer."""

import hashlib
import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.base.hosting.entry import HostKind
from subtitle_rag.base.hosting.host_client import Client
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.named_vectors import check_name
from subtitle_rag.base.vectors.points import Point, Vector
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.index.index_host import KIND, SERVER_KIND
from subtitle_rag.index.index_rules import check_payloads, check_points, check_vectors
from subtitle_rag.index.interface import Index
from subtitle_rag.index.readable_copy import UNWRITABLE, readable_copy
from subtitle_rag.index.server_terms import address, collection_address, read_key
from subtitle_rag.korean.morphemes import TaggedWord
from subtitle_rag.library.app_state import EMBEDDED

logger = logging.getLogger(__name__)

FORMS = 20
"""Forms per nearness request (1 to 2 ms each); a query may have to wait for one request."""
POINTS = 250
"""Points per request: about 50 ms, so that other clients' searches wait no longer."""
ANALYSES = frozenset({"load", "morphemes", "tagged", "nearness", "adverbs", "analyze", "text_morphemes"})
"""Methods of the host's analyzer, which need no index."""

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


def _chunks(values: Mapping[str, V]) -> Iterator[dict[str, V]]:
    return map(dict, split_batches(values.items(), POINTS))


def _forwarded(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate["HostedPoints", P], T]:
    """Return a method that calls the host's method of this name with picklable arguments."""

    def forward(self: "HostedPoints", /, *args: P.args, **options: P.kwargs) -> T:
        answer: T = self.call(method.__name__, *args, **options)
        return answer

    return forward


class HostedPoints(Client):
    """Base of both kinds of index in a host: points, vectors, searches, and the analyzer.

    The first call that needs the index opens it. With `any_rules`, an index of an older version (its record differs
    from `meta`) is read as it is until it is rebuilt.

    A call adds 0.2 ms, but may wait while the host optimizes (seconds, after `edge_service.IDLE_S` without a call) or
    starts (0.3 s), so call from a worker thread. Thread-safe.
    """

    unopened = frozenset({"load", "clear"})
    """Methods that do not need a readable index."""

    def __init__(
        self, kind: HostKind, folder: Path, meta: dict[str, Any] | None, *, any_rules: bool = False, **order: Any
    ) -> None:
        super().__init__(kind, folder, meta=meta, **order)
        self._meta = meta
        self._any_rules = any_rules
        self._is_open = False

    def call(self, method: str, *args: Any, **options: Any) -> Any:
        if not self._is_open and method not in self.unopened:
            self.open()
        return super().call(method, *args, **options)

    def open(self) -> None:
        """Open the index. Raises its failures."""
        try:
            super().call("open")
        except AppError as error:
            if error.code != "index_mismatch" or not self._any_rules:
                raise
            logger.info("the index of an earlier version is read as it is", exc_info=True)
            self._order = self._order | {"meta": None}
            super().call("open")
        self._is_open = True

    @property
    def is_outdated(self) -> bool:
        """Whether the open index is from an older version and has not been rebuilt."""
        return bool(self._order["meta"] != self._meta)

    def clear(self) -> None:
        """See `Index.clear`; works in any state of the index, and gives it this version's record."""
        self._order = self._order | {"meta": self._meta}
        self.call("clear")
        self._is_open = True

    drop_vector = _forwarded(Index.drop_vector)
    vectors = _forwarded(Index.vectors)
    delete_videos = _forwarded(Index.delete_videos)
    ids = _forwarded(Index.ids)
    points = _forwarded(Index.points)
    count = _forwarded(Index.count)
    get_neural = _forwarded(Index.get_neural)
    nearest_parts = _forwarded(Index.nearest_parts)
    search_all = _forwarded(Index.search_all)

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`; 20,000 points take about 5 s."""
        check_points(points)
        for some in split_batches(points, POINTS):
            self.call("insert", some)

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        check_name(name, dimensions)
        self.call("add_vector", name, dimensions)

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        check_vectors(name, vectors)
        for chunk in _chunks(vectors):
            self.call("replace_vector", name, chunk)

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        check_payloads(payloads)
        for chunk in _chunks(payloads):
            self.call("replace_payload", chunk)

    def get(self, ids: Collection[str]) -> list[Point]:
        return [point for some in split_batches(dict.fromkeys(ids), POINTS) for point in self.call("get", some)]

    def load_soon(self) -> None:
        """Start the host and load its analyzer (1 s) in the background."""
        self._load_ahead(lambda: self.call("load"))

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Like `Analyzer.morphemes`, with the priority of queries."""
        yield from self.call("morphemes", list(texts))

    def tagged(self, texts: Sequence[str]) -> list[list[TaggedWord]]:
        """Like `Analyzer.tagged`, with the priority of queries."""
        tagged: list[list[TaggedWord]] = self.call("tagged", list(texts))
        return tagged

    def nearness(self, forms: Sequence[str]) -> dict[str, float]:
        """Like `Analyzer.nearness`."""
        nearness: dict[str, float] = {}
        for part in split_batches(forms, FORMS):
            nearness |= self.call("nearness", part)
        return nearness

    def adverbs(self, forms: Sequence[str]) -> set[str]:
        """Like `Analyzer.adverbs`."""
        return set(self.call("adverbs", list(forms)))


class HostedIndex(HostedPoints):
    """The embedded `Index` in the host process of `folder`.

    Without `meta` the index is opened for a rescue, with any record and as far as it is readable.
    """

    place = EMBEDDED

    def __init__(self, folder: Path, meta: dict[str, Any] | None, *, any_rules: bool = False) -> None:
        super().__init__(KIND, folder, meta, any_rules=any_rules)

    def open(self) -> None:
        """Open the index, or a copy of it if its folder is not writable."""
        try:
            super().open()
        except BusyError as error:
            copy = None
            if error.code in UNWRITABLE:
                with suppress(OSError):
                    copy = readable_copy(self._folder)
            if copy is None:
                raise
            logger.info("the index is read in %s: its own folder takes no writes", copy)
            self._folder = copy
            super().open()

    def stage(self) -> EdgeIndex:
        """See `StagingIndex.stage`. This process opens the staged index, which the host can open after it is closed."""
        from subtitle_rag.index.index_edge import stage

        return stage(self._folder, self._meta or {})

    def adopt(self, staged: EdgeIndex) -> None:
        staged.complete()
        self.call("adopt")
        self._order = self._order | {"meta": self._meta}


class HostedServerIndex(HostedPoints):
    """An `Index` on a Qdrant server, through a host, so that this process need not import Qdrant's client.

    Each config has its own host.

    Raises:
        UsageError: `qdrant_url`, `qdrant_refused`.
    """

    unopened = ANALYSES | {"create", "clear"}

    def __init__(
        self, cache: Path, settings: QdrantSettings, meta: dict[str, Any], collection: str, *, any_rules: bool = False
    ) -> None:
        self.url = address(settings.url)
        self.place = collection_address(settings.url, collection)
        super().__init__(
            SERVER_KIND,
            server_folder(cache, settings),
            meta,
            any_rules=any_rules,
            server=asdict(settings),
            collection=collection,
            key=read_key(settings),
        )

    @property
    def version(self) -> str:
        """The server's version."""
        return str(self.call("server_version"))

    def create(self) -> None:
        """Create the collection if it is missing; see `ServerIndex`."""
        self.call("create")


def server_folder(cache: Path, settings: QdrantSettings) -> Path:
    """Return the folder of the host for this server, a different one for each config."""
    text = json.dumps(asdict(settings), sort_keys=True)
    return cache / "qdrant" / hashlib.sha256(text.encode()).hexdigest()[:16]
