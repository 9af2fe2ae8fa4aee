"""Captions → windows → `bm25` vectors, as a resumable generator of events; `fetching` downloads captions from YouTube.

Both stages resume: captions commit per video; vectors are made in batches for windows without any, and recorded once
the index has them on disk. A run stopped at any point leaves work to do, never work to undo.
"""

import logging
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

from subtitle_rag.base.domain.errors import AppError, BusyError, CaptionError, UsageError
from subtitle_rag.base.domain.events import (
    FileNotice,
    Found,
    IndexEvent,
    IndexReport,
    VideoDone,
    VideoFailed,
    WindowsIndexed,
)
from subtitle_rag.base.domain.values import Details, Morphemes, Track, Video, Window
from subtitle_rag.base.log_file import counts_of, logged_stage
from subtitle_rag.base.vectors.batches import split_batches
from subtitle_rag.base.vectors.named_vectors import BM25
from subtitle_rag.base.vectors.points import Point
from subtitle_rag.captions import files
from subtitle_rag.captions.films import printable_path
from subtitle_rag.captions.formats import suffix_list
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.index.analysis_ahead import AnalysisAhead
from subtitle_rag.index.index_document import IndexDocument, to_payload
from subtitle_rag.index.interface import Index, StagedIndex, StagingIndex
from subtitle_rag.index.server_terms import server_address
from subtitle_rag.index.vector_backup import VectorBackup, backup_path
from subtitle_rag.korean.morphemes import ANALYZER, DEFAULT_PARAMS, Bm25Params, TextMorphemes
from subtitle_rag.library.app_state import index_address, put_index_address, put_run_progress
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.store import ALL, Library
from subtitle_rag.library.vector_store import StoredVector

logger = logging.getLogger(__name__)

BATCH = 128
"""Windows written together; twice as many cost no less."""

LAST_BATCH = 32
"""Windows per batch once all captions are read: one core idles while the last windows are written."""

REMOVALS = 250
"""Videos removed together: one transaction, one deletion from the index."""

BACKGROUND_TIMEOUT_S = 600
"""Longest wait of background work for another indexer, which has finished by then or takes very long."""

INTERACTIVE_TIMEOUT_S = 5.0
"""Longest wait of a user's command for another indexer: enough for one context, not for a whole run."""

_RUN_ENDING_ERRORS = (AppError, OSError, MemoryError)
"""Failures of the library or the machine, not of a video."""

Discovered = files.CaptionGroup | VideoFailed
LeftOut = list[tuple[files.CaptionFile, files.CaptionFile]]
VideoWindows = tuple[Video, list[Window]]
E = TypeVar("E", bound=VideoDone | VideoFailed | FileNotice)


def find_captions(
    sources: Sequence[Path],
    *,
    languages: Sequence[str] = ("ko",),
    since: date | None = None,
    limit: int | None = None,
) -> tuple[list[Discovered], list[FileNotice]]:
    """Return the videos of caption files and folders, and notices of the files left out; write nothing.

    Raises:
        UsageError: `unsupported_source`, `no_caption_files`, or the notice's code if there is nothing else.
    """
    notices: list[FileNotice] = []
    entries: list[Discovered] = []
    for entry in files.discover(sources, languages=languages):
        (notices if isinstance(entry, FileNotice) else entries).append(entry)  # type: ignore[arg-type]
    if not entries and notices:
        notice = max(notices, key=lambda notice: sum(notice.details["counts"].values()))
        raise UsageError(notice.code, **notice.details)
    if not entries:
        path = ", ".join(map(printable_path, sources))
        raise UsageError("no_caption_files", path=path, formats=suffix_list())
    return _select(entries, since, limit), notices


@dataclass(frozen=True, slots=True)
class _IndexedVideo:
    """A searchable video with its windows' morphemes, cached while contexts arrive.

    `transcript` is the version of the captions.
    """

    transcript: str
    document: IndexDocument
    analyses: list[Morphemes]


@dataclass(frozen=True, slots=True)
class _Staging:
    """A staged index, with its neural vectors by window, which the library records at the adoption."""

    index: StagedIndex
    vectors: dict[str, list[StoredVector]]


class KnownFiles:
    """The library's videos of caption files, by path and by content: a moved file is the same video."""

    def __init__(self, library: Library) -> None:
        self._ids: dict[str, str] = {}
        self._sources: dict[str, str | None] = {}
        self._by_content: dict[str, list[str]] = {}
        for id, source, sha256 in library.files():
            self._sources[id] = source
            self._by_content.setdefault(sha256, []).append(id)
            if source:
                self._ids[source] = id

    def by_place(self, video: Video) -> Video:
        """Return the video with the id that its path has in the library.

        If a video has moved away from the path, it keeps that id, and a new file there gets its own.
        """
        assert video.source is not None
        known_id = self._ids.get(video.source)
        if known_id is not None:
            return replace(video, id=known_id)
        source = self._sources.get(video.id)
        if source is None or video.url or files.same_place(source, video.source):
            return video
        return replace(video, id=files.other_id(video.id, video.source))

    def of_own(self, group: files.CaptionGroup, video: Video, sha256: str) -> Video:
        """Return a video with its own id if its id belongs to another existing file.

        A word in a name may look like a YouTube id. Copies, and files found in the same run, are one video.
        """
        source = self._sources.get(video.id)
        if source is None or video.source is None or video.id in self._by_content.get(sha256, ()):
            return video
        beside = {printable_path(file.path) for file in group.candidates}
        if source in beside or files.is_gone(source) or files.same_place(source, video.source):
            return video
        return replace(video, id=files.other_id(video.id, video.source))

    def moved(self, video: Video, sha256: str) -> Video:
        """Return a video new to the library under the id of one with the same content whose file is missing."""
        if video.id in self._sources or not video.id.startswith(files.FILE_ID):
            return video
        for id in self._by_content.get(sha256, ()):
            source = self._sources.get(id)
            if id.startswith(files.FILE_ID) and (source is None or files.is_gone(source)):
                self._sources[id] = video.source
                return replace(video, id=id)
        return video


class Indexer:
    """Brings captions into one library and its index. A lock allows one indexer per library.

    Every method that writes raises `BusyError("busy")` while another indexer runs, and the errors of the library and
    the index.
    """

    def __init__(
        self,
        library: Library,
        index: Index,
        analyzer: TextMorphemes,
        params: Bm25Params = DEFAULT_PARAMS,
    ) -> None:
        self._library = library
        self._index = index
        self._analyzer = analyzer
        self._params = params
        self._latest: _IndexedVideo | None = None
        """The video of the last contexts, read under the library's lock."""

    def index(
        self,
        sources: Sequence[Path],
        *,
        languages: Sequence[str] = ("ko",),
        since: date | None = None,
        limit: int | None = None,
    ) -> Generator[IndexEvent, None, None]:
        """Read caption files and folders, and make all pending windows searchable.

        `since` leaves out videos published earlier or on an unknown day; `limit` takes the newest videos. The last
        event is the `IndexReport`. Unchanged videos cost a read and a hash, and write nothing.

        Raises:
            UsageError: `unsupported_source`, `no_caption_files`.
        """
        with self._working():
            entries, notices = find_captions(sources, languages=languages, since=since, limit=limit)
            report = IndexReport(found=len(entries))
            with logged_stage(logger, "indexing") as counts:
                for event in chain(notices, self._index_entries(entries)):
                    report.count(event)
                    counts.update(counts_of(report))
                    if isinstance(event, VideoDone) and event.change != "unchanged":
                        done = report.new + report.changed + report.unchanged + report.failed
                        put_run_progress(self._library, (done, report.found))
                    yield event
            put_run_progress(self._library, None)
            yield report

    def _index_entries(self, entries: list[Discovered]) -> Iterator[IndexEvent]:
        yield Found(len(entries))
        known_files = KnownFiles(self._library)
        yield from self._make_searchable(self._recut())
        yield from self._make_searchable(self._read_tracks(entries, known_files))
        self._purge()
        yield from self._make_searchable(self._library.pending())

    def add(self, video: Video, track: Track, details: Details) -> Iterator[VideoDone | WindowsIndexed]:
        """Store the track of one video and make it searchable, after waiting for other indexers.

        Raises:
            CaptionError: as `parse_captions` does, and `caption_unexpected`; nothing is changed then.
        """
        with self._working(timeout_s=BACKGROUND_TIMEOUT_S):
            stored_count = self._library.has(video, track.sha256, RULE, failed=True)
            if stored_count is not None:
                self._library.put_done(video.id)
                self._library.put_selection(video.id, track.selection)
                self._update_details(video, details)
                yield VideoDone(video.id, video.title, "unchanged", stored_count)
                yield from self._make_searchable(self._library.pending())  # a killed run may have left its windows
                return
            video_windows = windows_of_track(video, track, video.title)
            yield self._put_video(video, track, video_windows, details)
            yield from self._make_searchable([(video, video_windows)])

    def finish(self, *, is_interactive: bool = False) -> Iterator[WindowsIndexed]:
        """Make the pending windows of a stopped run searchable.

        Waits for other indexers; with `is_interactive`, only as long as a user would.
        """
        with self._working(timeout_s=None if is_interactive else BACKGROUND_TIMEOUT_S):
            self._purge()
            yield from self._make_searchable(self._library.pending())

    def recut(self) -> Iterator[WindowsIndexed]:
        """Cut windows of an earlier rule again, waiting for other indexers; at most a batch is missing meanwhile."""
        if self._library.stale(RULE):
            with self._working(timeout_s=BACKGROUND_TIMEOUT_S):
                yield from self._make_searchable(self._recut())

    def rebuild(self, earlier: Index | None = None) -> Generator[WindowsIndexed, None, None]:
        """Rebuild the index from the library, and restore the neural vectors that it had.

        If the library has filled another index, they come from `earlier`, that index; without it, they are due again.
        """
        with self._working(rebuild=True), logged_stage(logger, "rebuild") as counts:
            for _cut in self._recut():
                pass  # left to the rebuild
            index = self._index
            source = index if index_address(self._library) == index.place else earlier
            for event in (
                self._rebuild_aside(index, source)
                if isinstance(index, StagingIndex)
                else self._rebuild_in_place(source)
            ):
                counts["windows"] = counts.get("windows", 0) + event.count
                yield event

    def _rebuild_in_place(self, source: Index | None) -> Iterator[WindowsIndexed]:
        with closing(VectorBackup(backup_path(self._library))) as backup:
            if source is not None:
                backup.save(source, self._library)
            self._library.forget_index()
            put_index_address(self._library, self._index.place)
            self._purge()
            backup.add_vector_names(self._index)
            yield from self._make_searchable(self._library.pending(), backup)
            backup.delete_on_close()

    def _rebuild_aside(self, index: StagingIndex, source: Index | None) -> Iterator[WindowsIndexed]:
        """Fill a staged index, and adopt it once it is complete; until then the earlier one is in use."""
        vectors: dict[str, list[StoredVector]] = {}
        staged = index.stage()
        with ExitStack() as stack:
            stack.callback(staged.discard)  # harmless after the adoption
            backup = stack.enter_context(closing(VectorBackup(backup_path(self._library))))
            if backup.is_new:
                backup.delete_on_close()  # also after a failure: the index still has the vectors
            if source is not None:
                backup.save(source, self._library)
            backup.add_vector_names(staged)
            staging = _Staging(staged, vectors)
            self._library.begin_staging()
            stack.callback(self._library.forget_staged)  # after the adoption there is nothing to undo
            yield from self._make_searchable(self._library.with_windows(), backup, staging)
            self._library.vectors.replace(vectors)
            index.adopt(staged)
            self._library.end_staging()
            self._library.vectors.replace(vectors)  # those made meanwhile were lost with the earlier index
            put_index_address(self._library, self._index.place)
            self._library.finish_purge(ALL)
            backup.delete_on_close()

    def remove(self, video_ids: Iterable[str], begin: Callable[[], object] = lambda: None) -> None:
        """Remove videos from the library and the index.

        `begin` is called before the first deletion, once no other process indexes.
        """
        with self._working():
            begin()
            for some in split_batches(video_ids, REMOVALS):
                self._remove_from_library(list(self._library.videos_by_id(*some)))
                self._purge()
            self._purge()

    def _remove_from_library(self, video_ids: Sequence[str]) -> None:
        """Delete videos; in smaller transactions if the disk has no space for the log of all."""
        try:
            self._library.remove_videos(video_ids)
        except BusyError as error:
            if error.code != "disk_full" or len(video_ids) < 2:
                raise
            middle = len(video_ids) // 2
            self._remove_from_library(video_ids[:middle])
            self._remove_from_library(video_ids[middle:])

    def _read_tracks(
        self, entries: list[Discovered], known_files: KnownFiles
    ) -> Iterator[VideoDone | VideoFailed | FileNotice | VideoWindows]:
        """Store the tracks, yield the windows of each after its event, and last the files left out."""
        left_out: LeftOut = []
        for group in entries:
            yield from [group] if isinstance(group, VideoFailed) else self._read_track(group, known_files, left_out)
        if left_out:
            yield files.tracks_notice(left_out)

    def _read_track(
        self, group: files.CaptionGroup, known_files: KnownFiles, left_out: LeftOut
    ) -> Iterator[VideoDone | VideoFailed | FileNotice | VideoWindows]:
        """Store one video's best usable track and yield its windows; report unusable tracks."""
        video = known_files.by_place(group.video)
        for file in group.candidates:
            path = printable_path(file.path)
            try:
                track = self._extracted(video, file) or files.read(file)
                video = known_files.moved(known_files.of_own(group, video, track.sha256), track.sha256)
                stored_count = self._library.has(video, track.sha256, RULE)
                if stored_count is None and self._library.is_cut(video, track.sha256, RULE):
                    left_out += group.left_out(file)
                    yield self._put_metadata(video, file.details)
                    return
                if stored_count is None:
                    video_windows = windows_of_track(video, track, path)
                    self._analyzer.load_soon()
                    done = self._put_video(video, track, video_windows, file.details)
            except CaptionError as error:
                logger.info("a caption file of %s cannot be used", video.id, exc_info=True)
                failure = VideoFailed(video.id, video.title, error.code, error.details)
                yield failure
                continue
            left_out += group.left_out(file)
            if stored_count is not None:
                self._update_details(video, file.details)
                yield VideoDone(video.id, video.title, "unchanged", stored_count)
                return
            yield done
            yield from files.track_notices(track, path)
            yield video, video_windows
            return
        self._put_failure(video, failure)

    def _extracted(self, video: Video, file: files.CaptionFile) -> Track | None:
        """Return the stored track of an unchanged film, because extracting it again would read the whole film."""
        stored = self._library.track(video.id) if file.track is not None else None
        is_same = stored and (stored.language, stored.format) == (file.language, file.format)
        return stored if stored and is_same and stored.fetched_at == files.modified_at(file) else None

    def _put_metadata(self, video: Video, details: Details) -> VideoDone:
        """Store a changed title, path, day or channel of a video; captions, contexts, marks and vectors stay."""
        self._library.put_metadata(video)
        self._update_details(video, details)
        self._replace(video.id, [window.id for window in self._library.windows_of(video.id)])
        return VideoDone(video.id, video.title, "changed", 0)

    def _put_failure(self, video: Video, failure: VideoFailed) -> None:
        try:
            self._library.put_failure(video, failure.code, failure.details)
        except _RUN_ENDING_ERRORS:
            raise
        except Exception:  # its title or date may be what cannot be stored
            logger.exception("the failure of %s cannot be stored", video.id)

    def _put_video(self, video: Video, track: Track, video_windows: list[Window], details: Details) -> VideoDone:
        """Store a video.

        Raises:
            CaptionError: `caption_unexpected`, if part of it cannot be stored; nothing is changed then.
        """
        change: Literal["new", "changed"] = "changed" if self._library.track(video.id) else "new"
        try:
            self._library.put_video(video, track, video_windows, RULE, details)
        except _RUN_ENDING_ERRORS:
            raise
        except Exception as error:  # an error in one video's metadata must not stop the others
            logger.exception("%s cannot be stored", video.id)
            raise CaptionError("caption_unexpected", path=video.title, reason=type(error).__name__) from error
        return VideoDone(video.id, video.title, change, len(video_windows))

    def _update_details(self, video: Video, details: Details) -> None:
        """Store changed details of an unchanged video, such as a newer heatmap."""
        if details != self._library.details(video.id):
            self._library.put_details(video.id, details)

    def _recut(self) -> Iterator[VideoWindows]:
        """Cut stored tracks with windows of an earlier rule again, and yield the windows.

        An unreadable track keeps its windows.
        """
        for video_id in self._library.stale(RULE):
            video, track = self._library.video(video_id), self._library.track(video_id)
            if video is not None and track is not None:
                try:
                    windows = windows_of_track(video, track, video.title)
                    self._library.put_windows(video_id, windows, RULE)
                except CaptionError:
                    logger.info("%s keeps the windows that it has", video_id, exc_info=True)
                    continue
                yield video, windows
        self._library.put_rule(RULE)

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        """Add later contexts (video id → window ids) to their windows' vectors, after waiting for other indexers.

        A context that is now rejected leaves the vector.
        """
        with self._working(timeout_s=BACKGROUND_TIMEOUT_S):
            for video_id, ids in late.items():
                self._replace(video_id, list(ids))

    def _indexed_video(self, video_id: str) -> _IndexedVideo | None:
        """Read and hash a searchable video's windows; the last video is cached, since contexts come one by one."""
        video, transcript = self._library.video(video_id), self._library.contexts.transcript(video_id)
        if video is None:
            return None
        if self._latest is None or (self._latest.document.video, self._latest.transcript) != (video, transcript):
            windows = self._library.windows_of(video_id)
            analyses = self._library.morphemes([window.id for window in windows])
            if not all(window.id in analyses for window in windows):
                return None
            window_analyses = [analyses[window.id] for window in windows]
            self._latest = _IndexedVideo(transcript, IndexDocument(video, windows, {}), window_analyses)
        return self._latest

    def _replace(self, video_id: str, window_ids: Sequence[str]) -> None:
        """Replace the `bm25` vectors and payloads of a searchable video's windows, with their current contexts."""
        stored_contexts = self._library.contexts.of_windows(window_ids)
        contexts = {id: (context.key, context.text) for id, context in stored_contexts.items()}
        indexed, searchable = self._indexed_video(video_id), self._library.morphemes(window_ids).keys()
        if indexed is None or not contexts.keys() <= searchable:
            return  # removed, or searchable later together with its contexts
        document = indexed.document.with_contexts(contexts)
        analyses = [*self._analyzer.morphemes(document.prefix_texts()), *indexed.analyses]
        vectors = document.vectors(analyses, searchable, self._params)
        self._index.replace_vector(BM25, vectors)
        payloads = {
            window.id: to_payload(document.video, window, contexts.get(window.id, ("", None))[1])
            for window in document.windows
            if window.id in vectors
        }
        self._index.replace_payload(payloads)
        self._library.put_source_hashes({id: document.source(id) for id in vectors}, document.context_terms(analyses))

    def _document(self, video: Video, video_windows: Sequence[Window]) -> IndexDocument:
        contexts = self._library.contexts.of_video(video.id)
        return IndexDocument(video, video_windows, {id: (each.key, each.text) for id, each in contexts.items()})

    def _make_searchable(
        self, items: Iterable[E | VideoWindows], backup: VectorBackup | None = None, staging: _Staging | None = None
    ) -> Iterator[E | WindowsIndexed]:
        """Write the points of these windows batch by batch, and pass on the events between them.

        The analyzer is a batch ahead: it works while a batch is written and while the next tracks are read.
        """
        with closing(AnalysisAhead(self._analyzer)) as ahead:
            waiting: deque[IndexDocument] = deque()
            for item in items:
                if not isinstance(item, tuple):
                    yield item
                    continue
                document = self._document(*item)
                ahead.begin(document.texts())
                waiting.append(document)
                if _window_count(waiting) >= BATCH + max(BATCH, len(document.windows)):
                    yield self._write_points(_next_batch(waiting, BATCH), ahead, backup, staging)
            while waiting:
                yield self._write_points(_next_batch(waiting, LAST_BATCH), ahead, backup, staging)

    def _write_points(
        self,
        documents: Iterable[IndexDocument],
        ahead: AnalysisAhead,
        backup: VectorBackup | None,
        staging: _Staging | None,
    ) -> WindowsIndexed:
        """Write the points of a batch, after deleting old points of its videos.

        Existing points keep their neural vectors; new ones get those in the backup.
        """
        if staging is None:
            self._purge()
        outdated: set[str] = set()
        points: list[Point] = []
        indexed: dict[str, tuple[str, Morphemes]] = {}
        context_terms: dict[str, frozenset[str]] = {}
        restored: dict[str, list[StoredVector]] = {}
        for document in documents:
            neural, notes = backup.restore(document) if backup else ({}, {})
            restored |= notes
            if document.contexts and backup is None:
                # a run killed before recording its points has written them without later contexts
                outdated |= self._index.ids(document.video.id) & document.contexts.keys()
            # one document at a time: the analyzer works ahead while vectors are made
            part = ahead.take(len(document.texts()))
            vectors = document.vectors(part, params=self._params)
            context_terms |= document.context_terms(part)
            for window, analysis in zip(document.windows, part[-len(document.windows) :], strict=True):
                vectors_by_name = {BM25: vectors[window.id], **neural.get(window.id, {})}
                _key, context = document.contexts.get(window.id, ("", None))
                points.append(Point(window.id, vectors_by_name, to_payload(document.video, window, context)))
                indexed[window.id] = document.source(window.id), analysis
        if points:
            (staging.index if staging else self._index).insert(points)
            if outdated:
                updated = [point for point in points if point.id in outdated]
                self._index.replace_vector(BM25, {point.id: point.vectors[BM25] for point in updated})
                self._index.replace_payload({point.id: point.payload for point in updated})
            self._library.put_indexed(ANALYZER, indexed, context_terms)
            if staging:
                staging.vectors.update(restored)
            else:
                self._library.vectors.put(restored)
        return WindowsIndexed(len(points))

    def _purge(self) -> None:
        purges = self._library.pending_index_deletes()
        if ALL in purges:
            self._index.clear()
            self._library.finish_purge(ALL)
            return
        for batch in split_batches(purges, REMOVALS):
            self._index.delete_videos(batch)
            self._library.finish_purge(*batch)

    @contextmanager
    def _working(self, timeout_s: float | None = None, *, rebuild: bool = False) -> Iterator[None]:
        """Hold the library's lock; wait for another indexer up to `timeout_s` (by default `INTERACTIVE_TIMEOUT_S`).

        Raises `index_elsewhere` if the library has filled another index meanwhile, except for a `rebuild`.
        """
        index_id, patience = self._index.place, INTERACTIVE_TIMEOUT_S if timeout_s is None else timeout_s
        with hold_lock(self._library.path.parent, "library", patience):
            filled = index_address(self._library)
            if filled != index_id and not rebuild:
                if self._library.counts().searchable:
                    raise AppError("index_elsewhere", found=server_address(filled), wanted=server_address(index_id))
                put_index_address(self._library, index_id)
            self._library.forget_staged()
            put_run_progress(self._library, None)  # left by a killed run
            yield


def _window_count(documents: Iterable[IndexDocument]) -> int:
    return sum(len(document.windows) for document in documents)


def _next_batch(waiting: deque[IndexDocument], windows: int) -> list[IndexDocument]:
    """Take documents until they have `windows` windows together."""
    batch: list[IndexDocument] = []
    while waiting and _window_count(batch) < windows:
        batch.append(waiting.popleft())
    return batch


def _select(entries: list[Discovered], since: date | None, limit: int | None) -> list[Discovered]:
    """Return the failures, and the `limit` newest videos from `since` on, in their order."""

    def published(entry: Discovered) -> date:
        return date.min if isinstance(entry, VideoFailed) else entry.video.published or date.min

    groups = [
        entry for entry in entries if not isinstance(entry, VideoFailed) and (not since or published(entry) >= since)
    ]
    newest = {group.video.id for group in sorted(groups, key=published, reverse=True)[:limit]}
    return [entry for entry in entries if isinstance(entry, VideoFailed) or entry.video.id in newest]


def windows_of_track(video: Video, track: Track, path: str) -> list[Window]:
    """Parse a track and cut its windows.

    Raises:
        CaptionError: also for an unforeseen error, so that one file never stops the others.
    """
    try:
        cues = parse_captions(track.raw, track.format, path=path, language=track.language)
        return cut_windows(video.id, cues, [chapter.start_ms for chapter in video.chapters])
    except AppError:
        raise
    except Exception as error:  # an error in one file must not stop the others
        logger.exception("a caption track of %s cannot be read", video.id)
        raise CaptionError("caption_unexpected", path=path, reason=type(error).__name__) from error
