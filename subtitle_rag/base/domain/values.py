"""Values of the domain, without I/O. Imports only the standard library.

Times are whole milliseconds from the start of the video, converted to seconds only in JSON and on screen. Text is NFC.
"""

import re
import unicodedata
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, NamedTuple

NAMESPACE = uuid.UUID("5b3c1c0a-8f0e-5d52-9a53-7d0b6c1e4f11")
"""Root of every uuid5 in the program; a change orphans all stored ids."""

TABS = ("videos", "shorts", "streams")
"""Tabs of a channel with its own videos."""

MAX_MARKS = 30
"""Most combining marks in a row, as in Unicode's stream-safe format: normalisation sorts a run in quadratic time."""
_MARK_RUN = re.compile(rf"[^\w\s\x00-\x7f]{{{MAX_MARKS + 1},}}")
r"""A possible run of combining marks: `\w` includes none."""


def nfc(text: str) -> str:
    """Normalise to NFC: macOS file names and some keyboards use decomposed Hangul."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARK_RUN.sub(lambda match: _cut_marks(match[0]), text))


def _cut_marks(run: str) -> str:
    """Return a run of characters with at most `MAX_MARKS` combining marks in a row."""
    characters: list[str] = []
    count = 0
    for character in run:
        count = count + 1 if unicodedata.combining(character) else 0
        if count <= MAX_MARKS:
            characters.append(character)
    return "".join(characters)


MAX_TYPED = 10_000
"""Longest typed or pasted text: ten times the longest query, since spaces do not count in a query."""


def tidy(raw: str) -> str:
    """Return the first `MAX_TYPED` characters in NFC, on one line, without invisible ones."""
    visible = (" " if c.isspace() else c for c in raw[:MAX_TYPED] if c.isspace() or unicodedata.category(c)[0] != "C")
    return nfc(" ".join("".join(visible).split()))


def natural_key(text: str) -> tuple[tuple[int, str] | str, ...]:
    """Return a sort key that ignores case and compares digits by value, so that 2 comes before 10."""
    parts = re.split("([0-9]+)", text.casefold())
    return tuple((len(part.lstrip("0")), part.lstrip("0")) if at % 2 else part for at, part in enumerate(parts))


def squeeze(text: str) -> str:
    """Return a text without spaces and in one case, to compare letters."""
    return "".join(text.casefold().split())


KOREAN_SHARE = 0.2
"""Minimum share of words with Hangul in a Korean text, which may have many Latin names."""
SENTENCE_WORDS = 3
"""Latin words that make a text a sentence instead of a name."""
_WORD = re.compile(r"[^\W\d_]+")


def differs_in_language(question: str, answer: str) -> bool:
    """Return whether an answer is in another language than its question, by script: Hangul, Latin or other."""
    question_script, answer_script = _script(question), _script(answer)
    return bool(question_script and answer_script) and question_script != answer_script


def _script(text: str) -> str:
    """Return the script of a text's sentences; empty without any."""
    words = _WORD.findall(nfc(text))
    hangul = sum(any("가" <= letter <= "힣" for letter in word) for word in words)
    if hangul and hangul >= KOREAN_SHARE * len(words):
        return "Hangul"
    latin = sum(unicodedata.name(word[0], "").startswith("LATIN") for word in words)
    if 2 * latin > len(words):
        return "Latin" if len(words) >= SENTENCE_WORDS else ""
    return "other" if words else ""


def is_named(speaker: str, names: Sequence[str]) -> bool:
    """Return whether a speaker's name contains one of these, ignoring spaces and case."""
    return bool(speaker) and any(squeeze(name) in squeeze(speaker) for name in names)


@dataclass(frozen=True, slots=True)
class Cue:
    """One line of captions.

    `text` is a single line without markup. `word_starts` has one time per whitespace-separated word, or is empty if the
    track has no word times. `speaker` is empty if the track does not name one.
    """

    start_ms: int
    end_ms: int
    text: str
    word_starts: tuple[int, ...] = ()
    speaker: str = ""

    @property
    def named_text(self) -> str:
        """The text, after the speaker's name if there is one."""
        return named_text(self.speaker, self.text)

    def to_record(self) -> tuple[Any, ...]:
        """Return the fields for JSON; see `from_record`."""
        return self.start_ms, self.end_ms, self.text, self.word_starts, self.speaker

    @classmethod
    def from_record(cls, record: Sequence[Any]) -> "Cue":
        start_ms, end_ms, text, word_starts, speaker = record
        return cls(start_ms, end_ms, text, tuple(word_starts), speaker)


class Line(NamedTuple):
    """Start of a cue inside a window's text, and its speaker if the track names one."""

    offset: int
    start_ms: int
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """The unit of the index: about a minute of one video's captions.

    `text` joins the cues with single spaces; `lines` has the start of each. The overlaps are the seconds of speech
    before and after it, kept out of `text` because they would harm known-item search.
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
        """Return the lines as (start in ms, text)."""
        return spoken(self.text, self.lines)

    def dialogue(self) -> list[tuple[int, str]]:
        """Return the lines as (start in ms, text), each after its speaker's name, for people and models."""
        return dialogue(self.text, self.lines)


def spoken(text: str, lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Split a text into lines as (start in ms, text)."""
    ends = [line.offset - 1 for line in lines[1:]] + [len(text)]
    return [(line.start_ms, text[line.offset : end]) for line, end in zip(lines, ends, strict=True)]


def dialogue(text: str, lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Split a text into lines as (start in ms, text), each after its speaker's name."""
    lines_and_texts = zip(spoken(text, lines), lines, strict=True)
    return [(start_ms, named_text(line.speaker, line_text)) for (start_ms, line_text), line in lines_and_texts]


def named_text(speaker: str, text: str) -> str:
    """Return the text, after the speaker's name if there is one."""
    return f"{speaker}: {text}" if speaker else text


NEGATED = "¬"
"""Prefix of a negated word's form."""


@dataclass(frozen=True, slots=True)
class Morphemes:
    """Content morphemes of a text in order: forms (NFKC, lower case) and spans [start, end) in the raw text.

    A verb's span includes its endings, a negated word's span the negation.
    """

    forms: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class GapReason(StrEnum):
    """Why speech has no text. The values are stored."""

    LOOP = "loop"
    TOO_FEW_WORDS = "too_few_words"
    INVENTED = "invented"
    UNREADABLE = "unreadable"


class SpeechGap(NamedTuple):
    """Speech without credible text; `reason` is a `GapReason`."""

    start_ms: int
    end_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class HeardStretch:
    """Sound between two cuts at silence: the unit of storage and of resuming.

    Stretches of a file are contiguous: `begin_ms` is the `end_ms` of the previous one.
    """

    begin_ms: int
    end_ms: int
    cues: tuple[Cue, ...] = ()
    """Sentences with times in the file, in order, with word times. Empty for silence, music or a gap."""
    gap: GapReason | None = None
    """Why speech in this stretch has no text; None if it all has, or if nobody speaks."""
    language: str = "ko"
    """The recognised language; pass it on to continue after this stretch."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled part of a video, set by its author."""

    start_ms: int
    title: str


@dataclass(frozen=True, slots=True)
class Video:
    """A video with captions in the library. `id` is YouTube's, or `file-…` if the caption file names none."""

    id: str
    title: str
    channel_id: str
    channel: str
    url: str | None = None
    published: date | None = None
    duration_ms: int | None = None
    chapters: tuple[Chapter, ...] = ()
    source: str | None = None
    """Path of the caption file or transcribed film; None for a video from YouTube."""
    kind: str = ""
    """`video`, `short` or `stream`; empty if unknown."""

    def link(self, at_ms: int = 0) -> str | None:
        """Return the link to a time; None for a video without an address."""
        match = re.search(r"[A-Za-z0-9_-]{11}\Z", self.url or "")  # a file keeps its id if it gets an address later
        return watch_url(match[0] if match else self.id, at_ms) if self.url else None

    def to_json(self) -> dict[str, Any]:
        """Return its identifying values."""
        return pick_json(self, "id", "title", "channel", "url", "published")


class Heat(NamedTuple):
    """Replays of a part of a video; `value` is between 0 and 1."""

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
    """A requested track with its amount of speech, or the error code from fetching or reading it."""

    language: str
    kind: str
    syllables: int | None = None
    """None if it was unreadable, or stored without a measure."""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TrackSelection:
    """Why a video has its track: `tracks` were requested in order of preference, and `tracks[taken]` is stored."""

    tracks: tuple[MeasuredTrack, ...]
    taken: int = 0
    flag: str = ""
    """As in `Track`."""
    withheld: bool = False
    """Whether there is little speech and YouTube withholds tracks."""

    @property
    def reason(self) -> str:
        """Why this track: `speech` (far more speech than a preferred one), `kept` (little speech, but no other has
        more), `withheld`, or empty for the first one.
        """
        if self.taken:
            return "speech"
        return "withheld" if self.withheld else "kept" if len(self.tracks) > 1 else ""

    def to_json(self) -> dict[str, Any]:
        tracks = [asdict(track) for track in self.tracks]
        return {"reason": self.reason, "flag": self.flag, "taken": self.taken, "tracks": tracks}


@dataclass(frozen=True, slots=True)
class Track:
    """One caption track as fetched.

    `kind` is `manual`, `asr`, `file`, or `local` for transcription on this machine; `format` is one of
    `captions.FORMATS`.
    """

    language: str
    kind: str
    format: str
    raw: bytes = field(repr=False)
    sha256: str
    fetched_at: int
    """Unix seconds of the fetch, or the file's time of modification."""
    flag: str = ""
    """`translated` (by machine), `dub` (possibly automatic), `mislabelled` (in another language's letters), or empty
    for the original speech.
    """
    selection: TrackSelection | None = None
    """None if it was the only track requested, and has no flag."""
    model: str = ""
    """The transcription model of a `local` track."""
    settings: str = ""
    """The settings of that transcription."""


def watch_url(youtube_id: str, at_ms: int = 0) -> str:
    """Return the short link to a video at a time (in whole seconds, never negative)."""
    return f"https://youtu.be/{youtube_id}?t={max(0, at_ms) // 1000}"


def byte_size(count: float) -> str:
    """Return a number of bytes in the largest suitable unit: `6.0 MB`, `812 MB`, `69.2 GB`."""
    power, unit = next((each for each in ((12, "TB"), (9, "GB")) if count >= 0.9995 * 10 ** each[0]), (6, "MB"))
    value = count / 10**power
    has_tenths = value < (9.95 if unit == "MB" else 99.95)
    return f"{value:.{1 if has_tenths else 0}f} {unit}"


def sizes(done: float, total: float) -> str:
    """Return done and total bytes in the total's unit: `0.8/2.3 GB`."""
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


def to_json(value: Any) -> Any:
    """Convert a value for JSON: a dataclass or named tuple by its `to_json`, or else by all fields."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return pick_json(value, *(json_key(field.name) for field in fields(value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return pick_json(value, *map(json_key, value._fields))
    if isinstance(value, Mapping):
        return {key: to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def json_key(name: str) -> str:
    """Return an attribute's JSON key: `start` (in seconds) for `start_ms`, `new` for `is_new`."""
    return name.removesuffix("_ms").removeprefix("is_")


def pick_json(value: Any, *keys: str, **renamed: str) -> dict[str, Any]:
    """Return attributes for JSON. Converts `*_at` to a date and time, and empty text to null.

    `renamed` maps keys to attributes if the key differs from `json_key`.
    """
    entry: dict[str, Any] = {}
    for key in (*keys, *renamed):
        name = renamed.get(key) or next(name for name in (key, f"{key}_ms", f"is_{key}") if hasattr(value, name))
        item = getattr(value, name)
        if name != key and name.endswith("ms"):
            item = None if item is None else item / 1000
        entry[key] = moment(item) if name.endswith("_at") else None if item == "" else to_json(item)
    return entry


def moment(unix_s: int | None) -> str | None:
    """Return Unix seconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z") if unix_s else None


def place_json(video: Video, start_ms: int, end_ms: int, at_ms: int) -> dict[str, Any]:
    """Return a scene's video and times, with links to its start and its best line."""
    return {
        "video": video.to_json(),
        "start": start_ms / 1000,
        "end": end_ms / 1000,
        "url": video.link(start_ms),
        "jump": {"at": at_ms / 1000, "url": video.link(at_ms)},
    }
