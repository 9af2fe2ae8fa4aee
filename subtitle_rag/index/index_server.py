"""Index on a Qdrant server or cluster, in one collection per library (`server_terms.collection_name`).

The meta record is the collection's metadata. Inverse document frequencies are counted in the collection, per shard.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.batches import split_batches, split_by_weight, write_batches
from subtitle_rag.base.vectors.named_vectors import BM25, check_name, has_parts
from subtitle_rag.base.vectors.points import (
    DenseVector,
    Filter,
    Hit,
    MultiVector,
    Point,
    SparseVector,
    Vector,
    VectorSearch,
)
from subtitle_rag.index import index_rules as rules, server_terms as terms

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
BATCH = 128
"""Points per reading request: 4 MB with a dense vector; a server accepts 32 MB."""
WRITE_BATCH = 64
"""Points per writing request; `write_batches` has several in flight."""
PARALLEL_WRITES = 4
"""Writing requests in flight at once."""
PAGE = 1_000
MAX_COUNT = 1 << 53
TIES = 512
"""Candidates beyond the limit in the same request, to order ties by id; beyond them, the server chooses."""
REQUIRED = 10_000
"""Maximum candidates with a required term."""


class ServerIndex:
    """`Index` in the collection `collection` of a server. Thread-safe.

    `create` makes the collection if it is missing; `fresh` empties it, whatever its state, and gives it the record
    `meta`. `key` is by default read from the environment.

    Raises:
        UsageError: `qdrant_url`, `qdrant_refused`.
        BusyError: `qdrant_unreachable`.
        AppError: `missing_extra`, `qdrant_refused`, `qdrant_old`, `qdrant_failed`; `index_damaged` if the collection is
            missing, `index_mismatch` if it has another `meta`.
    """

    def __init__(
        self,
        settings: QdrantSettings,
        meta: dict[str, Any] | None,
        collection: str,
        *,
        create: bool = False,
        fresh: bool = False,
        key: str | None = None,
    ) -> None:
        self._settings = settings
        self._key = terms.read_key(settings) if key is None else key
        self._client = terms.connect(settings, self._key)
        self._collection = collection
        self.url = terms.address(settings.url)
        self.place = terms.collection_address(settings.url, collection)
        self._record = None if meta is None else rules.record_of(meta)
        self._closed = False
        try:
            with self._call():
                self.version = self._server_version()
                self._open(create=create, fresh=fresh)
        except BaseException:
            self.close()
            raise

    def _server_version(self) -> str:
        version = self._client.info().version
        if not terms.is_from(version, terms.OLDEST):
            oldest = ".".join(map(str, terms.OLDEST))
            raise AppError("qdrant_old", url=self.url, found=version[:20], oldest=oldest)
        return version

    def _open(self, *, create: bool, fresh: bool) -> None:
        """Read the collection's record and layout, after creating it if requested."""
        exists = self._client.collection_exists(self._collection)
        if fresh and exists:
            self._client.delete_collection(self._collection)
        if fresh or (create and not exists):
            self._create()
        elif not exists:
            raise AppError("index_damaged", path=self.place, reason=_("the collection is missing"))
        collection = self._client.get_collection(self._collection)
        stored = collection.config.metadata or {}
        if self._record is not None and stored != self._record:
            raise rules.mismatch(self.place, stored, self._record)
        self._note_collection(collection)

    def server_version(self) -> str:
        return self.version

    def _create(self) -> None:
        """Create the collection with its payload indexes, which filters need."""
        from qdrant_client import models

        words = models.SparseVectorParams(index=terms.sparse_index(), modifier=models.Modifier.IDF)
        try:
            self._client.create_collection(
                self._collection,
                vectors_config={},
                sparse_vectors_config={BM25: words},
                shard_number=1,
                replication_factor=1,
                metadata=self._record,
            )
        except Exception:  # another process of this library may have been quicker
            logger.info("the collection was not made", exc_info=True)
            if not self._client.collection_exists(self._collection):
                raise
        kinds = models.PayloadSchemaType
        indexes = {"channel_id": kinds.KEYWORD, "video": kinds.KEYWORD, "published": kinds.DATETIME}
        for key, kind in indexes.items():  # repeating it is harmless
            self._client.create_payload_index(self._collection, key, kind, wait=True)

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
            raise terms.to_app_error(error, self.url, self._settings.api_key_env, self._key) from None

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`. If an id occurs twice in a call, the first point counts."""
        from qdrant_client import models

        rules.check_points(points)
        for point in points:
            for name, vector in point.vectors.items():
                self._require_layout(name, vector)

        def insert_batch(new: Sequence[Point]) -> None:
            batch = [
                models.PointStruct(
                    id=point.id,
                    vector={name: terms.server_vector(vector) for name, vector in point.vectors.items()},
                    payload=point.payload,
                )
                for point in new
            ]
            with self._call() as client:
                client.upsert(self._collection, batch, wait=True, update_mode=models.UpdateMode.INSERT_ONLY)

        self._write(rules.unique(points), insert_batch, lambda point: sum(map(_numbers, point.vectors.values())))

    def _note_collection(self, collection: "models.CollectionInfo") -> None:
        self._layout = terms.read_layout(collection)

    def _write(
        self,
        items: Sequence[Item],
        write: Callable[[Sequence[Item]], object],
        weight: Callable[[Item], int] = lambda _item: 0,
    ) -> None:
        """Write the items in parallel batches; see `write_batches`. `weight` counts the numbers of multivectors."""
        batches = split_by_weight(items, WRITE_BATCH, weight, rules.PAGE_NUMBERS)
        write_batches(batches, write, PARALLEL_WRITES)

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """See `Index.add_vector`. Raises ValueError if it exists with other dimensions."""
        from qdrant_client import models

        check_name(name, dimensions)
        if name not in self.vectors():
            config: models.VectorNameConfig
            if dimensions is None:
                half = models.VectorStorageDatatype.FLOAT16
                config = models.SparseVectorNameConfig(sparse=models.SparseVectorConfig(datatype=half))
            else:
                max_sim = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
                dense = models.DenseVectorConfig(
                    size=dimensions,
                    distance=models.Distance.COSINE,
                    datatype=terms.datatype(name, self.version),
                    multivector_config=max_sim if has_parts(name) else None,
                )
                config = models.DenseVectorNameConfig(dense=dense)
            with self._call() as client:
                client.create_vector_name(self._collection, name, config, wait=True)
                if dimensions is not None:
                    storage = terms.multivector_storage if has_parts(name) else terms.dense_storage
                    client.update_collection(self._collection, vectors_config={name: storage()})
        self.vectors()
        if self._layout.get(name, dimensions) != dimensions:
            raise ValueError(f"{name} has {self._layout[name]} dimensions")

    def drop_vector(self, name: str) -> None:
        if name == BM25:
            raise ValueError(f"{name} stays")
        with self._call() as client:
            client.delete_vector_name(self._collection, name, wait=True)
        self.vectors()

    def vectors(self) -> dict[str, int | None]:
        with self._call() as client:
            self._note_collection(client.get_collection(self._collection))
        return self._layout

    def _require_layout(self, name: str, vector: Vector) -> None:
        """Raise ValueError unless the vector fits the layout, which another process may have changed."""
        try:
            rules.check_layout(self._layout, name, vector)
        except ValueError:
            self.vectors()
            rules.check_layout(self._layout, name, vector)

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        from qdrant_client import models

        rules.check_vectors(name, vectors)
        for vector in vectors.values():
            self._require_layout(name, vector)

        def replace_batch(ids: Sequence[str]) -> None:
            # an unknown id would fail its request
            present = [str(record.id) for record in self._records(ids, with_payload=False, with_vectors=False)]
            # the server refuses to update with an empty vector; such a point has none there
            empty = [id for id in present if isinstance(vector := vectors[id], SparseVector) and not vector.indices]
            batch = [
                models.PointVectors(id=id, vector={name: terms.server_vector(vectors[id])})
                for id in present
                if id not in set(empty)
            ]
            with self._call() as client:
                if empty:
                    client.delete_vectors(self._collection, [name], models.PointIdsList(points=[*empty]), wait=True)
                if batch:
                    client.update_vectors(self._collection, batch, wait=True)

        self._write(list(vectors), replace_batch, lambda point_id: _numbers(vectors[point_id]))

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        from qdrant_client import models

        rules.check_payloads(payloads)

        def replace_batch(ids: Sequence[str]) -> None:
            operations = [
                models.OverwritePayloadOperation(
                    overwrite_payload=models.SetPayload(
                        payload=payloads[id], filter=models.Filter(must=[models.HasIdCondition(has_id=[id])])
                    )
                )
                for id in ids
            ]
            with self._call() as client:
                client.batch_update_points(self._collection, operations, wait=True)

        self._write(list(payloads), replace_batch)

    def delete_videos(self, video_ids: Sequence[str], *, keep: Collection[str] = ()) -> None:
        for point_id in keep:
            rules.check_id(point_id)
        condition = terms.server_filter(Filter(videos=tuple(video_ids), without=frozenset(keep)))
        if video_ids and condition is not None:
            with self._call() as client:
                client.delete(self._collection, condition, wait=True)

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """See `Index.search_all`; one request. If more than `TIES` scores are equal at the cut, the server chooses."""
        for search in searches:
            rules.finds_nothing(search)  # raises ValueError
        try:
            return self._search_all(searches)
        except BusyError:
            raise
        except (AppError, ValueError):
            logger.info("searching failed", exc_info=True)
            before = self._layout
            if before == self.vectors():
                raise
            return self._search_all(searches)  # another process has dropped a vector

    def _search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        batches = [self._queries(search) for search in searches]
        queries = [query for batch in batches for query in batch]
        with self._call() as client:
            answers = client.query_batch_points(self._collection, queries) if queries else []
            if len(answers) != len(queries):
                raise ValueError("as many answers as queries")
            points = iter([answer.points for answer in answers])
            return [
                terms.read_hits(search, [next(points) for _query in batch])
                for search, batch in zip(searches, batches, strict=True)
            ]

    def _queries(self, search: VectorSearch) -> "list[models.QueryRequest]":
        """Return the queries of a search: for its ids, and for those with a required term if there is one.

        Empty if nothing can be found.
        """
        from qdrant_client import models

        if rules.finds_nothing(search):
            return []
        try:
            self._require_layout(search.name, search.query)
        except ValueError:
            if search.name in self._layout:
                raise
            return []
        condition = terms.server_filter(search.where)
        by_ids = models.QueryRequest(
            query=terms.server_vector(search.query),
            using=search.name,
            filter=condition,
            limit=search.limit + (TIES if isinstance(search.query, SparseVector) else search.limit // 3 + 1),
            with_payload=False,
        )
        if search.required is None:
            return [by_ids]
        required = terms.server_vector(search.required)
        prefetch = models.Prefetch(query=required, using=search.name, filter=condition, limit=REQUIRED)
        return [by_ids, by_ids.model_copy(update={"prefetch": [prefetch]})]

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        for point_id in ids:
            rules.check_id(point_id)
        records = self._records(list(dict.fromkeys(ids)), with_payload=False, with_vectors=[name]) if ids else []
        return rules.nearest_parts(query, {point.id: point.vectors.get(name) for point in self._points(records)})

    def ids(self, video_id: str) -> set[str]:
        where = terms.server_filter(Filter(videos=(video_id,)))
        records, offset = self._page(None, PAGE, where)
        while offset is not None:
            more, offset = self._page(offset, PAGE, where)
            records += more
        return {str(record.id) for record in records}

    def _page(
        self, offset: str | None, limit: int, where: "models.Filter | None" = None, *, whole: bool = False
    ) -> "tuple[list[models.Record], str | None]":
        """Return the records from the id `offset` on, `whole` with their content, and the offset of the next page."""
        with self._call() as client:
            records, after = client.scroll(
                self._collection, where, limit, offset=offset, with_payload=whole, with_vectors=whole
            )
            records = terms.check_records(records)
            terms.check_page(records, after, offset)
            return records, cast("str | None", after)

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        offset = rules.first_after(after)
        count = rules.page_size(self._layout, limit)
        records, _next = self._page(offset, count, whole=True)
        return self._points(records)

    def get(self, ids: Collection[str]) -> list[Point]:
        return self._points(self._retrieve(ids))

    def _points(self, records: "Sequence[models.Record]") -> list[Point]:
        with self._call():
            return [terms.read_point(record) for record in records]

    def _retrieve(self, ids: Collection[str]) -> "list[models.Record]":
        unique_ids = list(dict.fromkeys(ids))
        for point_id in unique_ids:
            rules.check_id(point_id)
        records: list[models.Record] = []
        for batch in split_batches(unique_ids, rules.page_size(self._layout, BATCH)):
            records += self._records(batch, with_payload=True, with_vectors=True)
        return records

    def _records(
        self, ids: Sequence[str], *, with_payload: bool, with_vectors: bool | list[str]
    ) -> "list[models.Record]":
        with self._call() as client:
            records = client.retrieve(self._collection, ids, with_payload, with_vectors)
            return terms.check_records(records, frozenset(ids))

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        return [Point(point.id, point.vectors, {}) for point in self.get(ids)]

    def count(self) -> int:
        with self._call() as client:
            count = client.count(self._collection, exact=True).count
            if not 0 <= count < MAX_COUNT:
                raise ValueError("no count")
            return count

    def clear(self) -> None:
        with self._call():
            self._open(create=True, fresh=True)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.close()


def _numbers(vector: Vector) -> int:
    """Return how many numbers a multivector has; other vectors' sizes do not count."""
    return len(vector.packed) // 2 if isinstance(vector, MultiVector) else 0
