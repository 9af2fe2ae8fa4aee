"""The index on a Qdrant server or cluster, which the libraries of several machines may share.

All of them write into one collection. A window's id follows from its video, start and windowing rule, and points
are inserted, never overwritten: machines that index the same video write the same points. Points unknown to a library
belong to others (`Index.shared_payloads`) and are never deleted, with one exception: if one library removes a video or
cuts it again, the video's points go for all.

The meta record is the collection's metadata. Inverse document frequencies are of the whole collection, per shard.
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from subtitle_rag.config import QdrantSettings
from subtitle_rag.errors import AppError
from subtitle_rag.retrieval.index import Filter, Hit, Point, Vector, VectorSearch
from subtitle_rag.retrieval.index_rules import (
    BM25,
    best,
    check_id,
    check_layout,
    check_name,
    check_payloads,
    check_points,
    check_vectors,
    finds_nothing,
    mismatch,
    record_of,
    unique,
)
from subtitle_rag.retrieval.server_terms import (
    OLDEST,
    address,
    connect,
    is_supported,
    point_from,
    read_layout,
    server_filter,
    server_vector,
    to_app_error,
)

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

logger = logging.getLogger(__name__)

COLLECTION = "scenes"
BATCH = 128
"""Points in a request: 4 MB with a dense vector; a server takes 32 MB."""
PAGE = 1_000
_KEYWORDS, _DATES = ("channel_id", "video"), ("published",)


def open_server(
    settings: QdrantSettings, meta: dict[str, Any], *, own_videos: Collection[str] | None = None
) -> "ServerIndex":
    """Open the index on the server of the settings.

    Raises:
        UsageError: `qdrant_url`, `qdrant_no_key`.
        BusyError, AppError: from `ServerIndex`.
    """
    client = connect(settings)
    try:
        return ServerIndex(client, settings, meta, own_videos=own_videos)
    except BaseException:
        client.close()
        raise


class ServerIndex:
    """`Index` in the collection `COLLECTION`, which is created if missing. Thread-safe.

    A collection of another `meta` is left alone. With `own_videos` it is replaced if it
    has points of these videos only.

    Raises:
        BusyError: `qdrant_unreachable`.
        AppError: `qdrant_refused`, `qdrant_old`, `qdrant_failed`; `index_mismatch`, or with
            `own_videos` `qdrant_others`.
    """

    def __init__(
        self,
        client: "QdrantClient",
        settings: QdrantSettings,
        meta: dict[str, Any],
        *,
        own_videos: Collection[str] | None = None,
    ) -> None:
        self.place = address(settings.url)
        self._client = client
        self._settings = settings
        self._closed = False
        record = record_of(meta)
        with self._call():
            self.version = client.info().version
            """Of the server."""
            if not is_supported(self.version):
                oldest = ".".join(map(str, OLDEST))
                raise AppError("qdrant_old", url=self.place, found=self.version[:20], oldest=oldest)
            collection = self._create(record)
            stored = collection.config.metadata or {}
            if stored != record and own_videos is None:
                raise mismatch(self.place, stored, record)
            if stored != record:
                collection = self._replace(own_videos or (), record)
        self._layout = read_layout(collection)

    def _create(self, record: dict[str, Any]) -> "models.CollectionInfo":
        """Create the collection and its payload indexes unless they exist, and return its description."""
        from qdrant_client import models

        if not self._client.collection_exists(COLLECTION):
            half = models.SparseIndexParams(datatype=models.Datatype.FLOAT16)
            try:
                self._client.create_collection(
                    COLLECTION,
                    vectors_config={},
                    sparse_vectors_config={BM25: models.SparseVectorParams(index=half, modifier=models.Modifier.IDF)},
                    shard_number=self._settings.shards,
                    replication_factor=self._settings.replication,
                    metadata=record,
                )
            except Exception:  # another machine may have been quicker
                logger.info("the collection was not made", exc_info=True)
                if not self._client.collection_exists(COLLECTION):
                    raise
        collection = self._client.get_collection(COLLECTION)
        kinds = models.PayloadSchemaType
        for key, kind in [*((k, kinds.KEYWORD) for k in _KEYWORDS), *((k, kinds.DATETIME) for k in _DATES)]:
            if key not in collection.payload_schema:
                self._client.create_payload_index(COLLECTION, key, kind, wait=True)
        return collection

    def _replace(self, own_videos: Collection[str], record: dict[str, Any]) -> "models.CollectionInfo":
        from qdrant_client import models

        is_own = models.FieldCondition(key="video", match=models.MatchAny(any=list(own_videos)))
        count = self._client.count(
            COLLECTION, models.Filter(must_not=[is_own]) if own_videos else None, exact=True
        ).count
        if count:
            raise AppError("qdrant_others", url=self.place, n=count, collection=COLLECTION)
        self._client.delete_collection(COLLECTION)
        return self._create(record)

    @contextmanager
    def _call(self) -> "Iterator[QdrantClient]":
        if self._closed:
            raise RuntimeError("the index is closed")
        from json import JSONDecodeError

        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            yield self._client
        except (ApiException, QdrantException, JSONDecodeError, AssertionError) as error:
            logger.warning("a request to the Qdrant server failed", exc_info=True)
            # the last two: the answer is not one of Qdrant's
            raise to_app_error(error, self.place, self._settings.api_key_env) from None

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`. The first point of an id in one call counts."""
        from qdrant_client import models

        check_points(points)
        for point in points:
            for name, vector in point.vectors.items():
                self._require_layout(name, vector)
        new = unique(points)
        for start in range(0, len(new), BATCH):
            batch = [
                models.PointStruct(
                    id=p.id, vector={n: server_vector(v) for n, v in p.vectors.items()}, payload=p.payload
                )
                for p in new[start : start + BATCH]
            ]
            with self._call() as client:
                client.upsert(COLLECTION, batch, wait=True, update_mode=models.UpdateMode.INSERT_ONLY)

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
                dense = models.DenseVectorConfig(
                    size=dimensions, distance=models.Distance.COSINE, datatype=models.VectorStorageDatatype.FLOAT16
                )
                config = models.DenseVectorNameConfig(dense=dense)
            with self._call() as client:
                client.create_vector_name(COLLECTION, name, config, wait=True)
                if dimensions is not None:
                    graph = models.HnswConfigDiff(m=16, ef_construct=100)
                    stored = models.VectorParamsDiff(on_disk=True, hnsw_config=graph)
                    client.update_collection(COLLECTION, vectors_config={name: stored})
        self._layout = self.vectors()
        if self._layout.get(name, dimensions) != dimensions:
            raise ValueError(f"{name} has {self._layout[name]} dimensions")

    def drop_vector(self, name: str) -> None:
        if name == BM25:
            raise ValueError(f"{name} stays")
        with self._call() as client:
            client.delete_vector_name(COLLECTION, name, wait=True)
        self._layout = self.vectors()

    def vectors(self) -> dict[str, int | None]:
        with self._call() as client:
            return read_layout(client.get_collection(COLLECTION))

    def _require_layout(self, name: str, vector: Vector) -> None:
        """Raise ValueError unless the vector fits the layout, which another machine may have changed."""
        try:
            check_layout(self._layout, name, vector)
        except ValueError:
            self._layout = self.vectors()
            check_layout(self._layout, name, vector)

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        from qdrant_client import models

        check_vectors(name, vectors)
        for vector in vectors.values():
            self._require_layout(name, vector)
        for ids in self._present(list(vectors)):
            batch = [models.PointVectors(id=id, vector={name: server_vector(vectors[id])}) for id in ids]
            with self._call() as client:
                client.update_vectors(COLLECTION, batch, wait=True)

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        from qdrant_client import models

        check_payloads(payloads)
        for ids in self._present(list(payloads)):
            batch = [
                models.OverwritePayloadOperation(overwrite_payload=models.SetPayload(payload=payloads[id], points=[id]))
                for id in ids
            ]
            with self._call() as client:
                client.batch_update_points(COLLECTION, batch, wait=True)

    def _present(self, ids: Sequence[str]) -> Iterator[list[str]]:
        """Yield the existing ids in batches: an unknown id would fail its request."""
        for start in range(0, len(ids), BATCH):
            with self._call() as client:
                records = client.retrieve(COLLECTION, ids[start : start + BATCH], with_payload=False)
            if records:
                yield [str(record.id) for record in records]

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        """See `Index.delete_video`; other machines' points of this video go too."""
        from qdrant_client import models

        for point_id in keep:
            check_id(point_id)
        where = server_filter(Filter(videos=(video_id,), without=frozenset(keep)))
        assert where is not None
        with self._call() as client:
            client.delete(COLLECTION, models.FilterSelector(filter=where), wait=True)

    def delete_videos(self, video_ids: Sequence[str]) -> None:
        from qdrant_client import models

        if video_ids:
            where = server_filter(Filter(videos=tuple(video_ids)))
            assert where is not None
            with self._call() as client:
                client.delete(COLLECTION, models.FilterSelector(filter=where), wait=True)

    def search(
        self,
        name: str,
        query: Vector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        """See `Index.search`; of more than `MAX_TIES` equal scores at the cut, the server chooses."""
        where = where or Filter()
        if finds_nothing(name, query, limit, where):
            return []
        try:
            self._require_layout(name, query)
        except ValueError:
            if name in self._layout:
                raise
            return []
        try:
            return self._best(name, query, limit, where, payload is None or (list(payload) or False))
        except (AppError, ValueError):
            logger.info("searching %s failed", name, exc_info=True)
            self._layout = self.vectors()
            if name not in self._layout:  # another machine has dropped it
                return []
            raise

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        return [self.search(each.name, each.query, limit=each.limit, where=each.where, payload=()) for each in searches]

    def _best(self, name: str, query: Vector, limit: int, where: Filter, keys: bool | list[str]) -> list[Hit]:
        def read(count: int, with_payloads: bool) -> list[Hit]:
            with self._call() as client:
                response = client.query_points(
                    COLLECTION,
                    query=server_vector(query),
                    using=name,
                    query_filter=server_filter(where),
                    limit=count,
                    with_payload=keys if with_payloads else False,
                )
            return [Hit(str(p.id), p.score, p.payload or {}) for p in response.points]

        def payloads(ids: Collection[str]) -> dict[str, dict[str, Any]]:
            with self._call() as client:
                records = client.retrieve(COLLECTION, list(ids), with_payload=keys)
            return {str(record.id): record.payload or {} for record in records}

        return best(limit, read, payloads)

    def ids(self, video_id: str) -> set[str]:
        ids: set[str] = set()
        where = server_filter(Filter(videos=(video_id,)))
        offset: Any = None
        while True:
            with self._call() as client:
                records, offset = client.scroll(
                    COLLECTION, where, limit=PAGE, offset=offset, with_payload=False, with_vectors=False
                )
            ids.update(str(record.id) for record in records)
            if offset is None:
                return ids

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        if after is not None:
            check_id(after)
        # the server's offset is the first id to read
        offset = None if after is None else str(UUID(int=UUID(after).int + 1))
        with self._call() as client:
            records, _next = client.scroll(COLLECTION, limit=limit, offset=offset, with_payload=True, with_vectors=True)
        return [point_from(record) for record in records]

    def get(self, ids: Collection[str]) -> list[Point]:
        return [point_from(record) for record in self._retrieve(ids, vectors=True)]

    def shared_payloads(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        return {str(record.id): record.payload or {} for record in self._retrieve(ids, vectors=False)}

    def _retrieve(self, ids: Collection[str], *, vectors: bool) -> "Iterator[models.Record]":
        unique_ids = list(dict.fromkeys(ids))
        for point_id in unique_ids:
            check_id(point_id)
        for start in range(0, len(unique_ids), BATCH):
            batch = unique_ids[start : start + BATCH]
            with self._call() as client:
                yield from client.retrieve(COLLECTION, batch, with_payload=True, with_vectors=vectors)

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        return [Point(point.id, point.vectors, {}) for point in self.get(ids)]

    def stage(self) -> None:
        """See `Index.stage`: other libraries' windows may be in the collection."""

    def adopt(self, staged: Any) -> None:
        """Never called: `stage` returns nothing."""
        raise NotImplementedError

    def count(self) -> int:
        with self._call() as client:
            return client.count(COLLECTION, exact=True).count

    def clear(self, videos: Collection[str] = ()) -> None:
        """See `Index.clear`."""
        for start in range(0, len(unique_videos := list(dict.fromkeys(videos))), BATCH):
            self.delete_videos(unique_videos[start : start + BATCH])

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._client.close()
