"""Captions → windows → `bm25` vectors, as a resumable generator of events; `fetching` brings captions from YouTube.

Two stages, each of which remembers what it has done: captions commit per video; vectors are made for every window
that has none, in batches, and are noted only when the index holds them for good. Stopping a run anywhere, by any
means, leaves work to do, never work to undo.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from subtitle_rag.captions import files
from subtitle_rag.captions.parse import parse
from subtitle_rag.captions.windows import RULE, windows
from subtitle_rag.domain import Details, Morphemes, Track, Video, Window
from subtitle_rag.errors import AppError, BusyError, CaptionError, UsageError
from subtitle_rag.events import Found, IndexEvent, IndexReport, VideoDone, VideoFailed, VideoRemoved, WindowsIndexed
from subtitle_rag.library.app_state import INDEX, index_address
from subtitle_rag.library.locks import alone
from subtitle_rag.library.store import ALL, Library
from subtitle_rag.log_file import counts_of, logged_stage
from subtitle_rag.retrieval.index import Index, Point
from subtitle_rag.retrieval.kept import Kept, kept_path
from subtitle_rag.retrieval.material import MAKING, Making, Material
from subtitle_rag.retrieval.morphemes import ANALYZER, TextMorphemes

if TYPE_CHECKING:
    from subtitle_rag.library.vector_store import Noted

logger = logging.getLogger(__name__)

BATCH = 256
"""Windows that are analysed and written together."""

PATIENCE_S = 600
"""Longest wait for another indexer; one that takes in many files is done by then, or holds a library for long."""

MOMENT_S = 5.0
"""Longest wait where somebody is watching: for what writes one context, and not for a whole run."""

Discovered = files.CaptionGroup | VideoFailed
Work = list[tuple[Video, list[Window]]]


@dataclass(frozen=True, slots=True)
class _IndexedVideo:
    """A searchable video as contexts join it: its windows with their morphemes, of the captions `transcript` names."""

    video: Video
    transcript: str
    material: Material
    analyses: list[Morphemes]


class Indexer:
    """Brings captions into one library and its index; one at a time works on a library.

    Every method that changes something raises `BusyError("library_busy")` while another one is at work, and what the
    library and the index raise.
    """

    def __init__(self, library: Library, index: Index, analyzer: TextMorphemes, making: Making = MAKING) -> None:
        self._library = library
        self._index = index
        self._analyzer = analyzer
        self._making = making
        self._latest: _IndexedVideo | None = None
        """The video whose contexts came last, read under the lock that keeps other indexers away."""

    def index(
        self,
        sources: Sequence[Path],
        *,
        languages: Sequence[str] = ("ko",),
        since: date | None = None,
        limit: int | None = None,
    ) -> Iterator[IndexEvent]:
        """Take in caption files and folders of them, and make everything that is pending searchable.

        `since` leaves out videos that were published before that day or on an unknown one; `limit` takes the newest.
        The last event is the `IndexReport`. Unchanged videos cost a read and a hash, and write nothing.

        Raises:
            UsageError: `unsupported_source`, `no_caption_files`.
        """
        with self._working():
            found = list(files.discover(sources, languages=languages))
            if not found:
                raise UsageError("no_caption_files", path=", ".join(map(files.shown, sources)))
            found = _selected(found, since, limit)
            report = IndexReport(found=len(found))
            with logged_stage(logger, "indexing") as counts:
                for event in self._taken(found):
                    report.count(event)
                    counts.update(counts_of(report))
                    yield event
            yield report

    def _taken(self, found: list[Discovered]) -> Iterator[IndexEvent]:
        yield Found(len(found))
        self._rewindow()
        work: Work = []
        for group in found:
            yield from [group] if isinstance(group, VideoFailed) else self._take(group, work)
            if sum(len(own) for _video, own in work) >= BATCH:
                yield self._make_searchable(work)
                work.clear()
        yield self._make_searchable(work)
        for late in self._pending():
            yield self._make_searchable(late)

    def add(self, video: Video, track: Track, details: Details) -> Iterator[VideoDone | WindowsIndexed]:
        """Take in the track of one video and make it searchable. Another indexer at work is waited for.

        Raises:
            CaptionError: as `parse` does; nothing is changed then.
        """
        with self._working(patience=PATIENCE_S):
            known = self._library.has(video, track.sha256, RULE)
            if known is not None:
                self._keep_details(video, details)
                yield VideoDone(video.id, video.title, "unchanged", known)
                return
            own = _windows(video, track, video.title)
            change: Literal["new", "changed"] = "changed" if self._library.track(video.id) else "new"
            self._library.put_video(video, track, own, RULE, details)
            yield VideoDone(video.id, video.title, change, len(own))
            yield self._make_searchable([(video, own)])

    def finish(self) -> Iterator[WindowsIndexed]:
        """Make searchable what a run that was ended has left. Another indexer at work is waited for."""
        with self._working(patience=PATIENCE_S):
            self._rewindow()
            self._purge()
            for work in self._pending():
                yield self._make_searchable(work)

    def rebuild(self) -> Iterator[WindowsIndexed]:
        """Make the whole index anew from the library alone, except for the neural vectors that can be read there."""
        with (
            self._working(anew=True),
            closing(Kept(kept_path(self._library))) as kept,
            logged_stage(logger, "rebuild") as counts,
        ):
            self._rewindow()
            kept.take(self._index, self._library)
            self._library.forget_index()
            self._library.database.put_setting(INDEX, self._index.place)
            self._purge()
            kept.make_room(self._index)
            for work in self._pending():
                counts["windows"] = counts.get("windows", 0) + sum(len(own) for _video, own in work)
                yield self._make_searchable(work, kept)
            kept.done()

    def remove(self, video_ids: Iterable[str]) -> Iterator[VideoRemoved]:
        """Forget videos, in the library and in the index."""
        with self._working():
            for video_id in video_ids:
                video = self._library.video(video_id)
                if video is not None:
                    self._library.remove_video(video_id)
                    yield VideoRemoved(video.id, video.title)
            self._purge()

    def _take(self, group: files.CaptionGroup, work: Work) -> Iterator[VideoDone | VideoFailed]:
        """Bring one video's best usable track into the library; tracks that cannot be used are told."""
        video = group.video
        for file in group.candidates:
            path = files.shown(file.path)
            try:
                track = files.read(file)
                known = self._library.has(video, track.sha256, RULE)
                own = _windows(video, track, path) if known is None else []
            except CaptionError as error:
                logger.info("a caption file of %s cannot be used", video.id, exc_info=True)
                failure = VideoFailed(video.id, video.title, error.code, error.details)
                yield failure
                continue
            if known is not None:
                self._keep_details(video, file.details)
                yield VideoDone(video.id, video.title, "unchanged", known)
                return
            self._analyzer.load_soon()
            change: Literal["new", "changed"] = "changed" if self._library.track(video.id) else "new"
            self._library.put_video(video, track, own, RULE, file.details)
            work.append((video, own))
            yield VideoDone(video.id, video.title, change, len(own))
            return
        self._library.put_failure(video, failure.code, failure.details)

    def _keep_details(self, video: Video, details: Details) -> None:
        """They can change where nothing else does: the storyboard's addresses expire."""
        if details != self._library.details(video.id):
            self._library.put_details(video.id, details)

    def _rewindow(self) -> None:
        """Divide the tracks anew whose windows an earlier rule has made; nothing is read or fetched again.

        A track that cannot be read any more keeps the windows that it has.
        """
        for video_id in self._library.stale(RULE):
            video, track = self._library.video(video_id), self._library.track(video_id)
            if video is not None and track is not None:
                try:
                    self._library.put_windows(video_id, _windows(video, track, video.title), RULE)
                except CaptionError:
                    logger.info("%s keeps the windows that it has", video_id, exc_info=True)
        self._library.put_rule(RULE)

    def _pending(self) -> Iterator[Work]:
        """What has no vectors yet, in batches of whole videos."""
        work: Work = []
        for video, own in self._library.pending(ANALYZER):
            work.append((video, own))
            if sum(len(some) for _video, some in work) >= BATCH:
                yield work
                work = []
        if work:
            yield work

    def add_contexts(self, late: Mapping[str, Collection[str]]) -> None:
        """Bring contexts that have been written since (video id → window ids) into the vectors of their windows.

        Another indexer at work is waited for.
        """
        with self._working(patience=PATIENCE_S):
            for video_id, ids in late.items():
                contexts = self._library.contexts.of_windows(list(ids))
                known = self._loaded(video_id)
                # else it has left, or it is made searchable later, with its contexts
                if known is not None and self._library.morphemes(list(contexts)).keys() == contexts.keys():
                    self._replace(known, {id: (context.key, context.text) for id, context in contexts.items()})

    def _loaded(self, video_id: str) -> "_IndexedVideo | None":
        """Read and hash a searchable video's windows, once as long as it stays the same; its contexts come singly."""
        video, transcript = self._library.video(video_id), self._library.contexts.transcript(video_id)
        if video is None:
            return None
        if self._latest is None or (self._latest.video, self._latest.transcript) != (video, transcript):
            windows = self._library.windows_of(video_id)
            analyses = self._library.morphemes([window.id for window in windows])
            if not all(window.id in analyses for window in windows):
                return None
            own = [analyses[window.id] for window in windows]
            self._latest = _IndexedVideo(video, transcript, Material(video, windows, {}), own)
        return self._latest

    def _replace(self, known: "_IndexedVideo", contexts: Mapping[str, tuple[str, str]]) -> None:
        """Replace the `bm25` vectors and payloads of the windows that these contexts are of."""
        material = known.material.with_contexts(contexts)
        analyses = [*self._analyzer.morphemes(material.before()), *known.analyses]
        made = material.vectors(analyses, contexts, self._making)
        self._index.replace_vector("bm25", made)
        shown = {window.id: payload(known.video, window) for window in material.windows if window.id in made}
        self._index.replace_payload({id: {**shown[id], "context": contexts[id][1]} for id in shown})
        self._library.put_source_hashes(ANALYZER, {id: material.source(id) for id in made})

    def _contexts(self, video_id: str) -> dict[str, tuple[str, str]]:
        """The contexts that count, by window: their key and text."""
        return {id: (context.key, context.text) for id, context in self._library.contexts.of_video(video_id).items()}

    def _make_searchable(self, work: Work, kept: Kept | None = None) -> WindowsIndexed:
        """Write the points of these videos' windows; what the index held of them before goes first.

        Neural vectors are those that a point has, where there is one, or that were kept.
        """
        self._purge()
        materials = [Material(video, some, self._contexts(video.id)) for video, some in work]
        texts = [text for material in materials for text in material.texts()]
        analyses = self._analyzer.morphemes(texts) if texts else iter(())
        points: list[Point] = []
        noted: dict[str, tuple[str, Morphemes]] = {}
        restored: dict[str, list[Noted]] = {}
        for material in materials:
            neural, sources = kept.of(material) if kept else ({}, {})
            restored |= sources
            # the analyzer's workers go on while vectors are made of these
            part = list(islice(analyses, len(material.texts())))
            vectors = material.vectors(part, making=self._making)
            for window, analysis in zip(material.windows, part[-len(material.windows) :], strict=True):
                named = {"bm25": vectors[window.id], **neural.get(window.id, {})}
                point = Point(window.id, named, payload(material.video, window))
                if context := material.contexts.get(window.id):
                    point.payload["context"] = context[1]
                points.append(point)
                noted[window.id] = material.source(window.id), analysis
        if points:
            self._index.insert(points)
            self._library.put_indexed(ANALYZER, noted)
            self._library.vectors.put(restored)
        return WindowsIndexed(len(points))

    def _purge(self) -> None:
        left = self._library.purges()
        if ALL in left:
            present = [state.video.id for state in self._library.videos()]
            self._index.clear([*present, *(video_id for video_id in left if video_id != ALL)])
            self._library.purged(ALL)
            return
        for video_id in left:
            self._index.delete_video(video_id)
            self._library.purged(video_id)

    @contextmanager
    def _working(self, patience: float | None = None, *, anew: bool = False) -> Iterator[None]:
        """Keep a second indexer away from the library; wait for one that is there for so many seconds.

        Raises `index_elsewhere` where the library has filled another index meanwhile, unless this is made `anew`.
        """
        path, place = self._library.path, self._index.place
        busy = BusyError("library_busy", path=str(path.parent))
        with alone(path.with_suffix(".lock"), busy, MOMENT_S if patience is None else patience):
            filled = index_address(self._library)
            if filled != place and not anew:
                if self._library.counts().searchable:
                    raise AppError("index_elsewhere", found=filled, wanted=place)
                self._library.database.put_setting(INDEX, place)
            yield


def _selected(found: list[Discovered], since: date | None, limit: int | None) -> list[Discovered]:
    """The failures, and of the videos those from `since` on, the `limit` newest; their order stays."""

    def published(entry: Discovered) -> date:
        return date.min if isinstance(entry, VideoFailed) else entry.video.published or date.min

    groups = [
        entry for entry in found if not isinstance(entry, VideoFailed) and (not since or published(entry) >= since)
    ]
    newest = sorted(groups, key=published, reverse=True)[:limit]
    kept = {group.video.id for group in newest}
    return [entry for entry in found if isinstance(entry, VideoFailed) or entry.video.id in kept]


def payload(video: Video, window: Window) -> dict[str, Any]:
    """All that a scene needs to be shown, so that a second machine can search a shared index."""
    return {
        "video": video.id,
        "title": video.title,
        "channel_id": video.channel_id,
        "channel": video.channel,
        "url": video.url,
        "published": video.published.isoformat() if video.published else None,
        "ordinal": window.ordinal,
        "start_ms": window.start_ms,
        "end_ms": window.end_ms,
        "text": window.text,
        "lines": [list(line) for line in window.lines],
        "overlap_before": window.overlap_before,
        "overlap_after": window.overlap_after,
        "context": None,
    }


def _windows(video: Video, track: Track, path: str) -> list[Window]:
    cues = parse(track.raw, track.format, path=path)
    return windows(video.id, cues, [chapter.start_ms for chapter in video.chapters])
