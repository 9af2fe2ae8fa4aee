"""`pack`: videos of a library into one file."""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from subtitle_rag.atomic_files import delete_file, private_file, replace_path
from subtitle_rag.captions import RULE
from subtitle_rag.domain import AppError, UsageError
from subtitle_rag.library import Library, VideoState
from subtitle_rag.log_file import logged_stage
from subtitle_rag.packing import pack_file, pack_records
from subtitle_rag.packing.pack_file import PackWriter
from subtitle_rag.packing.pack_reader import PackReader
from subtitle_rag.packing.pack_records import PackedVideo, Values
from subtitle_rag.packing.packed_vectors import vectors_values
from subtitle_rag.retrieval.batches import split_batches
from subtitle_rag.retrieval.index import Index

logger = logging.getLogger(__name__)

PAGE = 256
"""Windows whose vectors are read together."""


@dataclass(frozen=True, slots=True)
class PackSelection:
    """What goes into a pack: the videos of these channels and these videos, as far as they have captions."""

    channels: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    marks: bool = True
    vectors: bool = False


@dataclass(frozen=True, slots=True)
class PackProgress:
    """The records written so far, or checked after they were written, and their number if it is known."""

    records: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    bytes: int
    videos: int
    windows: int
    contexts: int
    marks: int
    noted_marks: int
    """Marks with a note of the user."""
    sources: int
    vectors: int
    """Windows with vectors, counted for each encoder."""


class Packer:
    """Writes packs. Without an index no vectors are written."""

    def __init__(self, library: Library, index: Index | None = None) -> None:
        self._library = library
        self._index = index
        self._counts: Counter[str] = Counter()
        """Records by member, and what else `Packed` counts."""

    def run(self, path: Path, selection: PackSelection) -> Iterator[PackProgress | Packed]:
        """Write a pack and check it; the file appears when it is complete. The last event is `Packed`.

        Raises:
            UsageError: `nothing_to_pack`.
            AppError: `unwritable`, `pack_damaged`, and the failures of library and index.
        """
        states = self._states(selection)
        if not states:
            raise UsageError("nothing_to_pack")
        part = path.with_name(f"{path.name}.part")
        self._counts.clear()
        with logged_stage(logger, "pack") as counts:
            try:
                delete_file(part)
                private_file(part)
                with part.open("r+b") as file:
                    with closing(PackWriter(file)) as writer:
                        yield from self._write(writer, states, selection)
                    file.flush()
                    os.fsync(file.fileno())
                size, total = part.stat().st_size, self._records()
                with closing(PackReader(part)) as reader:
                    for count in reader.check():
                        yield PackProgress(count, total)
                replace_path(part, path)
            except OSError as error:
                raise AppError("unwritable", path=str(path), reason=error.strerror or str(error)) from error
            finally:
                _discard(part)
            packed = Packed(
                bytes=size,
                videos=self._counts[pack_file.VIDEOS],
                windows=self._counts["windows"],
                contexts=self._counts["contexts"],
                marks=self._counts[pack_file.MARKS],
                noted_marks=self._counts["noted_marks"],
                sources=self._counts[pack_file.SOURCES],
                vectors=self._counts[pack_file.VECTORS],
            )
            counts.update(videos=packed.videos, windows=packed.windows)
        yield packed

    def _states(self, selection: PackSelection) -> list[VideoState]:
        return [
            state
            for state in self._library.videos()
            if state.windows and (state.video.channel_id in selection.channels or state.video.id in selection.videos)
        ]

    def _write(
        self, writer: PackWriter, states: Sequence[VideoState], selection: PackSelection
    ) -> Iterator[PackProgress]:
        ids = [state.video.id for state in states]
        members: list[tuple[str, Iterator[Values]]] = [
            (pack_file.VIDEOS, self._videos(states)),
            (pack_file.CHANNELS, self._channels(states)),
            (pack_file.MARKS, self._marks(ids, selection)),
            (pack_file.SOURCES, self._sources(states, selection)),
        ]
        with self._snapshot():
            for name, records in members:
                yield from self._write_member(writer, name, records)
        vectors = self._vectors(ids, self._index) if selection.vectors and self._index is not None else iter(())
        yield from self._write_member(writer, pack_file.VECTORS, vectors)
        encoder = self._library.vectors.active() if self._counts[pack_file.VECTORS] else None
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        writer.finish(made_at=made_at, rule=RULE, encoder=encoder or "")

    def _write_member(self, writer: PackWriter, name: str, records: Iterator[Values]) -> Iterator[PackProgress]:
        for _record in writer.write(name, records):
            self._counts[name] += 1
            yield PackProgress(self._records())

    def _records(self) -> int:
        return sum(self._counts[name] for name in pack_file.MEMBERS)

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read one state of the library, whatever others write meanwhile."""
        with self._library.database.read() as db:
            db.execute("BEGIN")
            try:
                yield
            finally:
                db.execute("ROLLBACK")

    def _videos(self, states: Sequence[VideoState]) -> Iterator[Values]:
        contexts = self._library.contexts
        for state in states:
            video = self._library.video(state.video.id)
            track = self._library.track(state.video.id)
            if video is None or track is None:
                continue
            windows = self._library.windows_of(video.id)
            packed = PackedVideo(
                video,
                self._library.details(video.id),
                track,
                contexts=contexts.all_valid(video.id),
                overviews=contexts.overviews(video.id),
                sections=contexts.sections_of(video.id),
                summary=self._library.summaries.get(video.id),
            )
            self._counts["windows"] += len(windows)
            self._counts["contexts"] += sum(bool(context.text) for context in packed.contexts)
            yield pack_records.video_values(packed, windows)

    def _channels(self, states: Sequence[VideoState]) -> Iterator[Values]:
        names = {state.video.channel_id: state.video.channel for state in states}
        for id, name in names.items():
            if glossary := self._library.contexts.glossary(id):
                yield pack_records.channel_values(id, name, glossary)

    def _marks(self, ids: Sequence[str], selection: PackSelection) -> Iterator[Values]:
        if not selection.marks:
            return
        for mark in self._library.marks.of_videos(ids):
            self._counts["noted_marks"] += bool(mark.note)
            yield pack_records.mark_values(mark)

    def _sources(self, states: Sequence[VideoState], selection: PackSelection) -> Iterator[Values]:
        channels = {state.video.channel_id for state in states} & set(selection.channels)
        for source in self._library.sources.followed():
            if source.channel_id in channels:
                yield pack_records.source_values(source)

    def _vectors(self, ids: Sequence[str], index: Index) -> Iterator[Values]:
        """Read the vectors whose notes are the same before and after: another run may write them meanwhile."""
        for video_id in ids:
            windows = [window.id for window in self._library.windows_of(video_id)]
            for page in split_batches(windows, PAGE):
                notes = self._library.vectors.stored(page)
                points = {point.id: point for point in index.get_neural(list(notes))} if notes else {}
                notes_after = self._library.vectors.stored(page)
                for id in page:
                    for note in notes.get(id, ()):
                        if id in points and note in notes_after.get(id, ()):
                            values = vectors_values(points[id], note.encoder, note.source)
                            if values is not None:
                                yield values


def _discard(part: Path) -> None:
    try:
        delete_file(part)
    except OSError:
        logger.info("a part of a pack stays", exc_info=True)
