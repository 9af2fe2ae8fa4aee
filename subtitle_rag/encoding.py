"""The stage that makes the windows' neural vectors, as a resumable generator of events; lexical search needs none.

The newest videos go first. A batch is claimed, encoded, written to the index and then noted, so that a run that is
killed anywhere loses the batch under way, and a window that leaves or changes meanwhile is due again. No lock is held
that indexing or searching would wait for.

Another encoder's vectors are made beside those that are searched, under names of their own. Search turns to them when
they are whole. Until then windows that come in get vectors of the encoder that is searched first.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from subtitle_rag.errors import AppError, BusyError
from subtitle_rag.events import EncoderActive, VectorEvent, VectorsDue, VectorsMade, VectorsReport, VectorsWaiting
from subtitle_rag.library.app_state import EMBEDDED, index_address
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.locks import hold_lock
from subtitle_rag.library.store import Library
from subtitle_rag.library.vector_store import DueWindow
from subtitle_rag.log_file import counts_of, logged_stage
from subtitle_rag.platforms import wait_for
from subtitle_rag.retrieval.index import DenseVector, Index, SparseVector, Vector
from subtitle_rag.retrieval.index_document import IndexDocument
from subtitle_rag.retrieval.index_rules import BM25
from subtitle_rag.retrieval.neural import Encoded, Encoder, Models, vector_names

logger = logging.getLogger(__name__)

SMALLEST, LARGEST = 8, 256
"""Windows in a batch. A run begins with few and finds out how many take about as long as follows."""
SHORT_S, LONG_S = 0.5, 2.0
REFRESH_S = 30.0
"""Seconds after which a run asks what is due again, where something has changed: a second's work at 100,000 windows."""
PAUSE_S = 10.0
"""Between looks at contexts that are waited for."""
KEPT_UP = 0.1
"""Share of what the encoder that is searched has made, up to which it goes on while another one takes over."""

AT_WORK_S = 120
"""Seconds since a video's last context after which nobody is taken to write its contexts."""


def waiting(library: Library, encoder_id: str) -> set[str]:
    """Return the ids of the windows that wait for a context at this moment, of those that are due for an encoder."""
    return _waiting(library, library.vectors.due(encoder_id), time.time())


def _waiting(library: Library, due: Sequence[DueWindow], now: float) -> set[str]:
    """Return the due windows whose context comes soon: those of a video whose contexts are being written.

    Whoever writes them may be another process, so the contexts themselves tell. The videos that come next do not
    wait. Encoding them twice takes a hundredth of the time of writing, and without it they would be found by words
    alone for hours.
    """
    in_work = library.vectors.videos_in_work(now, AT_WORK_S)
    return {window.id for window in due if window.video_id in in_work and not window.asked}


class EncodingRun:
    """Makes an encoder's vectors in a library; one at a time works on a library.

    `models` tells whether the encoder that is searched is still here. Setting `stop` from another thread ends a run
    after the batch under way; `clock` gives Unix seconds, `pause` those between looks at contexts that are waited for.
    """

    def __init__(
        self,
        library: Library,
        index: Index,
        encoder: Encoder,
        models: Models,
        stop: threading.Event | None = None,
        *,
        clock: Callable[[], float] = time.time,
        pause: float = PAUSE_S,
    ) -> None:
        self._library = library
        self._vectors = library.vectors
        self._index = index
        self._encoder = encoder
        self._models = models
        self._stop = stop or threading.Event()
        self._clock = clock
        self._pause = pause
        self._size = SMALLEST
        self._report = VectorsReport(encoder.id)

    def run(self, selection: WindowSelection | None = None, *, patient: bool = True) -> Iterator[VectorEvent]:
        """Make what is missing. The last event is the `VectorsReport`.

        Without `patient` the run ends where all that is left waits for contexts. A failure of the encoder ends it too;
        the report tells it.

        Raises:
            BusyError: `vectors_busy`, and what the library and the index raise.
            AppError: `index_elsewhere` where the index has moved meanwhile, and what the library and the index raise.
        """
        selection = selection or WindowSelection()
        self._report = VectorsReport(self._encoder.id)
        with self._lock(), logged_stage(logger, "vectors") as counts:
            self._check_place()
            if selection.anew:
                self._vectors.redo(self._encoder.id, channels=selection.channels, videos=selection.videos)
            yield from self._activate_first()
            work = _Work(self._library, self._encoder, self._searched_encoder(), selection, self._clock)
            yield from self._make_batches(work, selection.limit, patient=patient)
            # counts know of windows that are not searchable yet; while the index is rebuilt, none is
            if not self._stop.is_set() and not self._vectors.counts(self._encoder.id).due:
                yield from self._activate_complete()
            due = work.due(self._encoder)
            self._report.left = len(due)
            self._report.waiting = len(_waiting(self._library, due, self._clock()))
            counts.update(counts_of(self._report))
        yield self._report

    def _check_place(self) -> None:
        """Vectors are noted for the index that the library has filled, whatever this process has opened."""
        filled = index_address(self._library)
        if self._library.counts().searchable and filled != self._index.place:
            raise AppError("index_elsewhere", found=filled, wanted=self._index.place)

    # Whose vectors are searched

    def _searched_encoder(self) -> Encoder | None:
        """Return the encoder that is searched, if it is another one and its files are here."""
        active = self._vectors.active()
        return self._models.encoder(active) if active not in (None, self._encoder.id) else None

    def _activate_first(self) -> Iterator[EncoderActive]:
        """Search these vectors from the first one on if no others can be searched: some are better than none."""
        self._drop_orphans()
        if self._vectors.active() != self._encoder.id and self._searched_encoder() is None:
            self._vectors.activate(self._encoder.id)
            yield EncoderActive(self._encoder.id)

    def _activate_complete(self) -> Iterator[EncoderActive]:
        """Search these vectors, which are complete; drop those that were searched before, and orphans."""
        others = [id for id in self._vectors.encoders() if id != self._encoder.id]
        if self._vectors.active() != self._encoder.id:
            self._vectors.activate(self._encoder.id, forget=others)
            yield EncoderActive(self._encoder.id)
        else:
            missing = [id for id in others if self._models.encoder(id) is None]
            if missing:
                self._vectors.activate(self._encoder.id, forget=missing)
        self._drop_orphans()

    def _drop_orphans(self) -> None:
        """Have the index drop the vectors of which the library knows nothing; not on a server, where they may be
        another library's.

        A rebuild, which brings vectors back, is not disturbed; the next run comes to them.
        """
        if self._index.place != EMBEDDED:
            return
        try:
            with hold_lock(self._library.path.with_suffix(".lock"), BusyError("library_busy", path="")):
                ids = {*self._vectors.encoders(), self._encoder.id, self._vectors.active() or self._encoder.id}
                names = {BM25, *(name for id in ids for name in vector_names(id))}
                for name in self._index.vectors().keys() - names:
                    self._index.drop_vector(name)
        except BusyError as error:
            if error.code != "library_busy":
                raise

    # Making

    def _make_batches(self, work: "_Work", limit: int | None, *, patient: bool) -> Iterator[VectorEvent]:
        announced = -1
        while not self._stop.is_set() and limit != self._report.made:
            work.look()
            total = self._report.made + work.count
            total = total if limit is None else min(total, limit)
            if total != announced:
                yield VectorsDue(total, self._encoder.id)
                announced = total
            most = self._size if limit is None else min(self._size, limit - self._report.made)
            encoder, ids = work.take(most)
            if ids:
                ids_done = self._encode_batch(encoder, ids)
                if ids_done is None and encoder is self._encoder:
                    return
                if ids_done is None:
                    work.drop_older()
                    continue
                self._report.made += len(ids_done)
                yield VectorsMade(len(ids_done), encoder.id, tuple(ids_done))
            elif not work.held or not patient:
                return
            else:
                yield VectorsWaiting(len(work.held))
                wait_for(self._stop, self._pause)
                work.outdated = True

    def _encode_batch(self, encoder: Encoder, ids: Sequence[str]) -> list[str] | None:
        """Make the vectors of these windows; return the ids that have them, or None if the encoder fails."""
        claim = self._vectors.claim(encoder.id, vector_names(encoder.id)[0], ids)
        passages, sources = self._read(ids)
        started = time.monotonic()
        try:
            encoded = encoder.passages(list(passages.values()))
        except AppError as error:
            logger.warning("%s made no vectors of %d windows", encoder.id, len(passages), exc_info=True)
            if encoder is self._encoder:
                self._report.blocked = error
            return None
        took = time.monotonic() - started
        if took < SHORT_S:
            self._size = min(2 * self._size, LARGEST)
        elif took > LONG_S:
            self._size = max(self._size // 2, SMALLEST)
        self._put(encoder, dict(zip(passages, encoded, strict=True)))
        return self._vectors.note(claim, sources)

    def _read(self, ids: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Read the passages of the windows that are there, and their sources."""
        contexts = {id: (one.key, one.text) for id, one in self._library.contexts.of_windows(ids).items()}
        there = self._library.windows(ids)
        videos = {id: self._library.video(id) for id in {window.video_id for window in there.values()}}
        passages: dict[str, str] = {}
        sources: dict[str, str] = {}
        for window in (there[id] for id in ids if id in there):
            video = videos[window.video_id]
            if video is not None:
                material = IndexDocument(video, [window], contexts)
                passages[window.id] = material.passage(window.id)
                sources[window.id] = material.passage_source(window.id)
        return passages, sources

    def _put(self, encoder: Encoder, encoded: Mapping[str, Encoded]) -> None:
        """Write to the index, and make room there first: a rebuild begins it anew."""
        dense, sparse = vector_names(encoder.id)
        lexical = {id: one.sparse for id, one in encoded.items() if one.sparse is not None}
        self._put_named(dense, encoder.dimensions, {id: one.dense for id, one in encoded.items()})
        if encoder.has_sparse:
            self._put_named(sparse, None, lexical)

    def _put_named(
        self, name: str, dimensions: int | None, vectors: Mapping[str, DenseVector] | Mapping[str, SparseVector]
    ) -> None:
        by_id: dict[str, Vector] = dict(vectors)
        self._index.add_vector(name, dimensions)
        try:
            self._index.replace_vector(name, by_id)
        except ValueError:
            if name in self._index.vectors():
                raise
            self._index.add_vector(name, dimensions)
            self._index.replace_vector(name, by_id)

    def _lock(self) -> AbstractContextManager[None]:
        """Keep a second run away, which would encode the same windows."""
        path = self._library.path
        return hold_lock(path.with_name("vectors.lock"), BusyError("vectors_busy", path=str(path.parent)))


class _Work:
    """Hold the queues of a run, as of its last look at the library."""

    def __init__(
        self,
        library: Library,
        encoder: Encoder,
        older: Encoder | None,
        selection: WindowSelection,
        clock: Callable[[], float],
    ) -> None:
        self._library = library
        self._encoder = encoder
        self._older = older
        self._selection = selection
        self._clock = clock
        self._queues: list[tuple[Encoder, deque[str]]] = []
        self._version = 0
        self._looked = 0.0
        self.outdated = True
        self.held: set[str] = set()
        """The windows that wait for a context."""

    @property
    def count(self) -> int:
        """Count the vectors that are to be made."""
        return sum(len(ids) for _encoder, ids in self._queues) + len(self.held)

    def due(self, encoder: Encoder, *, without: bool = False) -> list[DueWindow]:
        """List what is due for an encoder, within the selection."""
        channels, videos = self._selection.channels, self._selection.videos
        return self._library.vectors.due(encoder.id, channels=channels, videos=videos, without=without)

    def look(self) -> None:
        """Read what is due, if that may have changed."""
        over = not any(ids for _encoder, ids in self._queues)
        old = time.monotonic() - self._looked > REFRESH_S and self._library.version() != self._version
        if not (self.outdated or old or over):
            return
        self.outdated = False
        self._version = self._library.version()
        due = self.due(self._encoder)
        self.held = _waiting(self._library, due, self._clock())
        self._queues = [(self._encoder, deque(window.id for window in due if window.id not in self.held))]
        if self._older is not None:
            self._keep_up(self._older)
        self._looked = time.monotonic()

    def _keep_up(self, older: Encoder) -> None:
        """Queue first what has come in since the searched encoder had nearly all windows."""
        missing = self.due(older, without=True)
        _name, count = self._library.vectors.encoders().get(older.id, ("", 0))
        if missing and len(missing) <= KEPT_UP * count:
            ids = deque(window.id for window in missing if window.id not in self.held)
            self._queues.insert(0, (older, ids))

    def drop_older(self) -> None:
        """Make no more vectors of the encoder that is searched: two models may need more memory than there is."""
        self._older = None
        self.outdated = True

    def take(self, count: int) -> tuple[Encoder, list[str]]:
        """Take the next windows, at most so many, and the encoder that they are for."""
        for encoder, ids in self._queues:
            if ids:
                return encoder, [ids.popleft() for _ in range(min(count, len(ids)))]
        return self._encoder, []
