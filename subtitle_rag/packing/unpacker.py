"""`unpack`: a pack into a library, which loses nothing by it.

The pack is checked wholly before the first write. Videos are stored one by one, each with its contexts, so a run that
is killed goes on with the same command. Windows are cut from the captions by this library's own rules; contexts and
vectors of the pack are taken over for windows of the same id and text.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from subtitle_rag.captions import RULE
from subtitle_rag.domain import CaptionError, Video, VideoFailed, Window, WindowsIndexed
from subtitle_rag.indexing import INTERACTIVE_TIMEOUT_S, Indexer, windows_of_track
from subtitle_rag.library import OF_PIECES, Library, StoredVector, hold_lock
from subtitle_rag.log_file import logged_stage
from subtitle_rag.packing.pack_file import VECTORS, VIDEOS
from subtitle_rag.packing.pack_reader import PackReader
from subtitle_rag.packing.pack_records import PackedVideo
from subtitle_rag.packing.packed_vectors import PackedVectors
from subtitle_rag.retrieval.index import Index
from subtitle_rag.retrieval.index.index_document import IndexDocument

if TYPE_CHECKING:
    from subtitle_rag.retrieval.values import Vector

logger = logging.getLogger(__name__)

BATCH = 256
"""Windows whose vectors are written together."""

Step = Literal["check", "videos", "windows", "vectors"]
Encoders = Callable[[str], bool]
"""Whether this library takes the vectors of an encoder."""


@dataclass(frozen=True, slots=True)
class UnpackProgress:
    """The number of records done in a step, and their total, 0 if it is unknown."""

    step: Step
    done: int
    total: int = 0


@dataclass(frozen=True, slots=True)
class UnpackConflict:
    """Something that library and pack have in two ways; the library's stays."""

    kind: Literal["captions", "mark", "glossary"]
    name: str
    """The video's title, or the channel's id."""
    video: str | None = None


@dataclass(slots=True)
class UnpackReport:
    """The sum of an unpacking; the last event."""

    new: int = 0
    """Videos that came in with their captions."""
    known: int = 0
    """Videos with the same captions."""
    failures: list[VideoFailed] = field(default_factory=list)
    """Videos whose captions cannot be read here."""
    conflicts: list[UnpackConflict] = field(default_factory=list)
    contexts: int = 0
    contexts_kept: int = 0
    """Windows that keep this library's own context."""
    contexts_left_out: int = 0
    """Contexts of windows that are cut in another way here."""
    vectors: int = 0
    vectors_left_out: int = 0
    """Vectors of another encoder or of another text."""
    marks: int = 0
    followed: list[str] = field(default_factory=list)
    """Sources that are followed now."""
    not_followed: list[str] = field(default_factory=list)
    """Sources of the pack that are not."""
    windows: int = 0
    """Windows that became searchable."""


UnpackEvent = UnpackProgress | UnpackReport


class Unpacker:
    """Brings the content of a pack into one library and its index."""

    def __init__(self, library: Library, index: Index, indexer: Indexer, takes_vectors_of: Encoders) -> None:
        self._library = library
        self._index = index
        self._indexer = indexer
        self._takes_vectors_of = takes_vectors_of
        self._report = UnpackReport()

    def run(self, reader: PackReader, *, follow: bool = False) -> Iterator[UnpackEvent]:
        """Bring in what is missing. The caller has checked the pack by `PackReader.check`.

        Raises:
            BusyError: `library_busy`, `vectors_busy`, and the errors of library and index.
            AppError: `pack_damaged` if the file has been changed since it was checked.
        """
        self._report = report = UnpackReport()
        with logged_stage(logger, "unpack") as counts:
            # of the library itself, and in the windows of the current rule; nothing is begun yet
            yield from self._index_pending(is_interactive=True)
            with self._locked("library"):
                yield from self._put_videos(reader)
                self._put_channels(reader)
                self._put_marks(reader)
                self._put_sources(reader, follow=follow)
            yield from self._index_pending()
            late = self._library.contexts.unindexed()
            if late:
                self._indexer.add_contexts(late)
            yield from self._put_vectors(reader)
            counts.update(new=report.new, known=report.known, contexts=report.contexts, vectors=report.vectors)
        yield report

    def _locked(self, name: Literal["library", "vectors"]) -> AbstractContextManager[None]:
        return hold_lock(self._library.path.parent, name, INTERACTIVE_TIMEOUT_S)

    def _index_pending(self, *, is_interactive: bool = False) -> Iterator[UnpackProgress]:
        for event in self._indexer.finish(is_interactive=is_interactive):
            if isinstance(event, WindowsIndexed) and event.count:
                self._report.windows += event.count
                yield UnpackProgress("windows", self._report.windows)

    # Videos

    def _put_videos(self, reader: PackReader) -> Iterator[UnpackProgress]:
        total = reader.manifest.members[VIDEOS].records
        channels = dict(self._library.channels())
        for number, packed in enumerate(reader.videos(), start=1):
            # a pack renames no channel of the library
            video = replace(packed.video, channel=channels.setdefault(packed.video.channel_id, packed.video.channel))
            self._put_video(video, packed)
            yield UnpackProgress("videos", number, total)

    def _put_video(self, video: Video, packed: PackedVideo) -> None:
        track = self._library.track(video.id)
        if packed.track is None:  # of a pack of version 1
            return
        if track is None:
            try:
                windows = windows_of_track(video, packed.track, video.title)
            except CaptionError as error:
                self._report.failures.append(VideoFailed(video.id, video.title, error.code, error.details))
                return
            self._library.put_video(video, packed.track, windows, RULE, packed.details)
            self._report.new += 1
        elif track.sha256 != packed.track.sha256:
            self._report.conflicts.append(UnpackConflict("captions", video.title, video.id))
            self._report.contexts_left_out += sum(bool(context.text) for context in packed.contexts)
            return
        else:
            self._report.known += 1
        self._put_contexts(video.id, packed)

    def _put_contexts(self, video_id: str, packed: PackedVideo) -> None:
        contexts = self._library.contexts
        same = {w.id for w in self._library.windows_of(video_id) if packed.windows.get(w.id) == w.text}
        before = contexts.of_video(video_id)
        contexts.adopt(video_id, [context for context in packed.contexts if context.window_id in same])
        if packed.summary and packed.summary.text and not self._library.summaries.of([video_id]):
            self._library.summaries.put(packed.summary)
        if packed.overviews or packed.sections:
            contexts.adopt_overviews(video_id, packed.overviews, packed.sections)
        self._report.contexts += len(contexts.of_video(video_id)) - len(before)
        texts = {context.window_id: context.text for context in packed.contexts if context.text}
        self._report.contexts_left_out += len(texts.keys() - same)
        self._report.contexts_kept += sum(
            id in before and before[id].text != text for id, text in texts.items() if id in same
        )

    # What belongs to the user

    def _put_channels(self, reader: PackReader) -> None:
        contexts = self._library.contexts
        for id, glossary in reader.channels():
            present = contexts.glossary(id)
            if glossary and not present:
                contexts.put_glossary(id, glossary)
            elif glossary and present != glossary:
                self._report.conflicts.append(UnpackConflict("glossary", id))

    def _put_marks(self, reader: PackReader) -> None:
        marks = self._library.marks
        marks_by_span = {(mark.video_id, mark.start_ms, mark.end_ms): mark for mark in marks.all()}
        for mark in reader.marks():
            stored = marks_by_span.get((mark.video_id, mark.start_ms, mark.end_ms))
            if stored is None:
                self._report.marks += marks.adopt(mark)
            elif (stored.note, stored.tag) != (mark.note, mark.tag):
                self._report.conflicts.append(UnpackConflict("mark", stored.title, mark.video_id))

    def _put_sources(self, reader: PackReader, *, follow: bool) -> None:
        sources = self._library.sources
        for packed in reader.sources():
            if sources.find(packed.url) is not None:
                continue
            if not follow:
                self._report.not_followed.append(packed.url)
                continue
            sources.follow(packed.url, name=packed.name, channel_id=packed.channel_id, options=packed.options)
            self._report.followed.append(packed.url)

    # Vectors

    def _put_vectors(self, reader: PackReader) -> Iterator[UnpackProgress]:
        total = reader.manifest.members[VECTORS].records
        if not total:
            return
        with self._locked("library"), self._locked("vectors"):
            batch: list[PackedVectors] = []
            for number, packed in enumerate(reader.vectors(), start=1):
                if self._takes_vectors_of(packed.encoder):
                    batch.append(packed)
                else:
                    self._report.vectors_left_out += 1
                if len(batch) == BATCH or number == total:
                    self._put_batch(batch)
                    batch = []
                    yield UnpackProgress("vectors", number, total)
            encoder = reader.manifest.encoder
            if self._library.vectors.active() is None and encoder in self._library.vectors.encoders():
                self._library.vectors.activate(encoder)

    def _put_batch(self, batch: Sequence[PackedVectors]) -> None:
        """Write the vectors of the passages that are the same here, and note them."""
        ids = list(dict.fromkeys(packed.window_id for packed in batch))
        sources, notes = self._passage_sources(batch), self._library.vectors.stored(ids)
        layout = self._index.vectors()
        vectors_by_name: dict[str, dict[str, Vector]] = {}
        noted: dict[str, list[StoredVector]] = {}
        for packed in batch:
            note = StoredVector(packed.name, packed.encoder, packed.source)
            if note in notes.get(packed.window_id, ()):
                continue
            fits = all(layout.get(name, size) == size for name, size in packed.sizes().items())
            if sources.get((packed.window_id, OF_PIECES in packed.encoder)) != packed.source or not fits:
                self._report.vectors_left_out += 1
                continue
            for name, vector in packed.vectors.items():
                vectors_by_name.setdefault(name, {})[packed.window_id] = vector
                if name not in layout:
                    layout[name] = packed.sizes()[name]
                    self._index.add_vector(name, layout[name])
            noted.setdefault(packed.window_id, []).append(note)
            self._report.vectors += 1
        for name, vectors in vectors_by_name.items():
            self._index.replace_vector(name, vectors)
        self._library.vectors.put(noted)

    def _passage_sources(self, batch: Sequence[PackedVectors]) -> dict[tuple[str, bool], str]:
        """Return the hashes of passages and pieces of these windows, as this library has them, by id and `pieces`."""
        keys = {(packed.window_id, OF_PIECES in packed.encoder) for packed in batch}
        ids = sorted({id for id, _pieces in keys})
        stored: Mapping[str, Window] = self._library.windows(ids)
        videos = self._library.videos_by_id(*{window.video_id for window in stored.values()})
        contexts = {id: (each.key, each.text) for id, each in self._library.contexts.of_windows(ids).items()}
        documents = {
            id: IndexDocument(videos[window.video_id], [window], contexts)
            for id, window in stored.items()
            if window.video_id in videos
        }
        return {(id, pieces): documents[id].passage_source(id, pieces=pieces) for id, pieces in keys if id in documents}
