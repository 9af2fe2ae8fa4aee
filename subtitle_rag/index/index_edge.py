"""The embedded index: one Qdrant Edge shard in a folder, held by this process alone.

    folder/
      shard/       the collection
      meta.json    the meta record: schema and analyzer
      lock         held for the life of an `EdgeIndex`
      next/        a folder of the same form, whose shard comes into the place of `shard` once it is complete
      shard.old    the shard before, until the next one is in its place

Properties of qdrant-edge 0.9, measured, and the answers to them:

- every call holds the GIL, `optimize()` for seconds → the program uses it through `index_host`;
- nothing is fsynced before `flush()` → each writing call flushes before it returns;
- nothing is validated, and a refused operation is partly applied → everything is checked first, once: in the client,
  since a call is split into several requests, and an invalid point must not leave half of them written;
- a full disk is a SIGBUS in its memory maps, not an error → writing stops while `SPARE_BYTES` are still free.
"""

import json
import logging
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subtitle_rag.base.atomic_files import private_folder, replace_path
from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.domain.values import byte_size
from subtitle_rag.base.hosting.entry import write_atomically
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.named_vectors import BM25, check_name, has_parts
from subtitle_rag.base.vectors.points import DenseVector, Filter, Hit, Point, Vector, VectorSearch
from subtitle_rag.index import edge_terms as terms, index_rules as rules
from subtitle_rag.library.app_state import EMBEDDED

if TYPE_CHECKING:
    import qdrant_edge

logger = logging.getLogger(__name__)

BATCH = 1_000
"""Points per operation of the engine, which then answers nothing for about 0.1 s."""
SPARE_BYTES = 256 * 2**20
"""Minimum free space for a write; the engine's files grow in steps of 32 MiB."""


class EdgeIndex:
    """`Index` over a shard in `folder`, which is created if missing. Thread-safe.

    `fresh` replaces an existing shard, even if damaged or of another `meta`. Without `meta` an existing shard is opened
    whatever its record, as far as it is readable. A writing call takes about 0.15 s per 1,000 points, `optimize`
    seconds; both block all threads of the process. With `is_checked` the caller has validated its arguments
    (`index_rules`).

    Raises:
        AppError: `index_mismatch`, `index_damaged`.
        BusyError: `locked` (this or another process has it open), `disk_full`, `library_readonly`, `system_limit`,
            `disk_error`.
    """

    place = EMBEDDED

    def __init__(
        self, folder: Path, meta: dict[str, Any] | None, *, fresh: bool = False, is_checked: bool = False
    ) -> None:
        import qdrant_edge
        from filelock import FileLock, Timeout

        self._edge = qdrant_edge
        self._folder = folder
        self._is_checked = is_checked
        self._is_rescue = meta is None
        self.record = rules.record_of(meta or {})
        """The meta record of the collection."""
        self._lock = threading.Lock()
        self._shard: qdrant_edge.EdgeShard | None = None
        self._layout: dict[str, int | None] = {}
        self._closed = False
        # a killed process may have left work for the optimizer
        self._changed = True
        self._has_deleted = False
        """Whether points were deleted since the shard was loaded; until the next load, the IDF still counts them."""
        with terms.translated(folder):
            private_folder(folder)
            self._folder_lock = FileLock(folder / "lock", timeout=0, thread_local=False)
            try:
                self._folder_lock.acquire()
            except Timeout:
                raise BusyError("locked", path=str(folder)) from None
        try:
            self._shard = self._create() if fresh else self._open()
        except BaseException:
            self._folder_lock.release()
            raise

    def _open(self) -> "qdrant_edge.EdgeShard":
        shard, old, next_folder = (self._folder / name for name in ("shard", "shard.old", "next"))
        with terms.translated(self._folder):
            if not shard.exists() and old.exists():
                # killed between the two renames
                if (next_folder / "shard").exists() and _read_record(next_folder) is not None:
                    return self._replace_shard()
                replace_path(old, shard)
        if not shard.exists():
            return self._create()
        is_recorded = has_record(self._folder)
        if self._is_rescue:
            self.record = _read_record(self._folder) or {}
        elif is_recorded:
            self._check_record()
        with terms.translated(self._folder):
            loaded = self._load(shard)
            if not (is_recorded or self._is_rescue):
                logger.warning("the record of a whole index was missing and is rewritten: %s", self._folder)
                write_atomically(self._folder / "meta.json", self.record)
            shutil.rmtree(old, ignore_errors=True)
            self._delete_abandoned(next_folder)
        return loaded

    def _check_record(self) -> None:
        record = stored_record(self._folder)
        if record != self.record:
            raise rules.mismatch(self._folder, record, self.record)

    def _delete_abandoned(self, next_folder: Path) -> None:
        """Delete the unfinished shard of a killed rebuild."""
        from filelock import FileLock, Timeout

        if next_folder.exists() and not (next_folder / "complete").exists():
            try:
                FileLock(next_folder / "lock", timeout=0).acquire().lock.release()
            except (Timeout, OSError):
                return
            shutil.rmtree(next_folder, ignore_errors=True)

    def _create(self) -> "qdrant_edge.EdgeShard":
        """Create an empty shard, and replace an existing one by it once it is complete."""
        next_folder = self._folder / "next"
        kinds = self._edge.PayloadSchemaType
        indexes = {"channel_id": kinds.Keyword, "video": kinds.Keyword, "published": kinds.Datetime}
        with terms.translated(self._folder):
            self._require_space()
            for leftover in (next_folder, self._folder / "shard.new"):
                shutil.rmtree(leftover, ignore_errors=True)
            (next_folder / "shard").mkdir(parents=True)
            created = self._edge.EdgeShard.create(str(next_folder / "shard"), terms.shard_config())
            for key, kind in indexes.items():
                created.update(self._edge.UpdateOperation.create_field_index(key, kind))
            created.close()
            write_atomically(next_folder / "meta.json", self.record)
            return self._replace_shard()

    def _replace_shard(self) -> "qdrant_edge.EdgeShard":
        """Replace `shard` by the complete shard of `next`, and load it. After a kill, one of them is in place."""
        shard, old, next_folder = (self._folder / name for name in ("shard", "shard.old", "next"))
        record = _read_record(next_folder)
        if shard.exists():
            shutil.rmtree(old, ignore_errors=True)
            replace_path(shard, old)
        write_atomically(self._folder / "meta.json", record)
        replace_path(next_folder / "shard", shard)
        self.record = record or {}
        loaded = self._load(shard)
        for leftover in (old, next_folder):
            shutil.rmtree(leftover, ignore_errors=True)
        return loaded

    def stage(self) -> "EdgeIndex":
        return stage(self._folder, self.record)

    def adopt(self, staged: "EdgeIndex | None" = None) -> None:
        """See `StagingIndex.adopt`; without `staged`, another process has completed it. May be repeated."""
        if staged is not None:
            staged.complete()
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            self._release_shard()
            with terms.translated(self._folder):
                is_staged = (self._folder / "next" / "complete").exists()
                self._shard = self._replace_shard() if is_staged else self._open()
            self._changed = True

    def _load(self, shard: Path, config: "qdrant_edge.EdgeConfig | None" = None) -> "qdrant_edge.EdgeShard":
        loaded = self._edge.EdgeShard.load(str(shard), config)
        try:
            self._layout = terms.read_layout(shard)
        except (ValueError, KeyError, TypeError) as error:
            raise AppError("index_damaged", path=str(self._folder), reason=f"edge_config.json: {error}") from error
        return loaded

    def _require_space(self) -> None:
        free = shutil.disk_usage(self._folder).free
        if free < SPARE_BYTES:
            needed, free_size = byte_size(SPARE_BYTES), byte_size(free)
            raise BusyError("disk_short", path=str(self._folder), needed=needed, free=free_size)

    @contextmanager
    def _call(self, *, writing: bool = False, growing: bool = True) -> Iterator["qdrant_edge.EdgeShard"]:
        """Yield the shard for one operation, then flush it if that wrote. Freeing space needs no free space."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            if self._shard is None:  # an earlier `clear` failed
                self._shard = self._open()
            if writing:
                if growing:
                    self._require_space()
                self._changed = True
            with terms.translated(self._folder):
                yield self._shard
                if writing:
                    self._shard.flush()

    def insert(self, points: Sequence[Point]) -> None:
        """See `Index.insert`. If an id occurs twice in a call, the first point counts."""
        if not self._is_checked:
            rules.check_points(points)
        for point in points:
            for name, vector in point.vectors.items():
                rules.check_layout(self._layout, name, vector)
        for new in split_batches(rules.unique(points), rules.page_size(self._layout, BATCH)):
            batch = [
                self._edge.Point(p.id, {name: terms.edge_vector(v) for name, v in p.vectors.items()}, p.payload)
                for p in new
            ]
            operation = self._edge.UpdateOperation.upsert_points(batch, update_mode=self._edge.UpdateMode.InsertOnly)
            with self._call(writing=True) as shard:
                shard.update(operation)

    def add_vector(self, name: str, dimensions: int | None = None) -> None:
        """See `Index.add_vector`. Raises ValueError if it exists with other dimensions."""
        check_name(name, dimensions)
        if dimensions is None:
            half = self._edge.VectorStorageDatatype.Float16
            operation = self._edge.UpdateOperation.create_sparse_vector(name, None, half)
        else:
            parts = terms.max_sim() if has_parts(name) else None
            operation = self._edge.UpdateOperation.create_dense_vector(
                name, dimensions, self._edge.Distance.Cosine, parts, terms.datatype(name)
            )
        with self._call() as shard:
            if name in self._layout:
                if self._layout[name] != dimensions:
                    raise ValueError(f"{name} has {self._layout[name]} dimensions")
                return
            self._require_space()
            shard.update(operation)
            shard.flush()
            self._layout[name] = dimensions
            if has_parts(name):  # only a loaded shard accepts a configuration
                self._release_shard()
                self._shard = self._load(self._folder / "shard", terms.multivector_config(self._layout))

    def drop_vector(self, name: str) -> None:
        """See `Index.drop_vector`; `optimize` frees the space."""
        if name == BM25:
            raise ValueError(f"{name} stays")
        with self._call(writing=True, growing=False) as shard:
            if name in self._layout:
                shard.update(self._edge.UpdateOperation.delete_vector_name(name))
                del self._layout[name]

    def vectors(self) -> dict[str, int | None]:
        with self._call():
            return dict(self._layout)

    def replace_vector(self, name: str, vectors: Mapping[str, Vector]) -> None:
        if not self._is_checked:
            rules.check_vectors(name, vectors)
        for vector in vectors.values():
            rules.check_layout(self._layout, name, vector)
        ids: list[qdrant_edge.PointId] = list(vectors)
        for some in split_batches(ids, rules.page_size({name: self._layout.get(name)}, BATCH)):
            with self._call(writing=True) as shard:
                # an unknown id would stop the engine in the middle of the operation
                present = [str(record.id) for record in shard.retrieve(some, False, False)]
                if batch := [self._edge.PointVectors(id, {name: terms.edge_vector(vectors[id])}) for id in present]:
                    shard.update(self._edge.UpdateOperation.update_vectors(batch))

    def replace_payload(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        if not self._is_checked:
            rules.check_payloads(payloads)
        ids: list[qdrant_edge.PointId] = list(payloads)
        for some in split_batches(ids, BATCH):
            with self._call(writing=True) as shard:
                for record in shard.retrieve(some, False, False):
                    operation = self._edge.UpdateOperation.overwrite_payload([record.id], payloads[str(record.id)])
                    shard.update(operation)

    def delete_videos(self, video_ids: Sequence[str], *, keep: Collection[str] = ()) -> None:
        for point_id in keep:
            rules.check_id(point_id)
        if video_ids:
            self._delete_where(terms.edge_filter(Filter(videos=tuple(video_ids), without=frozenset(keep))))

    def _delete_where(self, where: "qdrant_edge.Filter") -> None:
        with self._call(writing=True, growing=False) as shard:
            shard.update(self._edge.UpdateOperation.delete_points_by_filter(where))
            self._has_deleted = True

    def search_all(self, searches: Sequence[VectorSearch]) -> list[list[Hit]]:
        """See `Index.search_all`; a sparse hit must share a term with the query.

        If more than `MAX_TIES` scores are equal at the cut, the engine chooses.
        """
        return [self._search(each) for each in searches]

    def _search(self, search: VectorSearch) -> list[Hit]:
        """Search, then drop the hits without a required term by a second search among them."""
        if rules.finds_nothing(search):
            return []
        with self._call() as shard:
            if search.name not in self._layout:
                return []
            rules.check_layout(self._layout, search.name, search.query)
            hits = terms.nearest(shard, search)
        if search.required is None or not hits:
            return hits
        among = Filter(only=frozenset(hit.id for hit in hits))
        ids = {hit.id for hit in self._search(VectorSearch(search.name, search.required, len(hits), among))}
        return [hit for hit in hits if hit.id in ids]

    def nearest_parts(self, name: str, query: DenseVector, ids: Collection[str]) -> dict[str, int]:
        for point_id in ids:
            rules.check_id(point_id)
        with self._call() as shard:
            if not ids or name not in self._layout:
                return {}
            rules.check_layout(self._layout, name, query)
            points = [terms.point_from(record) for record in shard.retrieve(list(ids), False, [name])]
        return rules.nearest_parts(query, {point.id: point.vectors.get(name) for point in points})

    def ids(self, video_id: str) -> set[str]:
        ids: set[str] = set()
        offset: qdrant_edge.PointId | None = None
        with self._call() as shard:
            where = terms.edge_filter(Filter(videos=(video_id,)))
            while True:
                request = self._edge.ScrollRequest(
                    offset=offset, limit=10_000, filter=where, with_payload=False, with_vector=False
                )
                records, offset = shard.scroll(request)
                ids.update(str(record.id) for record in records)
                if offset is None:
                    return ids

    def points(self, after: str | None = None, *, limit: int = 256) -> list[Point]:
        offset = rules.first_after(after)
        with self._call() as shard:
            count = rules.page_size(self._layout, limit)
            request = self._edge.ScrollRequest(offset=offset, limit=count, with_payload=True, with_vector=True)
            records, _next = shard.scroll(request)
        return [terms.point_from(record) for record in records]

    def get(self, ids: Collection[str]) -> list[Point]:
        return self._retrieve(ids, payloads=True)

    def get_neural(self, ids: Collection[str]) -> list[Point]:
        return self._retrieve(ids, payloads=False, without=(BM25,))

    def _retrieve(self, ids: Collection[str], *, payloads: bool, without: Collection[str] = ()) -> list[Point]:
        for point_id in ids:
            rules.check_id(point_id)
        points: list[Point] = []
        with self._call() as shard:
            names = [name for name in self._layout if name not in without]
            all_ids: list[qdrant_edge.PointId] = list(ids) if names else []
            for some in split_batches(all_ids, rules.page_size(self._layout, BATCH)):
                points += map(terms.point_from, shard.retrieve(some, payloads, names))
        return points

    def count(self) -> int:
        with self._call() as shard:
            return shard.count(self._edge.CountRequest(exact=True))

    def clear(self, *, meta: dict[str, Any] | None = None) -> None:
        """See `Index.clear`; `meta` becomes the record of the new collection."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the index is closed")
            self._release_shard()
            record = self.record
            try:
                if meta is not None:
                    self.record = rules.record_of(meta)
                self._shard = self._create()
            except BaseException:
                self.record = record
                raise
            self._is_rescue = False

    def optimize(self) -> bool:
        """Let the engine merge and clean beyond its thresholds (10 MB of new vectors, a fifth deleted).

        Returns whether it did. Takes 0.1 ms if not, else 1 s at 20,000 points and 6 s at 100,000. After a deletion the
        shard is loaded again (0.3 s at 100,000 points), so that scores count only the remaining points.
        """
        with self._lock:
            if self._closed or self._shard is None or not self._changed:
                return False
            if self._has_deleted:
                self._release_shard()
                with terms.translated(self._folder):
                    self._shard = self._load(self._folder / "shard")
                self._has_deleted = False
            used = sum(f.stat().st_size for f in (self._folder / "shard").rglob("*") if f.is_file())
            # segments are copied before the old ones go
            if shutil.disk_usage(self._folder).free < SPARE_BYTES + used:
                return False
            with terms.translated(self._folder):
                changed = self._shard.optimize()
                self._shard.flush()
            self._changed = False
            return changed

    def complete(self) -> None:
        """Close a staged index before its adoption."""
        self.close()
        (self._folder / "complete").touch()

    def discard(self) -> None:
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._release_shard()
                self._folder_lock.release()

    def _release_shard(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            # acknowledged writes are flushed, and a damaged shard must not prevent `clear`
            try:
                shard.close()
            except Exception:
                logger.warning("the shard was not closed", exc_info=True)


def stored_record(folder: Path) -> dict[str, Any]:
    """Return the meta record of the index in a folder.

    Raises:
        AppError: `index_damaged` if it is not one.
        BusyError: If the system lacks something to read it.
    """
    try:
        record = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except OSError as error:
        failure = terms.as_app_error(folder, error)
        if isinstance(failure, BusyError):
            raise failure from error
        raise AppError("index_damaged", path=str(folder), reason=f"meta.json: {error.strerror}") from error
    except ValueError as error:
        raise AppError("index_damaged", path=str(folder), reason=f"meta.json: {error}") from error
    if not isinstance(record, dict):
        raise AppError("index_damaged", path=str(folder), reason="meta.json: not a record")
    return record


def has_record(folder: Path) -> bool:
    """Whether the index in a folder has a meta record; a crash can leave it empty."""
    record = folder / "meta.json"
    return record.exists() and record.stat().st_size > 0


def _read_record(folder: Path) -> dict[str, Any] | None:
    try:
        record = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def stage(folder: Path, meta: dict[str, Any]) -> EdgeIndex:
    """Open an empty index that can replace the one in `folder`; see `StagingIndex.stage`."""
    with terms.translated(folder):
        used = sum(map(_disk_usage, (folder / "shard").rglob("*")))
        free = shutil.disk_usage(folder).free
    needed = SPARE_BYTES + used
    if free < needed:
        raise BusyError("disk_short", path=str(folder), needed=byte_size(needed), free=byte_size(free))
    return EdgeIndex(folder / "next", meta, fresh=True)


def _disk_usage(path: Path) -> int:
    """Return the bytes that a file occupies on disk: the engine's files are sparse."""
    status = path.stat()
    return int(getattr(status, "st_blocks", -(-status.st_size // 512))) * 512
