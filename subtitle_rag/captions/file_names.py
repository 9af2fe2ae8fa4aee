"""Facts in the names of caption files and folders: title, YouTube id, language, role and day.

Reads the conventions of yt-dlp, youtube-dl, TubeArchivist, Bazarr, Plex, Jellyfin and ripped series. Uncertain parts
stay in the title: an id of lower-case letters may be a word.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePath

from subtitle_rag.base.domain.values import nfc
from subtitle_rag.captions.formats import format_of
from subtitle_rag.captions.language_tags import UNDERSCORED, language_name, language_tag
from subtitle_rag.captions.metadata import clean_name

SOUND = frozenset(
    [
        ".m4a",
        ".m4b",
        ".mp3",
        ".mp2",
        ".opus",
        ".ogg",
        ".oga",
        ".flac",
        ".wav",
        ".aac",
        ".ac3",
        ".aif",
        ".aiff",
        ".aifc",
        ".alac",
        ".amr",
        ".ape",
        ".au",
        ".caf",
        ".mka",
        ".weba",
        ".wma",
    ]
)
"""Sound files, the last choice as media."""
MEDIA_SUFFIXES = frozenset(
    [
        ".mp4",
        ".mkv",
        ".webm",
        ".mov",
        ".m4v",
        ".avi",
        ".ts",
        ".m2ts",
        ".mts",
        ".wmv",
        ".asf",
        ".mpg",
        ".mpeg",
        ".m2v",
        ".vob",
        ".flv",
        ".f4v",
        ".3gp",
        ".3g2",
        ".ogv",
        ".ogm",
        ".rm",
        ".rmvb",
        ".divx",
        ".mxf",
    ]
).union(SOUND)

_DESCRIPTIONS = (".info.json", ".live_chat.json", ".comments.json")
"""Files that yt-dlp writes next to captions but that are not captions."""

CAPTION_FOLDERS = frozenset({"subs", "sub", "subtitles", "subtitle", "자막"})
"""Folders whose files belong to the film or films in the parent folder."""

_LONE_ROLES = frozenset({"sdh", "cc", "forced", "default", "closedcaptions"})
"""Roles recognized without a language next to them; the others are words of titles too."""
_ROLES = {
    **dict.fromkeys(("forced", "foreign", "signs", "songs", "강제"), "forced"),
    **dict.fromkeys(("sdh", "cc", "hi", "closedcaptions", "청각장애인"), "sdh"),
    **dict.fromkeys(("auto", "ai"), "auto"),
    **dict.fromkeys(("default", "full"), ""),
}
"""Words for a track's role, and the role that tells two tracks of a language apart."""
_BRACKETED = re.compile(r"(.*\S)\s*[\[(]([^\[\]()]{2,14})[\])]", re.DOTALL)
_DOTTED = re.compile(r"(.*)\.([^.\s][^.]*)", re.DOTALL)
_UNDERSCORED = re.compile(r"(.*)[_ ]([A-Za-z가-힣]{2,10}(?:[-_][A-Za-z]{2,4})?)", re.DOTALL)
_BETWEEN_WORDS = re.compile(r"[-_&\s()\[\]]+")
_NUMBER = re.compile(r"\d{1,2}")

_ID = r"[A-Za-z0-9_-]{11}"
_ID_IN_BRACKETS = re.compile(rf"[\s_]*[\[(](?:youtube[- ])?({_ID})[\])]", re.IGNORECASE)
_ID_AT_END = re.compile(rf"(?:(?<=\S)-|\byoutube[- ])({_ID})\Z", re.IGNORECASE)
_ID_WITH_DAY = re.compile(rf"(\d{{8}})_({_ID})(?:_(.+))?", re.DOTALL)

_DAY = re.compile(
    r"(?<!\d)(?:((?:19|20)\d\d)([-._]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])|(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))(?!\d)"
)
_YEAR = re.compile(r"[(\[]((?:19|20)\d\d)[)\]]")

_BETWEEN_TOKENS = re.compile(r"[\s._\-\[\](){}+,]+")
_RELEASE = re.compile(
    r"(?:360|480|540|576|720|1080|1440|2160|4320)[pi](?:24|25|30|50|60)?|4k|8k|uhd|[xh]26[45]|hevc|av1|xvid|divx"
    r"|web-?(?:dl|rip)|blu-?ray|b[dr]rip|(?:bd)?remux|dvdrip|hdtv|hdrip|hdcam|tvrip"
)
"""Words about the release (resolution, codec …): from the first of them on, files of one film differ."""
_IN_RELEASES = re.compile(r"\d|26[45]|aac\d?|e?ac3|ddp?\d?|dts|\d+ch|\d+bit|hdr\d*|v\d|mp[34]")
_MARK = re.compile(r"[0-9가-힣]")


@dataclass(frozen=True, slots=True)
class FileName:
    """The parts of a caption file's name.

    `stem` is the name without language, roles and suffixes, as on disk, or empty if nothing else is left.
    """

    stem: str
    title: str
    youtube_id: str | None
    language: str
    format: str
    roles: frozenset[str] = frozenset()
    """`forced`, `sdh` and `auto`, which tell two tracks in one language apart."""
    published: date | None = None
    track_of: str | None = None
    """The stem without a number that may be a media server's track number; empty if the stem is only the number.

    Only the files in the same folder show whether it numbers tracks or videos.
    """

    @property
    def is_forced(self) -> bool:
        """Whether it has only the foreign parts of the film: signs, words of another language."""
        return "forced" in self.roles

    @property
    def is_numbered(self) -> bool:
        """Whether a number in the name may be a track number."""
        return self.track_of is not None


def read_name(name: str) -> FileName | None:
    """Return the parts of a caption file's name; None for other files."""
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - Path drops what a name with a trailing dot needs
    caption_format = format_of(suffix)
    if caption_format is None or name.lower().endswith(_DESCRIPTIONS):
        return None
    tags = _peel(stem)
    bare = _without_media_suffix(tags.stem)
    track_of = bare if tags.numbered is not None else None
    if tags.stem != stem and _NUMBER.fullmatch(tags.stem):
        track_of = ""
    stem = bare if tags.numbered is None else _without_media_suffix(tags.numbered)
    title, youtube_id, published = read_stem(stem)
    roles = frozenset(filter(None, (_ROLES[role] for role in tags.roles)))
    return FileName(stem, title, youtube_id, tags.language or "und", caption_format.name, roles, published, track_of)


def _without_media_suffix(stem: str) -> str:
    rest, suffix = os.path.splitext(stem)  # noqa: PTH122
    return rest if suffix.lower() in MEDIA_SUFFIXES else stem


def read_stem(stem: str) -> tuple[str, str | None, date | None]:
    """Return title, YouTube id and day from a name without language and suffixes."""
    if (match := _ID_WITH_DAY.fullmatch(stem)) and looks_like_id(match[2]):
        return clean_name(match[3] or "") or match[2], match[2], path_day(match[1])
    if looks_like_id(stem) and not stem.startswith("-"):
        return stem, stem, None
    for match in reversed(list(_ID_IN_BRACKETS.finditer(stem))):
        if _is_no_word(match[1]):
            title = clean_name(f"{stem[: match.start()]} {stem[match.end() :]}")
            return title or match[1], match[1], path_day(stem)
    if (match := _ID_AT_END.search(stem)) and looks_like_id(match[1]):
        return clean_name(stem[: match.start()]) or match[1], match[1], path_day(stem)
    return clean_name(stem), None, path_day(stem)


def is_film(path: PurePath) -> bool:
    """Whether the suffix is a film's, which has pictures and perhaps captions inside."""
    return path.suffix.lower() in MEDIA_SUFFIXES - SOUND


def is_media(path: PurePath) -> bool:
    """Whether the suffix is a film's or a sound file's."""
    return path.suffix.lower() in MEDIA_SUFFIXES


def looks_like_id(text: str) -> bool:
    """Whether a text can only be a video id: it mixes small and capital letters as no word does."""
    is_mixed = any(char.islower() for char in text) and any(char.isupper() for char in text)
    return bool(re.fullmatch(_ID, text)) and is_mixed and not text.istitle() and not _tells_release(text)


def _is_no_word(text: str) -> bool:
    """Whether bracketed text is an id, and not a word, a day, or a description of the release."""
    is_word = text.isalpha() and (text.islower() or text.isupper() or text.istitle())
    return not (is_word or _DAY.fullmatch(text) or _tells_release(text))


def _tells_release(text: str) -> bool:
    """Whether a word describes the release: `BDRip-1080p` has as many letters as an id."""
    return any(map(_RELEASE.fullmatch, _BETWEEN_TOKENS.split(text.lower())))


@dataclass(frozen=True, slots=True)
class _Tags:
    """A stem, with the language and roles of the tags removed from its end."""

    stem: str
    language: str | None = None
    roles: frozenset[str] = frozenset()
    numbered: str | None = None
    """The stem including a number removed from its end."""

    def without_last(self) -> "_Tags | None":
        """Remove the next tag from the end; None if there is none, or it is a second language."""
        if (match := _BRACKETED.fullmatch(self.stem)) and (tag := _bracketed_tag(match[2])) is not None:
            return self._with(match[1], *tag)
        if match := _DOTTED.fullmatch(self.stem):
            language, roles = _read_tag(match[2], match[1])
            if language or roles:
                return self._with(match[1], language, roles)
            if self.numbered is None and _is_track_number(match[2], match[1], self.language):
                return replace(self, stem=match[1], numbered=self.stem)
            return None
        if self.language is None and self.stem.lower() in UNDERSCORED:
            return replace(self, stem="", language=UNDERSCORED[self.stem.lower()])
        return None

    def _with(self, stem: str, language: str | None, roles: Collection[str]) -> "_Tags | None":
        if language and self.language:
            return None
        return replace(self, stem=stem, language=self.language or language, roles=self.roles.union(roles))


def _peel(stem: str) -> _Tags:
    """Remove all tags from the end of a stem."""
    tags = _Tags(stem)
    while tags.stem and (rest := tags.without_last()):
        tags = rest
    language, match = tags.language, _UNDERSCORED.fullmatch(tags.stem)
    if language is None and match and match[2].lower() in UNDERSCORED:
        return replace(tags, stem=match[1].rstrip("_ -"), language=UNDERSCORED[match[2].lower()])
    if language is None and not tags.roles <= _LONE_ROLES:
        return _Tags(stem)  # `노래.full` is a title
    return tags


def _bracketed_tag(tag: str) -> tuple[str | None, set[str]] | None:
    """Return the language and roles in brackets; None for other words."""
    words = [word.lower() for word in _BETWEEN_WORDS.split(tag) if word]
    roles = {word for word in words if word in _ROLES}
    languages = [UNDERSCORED.get(word) for word in words if word not in _ROLES]
    if not words or None in languages or len(languages) > 1:
        return (UNDERSCORED[tag.lower()], set()) if tag.lower() in UNDERSCORED else None
    return (languages[0] if languages else None), roles


def _is_track_number(tag: str, rest: str, language: str | None) -> bool:
    """Whether a number next to a language may be a server's track number."""
    return bool(_NUMBER.fullmatch(tag)) and bool(language or _peel(rest).language)


def _read_tag(tag: str, rest: str) -> tuple[str | None, set[str]]:
    """Return the language and roles of one tag, even `Korean - SDH`. After a language, `hi` means hearing-impaired."""
    lowered = tag.lower()
    if lowered in _ROLES and (lowered != "hi" or _peel(rest).language):
        return None, {lowered}
    parts = [part for part in _BETWEEN_WORDS.split(tag) if part]
    if len(parts) > 1 and {part.lower() for part in parts} <= _ROLES.keys() and _peel(rest).language:
        return None, {part.lower() for part in parts}
    roles = {part.lower() for part in parts[1:]} & _ROLES.keys()
    if roles:
        tag = "-".join(part for part in parts if part.lower() not in roles)
    language = language_name(tag) or language_tag(tag)
    return language, roles if language else set()


@dataclass(frozen=True, slots=True)
class Release:
    """A stem split into parts; the film and captions from other makers may differ in all but `words`."""

    words: tuple[str, ...]
    day: date | None
    marks: frozenset[str]
    """Words after the release words that may tell parts of a series apart."""
    is_told: bool
    """Whether it names the release or the day."""

    def may_be(self, other: "Release") -> bool:
        """Whether both can belong to the same film; at least one must say more than its title."""
        return (
            bool(self.words)
            and self.words == other.words
            and self.marks == other.marks
            and (self.is_told or other.is_told)
            and (self.day is None or other.day is None or self.day == other.day)
        )


def read_release(stem: str) -> Release:
    """Return the parts of a stem: `드라마.E01.240301.1080p-NEXT` has the words of `드라마.E01`."""
    day = path_day(stem)
    text = _YEAR.sub(" ", _DAY.sub(" ", stem) if day else stem)
    tokens = [token for token in _BETWEEN_TOKENS.split(nfc(text).lower()) if token]
    first = next((at for at, token in enumerate(tokens) if _RELEASE.fullmatch(token)), len(tokens))
    rest = tokens[first:]
    marks = frozenset(
        token
        for token in rest
        if _MARK.search(token) and not _RELEASE.fullmatch(token) and not _IN_RELEASES.fullmatch(token)
    )
    return Release(tuple(tokens[:first]), day, marks, bool(rest or day or text != stem))


def film_folder(path: PurePath) -> tuple[PurePath, str | None]:
    """Return the folder of the film that a caption file belongs to, and the film's name if a folder has it.

    `Film (2024)/Subs/2_Korean.srt` belongs to the parent folder, `Season 1/Subs/Series.S01E02/2_Korean.srt` to
    `Series.S01E02` in `Season 1`.
    """
    folder = path.parent
    if folder.name.lower() in CAPTION_FOLDERS:
        return folder.parent, None
    if folder.parent.name.lower() in CAPTION_FOLDERS:
        return folder.parent.parent, folder.name
    return folder, None


def path_day(text: str) -> date | None:
    """Return the day in a name: 2024-01-31, 20240131, 2024.01.31, or 240131 as in Korean series."""
    for match in _DAY.finditer(text):
        year, _between, month, day, short, short_month, short_day = match.groups()
        try:
            if year:
                return date(int(year), int(month), int(day))
            return date(2000 + int(short), int(short_month), int(short_day))
        except ValueError:  # 31 April, for example
            continue
    return None


def path_year(text: str) -> date | None:
    """Return the first day of a year in brackets, as in the film name `Film (2024)`."""
    match = _YEAR.search(text)
    return date(int(match[1]), 1, 1) if match else None
