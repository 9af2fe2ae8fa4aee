"""Migration from one index to another: copy the library's windows with all vectors, then compare both indexes.

Each point is compared on its own: a missing one is inserted, a different one updated. So a stopped run resumes. The
source stays as it is; it may be a collection with points of other libraries (`retrieval.index.SharedCollection`).
"""

import logging
import math
import random
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from subtitle_rag.domain import AppError
from subtitle_rag.i18n import _
from subtitle_rag.library import Library, hold_lock, put_index_address, put_migration
from subtitle_rag.log_file import logged_stage
from subtitle_rag.retrieval.index import Index
from subtitle_rag.retrieval.named_vectors import BM25, has_parts
from subtitle_rag.retrieval.values import Filter, Hit, MultiVector, Point, SparseVector, Vector, VectorSearch

logger = logging.getLogger(__name__)

BATCH = 256
SAMPLE = 50
"""Points compared at the end."""
QUERIES = 5
"""Points of the sample whose vectors are searched for in both indexes."""
DEPTH = 20
TOLERANCE = 2e-3
"""Largest difference by half precision, relative to the greatest number of a vector or list: twice 2⁻¹⁰."""
COARSE_TOLERANCE = 0.05
"""Tolerance for numbers of one byte each, stored twice."""
LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Copied:
    """The number of the library's windows copied so far, and their total."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Migrated:
    """The end of a migration: the numbers of windows, compared points and compared searches."""

    windows: int
    points: int
    queries: int


class Migration:
    """Copies a library's index into another one, while locks keep indexers away."""

    def __init__(self, library: Library, source: Index, target: Index) -> None:
        self._library = library
        self._source = source
        self._target = target
        self._names: set[str] = set()
        self._ids: set[str] = set()

    def run(self) -> Generator[Copied | Migrated, None, None]:
        """Copy, compare, and note the new index in the library; the last event is `Migrated`.

        Raises:
            AppError: `index_differs`; the library keeps the old index then.
            BusyError: `library_busy`, `vectors_busy`, and the failures of the library and the indexes.
        """
        with self._working(), logged_stage(logger, "migration") as counts:
            total = self._library.counts().searchable
            for points in self._pages():
                self._copy(points)
                self._ids.update(point.id for point in points)
                yield Copied(len(self._ids), max(len(self._ids), total))
            self._delete_leftovers()
            self._check_count()
            point_count, query_count = self._spot_check()
            counts.update(windows=len(self._ids), points=point_count, queries=query_count)
            done = Migrated(len(self._ids), point_count, query_count)
            put_migration(self._library, {"from": self._source.place, "to": self._target.place, **asdict(done)})
            put_index_address(self._library, self._target.place)
            yield done

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Lock out indexers and encoders."""
        folder = self._library.path.parent
        with hold_lock(folder, "library", LOCK_TIMEOUT_S), hold_lock(folder, "vectors", LOCK_TIMEOUT_S):
            yield

    def _pages(self) -> Iterator[list[Point]]:
        """Yield the source's points of the library's windows; it may hold other points too."""
        after: str | None = None
        while page := self._source.points(after, limit=BATCH):
            after = page[-1].id
            known_ids = self._library.places([point.id for point in page])
            if points := [point for point in page if point.id in known_ids]:
                yield points

    def _copy(self, points: Sequence[Point]) -> None:
        """Insert missing points into the target, and update different ones."""
        self._add_vector_names({name for point in points for name in point.vectors})
        targets = {point.id: point for point in self._target.get([point.id for point in points])}
        self._target.insert([point for point in points if point.id not in targets])
        existing = [point for point in points if point.id in targets]
        self._target.replace_payload({p.id: p.payload for p in existing if p.payload != targets[p.id].payload})
        for name in {name for point in existing for name in point.vectors}:
            vectors = {point.id: point.vectors[name] for point in existing if name in point.vectors}
            target_vectors = {id: targets[id].vectors.get(name) for id in vectors}
            changed = {id: vector for id, vector in vectors.items() if not same(vector, target_vectors[id], name)}
            self._target.replace_vector(name, changed)

    def _add_vector_names(self, names: set[str]) -> None:
        if new := names - self._names - {BM25}:
            layout = self._source.vectors()
            for name in sorted(new):
                self._target.add_vector(name, layout[name])
            self._names |= new

    def _delete_leftovers(self) -> None:
        """Delete points of an earlier use of the target, which belongs to this library alone."""
        after: str | None = None
        while self._target.count() > len(self._ids) and (page := self._target.points(after, limit=BATCH)):
            after = page[-1].id
            for video_id in {str(point.payload.get("video")) for point in page if point.id not in self._ids}:
                self._target.delete_videos([video_id], keep=self._target.ids(video_id) & self._ids)

    def _check_count(self) -> None:
        """Raise `index_differs` unless the target has all searchable windows of the library."""
        videos = [state.video.id for state in self._library.videos() if state.windows]
        count = sum(len(self._target.ids(video_id) & self._ids) for video_id in videos)
        expected = max(len(self._ids), self._library.counts().searchable)
        if count < expected:
            raise self._differs(_("it holds {found} of {known} windows").format(found=count, known=expected))

    def _spot_check(self) -> tuple[int, int]:
        """Compare some points and some searches, and return their numbers."""
        sample = random.sample(sorted(self._ids), min(SAMPLE, len(self._ids)))
        sources = {point.id: point for point in self._source.get(sample)}
        targets = {point.id: point for point in self._target.get(sample)}
        for id, point in sources.items():
            target = targets.get(id)
            if target is None or target.payload != point.payload:
                raise self._differs(_("the window {id} is another one").format(id=id))
            for name, vector in point.vectors.items():
                if not same(vector, target.vectors.get(name), name):
                    raise self._differs(
                        _("the vector {name} of the window {id} is another one").format(name=name, id=id)
                    )
        queries = 0
        for point in list(sources.values())[:QUERIES]:
            for name, vector in point.vectors.items():
                self._compare_search(name, vector, str(point.payload.get("video")))
                queries += 1
        return len(sources), queries

    def _compare_search(self, name: str, vector: Vector, video_id: str) -> None:
        """Search for a window's vector within its video.

        Of a sparse vector only the heaviest term is used: the terms' relative weights depend on the rest of an index.
        """
        query = heaviest(vector) if isinstance(vector, SparseVector) else vector
        rankings = [
            self._own_hits(index.search_all([VectorSearch(name, query, 4 * DEPTH, Filter(videos=(video_id,)))])[0])
            for index in (self._source, self._target)
        ]
        if not same_order(*rankings):
            raise self._differs(_("a search of {name} finds other windows").format(name=name))

    def _own_hits(self, hits: Sequence[Hit]) -> list[Hit]:
        known_ids = self._library.places([hit.id for hit in hits])
        return [hit for hit in hits if hit.id in known_ids][:DEPTH]

    def _differs(self, reason: str) -> AppError:
        return AppError("index_differs", place=self._target.place, reason=reason)


def same(first: Vector, second: Vector | None, name: str = "") -> bool:
    """Return whether two vectors of this name are equal as exactly as an index stores them.

    That is half precision, and fewer bits for pieces; dense ones may also differ in length.
    """
    if second is None or type(first) is not type(second):
        return False
    numbers, other_numbers = _numbers(first), _numbers(second)
    tolerance = (COARSE_TOLERANCE if has_parts(name) else TOLERANCE) * max(map(abs, numbers.values()), default=0.0)
    return numbers.keys() == other_numbers.keys() and all(
        math.isclose(numbers[key], other_numbers[key], rel_tol=0.0, abs_tol=tolerance) for key in numbers
    )


def _numbers(vector: Vector) -> dict[tuple[int, int], float]:
    """Return the numbers of a vector by their row and their term or place; those of dense rows have length one."""
    if isinstance(vector, SparseVector):
        return {(0, term): value for term, value in zip(vector.indices, vector.values, strict=True)}
    rows = vector.rows() if isinstance(vector, MultiVector) else [vector.values]
    return {(at, column): value for at, row in enumerate(rows) for column, value in enumerate(_unit(row))}


def _unit(values: Sequence[float]) -> list[float]:
    length = math.hypot(*values)
    return [value / length for value in values] if length else list(values)


def heaviest(vector: SparseVector) -> SparseVector:
    """Return the term of the greatest weight alone."""
    weights: Mapping[int, float] = dict(zip(vector.indices, vector.values, strict=True))
    return SparseVector((max(weights, key=lambda term: (weights[term], term)),), (1.0,)) if weights else vector


def same_order(first: Sequence[Hit], second: Sequence[Hit]) -> bool:
    """Return whether two searches found the same windows in the same order, ties aside.

    Scores are compared relative to the best one: a larger index weighs a term differently.
    """
    if len(first) != len(second):
        return False
    if not first:
        return True
    scores = {hit.id: hit.score / (first[0].score or 1.0) for hit in first}
    lowest = min(scores.values())
    for a, b in zip(first, second, strict=True):
        # a window of the second list alone can only tie with the lowest score
        if a.id != b.id and abs(scores.get(b.id, lowest) - scores[a.id]) > TOLERANCE:
            return False
    return True
