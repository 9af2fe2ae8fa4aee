"""Names of videos for files that work in any library: a YouTube id, or the name of a caption file."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from subtitle_rag.base.domain.values import Video, Window, nfc
from subtitle_rag.library.store import Library

_BRACKETED_ID = re.compile(r"\[([A-Za-z0-9_-]{11})\]")


def all_windows(library: Library) -> dict[str, list[Window]]:
    """Return the windows of every video, by id."""
    return {state.video.id: library.windows_of(state.video.id) for state in library.videos() if state.windows}


def windows_by_name(
    library: Library, windows: Mapping[str, Sequence[Window]], names: Collection[str]
) -> dict[str, list[Window]]:
    """Return the windows of each named video; none for an unknown one.

    A name is a video's id, its caption file's name, or another caption file's name with the id, as yt-dlp writes it.
    Files of the same name in different folders are several videos.
    """
    files: dict[str, list[str]] = {}
    for state in library.videos():
        if state.video.source:
            files.setdefault(_file(state.video), []).append(state.video.id)
    by_name = {}
    for name in names:
        ids = {name, *files.get(name, ()), *_BRACKETED_ID.findall(name)}
        by_name[name] = [window for id in sorted(ids) for window in windows.get(id, ())]
    return by_name


def file_counts(videos: Iterable[Video]) -> Counter[str]:
    """Count the videos by the name of their caption file."""
    return Counter(map(_file, videos))


def portable_name(video: Video, files: Counter[str]) -> str:
    """Return YouTube's id, or the caption file's name if it is unique in `files`, else the id."""
    file = _file(video)
    return file if not video.url and file and files[file] == 1 else video.id


def _file(video: Video) -> str:
    return nfc(os.path.basename(video.source or ""))  # noqa: PTH119
