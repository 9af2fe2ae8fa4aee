"""Which film or video a caption file belongs to, and what is beside it: media, yt-dlp's `.info.json`, an `.nfo`."""

import html
import json
import logging
import os
import re
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from subtitle_rag.captions import metadata
from subtitle_rag.captions.addresses import is_video_id
from subtitle_rag.captions.file_names import (
    MEDIA_SUFFIXES,
    SOUND,
    FileName,
    film_folder,
    path_day,
    path_year,
    read_name,
    read_stem,
)
from subtitle_rag.captions.metadata import clean_name
from subtitle_rag.config import read_regular
from subtitle_rag.domain import Video, nfc

logger = logging.getLogger(__name__)

SIDECAR_LIMIT = 32_000_000
"""Bytes of a yt-dlp .info.json, comments included; a larger one is left alone."""
NFO_LIMIT = 1_000_000
"""Bytes of an .nfo; a larger one is left alone."""

_EXTRA = re.compile(r"(?:^|[\W_])(?:sample|trailer|예고편)(?:[\W_]|\Z)", re.IGNORECASE)
_NFO_FIELD = re.compile(
    r"<(title|showtitle|season|episode|premiered|aired|releasedate|year)>\s*([^<]{1,1000}?)\s*</\1>"
)


@dataclass(frozen=True, slots=True)
class Film:
    """What a caption file belongs to. `folder` and `stem` are as the disk spells them; together they are its place,
    which all its tracks share."""

    folder: Path
    stem: str
    written_stem: str
    """The stem with the tags of the caption file: a film may be named so too."""
    title: str
    youtube_id: str | None
    published: date | None


def film_of(path: Path, name: FileName) -> Film:
    """Return the film of a caption file. Reads folders where the name, or that of its folder, hints at another one."""
    above, folder_stem = film_folder(path)
    written_stem = os.path.splitext(path.name)[0]  # noqa: PTH122 - as names are read
    if name.stem and not (name.stem.isdecimal() and name.stem != written_stem):
        beside = Film(path.parent, name.stem, written_stem, name.title, name.youtube_id, name.published)
        in_above = replace(beside, folder=Path(above))
        return in_above if above != path.parent and _has_media(in_above) else beside
    stem = folder_stem or _largest_media(Path(above)) or above.name
    return Film(Path(above), stem, stem, *read_stem(stem))


def _has_media(film: Film) -> bool:
    try:
        return media_of(film) is not None
    except OSError:
        return False


def film_day(film: Film) -> date | None:
    """Return the day, or the first day of the year, that name and folder say."""
    return film.published or path_year(film.stem) or path_day(film.folder.name) or path_year(film.folder.name)


def _largest_media(folder: Path) -> str | None:
    """Return the stem of a folder's largest film or sound file that is no sample; None without any."""
    sizes = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                stem, suffix = os.path.splitext(entry.name)  # noqa: PTH122
                if suffix.lower() in MEDIA_SUFFIXES and not _EXTRA.search(stem) and entry.is_file():
                    sizes.append((suffix.lower() not in SOUND, entry.stat().st_size, stem))
    except OSError:
        logger.info("a folder of films cannot be read", exc_info=True)
    return max(sizes)[2] if sizes else None


# --- what is beside ---


def read_info(film: Film) -> dict[str, Any]:
    """Read yt-dlp's `.info.json` of a film; empty if missing or unusable."""
    for stem in dict.fromkeys((film.stem, film.written_stem)):
        try:
            data = json.loads(read_regular(film.folder / f"{stem}.info.json", SIDECAR_LIMIT))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            logger.info("an .info.json cannot be read", exc_info=True)
            continue
        if isinstance(data, dict):
            return data
    return {}


@dataclass(frozen=True, slots=True)
class NfoFacts:
    """What an `.nfo` of a media server says. `show` is the series of an episode."""

    title: str = ""
    show: str = ""
    published: date | None = None


def read_nfo(film: Film) -> NfoFacts:
    """Read the `.nfo` of a film, as Kodi and Jellyfin write it; empty if missing or of another kind."""
    for name in dict.fromkeys((f"{film.stem}.nfo", f"{film.written_stem}.nfo", "movie.nfo")):
        try:
            text = read_regular(film.folder / name, NFO_LIMIT).decode("utf-8", errors="ignore")
        except (OSError, ValueError):
            continue
        fields: dict[str, str] = {}
        for match in _NFO_FIELD.finditer(text):  # by its first fields: nothing of it is parsed as XML
            fields.setdefault(match[1], clean_name(html.unescape(match[2])))
        return _nfo_facts(fields)
    return NfoFacts()


def _nfo_facts(fields: dict[str, str]) -> NfoFacts:
    days = (path_day(fields[name]) for name in ("premiered", "aired", "releasedate") if name in fields)
    published = next(filter(None, days), None) or path_year(f"({fields.get('year', '')})")
    title, show = fields.get("title", ""), fields.get("showtitle", "")
    season, episode = fields.get("season", ""), fields.get("episode", "")
    if show and season.isdecimal() and episode.isdecimal():
        title = f"{show} S{int(season):02d}E{int(episode):02d} {title}".rstrip()
    return NfoFacts(title, show, published)


# --- media ---


def find_media(video: Video) -> Path | None:
    """Return the film named like the captions without their tags, as the disk spells it. Reads folders."""
    if video.source is None:
        return None
    source = Path(video.source)
    try:
        folder = on_disk(source.parent)
        if source.suffix.lower() in MEDIA_SUFFIXES:  # the captions are inside
            media = on_disk(source)
            return media if media.is_file() else None
        name = read_name(source.name)
        film = film_of(folder / source.name, name) if name else None
        return media_of(film) if film else None
    except OSError:  # an unmounted disk, for example
        logger.info("a video's folder cannot be read", exc_info=True)
        return None


def media_of(film: Film) -> Path | None:
    """Return the file that plays a film; raises OSError."""
    stems = {nfc(film.stem), nfc(film.written_stem)}
    with os.scandir(film.folder) as entries:
        files = [Path(entry.path) for entry in entries if _is_media_of(nfc(entry.name), stems) and entry.is_file()]
    return min(files, key=lambda path: (path.suffix.lower() in SOUND, path.name), default=None)


def _is_media_of(name: str, stems: set[str]) -> bool:
    """Whether a file is the media of these stems: `제목.mp4` of `제목`, and of captions named `제목.mp4.srt`."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - as caption files' names are read
    return suffix.lower() in MEDIA_SUFFIXES and (stem in stems or name in stems)


def printable_path(path: Path | str) -> str:
    """Return a path for people, records and hashes: in NFC, and always encodable."""
    return nfc(os.fsencode(path).decode("utf-8", errors="replace"))


def on_disk(path: Path) -> Path:
    """Return a path as the disk spells it, whose syllables may be decomposed or in another encoding.

    Raises OSError, FileNotFoundError among others.
    """
    if path.exists() or path == path.parent:
        return path
    with os.scandir(on_disk(path.parent)) as entries:
        for entry in entries:
            if printable_path(entry.name) == path.name:
                return Path(entry.path)
    raise FileNotFoundError(path)


def info_id(info: metadata.Info) -> str | None:
    """Return the id of a video on YouTube that an `.info.json` names; "" for a video of another site."""
    site = info.get("extractor_key") or info.get("extractor")
    if isinstance(site, str) and not site.lower().startswith("youtube"):
        return ""
    id = info.get("id")
    return id if isinstance(id, str) and is_video_id(id) else None
