"""Fetches the sound of a video from its site into a folder, and tells how far it is."""

import threading
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from subtitle_rag.captions import metadata
from subtitle_rag.captions.session import Session
from subtitle_rag.captions.sound_sites import YOUTUBE, SoundSite
from subtitle_rag.config import YoutubeSettings
from subtitle_rag.domain import AppError, Details, SoundFetching, Video

_WHOLE = "whole"
"""The file that says that the sound beside it is all there."""


@dataclass(frozen=True, slots=True)
class SoundDescribed:
    """What a site says of a video."""

    video: Video
    details: Details


SoundNews = SoundFetching | SoundDescribed | Path


class _StoppedError(Exception):
    """The download is not wanted any more."""


def fetch_sound(
    video: Video, site: SoundSite, url: str, folder: Path, settings: YoutubeSettings, stop: threading.Event
) -> Generator[SoundNews, None, None]:
    """Yield how far it is, what the site says of the video, and the file at last.

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
    news: SimpleQueue[SoundNews | BaseException] = SimpleQueue()
    is_left = threading.Event()

    def advance(done: int, all: int) -> None:
        if stop.is_set() or is_left.is_set():
            raise _StoppedError
        news.put(SoundFetching(video.id, video.title, done, all))

    def fetch() -> None:
        session = Session(settings)
        try:
            info, file = session.sound(site, url, video.title, folder, advance)
            (folder / _WHOLE).touch()
            news.put(SoundDescribed(_described(video, site, info), metadata.details(info)))
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


def _described(video: Video, site: SoundSite, info: metadata.Info) -> Video:
    """Return a video with what its site says of it; of YouTube's the library has that already."""
    duration_ms = metadata.ms(info.get("duration")) or video.duration_ms
    if site is YOUTUBE:
        return replace(video, duration_ms=duration_ms)
    name = metadata.channel_name(info) or site.name
    key = metadata.channel_id(info) or metadata.text(info, "uploader_id") or name
    return replace(
        video,
        title=metadata.text(info, "title") or video.title,
        channel_id=f"{site.prefix}-{key}"[:120],
        channel=name,
        published=metadata.published(info) or video.published,
        duration_ms=duration_ms,
        chapters=metadata.chapters(info.get("chapters")),
    )
