"""Fetches the sound of a video from YouTube into a folder, and tells how far it is."""

import threading
from collections.abc import Generator
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.captions.addresses import is_video_id, video_url
from subtitle_rag.captions.session import Session
from subtitle_rag.config.settings import YoutubeSettings
from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.events import SoundFetching
from subtitle_rag.domain.values import Video

_WHOLE = "whole"
"""The file that says that the sound beside it is all there."""


class _StoppedError(Exception):
    """The download is not wanted any more."""


def sound_url(video: Video) -> str | None:
    """Return the address where a video's sound is fetched; None for a film of this machine."""
    id = parse_qs(urlsplit(video.url or "").query).get("v", [""])[0]
    is_fetched = is_video_id(id) and video.url == video_url(id) and video.source is None
    return video.url if is_fetched else None


def fetch_sound(
    video: Video, url: str, folder: Path, settings: YoutubeSettings, stop: threading.Event
) -> Generator[SoundFetching | Path, None, None]:
    """Yield how far it is, and the file at last.

    A file that is whole is not fetched again, and a cut one is gone on with.

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
    news: SimpleQueue[SoundFetching | Path | BaseException] = SimpleQueue()
    is_left = threading.Event()

    def advance(done: int, all: int) -> None:
        if stop.is_set() or is_left.is_set():
            raise _StoppedError
        news.put(SoundFetching(video.id, video.title, done, all))

    def fetch() -> None:
        session = Session(settings)
        try:
            file = session.sound(url, video.title, folder, advance)
            (folder / _WHOLE).touch()
            news.put(file)
        except BaseException as error:  # it is raised where somebody waits
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
