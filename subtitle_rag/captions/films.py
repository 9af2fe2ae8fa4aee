"""The film or video of a caption file, and the files next to it: media, yt-dlp's `.info.json`, an `.nfo`."""

import html
import json
import logging
import os
import re
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.config_file import read_regular
from subtitle_rag.base.domain.values import Video, nfc
from subtitle_rag.captions import metadata
from subtitle_rag.captions.addresses import is_video_id
from subtitle_rag.captions.file_names import (
    MEDIA_SUFFIXES,
    SOUND,
    FileName,
    Release,
    film_folder,
    looks_like_id,
    path_day,
    path_year,
    read_name,
    read_release,
    read_stem,
)
from subtitle_rag.captions.formats import FORMATS
from subtitle_rag.captions.language_tags import is_language
from subtitle_rag.captions.metadata import clean_name

logger = logging.getLogger(__name__)

SIDECAR_LIMIT = 32_000_000
"""Largest yt-dlp .info.json to read, in bytes, comments included."""
NFO_LIMIT = 1_000_000
"""Largest .nfo to read, in bytes."""

_EXTRA = re.compile(r"(?:^|[\W_])(?:sample|trailer|예고편)(?:[\W_]|\Z)", re.IGNORECASE)
_PART = re.compile(r"\.(?:f\d+|temp)\Z")
"""Suffix of files that yt-dlp has not joined yet."""
_NFO_FIELD = re.compile(
    r"<(title|showtitle|season|episode|premiered|aired|releasedate|year)>\s*([^<]{1,1000}?)\s*</\1>"
)


@dataclass(frozen=True, slots=True)
class Film:
    """The film of a caption file.

    `folder` and `stem` are as on disk; together they are the place that all its tracks share.
    """

    folder: Path
    stem: str
    written_stem: str
    """The stem with the caption file's tags: the film may have that name too."""
    title: str
    youtube_id: str | None
    published: date | None


class Folders:
    """Folder listings, each read once: a number in a name means nothing without the files next to it."""

    def __init__(self) -> None:
        self._listings: dict[Path, _Listing] = {}

    def listing(self, folder: Path) -> "_Listing":
        """Return the captions and films of a folder; an empty listing if it cannot be read."""
        if folder not in self._listings:
            self._listings[folder] = _list(folder)
        return self._listings[folder]


@dataclass(frozen=True, slots=True)
class _Listing:
    """The captions of a folder by stem, and its films and sound files: (is a film, bytes, stem, name)."""

    captions: list[tuple[str, FileName]]
    media: list[tuple[bool, int, str, str]]
    titles_by_id: dict[str, set[str]] = field(default_factory=dict)
    """Titles of the files with the same YouTube id in their names."""
    releases: dict[tuple[str, ...], list[tuple[Release, tuple[bool, int, str, str]]]] = field(default_factory=dict)
    """Media by the words of their release."""

    def has(self, stem: str) -> bool:
        """Whether a media file has this name, with or without a suffix."""
        return any(nfc(stem) in (nfc(each), nfc(name)) for _is_film, _size, each, name in self.media)

    def release_of(self, film: "Film") -> tuple[bool, int, str, str] | None:
        """Return the only film or sound file with a film's name apart from release words."""
        target = read_release(film.stem)
        matches = [each for release, each in self.releases.get(target.words, ()) if release.may_be(target)]
        return max(matches) if len({stem for _is_film, _size, stem, _name in matches}) == 1 else None

    def films(self) -> list[str]:
        """Return the stems of the films except samples, largest last, or of sound files if there are no films."""
        films = sorted(each for each in self.media if not _EXTRA.search(each[2]))
        has_film = any(is_film for is_film, *_rest in films)
        return list(dict.fromkeys(stem for is_film, _size, stem, _name in films if is_film or not has_film))


def _list(folder: Path) -> _Listing:
    listing = _Listing([], [])
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                stem, suffix = os.path.splitext(entry.name)  # noqa: PTH122
                if suffix.lower() in MEDIA_SUFFIXES:
                    if (size := _bytes_of(entry)) is not None:
                        listing.media.append((suffix.lower() not in SOUND, size, stem, entry.name))
                elif not entry.name.startswith(".") and (name := read_name(entry.name)) and _may_be_track(name, suffix):
                    listing.captions.append((name.stem or stem, name))
    except OSError:
        logger.info("a folder of films cannot be read", exc_info=True)
    for _stem, name in listing.captions:
        if name.youtube_id and not FORMATS[name.format].sniffed:
            listing.titles_by_id.setdefault(name.youtube_id, set()).add(name.title)
    with_captions = set(listing.titles_by_id)
    for each in listing.media:
        release = read_release(each[2])
        listing.releases.setdefault(release.words, []).append((release, each))
        title, id, _day = read_stem(_PART.sub("", each[2]))
        if id and id not in with_captions:
            listing.titles_by_id.setdefault(id, set()).add(title)
    return listing


def _may_be_track(name: FileName, suffix: str) -> bool:
    """Whether a file may be captions of its folder: a program's `ko.json` has a suffix that captions share."""
    return bool(name.stem) or suffix.lower() not in FORMATS[name.format].sniffed


def _bytes_of(entry: os.DirEntry[str]) -> int | None:
    """Return the size of a file in bytes; None for anything else."""
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError:  # a link to itself
        return None


def film_of(path: Path, name: FileName, folders: Folders | None = None) -> Film:
    """Return the film of a caption file. Reads folders if the name, or its folder's name, hints at another film."""
    folders = folders or Folders()
    above, folder_stem = film_folder(path)
    written_stem = os.path.splitext(path.name)[0]  # noqa: PTH122 - as names are read
    own = Film(path.parent, name.stem or written_stem, written_stem, name.title, name.youtube_id, name.published)
    if not name.is_numbered and name.stem:
        in_above = replace(own, folder=Path(above))
        return in_above if above != path.parent and _has_media(in_above, folders) else own
    film = _film_of_track(path, name, folders)
    if film is None or _has_rival(path, name, film, folders):
        return own if name.stem or film else _folder_film(Path(above), folder_stem or above.name)
    return film


def without_common_id(film: Film, folders: Folders) -> Film:
    """Return a film without an id that several videos share, and so is not YouTube's: `[BDRip-1080p] 드라마 01`.

    A video fetched again may have another title.
    """
    id = film.youtube_id or ""
    titles = folders.listing(film.folder).titles_by_id.get(id, set())
    is_renamed = len({re.sub(r"\d+", "", title) for title in titles}) == len(titles) == 2 and looks_like_id(id)
    return film if len(titles) < 2 or is_renamed else replace(film, youtube_id=None, title=clean_name(film.stem))


def _folder_film(folder: Path, stem: str) -> Film:
    return Film(folder, stem, stem, *read_stem(stem))


def _film_of_track(path: Path, name: FileName, folders: Folders) -> Film | None:
    """Return the film that a number or a language alone may be a track of; None if no film next to it fits."""
    above, folder_stem = film_folder(path)
    if name.track_of:
        parents = (folder for folder in dict.fromkeys((path.parent, Path(above))))
        folder = next((each for each in parents if folders.listing(each).has(name.track_of)), None)
        return _folder_film(folder, name.track_of) if folder else None
    if folder_stem:
        return _folder_film(Path(above), folder_stem)
    films = folders.listing(Path(above)).films()
    if films and (len(films) == 1 or not name.is_numbered):
        return _folder_film(Path(above), films[-1])
    return _folder_film(Path(above), above.name) if above != path.parent and not films else None


def _has_rival(path: Path, name: FileName, film: Film, folders: Folders) -> bool:
    """Whether another file would be the same track of the film: then each file is a video of its own.

    Next to a ripped film, a folder of captions with distinct numbers and several languages counts tracks even if one
    language occurs twice.
    """
    stem = name.stem or path.stem
    captions = folders.listing(path.parent).captions
    tracks = [
        (other, each)
        for other, each in captions
        if each.track_of == name.track_of and (each.is_numbered or not each.stem)
    ]
    same = {other for other, each in tracks if other != stem and _is_same_track(each, name)}
    candidates = captions if film.folder == path.parent else captions + folders.listing(film.folder).captions
    if any(other == film.stem and not each.is_numbered and _is_same_track(each, name) for other, each in candidates):
        return True
    is_of_media = film.folder != path.parent and _has_media(film, folders)
    languages = {each.language for _other, each in tracks}
    numbers = [other for other, each in tracks if each.format == name.format]
    is_list_of_tracks = is_of_media and len(languages) > 1 and len(set(numbers)) == len(numbers)
    return len(same) > (1 if is_list_of_tracks else 0)


def _is_same_track(first: FileName, second: FileName) -> bool:
    languages = first.language, second.language
    is_variant = first.is_numbered and (is_language(*languages) or is_language(*reversed(languages)))
    return first.roles == second.roles and (first.language == second.language or is_variant)


def _has_media(film: Film, folders: Folders) -> bool:
    listing = folders.listing(film.folder)
    return listing.has(film.stem) or listing.has(film.written_stem) or bool(listing.release_of(film))


def stem_of_release(film: Film, folders: Folders) -> str | None:
    """Return the stem of the only film with the captions' name apart from release words."""
    listing = folders.listing(film.folder)
    if listing.has(film.stem) or listing.has(film.written_stem):
        return None
    media = listing.release_of(film)
    return media and media[2]


def film_day(film: Film) -> date | None:
    """Return the day, or the first day of the year, in the names of file and folder."""
    return film.published or path_year(film.stem) or path_day(film.folder.name) or path_year(film.folder.name)


# --- files next to it ---


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
    """Facts in a media server's `.nfo`. `show` is the series of an episode."""

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
        for match in _NFO_FIELD.finditer(text):  # the first match of each field; nothing is parsed as XML
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
    """Return the film with the captions' name apart from tags, as on disk. Reads folders."""
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
        return media_of(film, Folders()) if film else None
    except OSError:  # an unmounted disk, for example
        logger.info("a video's folder cannot be read", exc_info=True)
        return None


def media_of(film: Film, folders: Folders) -> Path | None:
    """Return the media file of a film. Raises OSError."""
    stems = {nfc(film.stem), nfc(film.written_stem)}
    with os.scandir(film.folder) as entries:
        files = [Path(entry.path) for entry in entries if _is_media_of(nfc(entry.name), stems) and entry.is_file()]
    if not files and (release := folders.listing(film.folder).release_of(film)):
        return film.folder / release[3]
    return min(files, key=lambda path: (path.suffix.lower() in SOUND, path.name), default=None)


def _is_media_of(name: str, stems: set[str]) -> bool:
    """Whether a file is the media of one of these stems: `제목.mp4` for `제목`, or for captions `제목.mp4.srt`."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - as caption files' names are read
    return suffix.lower() in MEDIA_SUFFIXES and (stem in stems or name in stems)


def printable_path(path: Path | str) -> str:
    """Return a path for display, records and hashes: in NFC, always encodable."""
    return nfc(os.fsencode(path).decode("utf-8", errors="replace"))


def on_disk(path: Path) -> Path:
    """Return a path as spelled on disk, where syllables may be decomposed or in another encoding.

    Raises OSError, such as FileNotFoundError.
    """
    if path.exists() or path == path.parent:
        return path
    with os.scandir(on_disk(path.parent)) as entries:
        for entry in entries:
            if printable_path(entry.name) == path.name:
                return Path(entry.path)
    raise FileNotFoundError(path)


def info_id(info: metadata.Info) -> str | None:
    """Return the YouTube id in an `.info.json`; "" for a video of another site."""
    site = info.get("extractor_key") or info.get("extractor")
    if isinstance(site, str) and not site.lower().startswith("youtube"):
        return ""
    id = info.get("id")
    return id if isinstance(id, str) and is_video_id(id) else None
