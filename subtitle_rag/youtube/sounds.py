"""Download of a video's sound from YouTube, with progress."""

import threading
from collections.abc import Generator
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.base.config.settings import YoutubeSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Video
from subtitle_rag.captions.addresses import is_video_id, video_url
from subtitle_rag.youtube.session import Session

_WHOLE = "whole"
"""Marker file: the sound next to it is complete."""


class _StoppedError(Exception):
    """The download was cancelled."""


def sound_url(video: Video) -> str | None:
    """Return the address of a video's sound; None for a local film."""
    id = parse_qs(urlsplit(video.url or "").query).get("v", [""])[0]
    is_fetched = is_video_id(id) and video.url == video_url(id) and video.source is None
    return video.url if is_fetched else None


def fetch_sound(
    video: Video, url: str, folder: Path, settings: YoutubeSettings, stop: threading.Event
) -> Generator[Progress | Path, None, None]:
    """Yield the progress of a download, and the file last.

    A complete file is not fetched again, and a partial one is continued.

    Args:
        video: the video to fetch.
        url: its address, from `sound_url`.
        folder: where to put the file.
        settings: for the session with YouTube.
        stop: cancels the download once set.

    Raises:
        FetchError: with the codes of `Session.sound`.
        AppError: `interrupted` once `stop` is set.
        BusyError: `disk_full`.
    """
    if (folder / _WHOLE).exists():
        for file in folder.glob("sound.*"):
            if file.suffix not in (".part", ".ytdl"):
                yield file
                return
    folder.mkdir(parents=True, exist_ok=True)
    news: SimpleQueue[Progress | Path | BaseException] = SimpleQueue()
    is_left = threading.Event()

    def advance(done: int, all: int) -> None:
        if stop.is_set() or is_left.is_set():
            raise _StoppedError
        news.put(Progress("sound", done, all, video.title))

    def fetch() -> None:
        session = Session(settings)
        try:
            file = session.sound(url, video.title, folder, advance)
            (folder / _WHOLE).touch()
            news.put(file)
        except BaseException as error:  # raised again in the thread that waits
            news.put(error)
        finally:
            session.close()

    threading.Thread(target=fetch, name="sound", daemon=True).start()
    try:
        while True:
            item = news.get()
            if isinstance(item, BaseException):
                raise AppError("interrupted") if stop.is_set() else item
            yield item
            if isinstance(item, Path):
                return
    finally:
        is_left.set()
