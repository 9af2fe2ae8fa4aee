"""From one index to another: the library's windows with all their vectors, copied, compared, and tried.

What is copied is judged point by point: one that is missing is inserted, one that differs is made the same. So a run
that was ended goes on when it is made again, and what other libraries have in a shared index stays as it is.
"""

import logging
import math
import random
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.i18n import _
from subtitle_rag.library.app_state import EMBEDDED, INDEX
from subtitle_rag.library.locks import hold_lock
from subtitle_rag.library.store import Library
from subtitle_rag.log_file import logged_stage
from subtitle_rag.retrieval.index import DenseVector, Filter, Hit, Index, Point, SparseVector, Vector
from subtitle_rag.retrieval.index_rules import BM25

logger = logging.getLogger(__name__)

logger = logging.getLogger(__name__)

BATCH = 256
SAMPLE = 50
"""Points that are compared at the end."""
QUERIES = 5
"""Of them, those whose vectors are searched for in both indexes."""
DEPTH = 20
HALF = 2e-3
"""What half precision may change of a number, relative to the greatest of its vector or list: twice 2⁻¹⁰."""
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Copied:
    """So many of the library's windows have been seen to, of so many."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Migrated:
    """The index has moved: how many windows there are, and how many points and searches were compared."""

    windows: int
    points: int
    queries: int


class Migration:
    """Takes a library's index from one place to another. Nobody else fills it while it runs."""

    def __init__(self, library: Library, source: Index, target: Index) -> None:
        self._library = library
        self._source = source
        self._target = target
        self._names: set[str] = set()
        self._own: set[str] = set()

    def run(self) -> Generator[Copied | Migrated, None, None]:
        """Copy, compare, and note the new place in the library; the last event is `Migrated`.

        Raises:
            AppError: `index_differs`; the library's place is the old one then.
            BusyError: `library_busy`, `vectors_busy`, and what the library and the indexes raise.
        """
        with self._working(), logged_stage(logger, "migration") as counts:
            total = self._library.counts().searchable
            for own in self._windows():
                self._take(own)
                self._own.update(point.id for point in own)
                yield Copied(len(self._own), max(len(self._own), total))
            if self._target.place == EMBEDDED:
                self._drop_strangers()
            self._count()
            points, queries = self._spot_check()
            counts.update(windows=len(self._own), points=points, queries=queries)
            self._library.database.put_setting(INDEX, self._target.place)
            yield Migrated(len(self._own), points, queries)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Keep indexers away from the library, and who makes its neural vectors."""
        path = self._library.path
        busy = [BusyError(code, path=str(path.parent)) for code in ("library_busy", "vectors_busy")]
        locks = (path.with_suffix(".lock"), path.with_name("vectors.lock"))
        with hold_lock(locks[0], busy[0], PATIENCE_S), hold_lock(locks[1], busy[1], PATIENCE_S):
            yield

    def _windows(self) -> Iterator[list[Point]]:
        """The source's points that are windows of the library; there may be others' in it, and some that are to go."""
        after: str | None = None
        while page := self._source.points(after, limit=BATCH):
            after = page[-1].id
            known = self._library.places([point.id for point in page])
            own = [point for point in page if point.id in known]
            if own:
                yield own

    def _take(self, own: Sequence[Point]) -> None:
        """Make the target hold these points as they are."""
        self._make_room({name for point in own for name in point.vectors})
        there = {point.id: point for point in self._target.get([point.id for point in own])}
        self._target.insert([point for point in own if point.id not in there])
        late = [point for point in own if point.id in there]
        self._target.replace_payload({p.id: p.payload for p in late if p.payload != there[p.id].payload})
        for name in {name for point in late for name in point.vectors}:
            vectors = {point.id: point.vectors[name] for point in late if name in point.vectors}
            changed = {id: vector for id, vector in vectors.items() if not same(vector, there[id].vectors.get(name))}
            self._target.replace_vector(name, changed)

    def _make_room(self, names: set[str]) -> None:
        if new := names - self._names - {BM25}:
            room = self._source.vectors()
            for name in sorted(new):
                self._target.add_vector(name, room[name])
            self._names |= new

    def _drop_strangers(self) -> None:
        """Points that an earlier time has left in the embedded index, which is the library's alone."""
        after: str | None = None
        while self._target.count() > len(self._own) and (page := self._target.points(after, limit=BATCH)):
            after = page[-1].id
            for video_id in {str(point.payload.get("video")) for point in page if point.id not in self._own}:
                self._target.delete_video(video_id, keep=self._target.ids(video_id) & self._own)

    def _count(self) -> None:
        """Raises `index_differs` unless the target holds all that the library takes for searchable."""
        videos = [state.video.id for state in self._library.videos() if state.windows]
        found = sum(len(self._target.ids(video_id) & self._own) for video_id in videos)
        known = max(len(self._own), self._library.counts().searchable)
        if found < known:
            raise self._differs(_("it holds {found} of {known} windows").format(found=found, known=known))

    def _spot_check(self) -> tuple[int, int]:
        """Compare some points, and what some searches find; how many of each."""
        chosen = random.sample(sorted(self._own), min(SAMPLE, len(self._own)))
        source = {point.id: point for point in self._source.get(chosen)}
        target = {point.id: point for point in self._target.get(chosen)}
        for id, point in source.items():
            other = target.get(id)
            if other is None or other.payload != point.payload:
                raise self._differs(_("the window {id} is another one").format(id=id))
            for name, vector in point.vectors.items():
                if not same(vector, other.vectors.get(name)):
                    raise self._differs(
                        _("the vector {name} of the window {id} is another one").format(name=name, id=id)
                    )
        queries = 0
        for point in list(source.values())[:QUERIES]:
            for name, vector in point.vectors.items():
                queries += self._compare_search(name, vector, str(point.payload.get("video")))
        return len(source), queries

    def _compare_search(self, name: str, vector: Vector, video_id: str) -> int:
        """Search for a window's vector among its video's windows; of a sparse one for its weightiest term, since how
        terms weigh against each other hangs on what else an index holds."""
        query = heaviest(vector) if isinstance(vector, SparseVector) else vector
        where = Filter(videos=(video_id,))
        lists = [
            self._known(index.search(name, query, limit=4 * DEPTH, where=where, payload=()))
            for index in (self._source, self._target)
        ]
        if not same_order(*lists):
            raise self._differs(_("a search of {name} finds other windows").format(name=name))
        return 1

    def _known(self, hits: Sequence[Hit]) -> list[Hit]:
        known = self._library.places([hit.id for hit in hits])
        return [hit for hit in hits if hit.id in known][:DEPTH]

    def _differs(self, reason: str) -> AppError:
        return AppError("index_differs", place=self._target.place, reason=reason)


def same(one: Vector, other: Vector | None) -> bool:
    """Whether two vectors are the same but for half precision; dense ones for their length too."""
    if isinstance(one, DenseVector) and isinstance(other, DenseVector):
        return _close(_unit(one.values), _unit(other.values))
    if isinstance(one, SparseVector) and isinstance(other, SparseVector):
        first = dict(zip(one.indices, one.values, strict=True))
        second = dict(zip(other.indices, other.values, strict=True))
        return first.keys() == second.keys() and _close(first.values(), [second[term] for term in first])
    return False


def _close(one: Iterable[float], other: Iterable[float]) -> bool:
    first, second = list(one), list(other)
    greatest = max(map(abs, first), default=0.0)
    return len(first) == len(second) and all(
        math.isclose(a, b, rel_tol=0.0, abs_tol=HALF * greatest) for a, b in zip(first, second, strict=True)
    )


def _unit(values: Sequence[float]) -> list[float]:
    length = math.hypot(*values)
    return [value / length for value in values]


def heaviest(vector: SparseVector) -> SparseVector:
    """The term that weighs the most, alone."""
    weights: Mapping[int, float] = dict(zip(vector.indices, vector.values, strict=True))
    return SparseVector((max(weights, key=lambda term: (weights[term], term)),), (1.0,)) if weights else vector


def same_order(one: Sequence[Hit], other: Sequence[Hit]) -> bool:
    """Whether two searches have found the same windows in the same order; what scores the same may change places.

    Scores are compared as parts of the best one: an index that holds more weighs a term differently.
    """
    if len(one) != len(other):
        return False
    if not one:
        return True
    first = {hit.id: hit.score / (one[0].score or 1.0) for hit in one}
    last = min(first.values())
    for a, b in zip(one, other, strict=True):
        # one that only the other list has can only tie with the last
        if a.id != b.id and abs(first.get(b.id, last) - first[a.id]) > HALF:
            return False
    return True
