"""Values of the domain. Nothing here reads, writes or imports outside the standard library.

All times inside the program are whole milliseconds from the start of the video; seconds appear only in JSON and on
screen. All text is NFC.
"""

import re
import unicodedata
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

NAMESPACE = uuid.UUID("5b3c1c0a-8f0e-5d52-9a53-7d0b6c1e4f11")
"""Root of every uuid5 that the program derives; changing it orphans all stored ids."""

TABS = ("videos", "shorts", "streams")
"""Tabs of a channel with its own videos."""

MAX_MARKS = 30
"""Combining marks in a row, as in Unicode's stream-safe format; the rest of a run is cut off. No writing has as many,
and normalisation sorts a run of them in quadratic time."""
_MARK_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{MAX_MARKS + 1},}}")
"""A run that may be of combining marks: none of them is of `\\w`."""


def nfc(text: str) -> str:
    """Return a text with composed syllables: macOS file names and some keyboards deliver decomposed Hangul."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARK_RUN.sub(lambda match: _cut_marks(match[0]), text))


def _cut_marks(run: str) -> str:
    """Return a run of characters without the combining marks after the first `MAX_MARKS` in a row."""
    characters: list[str] = []
    count = 0
    for character in run:
        count = count + 1 if unicodedata.combining(character) else 0
        if count <= MAX_MARKS:
            characters.append(character)
    return "".join(characters)


MAX_TYPED = 10_000
"""Characters of a typed or pasted text that are read: ten times the longest query, for spaces do not count."""


def tidy(raw: str) -> str:
    """Return the first `MAX_TYPED` characters as NFC on one line, without invisible ones: some terminals send
    decomposed Hangul."""
    visible = (" " if c.isspace() else c for c in raw[:MAX_TYPED] if c.isspace() or unicodedata.category(c)[0] != "C")
    return nfc(" ".join("".join(visible).split()))


def natural_key(text: str) -> tuple[tuple[int, str] | str, ...]:
    """Return the key that sorts 2 before 10, whatever the letter cases: runs of digits count by their value."""
    parts = re.split("([0-9]+)", text.casefold())
    return tuple((len(part.lstrip("0")), part.lstrip("0")) if at % 2 else part for at, part in enumerate(parts))


def squeeze(text: str) -> str:
    """Return a text without spaces and case, to compare its letters."""
    return "".join(text.casefold().split())


KOREAN_SHARE = 0.2
"""Share of words with Hangul in a Korean text, at least: names in Latin letters may be many."""
SENTENCE_WORDS = 3
"""Words in Latin letters that are a sentence, and no names."""
_WORD = re.compile(r"[^\W\d_]+")


def differs_in_language(question: str, answer: str) -> bool:
    """Return whether an answer is in another language than its question, as their letters tell: Hangul, Latin or any
    other."""
    asked, answered = _script(question), _script(answer)
    return bool(asked and answered) and asked != answered


def _script(text: str) -> str:
    """Return the script of a text's sentences, empty for one without any."""
    words = _WORD.findall(nfc(text))
    hangul = sum(any("가" <= letter <= "힣" for letter in word) for word in words)
    if hangul and hangul >= KOREAN_SHARE * len(words):
        return "Hangul"
    latin = sum(unicodedata.name(word[0], "").startswith("LATIN") for word in words)
    if 2 * latin > len(words):
        return "Latin" if len(words) >= SENTENCE_WORDS else ""
    return "other" if words else ""


def is_named(speaker: str, names: Sequence[str]) -> bool:
    """Return whether a speaker's name has one of these in it, whatever their spaces and case."""
    return bool(speaker) and any(squeeze(name) in squeeze(speaker) for name in names)


@dataclass(frozen=True, slots=True)
class Cue:
    """One line of captions: `text` is a single line without markup; `word_starts` has one time per
    whitespace-separated word where the track carries word times, else it is empty; `speaker` is who says it, where the
    track tells."""

    start_ms: int
    end_ms: int
    text: str
    word_starts: tuple[int, ...] = ()
    speaker: str = ""

    @property
    def named_text(self) -> str:
        """Its text, with its speaker's name in front if there is one."""
        return named_text(self.speaker, self.text)

    def to_record(self) -> tuple[Any, ...]:
        """Return what `from_record` reads, also from JSON."""
        return self.start_ms, self.end_ms, self.text, self.word_starts, self.speaker

    @classmethod
    def from_record(cls, record: Sequence[Any]) -> "Cue":
        start_ms, end_ms, text, word_starts, speaker = record
        return cls(start_ms, end_ms, text, tuple(word_starts), speaker)


class Line(NamedTuple):
    """Where a cue begins inside a window's text, and who says it, where the track tells."""

    offset: int
    start_ms: int
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """The unit of the index: about a minute of one video's captions.

    `text` joins the cues with single spaces; `lines` says where each cue begins in it. The overlaps are the
    neighbouring seconds of speech, kept apart from `text` (they would drown known-item search).
    """

    id: str
    video_id: str
    ordinal: int
    start_ms: int
    end_ms: int
    text: str
    lines: tuple[Line, ...]
    overlap_before: str = ""
    overlap_after: str = ""

    def spoken(self) -> list[tuple[int, str]]:
        """Return its lines as (beginning in ms, text)."""
        return spoken(self.text, self.lines)

    def dialogue(self) -> list[tuple[int, str]]:
        """Return its lines as (beginning in ms, text), each with its speaker's name in front, for people and models."""
        return dialogue(self.text, self.lines)


def spoken(text: str, lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Split a text into its lines as (beginning in ms, text)."""
    ends = [line.offset - 1 for line in lines[1:]] + [len(text)]
    return [(line.start_ms, text[line.offset : end]) for line, end in zip(lines, ends, strict=True)]


def dialogue(text: str, lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Split a text into its lines as (beginning in ms, text), each with its speaker's name in front."""
    lines_and_texts = zip(spoken(text, lines), lines, strict=True)
    return [(start_ms, named_text(line.speaker, line_text)) for (start_ms, line_text), line in lines_and_texts]


def named_text(speaker: str, text: str) -> str:
    """Return a text with its speaker's name in front, if there is one."""
    return f"{speaker}: {text}" if speaker else text


NEGATED = "¬"
"""Before the form of a word that is negated."""


@dataclass(frozen=True, slots=True)
class Morphemes:
    """The content morphemes of a text, in order: the forms (NFKC, lower case) and the spans [start, end) in the raw
    text that they stand for; a verb's span runs through its endings, that of a negated word through the negation."""

    forms: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class GapReason(StrEnum):
    """Why speech has no text. Its value is stored."""

    LOOP = "loop"
    TOO_FEW_WORDS = "too_few_words"
    INVENTED = "invented"
    UNREADABLE = "unreadable"


class SpeechGap(NamedTuple):
    """Speech without a text that can be believed; `reason` is a `GapReason`."""

    start_ms: int
    end_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class HeardStretch:
    """What lies between two cuts at silence: the unit that is kept, and resumed behind.

    Stretches of a file follow each other without a hole: `begin_ms` is the `end_ms` of the one before.
    """

    begin_ms: int
    end_ms: int
    cues: tuple[Cue, ...] = ()
    """Sentences with times in the file, in order, with word times. Empty for silence, music, or a gap."""
    gap: GapReason | None = None
    """Why speech of this stretch has no text; None where all of it has, or nobody speaks."""
    language: str = "ko"
    """The language that was listened for; give it again when going on behind this stretch."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled part of a video, as its author marked it."""

    start_ms: int
    title: str


@dataclass(frozen=True, slots=True)
class Video:
    """A video whose captions are in the library. `id` is YouTube's, or `file-…` where the captions' file names none."""

    id: str
    title: str
    channel_id: str
    channel: str
    url: str | None = None
    published: date | None = None
    duration_ms: int | None = None
    chapters: tuple[Chapter, ...] = ()
    source: str | None = None
    """Path of the caption file, or of the film that was listened to; None for a video that came from YouTube."""
    kind: str = ""
    """`video`, `short` or `stream`; empty if unknown."""

    def link(self, at_ms: int = 0) -> str | None:
        """Return the link to a second; None for a video without an address."""
        match = re.search(r"[A-Za-z0-9_-]{11}\Z", self.url or "")  # a file that has its address later keeps its own id
        return watch_url(match[0] if match else self.id, at_ms) if self.url else None

    def values(self) -> dict[str, Any]:
        """Return its identifying values for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "channel": self.channel,
            "url": self.url,
            "published": self.published.isoformat() if self.published else None,
        }


class Heat(NamedTuple):
    """How often a part of a video is replayed: `value` is between 0 and 1."""

    start_ms: int
    end_ms: int
    value: float


@dataclass(frozen=True, slots=True)
class Details:
    """Further metadata of a video on YouTube. `heatmap` is the "most replayed" curve."""

    description: str = ""
    thumbnail: str | None = None
    heatmap: tuple[Heat, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredTrack:
    """A track that was asked for, with its speech, or the code of the failure to get or read it."""

    language: str
    kind: str
    syllables: int | None = None
    """None if it could not be read, or was stored without a measure."""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TrackSelection:
    """Why a video has its track: `tracks` were asked for in the order of preference, `tracks[taken]` is stored."""

    tracks: tuple[MeasuredTrack, ...]
    taken: int = 0
    flag: str = ""
    """As in `Track`."""
    withheld: bool = False
    """The speech is little, and YouTube withholds tracks."""

    @property
    def reason(self) -> str:
        """`speech`: it says far more than a preferred one; `kept`: it says little, and the others no more; `withheld`;
        empty for the first one, taken at once."""
        if self.taken:
            return "speech"
        return "withheld" if self.withheld else "kept" if len(self.tracks) > 1 else ""

    def values(self) -> dict[str, Any]:
        """Return its values for JSON."""
        tracks = [asdict(track) for track in self.tracks]
        return {"reason": self.reason, "flag": self.flag, "taken": self.taken, "tracks": tracks}


@dataclass(frozen=True, slots=True)
class Track:
    """One caption track as it came: `kind` is `manual`, `asr`, `file`, or `local` for one that was heard on this
    machine; `format` is one of `captions.FORMATS`."""

    language: str
    kind: str
    format: str
    raw: bytes = field(repr=False)
    sha256: str
    fetched_at: int
    """Unix seconds: when the bytes were fetched, or the file's time of modification."""
    flag: str = ""
    """`translated` by a machine, `dub` for a possible automatic dub, `mislabelled` for the letters of another language;
    empty for the original speech."""
    selection: TrackSelection | None = None
    """None if it was the first and only one that was asked for, and has no flag."""
    model: str = ""
    """The transcriber's model that heard a `local` track."""
    settings: str = ""
    """The transcriber's settings with it."""


def watch_url(youtube_id: str, at_ms: int = 0) -> str:
    """Return the short link that opens a video at a second (rounded down, never negative)."""
    return f"https://youtu.be/{youtube_id}?t={max(0, at_ms) // 1000}"


def byte_size(count: float) -> str:
    """Return a number of bytes in the largest unit that fits: `6.0 MB`, `812 MB`, `69.2 GB`."""
    power, unit = next((each for each in ((12, "TB"), (9, "GB")) if count >= 0.9995 * 10 ** each[0]), (6, "MB"))
    value = count / 10**power
    has_tenths = value < (9.95 if unit == "MB" else 99.95)
    return f"{value:.{1 if has_tenths else 0}f} {unit}"


def sizes(done: float, total: float) -> str:
    """Return how much of a number of bytes is done, both in the unit of the whole: `0.8/2.3 GB`."""
    unit = byte_size(total).rpartition(" ")[2]
    power = {"TB": 12, "GB": 9, "MB": 6}[unit]
    return f"{done / 10**power:.1f}/{total / 10**power:.1f} {unit}"


def clock(ms: int) -> str:
    """Return milliseconds as a time: `761000` as `12:41`, `3753000` as `1:02:33`."""
    minutes, seconds = divmod(max(0, ms) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def parse_clock(text: str) -> int:
    """Return the milliseconds of `12:41`, `1:02:33`, `761`, `761.5` or `12m41s`; raise ValueError for anything else."""
    text = text.strip()
    if match := re.fullmatch(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9}(?:\.\d+)?)s)?", text):
        if any(match.groups()):
            h, m, s = (float(part or 0) for part in match.groups())
            return round((h * 3600 + m * 60 + s) * 1000)
    elif match := re.fullmatch(r"(?:(?:(\d{1,9}):)?(\d{1,9}):)?(\d{1,9}(?:\.\d+)?)", text):
        h, m, s = (float(part or 0) for part in match.groups())
        if (match[2] and s >= 60) or (match[1] and m >= 60):
            raise ValueError(text)
        return round((h * 3600 + m * 60 + s) * 1000)
    raise ValueError(text)
