"""Transcription stage: captions for films and videos without any, made on this machine.

The newest videos come first, one at a time. Each stretch of a video is committed by itself, so a killed run loses only
the current stretch. At the end of a video its stretches become a track of kind `local`, indexed like any other. Until
then, the sound of a YouTube video is kept in its own folder.
"""

import logging
import re
import shutil
import threading
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import AppError, BusyError, CaptionError, FetchError
from subtitle_rag.base.domain.events import (
    ListeningEvent,
    ListeningReport,
    VideoFailed,
    VideoHeard,
    WindowsIndexed,
)
from subtitle_rag.base.domain.progress import Pace, Progress
from subtitle_rag.base.domain.values import SpeechGap, Video
from subtitle_rag.base.log_file import counts_of, logged_stage
from subtitle_rag.captions.films import find_media
from subtitle_rag.captions.heard_tracks import heard_track, join_gaps
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.library.app_state import put_listening_rate
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.listening_store import DueListening
from subtitle_rag.library.store import Library
from subtitle_rag.listening.transcribers import Transcriber, sound_length_ms
from subtitle_rag.youtube import refusals
from subtitle_rag.youtube.sounds import fetch_sound, sound_url

logger = logging.getLogger(__name__)

MAX_NAMES = 60
"""Maximum number of names in a transcriber's prompt."""
RATE_FROM_MS = 60_000
"""Minimum sound for recording a run's speed."""

_VIDEO_FAILURES = frozenset({"sound_unreadable", "no_sound", "protected", "listening_ended"})
"""Failures of a single video; any other ends the run."""
_TAG = re.compile(r"#([^\W_][\w-]{1,39})")


@dataclass(slots=True)
class Listener:
    """Transcribes the due videos of a library; only one runs per library."""

    library: Library
    indexer: Indexer
    transcriber: Transcriber
    youtube: YoutubeSettings
    folder: Path
    """Folder for sounds, until their videos are done."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by another thread, ends a run at once."""

    def run(self, video_ids: Collection[str] | None = None) -> Generator[ListeningEvent, None, None]:
        """Transcribe all due videos, or the due ones of `video_ids`. The last event is the `ListeningReport`.

        Raises:
            BusyError: `busy`, and the codes of the library and the index.
        """
        report = ListeningReport()
        with hold_lock(self.library.path.parent, "listening"), logged_stage(logger, "listening") as counts:
            self._drop_sounds()
            requests = self.library.listenings.due(video_ids)
            try:
                for each in requests:
                    if self.stop.is_set():
                        break
                    for event in self._listen(each, report):
                        report.count(event)
                        counts.update(counts_of(report))
                        yield event
            except AppError as error:
                if error.code != "interrupted":
                    logger.info("listening ends early", exc_info=True)
                    report.blocked = error
            if report.sound_ms >= RATE_FROM_MS and report.seconds:
                put_listening_rate(self.library, self.transcriber.model, report.sound_ms / 1000 / report.seconds)
            report.left = len(self.library.listenings.due(video_ids))
        yield report

    def _listen(self, request: DueListening, report: ListeningReport) -> Iterator[ListeningEvent]:
        video = self.library.video(request.video_id)
        if video is None:
            return
        try:
            sound = yield from self._sound(video)
            begin_ms = self._begin(video, sound)
            yield from self._hear(video, sound, begin_ms, report)
            yield from self._finish(video)
        except AppError as error:
            if not _is_of_video(error):
                raise
            logger.info("%s cannot be listened to", video.id, exc_info=True)
            details = {**error.details, "title": video.title}
            self.library.listenings.put_failed(video.id, error.code, details)
            yield VideoFailed(video.id, video.title, error.code, details)

    # Sound

    def _sound(self, video: Video) -> Generator[ListeningEvent, None, Path]:
        """Return the file with a video's sound: its film, or a download from YouTube."""
        url = sound_url(video)
        if url is None:
            film = find_media(video)
            if film is None:
                raise FetchError("file_gone", title=video.title, path=video.source or video.id)
            return film
        # closing it ends the download
        with closing(fetch_sound(video, url, self._sounds(video.id), self.youtube, self.stop)) as fetching:
            for item in fetching:
                if isinstance(item, Path):
                    return item
                yield item
        raise AppError("interrupted")

    def _sounds(self, video_id: str) -> Path:
        return self.folder / re.sub(r"[^A-Za-z0-9_-]", "_", video_id)

    def _drop_sounds(self) -> None:
        """Delete the sounds of videos no longer requested."""
        if self.folder.is_dir():
            folders_in_use = {self._sounds(each.video_id) for each in self.library.listenings.due()}
            for folder in set(self.folder.iterdir()) - folders_in_use:
                shutil.rmtree(folder, ignore_errors=True)

    # Speech

    def _begin(self, video: Video, sound: Path) -> int:
        """Record the model and settings for a video; return where to continue."""
        model, settings = self.transcriber.model, self.transcriber.settings
        return self.library.listenings.begin(video.id, model, settings, sound_length_ms(sound))

    def _hear(self, video: Video, sound: Path, begin_ms: int, report: ListeningReport) -> Iterator[Progress]:
        """Transcribe the rest of a video, and store each stretch."""
        store, transcriber = self.library.listenings, self.transcriber
        length_ms = store.length_ms(video.id)
        if length_ms and begin_ms >= length_ms:  # killed before its captions were made
            return
        before = store.stretches(video.id)
        began, pace = time.monotonic(), Pace(steps=1)
        pace.start()
        stretches = transcriber.listen(
            sound,
            begin_ms=begin_ms,
            language=before[-1].language if before else "ko",
            names=_spoken_names(self.library, video),
            stop=self.stop,
        )
        for stretch in stretches:
            if not store.is_due(video.id):
                return
            store.put_stretch(video.id, stretch)
            report.seconds += time.monotonic() - began
            report.sound_ms += stretch.end_ms - stretch.begin_ms
            done, total = stretch.end_ms // 1000, length_ms // 1000
            pace.add((stretch.end_ms - stretch.begin_ms) // 1000)
            left_s = pace.left_s(total - done)
            yield Progress("listening", done, total, video.title, rate=pace.rate, left_s=left_s)
            pace.start()
            began = time.monotonic()
        if self.stop.is_set():
            raise AppError("interrupted")

    def _finish(self, video: Video) -> Iterator[VideoHeard]:
        """Make a track of a video's stretches, and index it."""
        store = self.library.listenings
        stretches = store.stretches(video.id)
        if not store.is_due(video.id):
            return
        gaps = join_gaps([SpeechGap(each.begin_ms, each.end_ms, each.gap) for each in stretches if each.gap])
        cues = [cue for each in stretches for cue in each.cues]
        if not cues:
            raise FetchError("nothing_heard", title=video.title)
        language = stretches[-1].language
        track = heard_track(cues, gaps, language, self.transcriber.model, self.transcriber.settings)
        look_at = self._next_look(video)
        windows = 0
        for event in self.indexer.add(video, track, self.library.details(video.id)):
            windows += event.count if isinstance(event, WindowsIndexed) else 0
        store.put_done(video.id, look_at)
        shutil.rmtree(self._sounds(video.id), ignore_errors=True)
        gap_ms = sum(gap.end_ms - gap.start_ms for gap in gaps)
        yield VideoHeard(video.id, video.title, windows, gap_ms, self.transcriber.model)

    def _next_look(self, video: Video) -> int | None:
        """Return when to ask YouTube again for its own captions; None for videos that are not there.

        A video with captions keeps its time, because its user chose the transcription instead.
        """
        stage = self.library.sources.stage(video.id)
        if stage and self.library.window_count(video.id):
            return stage.retry_at
        if sound_url(video) is None:
            return None
        return refusals.retry_at("no_captions", tries=1, now=int(time.time()))


def _spoken_names(library: Library, video: Video) -> Sequence[str]:
    """Return names that may occur in a video: its channel's glossary, and names in its title and description."""
    about = f"{video.title} {library.details(video.id).description}"
    names = (*library.contexts.glossary(video.channel_id), video.channel, video.title, *_TAG.findall(about))
    return list(dict.fromkeys(filter(None, names)))[:MAX_NAMES]


def _is_of_video(error: AppError) -> bool:
    """Whether a failure concerns only one video, so that the run continues."""
    if isinstance(error, BusyError):
        return False
    if isinstance(error, CaptionError) or error.code in _VIDEO_FAILURES:
        return True
    rule = refusals.RULES.get(error.code)
    return (
        isinstance(error, FetchError) and (rule is None or not rule.rests_after) and error.code != "cookies_unreadable"
    )
