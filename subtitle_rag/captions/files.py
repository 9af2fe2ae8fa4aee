"""Caption files on disk: discovery, grouping by video, and their bytes.

Several files can be tracks of one video: other languages, other formats, the same YouTube id in another folder. So the
walk yields one group per video, best track first; the next track is the fallback for a damaged one. Names come from
other systems, and macOS decomposes Hangul: every name is compared and hashed in NFC, and the file is opened under its
own name.
"""

import hashlib
import logging
import os
import stat
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from subtitle_rag.base.config.config_file import read_regular
from subtitle_rag.base.domain.errors import SCARCE, AppError, BusyError, CaptionError, UsageError
from subtitle_rag.base.domain.events import FileNotice, VideoFailed
from subtitle_rag.base.domain.values import Details, Track, Video, nfc
from subtitle_rag.base.ffmpeg import EmbeddedTrack, Ffmpeg, FilmProbe
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.captions import metadata
from subtitle_rag.captions.addresses import video_url
from subtitle_rag.captions.file_names import FileName, is_film, is_media, path_day, path_year, read_name, read_stem
from subtitle_rag.captions.films import (
    Film,
    Folders,
    NfoFacts,
    film_day,
    film_of,
    find_media,
    info_id,
    media_of,
    on_disk,
    printable_path,
    read_info,
    read_nfo,
    stem_of_release,
    without_common_id,
)
from subtitle_rag.captions.formats import FORMATS, LEFT_OUT, holds_captions, suffix_list
from subtitle_rag.captions.json_segments import is_speech, may_be_segments
from subtitle_rag.captions.language_tags import is_language, language_tag, title_language
from subtitle_rag.captions.metadata import clean_name
from subtitle_rag.captions.microdvd import lacks_rate
from subtitle_rag.captions.parse import oversized, parse_captions, unread_times
from subtitle_rag.captions.sami import sami_languages
from subtitle_rag.captions.text_encoding import decode, decode_part

logger = logging.getLogger(__name__)

SNIFFED = 64_000
"""Bytes read to decide whether a text file is captions."""

_VOBSUB = b"\0\0\1\xba"
"""First bytes of a `.sub` file with pictures, a DVD stream."""

_PACKET = 188
"""Bytes of a packet in a transport stream (`.ts`); each begins with a G."""

FILE_ID = "file-"
"""Prefix of the id of a video known only by its file."""

NAMED = 5
"""Maximum number of files named in a notice; `--json` has all."""

FULL = 0.8
"""Minimum share of the longest track's text for another of the same language to win by its format."""


@dataclass(frozen=True, slots=True)
class CaptionFile:
    """One caption file.

    `language` is a tag such as `ko` or `zh-Hans`, or `und` if the name has none. `path` is as on disk, `video.source`
    in NFC.
    """

    path: Path
    video: Video
    language: str
    format: str
    details: Details = field(default_factory=Details)
    """Facts from yt-dlp's .info.json next to it."""
    track: int | None = None
    """The index of the caption track if `path` is a film."""
    languages: tuple[str, ...] = ()
    """The user's preferred languages, for a file in several languages without one in its name."""


@dataclass(frozen=True, slots=True)
class CaptionGroup:
    """The caption files of one video, best first."""

    candidates: tuple[CaptionFile, ...]

    @property
    def video(self) -> Video:
        """The first file's video."""
        return self.candidates[0].video

    def left_out(self, taken: CaptionFile) -> list[tuple[CaptionFile, CaptionFile]]:
        """Return the files that are not read once `taken` is, each paired with it."""
        rest = self.candidates[self.candidates.index(taken) + 1 :]
        return [(file, taken) for file in rest if file.track is None]


@dataclass(frozen=True, slots=True)
class _DescribedFile:
    """A caption file with the facts in its name and its film."""

    name: FileName
    film: Film
    info: metadata.Info
    probe: FilmProbe | None = None
    """The probe of the film, if one was made."""
    track: int | None = None

    @property
    def youtube_id(self) -> str | None:
        """The id in an `.info.json`, which may say that the video is of another site, else the one in the name."""
        stated = info_id(self.info)
        return (stated or None) if stated is not None else self.film.youtube_id

    @property
    def video_id(self) -> str:
        location = f"{printable_path(self.film.folder)}/{printable_path(self.film.stem)}"
        return self.youtube_id or FILE_ID + _digest(location)


def discover(
    sources: Sequence[Path], *, languages: Sequence[str] = ("ko",)
) -> Iterator[CaptionGroup | VideoFailed | FileNotice]:
    """Yield the videos of all caption files in `sources` (files and folder trees), in the order of the walk.

    Folders are walked by NFC name; hidden entries are skipped; linked folders come last and once. In a group, tracks in
    the preferred `languages` come first, then tracks without a language, then the rest; manual before automatic, and
    the richer format first. An unreadable file is yielded as VideoFailed in its place. Other files that are not read
    are counted in notices at the end.

    Raises:
        UsageError: `unsupported_source` for a path that does not exist, before anything is yielded.
        BusyError: `system_limit` if the system has no file descriptors left.
    """
    findings = _find(sources, languages)
    for group in findings.groups.values():
        if isinstance(group, VideoFailed):
            yield group
            continue
        try:
            yield _group(group, languages, findings.folders)
        except BusyError:
            raise
        except Exception as error:  # an error in one video must not stop the others
            logger.exception("a caption file cannot be described")
            yield unexpected(next(iter(group)), error)
    yield from _notices(findings.left_out)


def silent_films(sources: Sequence[Path]) -> list[Video]:
    """Return the videos of all films and sound files in `sources` without captions next to or inside them.

    Raises:
        UsageError: `unsupported_source` for a path that does not exist.
        BusyError: `system_limit` if the system has no file descriptors left.
    """
    findings = _find(sources, ("ko",))
    return [_video(path, file, findings.folders) for path, file in findings.silent.values()]


@dataclass(frozen=True, slots=True)
class _Findings:
    """The files found in folder trees."""

    groups: dict[str, dict[Path, _DescribedFile] | VideoFailed]
    """Caption files by video."""
    left_out: Counter[tuple[str, str]]
    silent: dict[str, tuple[Path, _DescribedFile]]
    """Films without captions by video."""
    folders: Folders


def _find(sources: Sequence[Path], languages: Sequence[str]) -> _Findings:
    folders = Folders()
    findings = _Findings({}, Counter(), {}, folders)
    groups, left_out = findings.groups, findings.left_out
    media: list[Path] = []
    for source in sources:
        try:
            source.stat()
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise UsageError("unsupported_source", source=printable_path(source), formats=suffix_list()) from None
        except OSError:
            continue  # reported by the walk
    for source in sources:
        # resolve() would rename folders after the targets of links
        for entry in _walk(Path(os.path.abspath(source)), left_out, media):  # noqa: PTH100
            if isinstance(entry, VideoFailed):
                groups[f"failed {entry.video}"] = entry
            elif name := read_name(entry.name):
                film = without_common_id(film_of(entry, name, folders), folders)
                file = _DescribedFile(name, film, read_info(film))
                group = groups.setdefault(file.video_id, {})
                assert isinstance(group, dict)
                group[entry] = file
            else:
                groups[f"failed {entry}"] = _failure(
                    entry, "not_captions", _("its name ends in none of {formats}").format(formats=suffix_list())
                )
    ids = _ids_by_place(groups, folders)
    for path in dict.fromkeys(media):
        _look_inside(path, ids.get((path.parent, nfc(path.stem)), ""), findings, languages, folders)
    return findings


def read(file: CaptionFile) -> Track:
    """Return the bytes of a file, or of a track inside a film, as a track of kind `file`.

    Raises:
        CaptionError: `too_large`, before reading, above the format's limit; `unreadable` if the system refuses.
        BusyError: `system_limit`.
    """
    path = printable_path(file.path)
    limit_mb = FORMATS[file.format].limit_mb
    limit = limit_mb * 2**20
    if file.track is not None:
        try:
            raw = Ffmpeg.find().extract(file.path, file.track, file.format, limit)
        except AppError as error:
            raise CaptionError(
                "unreadable", path=path, reason=str(error.details.get("reason", error.message))
            ) from error
        if len(raw) > limit:
            raise oversized(path, len(raw), limit_mb)
        return _track(file, raw, modified_at(file))
    try:
        info = file.path.stat()
        if not stat.S_ISREG(info.st_mode):  # opening a pipe would block forever
            raise CaptionError("unreadable", path=path, reason=_("it is not a regular file"))
        size = info.st_size
        if size <= limit:
            with file.path.open("rb") as stream:
                raw = stream.read(limit + 1)  # the file may have grown since
            size = len(raw)
    except OSError as error:
        _check_scarcity(file.path, error)
        raise CaptionError("unreadable", path=path, reason=_reason(error)) from error
    if size > limit:
        raise oversized(path, size, limit_mb)
    return _track(file, _with_rate(file, raw), int(info.st_mtime))


def _with_rate(file: CaptionFile, raw: bytes) -> bytes:
    """Return a frame-based file with the film's frame rate in front, unless it has one."""
    if file.format != "sub":
        return raw
    try:
        if not lacks_rate(decode_part(raw[:SNIFFED], path=file.path.name).text) or not (
            media := find_media(file.video)
        ):
            return raw
        rate = float(Ffmpeg.find().probe(media).rate)
    except AppError:  # reported when it is parsed
        logger.info("the rate of a film is not known", exc_info=True)
        return raw
    return f"{{1}}{{1}}{rate:.3f}\n".encode() + raw if rate else raw


def _track(file: CaptionFile, raw: bytes, modified: int) -> Track:
    language = file.language
    if language == "und" and file.format == "smi":
        try:
            declared = list(sami_languages(decode_part(raw[:SNIFFED], path=file.path.name).text).values())
        except CaptionError:  # reported when it is parsed
            declared = []
        preferred = (prefix for prefix in file.languages if any(is_language(each, prefix) for each in declared))
        language = next(preferred, language)
    return Track(language, "file", file.format, raw, hashlib.sha256(raw).hexdigest(), modified)


def modified_at(file: CaptionFile) -> int:
    """Return the modification time in Unix seconds; 0 if unknown."""
    try:
        return int(file.path.stat().st_mtime)
    except OSError:
        return 0


def is_gone(source: str) -> bool:
    """Whether the file of a library path is missing: deleted, moved, or on an unmounted disk."""
    try:
        return not on_disk(Path(source)).exists()
    except OSError:
        return True


def gone_sources(videos: Iterable[Video]) -> list[Video]:
    """Return the videos whose caption files are missing."""
    return [video for video in videos if video.source and is_gone(video.source)]


def same_place(first: str, second: str) -> bool:
    """Whether two caption files are tracks of the same film."""
    locations = []
    for path in (Path(first), Path(second)):
        name = read_name(path.name)
        film = film_of(path, name) if name else Film(path.parent, path.stem, path.stem, "", None, None)
        locations.append((printable_path(film.folder), printable_path(film.stem)))
    return locations[0] == locations[1]


def other_id(id: str, source: str) -> str:
    """Return a replacement id for a video whose own id belongs to an earlier video in the same place."""
    return FILE_ID + _digest(f"{id}/{source}")


def track_notices(track: Track, path: str) -> Iterator[FileNotice]:
    """Yield notices of a file that was read: an uncertain encoding, uncertain times."""
    decoded = decode(track.raw, path=path)
    if not decoded.is_sure:
        yield FileNotice("doubtful_encoding", {"path": path, "encoding": decoded.encoding})
    if decoded.is_repaired:
        yield FileNotice("repaired_text", {"path": path})
    if n := unread_times(decoded.text, track.format):
        yield FileNotice("damaged_times", {"path": path, "n": n})


def tracks_notice(left_out: Sequence[tuple[CaptionFile, CaptionFile]]) -> FileNotice:
    """Return the notice of files passed over for another file of the same video: (file, the one taken)."""
    names = [printable_path(file.path.name) for file, _taken in left_out[:NAMED]]
    if more := len(left_out) - len(names):
        names.append(n_("{n} more", "{n} more", more))
    counts = Counter(file.path.suffix.lower()[1:] for file, _taken in left_out)
    pairs = [{"file": printable_path(file.path), "taken": printable_path(taken.path)} for file, taken in left_out]
    return FileNotice("left_out_tracks", {"files": ", ".join(names), "counts": dict(counts), "left_out": pairs})


# --- the walk ---


def _notices(left_out: Counter[tuple[str, str]]) -> Iterator[FileNotice]:
    """Yield one notice per reason for leaving files out, with their suffixes."""
    for code in dict.fromkeys(code for code, _suffix in left_out):
        counts = {suffix[1:]: n for (reason, suffix), n in left_out.most_common() if reason == code}
        files = ", ".join(_("{suffix} {n:,}").format(suffix=suffix, n=n) for suffix, n in counts.items())
        yield FileNotice(code, {"files": files, "counts": counts})


def _list_folder(folder: Path) -> list[tuple[os.DirEntry[str], bool]]:
    """Return the entries that are not hidden by name, each with whether it is a folder. Raises OSError."""
    with os.scandir(folder) as entries:
        listed = [(entry, _is_folder(entry)) for entry in entries if not entry.name.startswith(".")]
    return sorted(listed, key=lambda item: (nfc(item[0].name), item[0].name))


def _walk(source: Path, left_out: Counter[tuple[str, str]], media: list[Path]) -> Iterator[Path | VideoFailed]:
    """Yield the caption files below a folder, or the file itself whatever its name.

    Collects films on the way and counts what is left out.
    """
    try:
        is_folder = stat.S_ISDIR(source.stat().st_mode)
    except OSError as error:
        yield _unreadable(source, error)
        return
    if not is_folder:
        if is_media(source):
            media.append(source)
        else:
            yield source
        return
    folders = deque([source])
    visited: set[tuple[int, int]] = set()
    while folders:
        folder = folders.popleft()
        try:
            info = folder.stat()
            if (info.st_dev, info.st_ino) in visited:
                continue
            visited.add((info.st_dev, info.st_ino))
            listed = _list_folder(folder)
        except OSError as error:
            yield _unreadable(folder, error)
            continue
        paths = [Path(entry.path) for entry, is_folder in listed if not is_folder]
        left_out.update((code, path.suffix.lower()) for path in paths if (code := _left_out(path)))
        media += filter(_is_shown_or_heard, paths)
        yield from filter(_is_captions, paths)
        # real folders first, linked ones at the end: a file should keep the path that depends on no link
        below = [entry for entry, is_folder in listed if is_folder]
        folders.extendleft(Path(e.path) for e in reversed(below) if not e.is_symlink())
        for linked in (Path(e.path) for e in below if e.is_symlink()):
            if linked.resolve() in source.resolve().parents:  # it would include the whole source, even the disk
                yield _failure(linked, "unreadable", _("the link leads to a folder above"))
            else:
                folders.append(linked)


def _ids_by_place(
    groups: Mapping[str, dict[Path, _DescribedFile] | VideoFailed], folders: Folders
) -> dict[tuple[Path, str], str]:
    """Return the ids of the videos by folder and stem.

    A video is found under its stem, its stem with caption tags, and the stem of a film with another release name.
    """
    ids: dict[tuple[Path, str], str] = {}
    releases: dict[tuple[Path, str], str] = {}
    for id, group in groups.items():
        for file in group.values() if isinstance(group, dict) else ():
            for stem in (file.film.written_stem, file.film.stem):
                ids[file.film.folder, nfc(stem)] = id
            if release := stem_of_release(file.film, folders):
                releases[file.film.folder, nfc(release)] = id
    return {**releases, **ids}


def _look_inside(path: Path, known_id: str, findings: _Findings, languages: Sequence[str], folders: Folders) -> None:
    """Add the caption track inside a film to its group, or count it if a file next to it has its language.

    Sound files have no tracks inside.

    Args:
        path: the film or sound file.
        known_id: the id of a video with captions next to the film, or empty.
        findings: the groups and counts to add to.
        languages: the user's preferred languages.
        folders: listings of folders, each read once.
    """
    if not _is_file(path):  # opening a pipe would block forever
        return
    groups, left_out, stem = findings.groups, findings.left_out, path.stem
    film = without_common_id(Film(path.parent, stem, stem, *read_stem(stem)), folders)
    file = _DescribedFile(FileName(stem, film.title, film.youtube_id, "und", "srt"), film, read_info(film))
    video_id = known_id or file.video_id
    group = groups.get(video_id, {})
    if not is_film(path):
        if not group:
            left_out["left_out_films", path.suffix.lower()] += 1
            findings.silent.setdefault(video_id, (path, file))
        return
    prefixes = [*languages, "und"]
    if isinstance(group, VideoFailed) or any(
        is_language(each.name.language, prefix) and not each.name.is_forced
        for each in group.values()
        for prefix in prefixes
    ):
        return
    try:
        probe = Ffmpeg.find().film(path)
    except AppError as error:
        logger.info("a film is not looked into", exc_info=True)
        if not group:
            code = "left_out_unseen" if error.code == "ffmpeg_missing" else "left_out_films"
            left_out[code, path.suffix.lower()] += 1
            findings.silent.setdefault(video_id, (path, file))
        return
    texts = [track for track in probe.tracks if track.format]
    ranked = sorted(texts, key=lambda track: (_language_rank(_tag(track), languages), track.is_forced, track.number))
    if ranked and (not group or _language_rank(_tag(ranked[0]), languages) < len(languages)):
        best = ranked[0]
        roles = frozenset({"forced"}) if best.is_forced else frozenset()
        name = replace(file.name, language=_tag(best), format=best.format, roles=roles)
        inside = groups.setdefault(video_id, {})
        assert isinstance(inside, dict)
        inside[path] = replace(file, name=name, probe=probe, track=best.number)
    elif not group:
        left_out["left_out_formats" if probe.tracks else "left_out_films", path.suffix.lower()] += 1
        findings.silent.setdefault(video_id, (path, replace(file, probe=probe)))


def _tag(track: EmbeddedTrack) -> str:
    """Return a track's language; by its title if it has no tag or "English", which players use as a default."""
    tag = language_tag(track.language) or "und"
    return (title_language(track.title) if tag in ("und", "en") else None) or tag


def _left_out(path: Path) -> str | None:
    """Return the notice code for a file that may hold captions but is not read; None for other files."""
    suffix = path.suffix.lower()
    if suffix == ".sub" and _head(path).startswith(_VOBSUB):
        return "left_out_formats"
    if suffix == ".json" and read_name(path.name) and is_speech(_head(path)) and not _is_captions(path):
        return "left_out_formats"
    return LEFT_OUT.get(suffix)


def _is_captions(path: Path) -> bool:
    """Whether a file in a folder is captions, by its suffix, or by its beginning if others share the suffix."""
    if read_name(path.name) is None:
        return False
    suffix = path.suffix.lower()
    if suffix == ".sub":
        return not _head(path).startswith(_VOBSUB)
    if suffix == ".json" and _is_transcript(path):
        return True
    if not any(suffix in each.sniffed for each in FORMATS.values()):
        return True
    try:
        return holds_captions(decode_part(_head(path), path=path.name).text.lstrip("\ufeff \t\n"))
    except CaptionError:
        return False


def _is_transcript(path: Path) -> bool:
    """Whether a JSON file is captions. All of it is read if the full text precedes the segments."""
    tells = may_be_segments(_head(path))
    if tells is None:
        try:
            tells = may_be_segments(read_regular(path, FORMATS["json"].limit_mb * 2**20))
        except (OSError, ValueError):
            logger.info("a JSON file is left out", exc_info=True)
    return bool(tells)


def _is_shown_or_heard(path: Path) -> bool:
    """Whether a file in a folder is a film or sound; source code is named `.ts` too."""
    if path.suffix.lower() != ".ts":
        return is_media(path)
    head = _head(path)
    return head[:1] == head[_PACKET : _PACKET + 1] == b"G"


def _head(path: Path) -> bytes:
    """Return the beginning of a file; b"" if it cannot be read."""
    try:
        if not path.is_file():  # opening a pipe would block forever
            return b""
        with path.open("rb") as file:
            return file.read(SNIFFED)
    except OSError:
        return b""


def _check_scarcity(path: Path, error: OSError) -> None:
    """Raise BusyError `system_limit` for an error that is not the file's or folder's fault."""
    if error.errno in SCARCE:
        raise BusyError("system_limit", path=printable_path(path), reason=error.strerror) from error


def _unreadable(path: Path, error: OSError) -> VideoFailed:
    """Return the failure of a file or folder. Raises BusyError `system_limit`."""
    _check_scarcity(path, error)
    return _failure(path, "unreadable", _reason(error))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        logger.info("a film is left out", exc_info=True)
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself; reading it reports the error
        return False


def _failure(path: Path, code: str, reason: str) -> VideoFailed:
    details = {"path": printable_path(path), "reason": reason}
    return VideoFailed(printable_path(path), clean_name(path.name) or printable_path(path), code, details)


def unexpected(path: Path, error: Exception) -> VideoFailed:
    """Return the failure of a file after an unforeseen error."""
    return _failure(path, "caption_unexpected", type(error).__name__)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _digest(path: str) -> str:
    """Hash a path; on Windows regardless of case and slashes."""
    return hashlib.sha256(os.path.normcase(path).encode()).hexdigest()[:16]


# --- groups ---


def _group(files: dict[Path, _DescribedFile], languages: Sequence[str], folders: Folders) -> CaptionGroup:
    def language_rank(file: _DescribedFile) -> int:
        is_sign = file.name.is_forced and file.name.language == "und"
        return _language_rank(file.name.language, languages) + 2 * is_sign

    def rank(item: tuple[Path, _DescribedFile]) -> tuple[int, bool, bool, bool, int, str]:
        path, file = item
        name = file.name
        is_short = path in lengths and lengths[path] < FULL * max(lengths.values())
        formats = list(FORMATS)
        return (
            language_rank(file),
            name.language.endswith("-orig"),
            name.is_forced,
            is_short,
            formats.index(name.format),
            printable_path(path),
        )

    best = min(map(language_rank, files.values()))
    rivals = [path for path, file in files.items() if language_rank(file) == best and file.track is None]
    lengths = {path: _spoken_length(path, files[path].name) for path in rivals} if len(rivals) > 1 else {}
    candidates = tuple(
        CaptionFile(
            path,
            _video(path, file, folders),
            file.name.language,
            file.name.format,
            metadata.details(file.info),
            file.track,
            tuple(languages),
        )
        for path, file in sorted(files.items(), key=rank)
    )
    return CaptionGroup(candidates)


def _language_rank(language: str, languages: Sequence[str]) -> int:
    """Return a language's rank in the user's order; tracks without a language come next, other languages last."""
    ranks = (rank for rank, prefix in enumerate(languages) if is_language(language, prefix))
    return next(ranks, len(languages) + (language != "und"))


def _spoken_length(path: Path, name: FileName) -> int:
    """Return the number of characters in a file's cues; 0 if it cannot be read."""
    try:
        raw = read_regular(path, FORMATS[name.format].limit_mb * 2**20)
        cues = parse_captions(raw, name.format, language=name.language)
    except (OSError, CaptionError):  # reported when it is read
        return 0
    return sum(len(cue.text) for cue in cues)


def _video(path: Path, file: _DescribedFile, folders: Folders) -> Video:
    film, info = file.film, file.info
    nfo = NfoFacts() if info else read_nfo(film)
    published = metadata.published(info) or nfo.published or film_day(film)
    probe = file.probe or (_probe_beside(film, folders) if published is None and not info else None)
    return Video(
        id=file.video_id,
        title=_title(path, file, nfo, probe),
        channel_id=metadata.channel_id(info) or "folder-" + _digest(printable_path(film.folder)),
        channel=_channel(file, nfo),
        url=video_url(file.youtube_id) if file.youtube_id else None,
        published=published or (path_day(probe.day) or path_year(f"({probe.day})") if probe else None),
        duration_ms=metadata.ms(info.get("duration")),
        chapters=metadata.chapters(info.get("chapters")),
        source=printable_path(path),
        kind=metadata.kind(info) if "media_type" in info else "",
    )


def _title(path: Path, file: _DescribedFile, nfo: NfoFacts, probe: FilmProbe | None) -> str:
    stated = metadata.text(file.info, "title") or nfo.title or clean_name(probe.title if probe else "")
    return stated or file.film.title or file.youtube_id or printable_path(path.name)


def _channel(file: _DescribedFile, nfo: NfoFacts) -> str:
    folder = file.film.folder
    name = metadata.channel_name(file.info) or nfo.show or clean_name(printable_path(folder.name))
    return name or printable_path(folder)


def _probe_beside(film: Film, folders: Folders) -> FilmProbe | None:
    """Return the probe of the film next to captions; None without a film or ffprobe."""
    if not folders.listing(film.folder).media:
        return None
    try:
        media = media_of(film, folders)
        return Ffmpeg.find().film(media) if media else None
    except (OSError, AppError):
        logger.info("a film is not looked into", exc_info=True)
        return None
