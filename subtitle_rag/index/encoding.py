"""Stage of the windows' neural vectors, a resumable generator of events; lexical search needs none.

Windows on the screen go first, then the newest videos. A batch is claimed, encoded, written to the index and then
recorded, so a killed run loses only the current batch, and a window removed or changed meanwhile is due again. Indexing
and searching never wait for this stage.

A new encoder's vectors get their own names, and search switches to them when they are complete. Until then new windows
are found by their words.

Vectors of pieces, if the encoder makes them, follow those of all windows, in the same way and with their own records: a
window without them is searched by its own vector.
"""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.domain.events import VectorEvent, VectorsReport
from subtitle_rag.base.domain.progress import Pace, Progress, ProgressStage
from subtitle_rag.base.i18n import _
from subtitle_rag.base.log_file import counts_of, logged_stage
from subtitle_rag.base.platforms import wait_for
from subtitle_rag.base.vectors.named_vectors import (
    BM25,
    piece_id,
    pieces_name,
    vector_names,
)
from subtitle_rag.base.vectors.points import MultiVector, Vector
from subtitle_rag.index.index_document import IndexDocument
from subtitle_rag.index.interface import Index
from subtitle_rag.library.app_state import index_address
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.store import Library
from subtitle_rag.library.vector_store import DueWindow
from subtitle_rag.models.neural.calibration import calibration_of
from subtitle_rag.models.neural.protocols import Encoded, Encoder, Models, main_name

logger = logging.getLogger(__name__)

SMALLEST, LARGEST = 8, 256
"""Windows in a batch; the size adapts to the speed, between these limits."""
SHORT_S, LONG_S = 0.5, 2.0
REFRESH_S = 30.0
"""Seconds before the due windows are read again after a change, which takes a second at 100,000 windows."""
PAUSE_S = 10.0
"""Seconds between two checks for awaited contexts."""

PIECE_COPY = 1 / 8
"""Size of pieces relative to other vectors, since their numbers are bytes."""
PIECE_SAMPLE = 200
"""Windows whose pieces are counted for an estimate."""
AT_WORK_S = 120
"""Seconds after a video's last context before its contexts count as paused."""


@dataclass(frozen=True, slots=True)
class PieceCost:
    """Cost of vectors of pieces, estimated from a sample of the library."""

    bytes: int
    """Bytes per 1,000 windows."""
    pieces: float
    """Mean number of pieces per window."""
    letters: float
    """Letters to encode relative to the windows' passages: about how much longer it takes."""


def piece_cost(library: Library, encoder: Encoder) -> PieceCost | None:
    """Return the cost of an encoder's vectors of pieces; None if it makes none, or there are no windows."""
    windows = library.windows(library.vectors.sample(PIECE_SAMPLE)) if encoder.has_pieces else {}
    if not windows:
        return None
    contexts = {id: (context.key, context.text) for id, context in library.contexts.of_windows(list(windows)).items()}
    videos = library.videos_by_id(*{window.video_id for window in windows.values()})
    count = letters = passage_letters = 0
    for id, window in windows.items():
        document = IndexDocument(videos[window.video_id], [window], contexts)
        pieces = document.pieces(id)
        count += len(pieces)
        letters += sum(map(len, pieces))
        passage_letters += len(document.passage(id))
    packed = 1_000 * count / len(windows) * encoder.dimensions * (1 + PIECE_COPY)
    return PieceCost(round(packed), count / len(windows), letters / max(1, passage_letters))


@dataclass(frozen=True, slots=True)
class EncodingPass:
    """One pass over the windows: an encoder's vectors of their passages or, with `pieces`, of their pieces."""

    encoder: Encoder
    pieces: bool = False

    @property
    def id(self) -> str:
        """Return the id under which the library records its vectors."""
        return piece_id(self.encoder.id) if self.pieces else self.encoder.id

    @property
    def name(self) -> str:
        """Return the named vector that this pass gives to every window."""
        return pieces_name(self.id) if self.pieces else main_name(self.encoder)


def waiting(library: Library, encoder_id: str) -> set[str]:
    """Return the ids of an encoder's due windows that wait for a context."""
    return _waiting(library, library.vectors.due(encoder_id), time.time())


def _waiting(library: Library, windows: Sequence[DueWindow], now: float) -> set[str]:
    """Return the due windows of videos whose contexts are being written.

    The writer may be another process, so the times of the contexts decide. The next videos do not wait: encoding them
    twice takes a hundredth of the time of writing, and otherwise they would have no vectors for hours.
    """
    in_work = library.vectors.videos_in_work(now, AT_WORK_S)
    return {window.id for window in windows if window.video_id in in_work and not window.asked}


class EncodingRun:
    """Makes an encoder's vectors in a library, one run at a time.

    `models` has the encoder of the searched vectors. Setting `stop` from another thread ends a run after the current
    batch; `clock` returns Unix seconds, `pause` is the wait between two checks for contexts. The windows from
    `windows_on_screen` go first.
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
        windows_on_screen: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._shown = windows_on_screen
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
        """Make the missing vectors. The last event is the `VectorsReport`.

        Without `patient` the run ends when all pending windows wait for contexts. A failure of the encoder ends it and
        is part of the report.

        Raises:
            BusyError: `busy`, and the errors of library and index.
            AppError: `index_elsewhere` if the index has moved, and the errors of library and index.
        """
        selection = selection or WindowSelection()
        self._report = VectorsReport(self._encoder.id)
        with hold_lock(self._library.path.parent, "vectors"), logged_stage(logger, "vectors") as counts:
            self._check_place()
            if selection.redo:
                for id in (self._encoder.id, piece_id(self._encoder.id)):
                    self._vectors.redo(id, selection)
            if not self._encoder.has_pieces:
                self._vectors.forget_pieces(self._encoder.id)
            self._activate_first()
            work = _Work(self._library, self._encoder, selection, self._clock, self._shown)
            yield from self._make_batches(work, selection.limit, patient=patient)
            if not self._stop.is_set():
                self._activate_complete(work)
            windows = work.due(work.main)
            self._report.failed = len(work.failed[False])
            self._report.left = len(windows)
            self._report.waiting = len(_waiting(self._library, windows, self._clock()))
            self._report.pieces_left = len(work.due(work.pieces)) if work.pieces else 0
            counts.update(counts_of(self._report))
        yield self._report

    def _check_place(self) -> None:
        """Check that this process has opened the index that the library has filled."""
        filled = index_address(self._library)
        if self._library.counts().searchable and filled != self._index.place:
            raise AppError("index_elsewhere", found=filled, wanted=self._index.place)

    # The searched vectors

    def _activate_first(self) -> None:
        """Search these vectors from the first one on if no others can be searched."""
        self._drop_orphans()
        active = self._vectors.active()
        if active is None or (active != self._encoder.id and self._models.encoder(active) is None):
            self._vectors.activate(self._encoder.id)

    def _activate_complete(self, work: "_Work") -> None:
        """Search these vectors if they are complete; drop the earlier ones and orphans."""
        # counts include windows not searchable yet; during a rebuild of the index, none is
        if self._vectors.counts(self._encoder.id).due > len(work.failed[False]):
            return
        older = [id for id in self._vectors.encoders() if id != self._encoder.id]
        if self._vectors.active() != self._encoder.id:
            self._vectors.activate(self._encoder.id, forget=older)
        else:
            missing = [id for id in older if self._models.encoder(id) is None]
            if missing:
                self._vectors.activate(self._encoder.id, forget=missing)
        self._drop_orphans()

    def _drop_orphans(self) -> None:
        """Drop the index's vectors that the library lacks.

        During a rebuild, which restores vectors, leave this to the next run.
        """
        try:
            with hold_lock(self._library.path.parent, "library"):
                ids = {*self._vectors.encoders(), self._encoder.id, self._vectors.active() or self._encoder.id}
                names = {BM25, *(name for id in ids for name in self._names(id))}
                for name in self._index.vectors().keys() - names:
                    self._index.drop_vector(name)
        except BusyError as error:
            if error.details.get("lock") != "library":
                raise

    def _names(self, id: str) -> Iterator[str]:
        """Yield the named vectors of an encoder, without pieces if they are not wanted."""
        yield from vector_names(id)
        if id != self._encoder.id or self._encoder.has_pieces:
            yield pieces_name(id)

    # Batches

    def _make_batches(self, work: "_Work", limit: int | None, *, patient: bool) -> Iterator[Progress]:
        # the first batch of all says nothing of the rate: the model loads before it
        paces = {False: Pace(), True: Pace()}
        has_pieces = False
        shown: Progress | None = None
        while not self._stop.is_set() and limit != self._report.made + self._report.pieces:
            work.refresh()
            has_pieces = work.upcoming.pieces if work.upcoming else has_pieces
            if has_pieces and self._vectors.active() != self._encoder.id:
                self._activate_complete(work)
            rest = math.inf if limit is None else limit - self._report.made - self._report.pieces
            progress = self._progress(work, rest, paces[has_pieces], pieces=has_pieces)
            if progress != shown:
                yield progress
                shown = progress
            must_wait = self._encoder.must_wait
            current, ids = work.take(0 if must_wait else int(min(self._size, rest)))
            if ids:
                count = self._encode_batch(work, current, ids)
                if count is None:
                    return
                if current.pieces:
                    self._report.pieces += count
                else:
                    self._report.made += count
                paces[current.pieces].add(count)
                paces[not current.pieces].start()
                shown = self._progress(work, rest - count, paces[current.pieces], pieces=current.pieces)
                yield shown
            elif not patient or not (must_wait or work.waiting):
                return
            else:
                yield replace(progress, activity=_("waiting for contexts"))
                wait_for(self._stop, self._pause)
                work.outdated = True
                for pace in paces.values():
                    pace.pause()

    def _progress(self, work: "_Work", rest: float, pace: Pace, *, pieces: bool) -> Progress:
        """Return the windows of this run, done and due, with at most `rest` of the due ones."""
        done = self._report.pieces if pieces else self._report.made
        due = int(min(work.count(pieces=pieces), rest))
        stage: ProgressStage = "pieces" if pieces else "vectors"
        model = self._encoder.id.partition("@")[0]
        return Progress(stage, done, done + due, model, rate=pace.rate, left_s=pace.left_s(due))

    def _encode_batch(self, work: "_Work", current: EncodingPass, ids: Sequence[str]) -> int | None:
        """Make the vectors of these windows; return how many got them, or None if the encoder fails."""
        encoder = current.encoder
        claim = self._vectors.claim(current.id, current.name, ids)
        texts, sources = self._read(ids, pieces=current.pieces)
        started = time.monotonic()
        try:
            encoded = iter(encoder.passages([text for window_parts in texts.values() for text in window_parts]))
        except AppError as error:
            logger.warning("%s made no vectors of %d windows", current.id, len(texts), exc_info=True)
            self._report.blocked = error
            return None
        took = time.monotonic() - started
        if took < SHORT_S:
            self._size = min(2 * self._size, LARGEST)
        elif took > LONG_S:
            self._size = max(self._size // 2, SMALLEST)
        parts = {
            id: [part for part in islice(encoded, len(window_parts)) if part is not None]
            for id, window_parts in texts.items()
        }
        vectors = {id: window_parts for id, window_parts in parts.items() if len(window_parts) == len(texts[id])}
        if current.pieces:
            rows = {
                id: MultiVector.of([part.dense.values for part in window_parts]) for id, window_parts in vectors.items()
            }
            self._put_named(current.name, encoder.dimensions, rows)
        else:
            self._put(encoder, {id: passage for id, [passage] in vectors.items()})
        if vectors:
            self._calibrate()
        work.failed[current.pieces] |= texts.keys() - vectors.keys()
        self._report.cut += 0 if current.pieces else sum(passage.is_cut for [passage] in vectors.values())
        return len(self._vectors.note(claim, {id: sources[id] for id in vectors}))

    def _calibrate(self) -> None:
        """Calibrate the encoder at its first use, so that the first search need not wait for it."""
        try:
            calibration_of(self._library, self._encoder)
        except AppError:  # left to the search
            logger.warning("%s is not calibrated", self._encoder.id, exc_info=True)

    def _read(self, ids: Sequence[str], *, pieces: bool) -> tuple[dict[str, list[str]], dict[str, str]]:
        """Return the passages of the existing windows, or their pieces, and the hashes."""
        contexts = {id: (context.key, context.text) for id, context in self._library.contexts.of_windows(ids).items()}
        windows = self._library.windows(ids)
        videos = self._library.videos_by_id(*{window.video_id for window in windows.values()})
        texts: dict[str, list[str]] = {}
        sources: dict[str, str] = {}
        for id in ids:
            window = windows.get(id)
            if window is not None and window.video_id in videos:
                document = IndexDocument(videos[window.video_id], [window], contexts)
                texts[id] = document.pieces(id) if pieces else [document.passage(id)]
                sources[id] = document.passage_source(id, pieces=pieces)
        return texts, sources

    def _put(self, encoder: Encoder, encoded: Mapping[str, Encoded]) -> None:
        """Write vectors to the index, after adding their names: a rebuild starts with an empty index."""
        dense, sparse = vector_names(encoder.id)
        if encoder.dimensions:
            self._put_named(dense, encoder.dimensions, {id: vectors.dense for id, vectors in encoded.items()})
        if encoder.has_sparse:
            terms = {id: vectors.sparse for id, vectors in encoded.items() if vectors.sparse is not None}
            self._put_named(sparse, None, terms)

    def _put_named(self, name: str, dimensions: int | None, vectors: Mapping[str, Vector]) -> None:
        self._index.add_vector(name, dimensions)
        try:
            self._index.replace_vector(name, vectors)
        except ValueError:
            if name in self._index.vectors():
                raise
            self._index.add_vector(name, dimensions)
            self._index.replace_vector(name, vectors)


class _Work:
    """The queues of a run."""

    def __init__(
        self,
        library: Library,
        encoder: Encoder,
        selection: WindowSelection,
        clock: Callable[[], float],
        windows_on_screen: Callable[[], Sequence[str]],
    ) -> None:
        self._library = library
        self._shown = windows_on_screen
        self.main = EncodingPass(encoder)
        self.pieces = EncodingPass(encoder, pieces=True) if encoder.has_pieces else None
        self._selection = selection
        self._clock = clock
        self._queues: list[tuple[EncodingPass, deque[str]]] = []
        self._version = 0
        self._refreshed_at = 0.0
        self.outdated = True
        self.waiting: set[str] = set()
        """The windows that wait for a context."""
        self.failed: dict[bool, set[str]] = {False: set(), True: set()}
        """The windows that the encoder could not read, whole and in pieces."""

    @property
    def upcoming(self) -> EncodingPass | None:
        """The pass of the next windows; None if none are left."""
        return next((current for current, ids in self._queues if ids), None)

    def count(self, *, pieces: bool) -> int:
        """Return how many windows are left, including waiting ones."""
        return sum(len(ids) for current, ids in self._queues if current.pieces == pieces) + len(self.waiting)

    def due(self, current: EncodingPass) -> list[DueWindow]:
        """List the due windows of a pass, within the selection."""
        return self._library.vectors.due(current.id, self._selection)

    def refresh(self) -> None:
        """Read the due windows after a change."""
        over = not any(ids for _pass, ids in self._queues)
        old = time.monotonic() - self._refreshed_at > REFRESH_S and self._library.version() != self._version
        if not (self.outdated or old or over):
            return
        self.outdated = False
        self._version = self._library.version()
        windows_by_pass = {current: self.due(current) for current in (self.main, self.pieces) if current}
        self.waiting = _waiting(self._library, [*chain(*windows_by_pass.values())], self._clock())
        self._queues = [
            (current, deque(w.id for w in windows if w.id not in self.waiting | self.failed[current.pieces]))
            for current, windows in windows_by_pass.items()
        ]
        self._refreshed_at = time.monotonic()

    def take(self, count: int) -> tuple[EncodingPass, list[str]]:
        """Take the next windows, at most `count`, and their pass."""
        for current, ids in self._queues:
            if ids and count:
                first = [id for id in self._shown() if id in ids][:count]
                for id in first:
                    ids.remove(id)
                return current, first + [ids.popleft() for _ in range(min(count - len(first), len(ids)))]
        return self.main, []
