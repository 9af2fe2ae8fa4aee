"""The caption tracks of a video that are worth requesting.

yt-dlp's keys are ambiguous: an English video has machine translations under the key `ko`, and one list can have a
translation and the real track (yt-dlp issues #2655, #17659). A track's address is unambiguous.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.captions.language_tags import is_language
from subtitle_rag.captions.metadata import Info

FORMATS = {"manual": "vtt", "asr": "json3"}
"""Formats to fetch: json3 has word times, without the repeated lines of rolling captions."""


MAX_MANUAL = 2
"""Maximum number of manual tracks of a language to request; more would be variants of variants."""
MAX_CANDIDATES = 4
"""Maximum number of tracks to request if each has too little speech."""


@dataclass(frozen=True, slots=True)
class TrackChoice:
    """A track on offer. `flag` is as in `domain.Track`."""

    language: str
    kind: str
    format: str
    url: str
    flag: str = ""
    key: str = ""


def track_candidates(info: Info, languages: Sequence[str], *, translated: bool = False) -> list[TrackChoice]:
    """Return the tracks to request, best first: for each language the manual ones, then the automatic one.

    Translations come last, if allowed.
    """
    manual = list(_tracks(info.get("subtitles"), "manual"))
    automatic = list(_tracks(info.get("automatic_captions"), "asr"))
    originals = {track.key for track in automatic if track.key.endswith("-orig")}
    doubt = "dub" if len(originals) > 1 else ""
    candidates: list[TrackChoice] = []
    recognitions = [track for track in automatic if track.kind == "asr"]  # next to translations of manual tracks
    for language in languages:
        for tracks, most in ((manual, MAX_MANUAL), (recognitions, 1)):
            candidates_of_kind = [track for track in tracks if not track.flag and is_language(track.language, language)]
            candidates_of_kind.sort(key=lambda track: track.key != language)
            candidates += candidates_of_kind[:most]
    for language in languages if translated else ():
        both = (track for track in (*manual, *automatic) if track.flag and is_language(track.language, language))
        candidates += islice(both, 1)
    flagged = (replace(track, flag=doubt) if track.kind == "asr" and not track.flag else track for track in candidates)
    unique: dict[str, TrackChoice] = {}
    for track in flagged:
        unique.setdefault(track.url, track)
    return list(unique.values())[:MAX_CANDIDATES]


def has_tracks(info: Info) -> bool:
    """Whether there is a track in any language."""
    return any(chain(_tracks(info.get("subtitles"), "manual"), _tracks(info.get("automatic_captions"), "asr")))


def _tracks(tracks: object, kind: str) -> Iterator[TrackChoice]:
    """Yield the tracks in the format to fetch, without repeats and without live chat."""
    for key, entries in tracks.items() if isinstance(tracks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            url = str(entry.get("url")) if isinstance(entry, dict) else ""
            query = _query(url)
            language, target = query.get("lang", ""), query.get("tlang", "")
            target = target.removesuffix(f"-{language}")  # yt-dlp's `ko-en`: Korean from a manual English track
            track_kind = "asr" if query.get("kind") == "asr" else "manual"
            if language and entry.get("ext") == FORMATS[track_kind] and (kind, track_kind) != ("manual", "asr"):
                flag = "translated" if target and target != language else ""
                yield TrackChoice(target or language, track_kind, FORMATS[track_kind], url, flag, str(key))


def _query(url: str) -> dict[str, str]:
    """Return the query of a track's address; empty for other hosts and paths."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return {}
    is_track = f".{parts.hostname}".endswith(".youtube.com") and parts.path.endswith("/timedtext")
    return {name: values[-1] for name, values in parse_qs(parts.query).items()} if is_track else {}
