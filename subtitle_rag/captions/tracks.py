"""Which of a video's caption tracks is taken.

yt-dlp's keys do not tell: an English video has automatic captions called `ko` that are a machine's translation, and
one list can hold a translation and the real track (yt-dlp issues #2655, #17659). A track's address does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

Info = Mapping[str, Any]

FORMATS = {"manual": "vtt", "asr": "json3"}
"""What is fetched: json3 has the words' times without the repeated lines of rolling captions."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A track that can be fetched; `flag` as in `domain.Track`."""

    language: str
    kind: str
    format: str
    url: str
    flag: str = ""
    key: str = ""


def choose(info: Info, languages: Sequence[str], *, translated: bool = False) -> Offer | None:
    """For each language in turn its manual track, else what a machine heard; translations only if asked for, last."""
    manual = list(_offers(info.get("subtitles"), "manual"))
    heard = list(_offers(info.get("automatic_captions"), "asr"))
    originals = {offer.key for offer in heard if offer.key.endswith("-orig")}
    spoken = [offer for offer in (*manual, *heard) if not offer.flag]
    for wanted in languages:
        for offer in sorted(spoken, key=lambda offer: (offer.kind == "asr", offer.key != wanted)):
            if _is(offer.language, wanted):
                doubtful = offer.kind == "asr" and len(originals) > 1
                return offer if not doubtful else _flagged(offer, "dub")
    for wanted in languages if translated else ():
        for offer in (*manual, *heard):
            if offer.flag and _is(offer.language, wanted):
                return offer
    return None


def _offers(tracks: object, kind: str) -> Iterator[Offer]:
    """The tracks in the format that is fetched, each once; the chat of a live stream is none."""
    for key, entries in tracks.items() if isinstance(tracks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            url = str(entry.get("url")) if isinstance(entry, dict) else ""
            query = _query(url)
            spoken, target = query.get("lang", ""), query.get("tlang", "")
            target = target.removesuffix(f"-{spoken}")  # yt-dlp's `ko-en`: Korean made of a manual English track
            heard = "asr" if query.get("kind") == "asr" else "manual"
            if spoken and entry.get("ext") == FORMATS[heard] and (kind, heard) != ("manual", "asr"):
                flag = "translated" if target and target != spoken else ""
                yield Offer(target or spoken, heard, FORMATS[heard], url, flag, str(key))


def _query(url: str) -> dict[str, str]:
    """What the address of a track asks for; nothing where it is none of YouTube's."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return {}
    is_track = f".{parts.hostname}".endswith(".youtube.com") and parts.path.endswith("/timedtext")
    return {name: values[-1] for name, values in parse_qs(parts.query).items()} if is_track else {}


def _flagged(offer: Offer, flag: str) -> Offer:
    return Offer(offer.language, offer.kind, offer.format, offer.url, flag, offer.key)


def _is(language: str, wanted: str) -> bool:
    return f"{language}-".lower().startswith(f"{wanted}-".lower())
