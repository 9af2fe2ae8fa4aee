"""The index on a Qdrant server or cluster, which the libraries of several machines may share.

All of them write into one collection. A window's id follows from its video, start and windowing rule, and points
are inserted, never overwritten: machines that index the same video write the same points. Points unknown to a library
belong to others (`SharedIndex.shared_payloads`) and are never deleted.

Each library that has written a point holds it by a payload key of its own (`server_terms.member_key`). A video that is
removed, or cut again, loses that key, and its points go with the last one. Points of earlier versions have no keys:
they go when any library removes their video, until a library holds them (`ServerIndex.hold`).

The meta record is the collection's metadata. Inverse document frequencies are of the whole collection, per shard.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from subtitle_rag.config import QdrantSettings
from subtitle_rag.domain import AppError, BusyError
from subtitle_rag.retrieval import index_rules as rules, server_terms as terms
from subtitle_rag.retrieval.batches import split_batches, split_by_weight, write_batches
from subtitle_rag.retrieval.index import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    Point,
    SparseVector,
    Vector,
    VectorSearch,
)
from subtitle_rag.retrieval.payload import SCENE_KEYS
from subtitle_rag.retrieval.server_terms import Json

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

COLLECTION = "scenes"
Item = TypeVar("Item")
Result = TypeVar("Result")
BATCH = 128
"""Points in a request that reads: 4 MB with a dense vector; a server takes 32 MB."""
WRITE_BATCH = 64
"""Points in a request that writes; `write_batches` has several of these under way."""
PAGE = 1_000
ATTEMPTS = 3
"""Of a write that another library's write has crossed."""
TIES = 512
"""Candidates beyond the limit that are read in the same request to order ties by id; of more, the server chooses."""
REQUIRED = 10_000
"""Maximum of candidates with a required term."""


class ServerIndex:
    """`Index` in the collection `COLLECTION`, which is created if missing. Thread-safe.

    A collection of another `meta` is left alone. With `own_videos` it is replaced if it has points of these videos
    only. `key` is read from the environment unless it is given; `member` is the id of the library that writes.

    Raises:
        UsageError: `qdrant_url`, `qdrant_no_key`.
        BusyError: `qdrant_unreachable`.
        AppError: `server_missing`, `qdrant_refused`, `qdrant_old`, `qdrant_failed`; `index_mismatch`, or with
            `own_videos` `qdrant_others`.
    """

    def __init__(
        self,
        settings: QdrantSettings,
        meta: dict[str, Any],
        *,
        own_videos: Collection[str] | None = None,
        key: str | None = None,
        member: str = "",
    ) -> None:
        self._settings = settings
        self._key = terms.read_key(settings) if key is None else key
        self._client = terms.connect(settings, self._key)
        self.place = terms.address(settings.url)
        self.member = member
        self._record = rules.record_of(meta)
        self._closed = False
        try:
            with self._call():
                collection = self._open(own_videos)
            self._note_collection(collection)
        except BaseException:
            self.close()
            raise

    def _open(self, own_videos: Collection[str] | None) -> "models.CollectionInfo":
        self.version = self._client.info().version
        """Of the server."""
        if not terms.is_supported(self.version):
            oldest = ".".join(map(str, terms.OLDEST))
            raise AppError("qdrant_old", url=self.place, found=self.version[:20], oldest=oldest)
        collection = self._create()
        stored = collection.config.metadata or {}
        if stored == self._record:
            return collection
        if own_videos is None:
            raise rules.mismatch(self.place, stored, self._record)
        return self._replace(own_videos)

    def server_version(self) -> str:
        return self.version

    def check(self) -> None:
        """Read the collection's record and layout again, which other machines may have changed.

        Raises:
            AppError: `index_mismatch`, and the failures of every call.
        """
        with self._call() as client:
            collection = client.get_collection(COLLECTION)
        stored = collection.config.metadata or {}
        if stored != self._record:
            raise rules.mismatch(self.place, stored, self._record)
        self._note_collection(collection)

    def _create(self) -> "models.CollectionInfo":
        """Create the collection and its payload indexes unless they exist, and return its description."""
        from qdrant_client import models

        if not self._client.collection_exists(COLLECTION):
            words = models.SparseVectorParams(index=terms.sparse_index(self._settings), modifier=models.Modifier.IDF)
            try:
                self._client.create_collection(
                    COLLECTION,
                    vectors_config={},
                    sparse_vectors_config={rules.BM25: words},
                    on_disk_payload=True if self._settings.on_disk == "everything" else None,
                    shard_number=self._settings.shards,
                    replication_factor=self._settings.replication,
                    metadata=self._record,
                )
            except Exception:  # another machine may have been quicker
                logger.info("the collection was not made", exc_info=True)
                if not self._client.collection_exists(COLLECTION):
                    raise
        collection = self._client.get_collection(COLLECTION)
        kinds = models.PayloadSchemaType
        indexes = {"channel_id": kinds.KEYWORD, "video": kinds.KEYWORD, "published": kinds.DATETIME}
        for key, kind in indexes.items():
            if key not in collection.payload_schema:
                self._client.create_payload_index(COLLECTION, key, kind, wait=True)
        return collection

    def _replace(self, own_videos: Collection[str]) -> "models.CollectionInfo":
        is_own = {"key": "video", "match": {"any": list(own_videos)}}
        others = {"filter": {"must_not": [is_own]}} if own_videos else {}
        count = self._send("POST", "/points/count", {**others, "exact": True}, read=terms.read_count)
        if count:
            raise AppError("qdrant_others", url=self.place, n=count, collection=COLLECTION)
        self._client.delete_collection(COLLECTION)
        return self._create()

    @contextmanager
    def _call(self) -> "Iterator[QdrantClient]":
        if self._closed:
            raise RuntimeError("the index is closed")
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield self._client
        except (ApiException, QdrantException, *terms.FOREIGN) as error:
            logger.warning("a request to the Qdrant server failed", exc_info=True)
            raise terms.to_app_error(error, self.place, self._settings.api_key_env, self._key) from None

    def _send(
        self,
        method: str,
        path: str,
        body: Json,
        *,
        writing: bool = False,
        read: Callable[[Any], Result] = lambda result: result,
    ) -> Result:
        """Send a request of the collection and return what `read` makes of its result.

        The client's models would be built and checked value by value: two thirds of a search's time.
        """
        params = {"wait": "true"} if writing else {}
        with self._call() as client:
            answer = client.http.client.request(
                type_=Any, method=method, url=f"/collections/{COLLECTION}{path}", params=params, json=body
            )
            if not isinstance(answer, dict) or "result" not in answer:
                raise AssertionError("not an answer of Qdrant's")
            return read(answer["result"])

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`. The first point of an id in one call counts."""
        rules.check_points(points)
        for point in points:
            for name, vector in point.vectors.items():
                self._require_layout(name, vector)

        def insert_batch(new: Sequence[Point]) -> None:
            batch = [
                {
                    "id": p.id,
                    "vector": {n: terms.server_vector(v) for n, v in p.vectors.items()},
                    "payload": p.payload | self._membership,
                }
                for p in new
            ]
            self._insert({"points": batch, "update_mode": "insert_only"})

        self._index_membership()
        self._write(rules.unique(points), insert_batch, lambda point: sum(map(_numbers, point.vectors.values())))

    @property
    def _membership(self) -> Json:
        """The keys of a payload that this library holds."""
        return {terms.member_key(self.member): True, terms.LAST_MEMBER: self.member} if self.member else {}

    def _insert(self, upsert: Json) -> None:
        """Insert points; those that exist get this library's key."""
        if not self.member:
            self._send("PUT", "/points", upsert, writing=True)
            return
        hold = {"payload": self._membership, "points": [point["id"] for point in upsert["points"]]}
        operations = [{"upsert": upsert}, {"set_payload": hold}]
        for attempts_left in reversed(range(ATTEMPTS)):
            try:
                self._send("POST", "/points/batch", {"operations": operations}, writing=True)
                return
            except AppError as error:
                # another library has deleted one between the two operations
                if not attempts_left or not str(error.details.get("reason", "")).startswith("404 "):
                    raise
                logger.info("points are inserted again", exc_info=True)

    def _index_membership(self) -> None:
        """Create the payload index of this library's key: a server in strict mode filters by no other fields."""
        if not self.member or self._has_member_index():
            return
        kinds = {terms.member_key(self.member): "bool", terms.LAST_MEMBER: "keyword"}
        for key, kind in kinds.items():  # repeating it is harmless
            self._send("PUT", "/index", {"field_name": key, "field_schema": kind}, writing=True)
        self._is_member_indexed = True

    def _has_member_index(self) -> bool:
        """Return whether the library can be filtered for; a key that may only read does without."""
        if self.member and not self._is_member_indexed:
            self.vectors()
        return self._is_member_indexed

    def _note_collection(self, collection: "models.CollectionInfo") -> None:
        self._layout = terms.read_layout(collection)
        self._oversampling = terms.read_oversampling(collection)
        self._is_member_indexed = bool(self.member) and terms.member_key(self.member) in collection.payload_schema

    def hold(self, ids: Collection[str]) -> None:
        if not self.member:
            return
        self._index_membership()
        for some in split_batches(dict.fromkeys(ids), PAGE):
            where = terms.server_filter(Filter(only=frozenset(some)))
            self._send("POST", "/points/payload", {"payload": self._membership, "filter": where}, writing=True)

    @property
    def _held(self) -> Json:
        return {"must": [{"key": terms.member_key(self.member), "match": {"value": True}}]}

    def _windows(self, where: Json | None = None) -> Json | None:
        """Restrict a filter to windows, where the layout has other levels."""
        above = [{"has_vector": name} for name in rules.level_names(self._layout)]
        return {"must": [where] if where else [], "must_not": above} if above else where

    def held(self) -> int:
        if not self._has_member_index():
            return 0
        return self._send(
            "POST", "/points/count", {"filter": self._windows(self._held), "exact": True}, read=terms.read_count
        )

    def held_ids(self) -> set[str]:
        if not self._has_member_index():
            return set()
        return {str(record["id"]) for record in self._scroll(self._windows(self._held), with_payload=False)}

    def _scroll(self, where: Json | None, *, with_payload: bool | Json) -> Iterator[Json]:
        page: Json = {"filter": where, "limit": PAGE, "with_payload": with_payload, "with_vector": False}
        offset: str | None = None
        while True:
            records, offset = self._page(page, offset)
            yield from records
            if offset is None:
                return

    def _write(
        self,
        items: Sequence[Item],
        write: Callable[[Sequence[Item]], object],
        weight: Callable[[Item], int] = lambda _item: 0,
    ) -> None:
        """Write the items in parallel batches; see `write_batches`. `weight` counts the numbers of multivectors."""
        batches = split_by_weight(items, WRITE_BATCH, weight, rules.PAGE_NUMBERS)
        write_batches(batches, write, self._settings.parallel_writes)

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """See `Index.add_vector`. Raises ValueError if it exists with other dimensions."""
        from qdrant_client import models

        rules.check_name(name, dimensions)
        if name not in self.vectors():
            config: models.VectorNameConfig
            if dimensions is None:
                half = models.VectorStorageDatatype.FLOAT16
                rarity = models.Modifier.IDF if name in rules.LEVELS.values() else None
                config = models.SparseVectorNameConfig(sparse=models.SparseVectorConfig(datatype=half, modifier=rarity))
            else:
                max_sim = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
                dense = models.DenseVectorConfig(
                    size=dimensions,
                    distance=models.Distance.COSINE,
                    datatype=terms.datatype(name, self.version),
                    multivector_config=max_sim if rules.has_parts(name) else None,
                )
                config = models.DenseVectorNameConfig(dense=dense)
            with self._call() as client:
                client.create_vector_name(COLLECTION, name, config, wait=True)
                if dimensions is not None:
                    storage = terms.multivector_storage if rules.has_parts(name) else terms.dense_storage
                    client.update_collection(COLLECTION, vectors_config={name: storage(self._settings)})
                elif self._settings.on_disk == "everything":
                    index = models.SparseVectorParams(index=terms.sparse_index(self._settings), modifier=rarity)
                    client.update_collection(COLLECTION, sparse_vectors_config={name: index})
        self.vectors()
        if self._layout.get(name, dimensions) != dimensions:
            raise ValueError(f"{name} has {self._layout[name]} dimensions")

    def drop_vector(self, name: str) -> None:
        if name == rules.BM25:
            raise ValueError(f"{name} stays")
        with self._call() as client:
            client.delete_vector_name(COLLECTION, name, wait=True)
        self.vectors()

    def vectors(self) -> dict[str, int | None]:
        with self._call() as client:
            self._note_collection(client.get_collection(COLLECTION))
        return self._layout

    def _require_layout(self, name: str, vector: Vector) -> None:
        """Raise ValueError unless the vector fits the layout, which another machine may have changed."""
        try:
            rules.check_layout(self._layout, name, vector)
        except ValueError:
            self.vectors()
            rules.check_layout(self._layout, name, vector)

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        rules.check_vectors(name, vectors)
        for vector in vectors.values():
            self._require_layout(name, vector)

        def replace_batch(ids: Sequence[str]) -> None:
            # an unknown id would fail its request
            present = [record["id"] for record in self._records(ids, with_payload=False, with_vector=False)]
            # the server refuses an update by an empty vector, and has none of a point for one
            empty = [id for id in present if isinstance(vector := vectors[id], SparseVector) and not vector.indices]
            if empty:
                self._send("POST", "/points/vectors/delete", {"points": empty, "vector": [name]}, writing=True)
            batch = [
                {"id": id, "vector": {name: terms.server_vector(vectors[id])}} for id in present if id not in set(empty)
            ]
            if batch:
                self._send("PUT", "/points/vectors", {"points": batch}, writing=True)

        self._write(list(vectors), replace_batch, lambda point_id: _numbers(vectors[point_id]))

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        rules.check_payloads(payloads)

        def replace_batch(ids: Sequence[str]) -> None:
            for _attempt in range(ATTEMPTS):
                records = self._records(ids, with_payload=True, with_vector=False)
                changed = [record for record in records if terms.scene_payload(record) != payloads[str(record["id"])]]
                if not changed:
                    break
                operations = [_overwriting(record, payloads[str(record["id"])]) for record in changed]
                self._send("POST", "/points/batch", {"operations": operations}, writing=True)

        self._write(list(payloads), replace_batch)

    def delete_videos(self, video_ids: Sequence[str], *, keep: Collection[str] = ()) -> None:
        """See `Index.delete_videos`; what other libraries hold stays."""
        for point_id in keep:
            rules.check_id(point_id)
        if video_ids:
            self._delete_where(terms.server_filter(Filter(videos=tuple(video_ids), without=frozenset(keep))))

    def delete_levels(self, video_ids: Sequence[str]) -> None:
        above = [{"has_vector": name} for name in rules.level_names(self._layout)]
        if video_ids and above:
            self._delete_where({"must": [terms.server_filter(Filter(videos=tuple(video_ids)))], "should": above})

    def _delete_where(self, condition: Json | None) -> None:
        """Take this library's key from the points, and delete those that no other library holds."""
        if not self.member:
            self._send("POST", "/points/delete", {"filter": condition}, writing=True)
            return
        self._index_membership()
        seen: set[str] = {self.member}
        for record in self._scroll(condition, with_payload={"exclude": list(SCENE_KEYS)}):
            seen |= terms.members_of(record["payload"] or {})
        unheld = {"must": [condition, terms.held_by_none_but(seen, gone=seen)]}
        operations = [
            {"delete_payload": {"keys": [terms.member_key(self.member)], "filter": condition}},
            {"delete": {"filter": unheld}},
        ]
        self._send("POST", "/points/batch", {"operations": operations}, writing=True)

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """See `Index.search_all`; one request. Of more than `TIES` equal scores at the cut, the server chooses."""
        for search in searches:
            rules.finds_nothing(search.name, search.query, search.limit, search.where or Filter())  # raises ValueError
        try:
            return self._search_all(searches)
        except BusyError:
            raise
        except (AppError, ValueError):
            logger.info("searching failed", exc_info=True)
            before = self._layout
            if before == self.vectors():
                raise
            return self._search_all(searches)  # another machine has dropped a vector

    def _search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        batches = [self._queries(search) for search in searches]
        queries = [query for batch in batches for query in batch]

        def read(answers: Any) -> list[list[Hit]]:
            points = iter([answer["points"] for answer in answers])
            if len(answers) != len(queries):
                raise ValueError("as many answers as queries")
            return [
                terms.read_hits(search, [next(points) for _query in batch])
                for search, batch in zip(searches, batches, strict=True)
            ]

        if not queries:
            return read([])
        return self._send("POST", "/points/query/batch", {"searches": queries}, read=read)

    def _queries(self, search: VectorSearch) -> list[Json]:
        """Return the queries of a search: its ids, those with a required term, and payloads, each if it is wanted.

        Empty if nothing can be found.
        """
        where = search.where or Filter()
        if rules.finds_nothing(search.name, search.query, search.limit, where):
            return []
        try:
            self._require_layout(search.name, search.query)
        except ValueError:
            if search.name in self._layout:
                raise
            return []
        condition = terms.server_filter(where)
        by_ids: Json = {
            "query": terms.server_vector(search.query),
            "using": search.name,
            "filter": condition,
            "limit": search.limit + (TIES if isinstance(search.query, SparseVector) else search.limit // 3 + 1),
            "with_payload": False,
        }
        if search.name in self._oversampling:  # candidates of quantized vectors are scored again by the vectors
            rescoring = {"rescore": True, "oversampling": self._oversampling[search.name]}
            by_ids["params"] = {"quantization": rescoring}
        queries = [by_ids]
        if search.required is not None:
            prefetch = {"query": terms.server_vector(search.required), "using": search.name, "filter": condition}
            queries.append({**by_ids, "prefetch": [{**prefetch, "limit": REQUIRED}]})
        if search.with_shared:
            others = dict(condition or {})
            if self._is_member_indexed:
                others["must_not"] = [*others.get("must_not", []), *self._held["must"]]
            shared = {"limit": search.limit + search.limit // 3, "with_payload": True, "filter": others or None}
            queries.append({**by_ids, **shared})
        return queries

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        for point_id in ids:
            rules.check_id(point_id)
        records = self._records(list(dict.fromkeys(ids)), with_payload=False, with_vector=[name]) if ids else []
        return rules.nearest_parts(query, {point.id: point.vectors.get(name) for point in self._points(records)})

    def ids(self, video_id: str) -> set[str]:
        where = self._windows(terms.server_filter(Filter(videos=(video_id,))))
        return {record["id"] for record in self._scroll(where, with_payload=False)}

    def _page(self, page: Json, offset: str | None) -> tuple[list[Json], str | None]:
        """Return records from the id `offset` on, and the offset of the next page."""
        body = page if offset is None else {**page, "offset": offset}
        return self._send("POST", "/points/scroll", body, read=lambda result: terms.read_page(result, offset))

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        if after is not None:
            rules.check_id(after)
        # the server's offset is the first id to read
        offset = None if after is None else str(UUID(int=UUID(after).int + 1))
        count = rules.page_size(self._layout, limit)
        page = {"limit": count, "filter": self._windows(), "with_payload": True, "with_vector": True}
        records, _next = self._page(page, offset)
        return self._points(records)

    def get(self, ids: Collection[str]) -> list[Point]:
        return self._points(self._retrieve(ids, vectors=True))

    def _points(self, records: Sequence[Json]) -> list[Point]:
        with self._call():
            return [terms.read_point(record) for record in records]

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        return {record["id"]: terms.scene_payload(record) for record in self._retrieve(ids, vectors=False)}

    def _retrieve(self, ids: Collection[str], *, vectors: bool) -> list[Json]:
        unique_ids = list(dict.fromkeys(ids))
        for point_id in unique_ids:
            rules.check_id(point_id)
        records: list[Json] = []
        size = rules.page_size(self._layout, BATCH) if vectors else BATCH
        for batch in split_batches(unique_ids, size):
            records += self._records(batch, with_payload=True, with_vector=vectors)
        return records

    def _records(self, ids: Sequence[str], *, with_payload: bool, with_vector: bool | list[str]) -> list[Json]:
        body = {"ids": list(ids), "with_payload": with_payload, "with_vector": with_vector}
        return self._send("POST", "/points", body, read=lambda result: terms.read_records(result, frozenset(ids)))

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        return [Point(point.id, point.vectors, {}) for point in self.get(ids)]

    def count(self) -> int:
        return self._send("POST", "/points/count", {"filter": self._windows(), "exact": True}, read=terms.read_count)

    def clear(self, videos: Collection[str] = ()) -> None:
        for some in split_batches(dict.fromkeys(videos), BATCH):
            self.delete_videos(some)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.close()


def _numbers(vector: Vector) -> int:
    """Return how many numbers a multivector has; the size of other vectors does not count."""
    return len(vector.packed) // 2 if isinstance(vector, MultiVector) else 0


def _overwriting(record: Json, payload: Json) -> Json:
    """Return the operation that replaces a point's payload, unless its libraries have changed meanwhile."""
    stored = record.get("payload") or {}
    keys = {key: value for key, value in stored.items() if key not in terms.scene_payload(record)}
    last = stored.get(terms.LAST_MEMBER)
    gone = {last} if last and terms.member_key(last) not in stored else set()
    held = [{"key": key, "match": {"value": True}} for key in keys if key != terms.LAST_MEMBER]
    unchanged = [*held, terms.held_by_none_but({last} if last else (), gone=gone)]
    where = {"must": [{"has_id": [record["id"]]}, *unchanged]}
    return {"overwrite_payload": {"payload": payload | keys, "filter": where}}
