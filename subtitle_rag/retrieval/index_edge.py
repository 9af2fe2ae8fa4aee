"""The embedded index: one Qdrant Edge shard in a folder, held by this process alone.

    folder/
      shard/       the collection; made in `shard.new` and renamed, so a kill leaves a whole one or none
      meta.json    by which rules the collection was made
      lock         held for the life of an `EdgeIndex`

What qdrant-edge 0.9 does, and what is done about it here (`shared/qdrant.md`, measured):

- every call holds the GIL, `optimize()` for seconds → the program uses it through `index_host`;
- nothing is fsynced before `flush()` → each writing call flushes before it returns;
- nothing is validated, and a refused operation is partly applied → everything is checked first;
- a full disk is a SIGBUS in its memory maps, not an error → writing stops while `SPARE_BYTES` are still free.
"""

import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.retrieval.index import Filter, Hit, Point, SparseVector
from subtitle_rag.retrieval.index_rules import check_id, check_points, check_vector, mismatch, record_of

if TYPE_CHECKING:
    import qdrant_edge

BATCH = 1_000
"""Points a single engine operation writes: about 0.1 s, in which nothing else is answered."""
MOST_TIES = 10_000
"""Most candidates read beyond the limit to order equal scores at the cut by id: about 30 ms."""
SPARE_BYTES = 256 * 2**20
"""Free space below which nothing is written; the engine's files grow in steps of 32 MiB."""


def write_atomically(path: Path, value: Any) -> None:
    """`value` as JSON in `path` (mode 0600), either wholly or not at all; raises OSError."""
    handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def as_app_error(folder: Path, error: BaseException) -> AppError:
    """The typed failure behind what the engine (bare Exceptions with a text, panics) or the system raised."""
    text = " ".join(str(error).split())[:300] or type(error).__name__
    if "WouldBlock" in text:
        return BusyError("index_locked", path=str(folder))
    match = re.search(r"(?:os error |Errno |WinError )(\d+)", text)
    number = match[1] if match else ""
    if number in {"28", "112", "122"}:  # ENOSPC, Windows' ERROR_DISK_FULL, EDQUOT
        return BusyError("disk_full", path=str(folder))
    if number in {"13", "30"} or isinstance(error, PermissionError | NotADirectoryError | FileExistsError):
        reason = getattr(error, "strerror", None) or text
        return BusyError("library_readonly", path=str(folder), reason=reason)
    return AppError("index_damaged", path=str(folder), reason=text)


@contextmanager
def _translated(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # the engine raises bare Exceptions and, where it panics, a BaseException; all else is no fault of the data
        panic = type(error).__name__ == "PanicException"
        if type(error) is Exception or isinstance(error, OSError) or panic:
            raise as_app_error(folder, error) from error
        raise


def _edge_filter(where: Filter) -> "qdrant_edge.Filter":
    import qdrant_edge as edge

    must: list[Any] = []
    if where.channels:
        must.append(edge.FieldCondition("channel_id", match=edge.MatchAny(list(where.channels))))
    if where.videos:
        must.append(edge.FieldCondition("video", match=edge.MatchAny(list(where.videos))))
    if where.after or where.before:
        first = f"{where.after}T00:00:00Z" if where.after else None
        last = f"{where.before}T23:59:59.999999Z" if where.before else None
        must.append(edge.FieldCondition("published", range=edge.RangeDateTime(gte=first, lte=last)))
    if where.only is not None:
        must.append(edge.HasIdCondition(set(where.only)))
    without: list[Any] = [edge.HasIdCondition(set(where.without))] if where.without else []
    return edge.Filter(must=must, must_not=without)


def _edge_vector(vector: SparseVector) -> "qdrant_edge.SparseVector":
    import qdrant_edge as edge

    return edge.SparseVector(list(vector.indices), list(vector.values))


def _layout() -> "qdrant_edge.EdgeConfig":
    """Sparse vectors only: a dense one costs each point 2 KB even while empty, and can be added to a filled shard.

    Half-precision weights in mapped files: at 100,000 windows of 390 terms 300 MB less, and no slower.
    """
    import qdrant_edge as edge

    half, mapped = edge.VectorStorageDatatype.Float16, edge.Memory.Cached
    sparse = {
        "sparse": edge.EdgeSparseVectorParams(datatype=half, memory=mapped),
        "bm25": edge.EdgeSparseVectorParams(datatype=half, memory=mapped, modifier=edge.Modifier.Idf),
    }
    return edge.EdgeConfig(sparse_vectors=sparse)


class EdgeIndex:
    """`Index` over a shard in `folder`, which is made where there is none; safe from several threads.

    `fresh` throws away what is there, also when it is damaged or was made under another `meta`. A writing
    call takes about 0.15 s per 1,000 points, `optimize` seconds; in both no other thread of the process runs.

    Raises:
        AppError: `index_mismatch`, `index_damaged`.
        BusyError: `index_locked` (this or another process has it open), `disk_full`, `library_readonly`.
    """

    def __init__(self, folder: Path, meta: dict[str, Any], *, fresh: bool = False) -> None:
        from filelock import FileLock, Timeout

        self._folder = folder
        self.record = record_of(meta)
        """The meta record that the collection was made under."""
        self._lock = threading.Lock()
        self._shard: qdrant_edge.EdgeShard | None = None
        self._closed = False
        # a process that was killed may have left work for the optimizer
        self._changed = True
        with _translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._held = FileLock(folder / "lock", timeout=0, thread_local=False)
            try:
                self._held.acquire()
            except Timeout:
                raise BusyError("index_locked", path=str(folder)) from None
        try:
            self._shard = self._create() if fresh else self._open()
        except BaseException:
            self._held.release()
            raise

    def _open(self) -> "qdrant_edge.EdgeShard":
        import qdrant_edge as edge

        shard = self._folder / "shard"
        if not shard.exists():
            return self._create()
        try:
            found = json.loads((self._folder / "meta.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = f"meta.json: {getattr(error, 'strerror', None) or error}"
            raise AppError("index_damaged", path=str(self._folder), reason=reason) from error
        if not isinstance(found, dict):
            raise AppError("index_damaged", path=str(self._folder), reason="meta.json: not a record")
        if found != self.record:
            raise mismatch(self._folder, found, self.record)
        with _translated(self._folder):
            return edge.EdgeShard.load(str(shard))

    def _create(self) -> "qdrant_edge.EdgeShard":
        import qdrant_edge as edge

        shard, new, old = (self._folder / name for name in ("shard", "shard.new", "shard.old"))
        kinds = edge.PayloadSchemaType
        indexes = {"channel_id": kinds.Keyword, "video": kinds.Keyword, "published": kinds.Datetime}
        with _translated(self._folder):
            shutil.rmtree(old, ignore_errors=True)
            if shard.exists():
                shard.rename(old)
                shutil.rmtree(old, ignore_errors=True)
            self._require_space()
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            made = edge.EdgeShard.create(str(new), _layout())
            for key, kind in indexes.items():
                made.update(edge.UpdateOperation.create_field_index(key, kind))
            made.close()
            write_atomically(self._folder / "meta.json", self.record)
            new.rename(shard)
            return edge.EdgeShard.load(str(shard))

    def _require_space(self) -> None:
        if shutil.disk_usage(self._folder).free < SPARE_BYTES:
            raise BusyError("disk_full", path=str(self._folder))

    @contextmanager
    def _call(self, *, writing: bool = False) -> Iterator["qdrant_edge.EdgeShard"]:
        """The shard for one operation; a writing one is flushed at the end."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            if self._shard is None:  # an earlier `clear` failed half-way
                self._shard = self._open()
            if writing:
                self._require_space()
                self._changed = True
            with _translated(self._folder):
                yield self._shard
                if writing:
                    self._shard.flush()

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`. Of points with the same id in one call the first one counts."""
        import qdrant_edge as edge

        check_points(points)
        first: dict[str, Point] = {}
        for point in points:
            first.setdefault(point.id, point)
        new = list(first.values())
        for start in range(0, len(new), BATCH):
            made = [
                edge.Point(p.id, {name: _edge_vector(v) for name, v in p.vectors.items()}, p.payload)
                for p in new[start : start + BATCH]
            ]
            operation = edge.UpdateOperation.upsert_points(made, update_mode=edge.UpdateMode.InsertOnly)
            with self._call(writing=True) as shard:
                shard.update(operation)

    def replace_vector(self, name: str, vectors: dict[str, SparseVector]) -> None:
        """See `Index.replace_vector`. Ids that are not in the index are passed over."""
        import qdrant_edge as edge

        for point_id, vector in vectors.items():
            check_id(point_id)
            check_vector(name, vector)
        asked: list[qdrant_edge.PointId] = list(vectors)
        for start in range(0, len(asked), BATCH):
            with self._call(writing=True) as shard:
                # an unknown id makes the engine stop in the middle of the operation
                there = [str(record.id) for record in shard.retrieve(asked[start : start + BATCH], False, False)]
                made = [edge.PointVectors(i, {name: _edge_vector(vectors[i])}) for i in there]
                if made:
                    shard.update(edge.UpdateOperation.update_vectors(made))

    def delete_video(self, video_id: str, *, keep: Collection[str] = ()) -> None:
        import qdrant_edge as edge

        for point_id in keep:
            check_id(point_id)
        where = Filter(videos=(video_id,), without=frozenset(keep))
        with self._call(writing=True) as shard:
            shard.update(edge.UpdateOperation.delete_points_by_filter(_edge_filter(where)))

    def search(
        self,
        name: str,
        query: SparseVector,
        *,
        limit: int,
        where: Filter | None = None,
        payload: Sequence[str] | None = None,
    ) -> list[Hit]:
        """See `Index.search`; a point without a common term is no hit.

        Where more than `MOST_TIES` points tie at the cut, the engine chooses among them.
        """
        where = where or Filter()
        check_vector(name, query)
        for point_id in (*(where.only or ()), *where.without):
            check_id(point_id)
        if limit < 1 or not query.indices or where.only == frozenset():
            return []
        with self._call() as shard:
            return _best(shard, name, query, limit, where, payload is None or (list(payload) or False))

    def ids(self, video_id: str) -> set[str]:
        import qdrant_edge as edge

        found: set[str] = set()
        where = _edge_filter(Filter(videos=(video_id,)))
        offset: qdrant_edge.PointId | None = None
        with self._call() as shard:
            while True:
                request = edge.ScrollRequest(
                    offset=offset, limit=10_000, filter=where, with_payload=False, with_vector=False
                )
                records, offset = shard.scroll(request)
                found.update(str(record.id) for record in records)
                if offset is None:
                    return found

    def count(self) -> int:
        import qdrant_edge as edge

        with self._call() as shard:
            return shard.count(edge.CountRequest(exact=True))

    def clear(self, meta: dict[str, Any] | None = None) -> None:
        """See `Index.clear`; `meta` becomes the record of the new collection."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            self._let_go()
            if meta is not None:
                self.record = record_of(meta)
            self._shard = self._create()

    def optimize(self) -> bool:
        """Let the engine merge and clean where its thresholds call for it (10 MB of new vectors, a fifth
        deleted); whether it did. Takes 0.1 ms if not, else 1 s at 20,000 points and 6 s at 100,000."""
        with self._lock:
            if self._closed or self._shard is None or not self._changed:
                return False
            used = sum(f.stat().st_size for f in (self._folder / "shard").rglob("*") if f.is_file())
            # segments are copied before the old ones go
            if shutil.disk_usage(self._folder).free < SPARE_BYTES + used:
                return False
            with _translated(self._folder):
                done = self._shard.optimize()
                self._shard.flush()
            self._changed = False
            return done

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._let_go()
                self._held.release()

    def _let_go(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            # what was acknowledged is flushed, and a damaged shard must not stand in the way of `clear`
            with suppress(Exception):
                shard.close()


def _best(
    shard: "qdrant_edge.EdgeShard",
    name: str,
    query: SparseVector,
    limit: int,
    where: Filter,
    wanted: bool | list[str],
) -> list[Hit]:
    """The hits, best first. One point beyond the limit tells whether the cut goes through equal scores; then
    ids are read on, without payloads, until these scores end or `MOST_TIES` are read."""
    import qdrant_edge as edge

    nearest = edge.Query.Nearest(_edge_vector(query), using=name)
    condition = _edge_filter(where)

    def read(count: int, payload: bool | list[str]) -> "list[qdrant_edge.ScoredPoint]":
        return shard.query(edge.QueryRequest(limit=count, query=nearest, filter=condition, with_payload=payload))

    found = read(limit + 1, wanted)
    if len(found) <= limit or found[-1].score < found[-2].score:
        hits = [Hit(str(p.id), p.score, p.payload or {}) for p in found[:limit]]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))
    count = limit
    while True:
        count = min(limit + MOST_TIES, count * 4 + 64)
        found = read(count, False)
        if len(found) < count or found[-1].score < found[limit - 1].score or count == limit + MOST_TIES:
            break
    best = sorted((-p.score, str(p.id)) for p in found)[:limit]
    payloads = {str(r.id): r.payload or {} for r in shard.retrieve([i for _, i in best], wanted, False)}
    return [Hit(point_id, -score, payloads[point_id]) for score, point_id in best]
