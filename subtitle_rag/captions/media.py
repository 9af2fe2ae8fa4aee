"""The media file beside a caption file, for playing without network."""

import logging
import os
from pathlib import Path

from subtitle_rag.captions.files import LANGUAGES, LONG_CODES, MEDIA_SUFFIXES
from subtitle_rag.domain import Video, nfc

logger = logging.getLogger(__name__)

SOUND = frozenset({".m4a", ".mp3", ".opus", ".flac", ".wav"})
"""Sound files, the last choice."""


def find_media(video: Video) -> Path | None:
    """Return the file named like the captions without their language, as the disk spells it. Reads folders."""
    if video.source is None:
        return None
    captions = Path(video.source)
    try:
        folder = _folder(captions.parent)
        with os.scandir(folder) as entries:
            files = [Path(e.path) for e in entries if _belongs(nfc(e.name), captions.stem) and e.is_file()]
    except OSError:  # an unmounted disk, for example
        logger.info("a video's folder cannot be read", exc_info=True)
        return None
    return min(files, key=lambda path: (path.suffix.lower() in SOUND, path.name), default=None)


def _folder(path: Path) -> Path:
    """Return a folder as the disk spells it: the library has composed syllables, a disk may have decomposed ones.

    Raises OSError, FileNotFoundError among others.
    """
    if path.is_dir() or path == path.parent:
        return path
    with os.scandir(_folder(path.parent)) as entries:
        for entry in entries:
            if nfc(entry.name) == path.name:
                return Path(entry.path)
    raise FileNotFoundError(path)


def _belongs(name: str, captions: str) -> bool:
    """Return whether a file is the media of captions so named: `제목.mp4` of `제목`, `제목.ko` and `제목.mp4.ko`."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - as caption files' names are read
    if suffix.lower() not in MEDIA_SUFFIXES:
        return False
    for start in (name, stem):
        rest = captions.removeprefix(start)
        code = rest[1:].partition("-")[0].lower()
        if captions.startswith(start) and (not rest or (rest[0] == "." and (code in LANGUAGES or code in LONG_CODES))):
            return True
    return False
