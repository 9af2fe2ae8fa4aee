"""Captions in XML: TTML (DFXP) and YouTube's srv1, srv2 and srv3.

Expat reads them, without the file's entities and without a network. pysubs2, pycaption and ttconv were tried: each
refuses a file for a namespace, a time unit or a cut end that the others accept.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import NamedTuple
from xml.parsers import expat

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.cue_blocks import (
    TIME,
    CueBlock,
    UnusableTextError,
    bounded_ms,
    clock_ms,
    cues_of_blocks,
    inline_time,
)
from subtitle_rag.captions.language_tags import best_language

_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_CLOCK = re.compile(rf"{TIME}(?:\.\d{{1,9}})?")
_OFFSET = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)?")
_UNIT_MS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1, None: 1000}
PAUSE_MS = 500
"""Silence between two parts of a paragraph that shows them to be separate phrases."""
_PARTED = 4
"""Characters before a part in which to look for the end of a sentence."""
_SENTENCE_END = re.compile(r"(?:[가-힣](?:요|니다|니까)|[가-힣][.?!…])\Z")
_KOREAN_WORD = re.compile(r"[가-힣]{3}")
_CUT = {
    expat.errors.codes[text] for text in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
}
"""Errors of a truncated file: the part before is kept."""


@dataclass(slots=True)
class _Spoken:
    """A paragraph while it is read. `start_ms` is None if only its parts have times."""

    start_ms: int | None
    end_ms: int | None
    language: str
    speaker: str
    text: list[str] = field(default_factory=list)
    spans: list[tuple[int, int, int | None]] = field(default_factory=list)
    """For each timed part: the number of texts before it, its start, and its end or None."""


class _Part(NamedTuple):
    """A timed part of a paragraph."""

    start_ms: int
    end_ms: int
    text: str


def _parts(paragraph: _Spoken, end: int) -> list[_Part]:
    """Return the timed parts of a paragraph, each with the text up to the next."""
    cuts = [(0, paragraph.start_ms or 0, None), *paragraph.spans]
    parts: list[_Part] = []
    for (first, start, stated), (last, following, _end) in zip_longest(
        cuts, cuts[1:], fillvalue=(len(paragraph.text), end, None)
    ):
        text = "".join(paragraph.text[first:last])
        if text.strip() or not parts:
            parts.append(_Part(start, max(start, following if stated is None else stated), text))
        else:
            parts[-1] = parts[-1]._replace(text=parts[-1].text + text)
    return parts if parts[0].text.strip() or len(parts) == 1 else parts[1:]


def _are_phrases(parts: list[_Part]) -> bool:
    """Whether parts are separate phrases rather than the words of a sung line.

    Phrases have several words, a line each, or a pause between them.
    """
    has_words = sum(len(part.text.split()) > 1 for part in parts) * 2 > len(parts)
    has_pause = any(after.start_ms - before.end_ms > PAUSE_MS for before, after in pairwise(parts))
    has_lines = all("\n" in part.text for part in parts[:-1])
    return len(parts) > 1 and (has_words or has_pause or has_lines)


def _sung(parts: list[_Part]) -> str:
    """Return a line with the times of its words or syllables; unseparated Korean sentences get spaces."""
    line = ""
    for part in parts:
        is_word = _SENTENCE_END.search(line[-_PARTED:]) and _KOREAN_WORD.match(part.text)
        line += f"{' ' if is_word else ''}{inline_time(part.start_ms)}{part.text}"
    return line


class _Reader:
    """Handler of expat's events; `blocks` are the cues so far, with their languages."""

    def __init__(self) -> None:
        self.blocks: list[tuple[str, CueBlock]] = []
        self._times: list[tuple[int, int | None]] = [(0, None)]
        self._languages = [""]
        self._rates = {"frame": 30.0, "tick": 1.0}
        self._is_relative = True
        self._is_timed_by_spans = False
        self._spoken: _Spoken | None = None
        self._readings: list[bool] = []
        self._agents: dict[str, str] = {}
        self._agent: str | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        name, values = _local(name), {_local(key): value for key, value in attributes.items()}
        self._languages.append(values.get("lang", self._languages[-1]))
        if name == "tt":
            self._read_rates(values, attributes)
        elif name == "agent":
            self._agent = values.get("id")
        elif name == "br" and self._spoken:
            self._spoken.text.append("\n")
        elif name == "s" and self._spoken and self._spoken.start_ms is not None:
            self._spoken.text.append(inline_time(bounded_ms(self._spoken.start_ms + _milliseconds(values.get("t")))))
        elif name in ("p", "text") and "t" in values:  # srv3 and srv2
            start = bounded_ms(_milliseconds(values["t"]))
            self._begin(start, bounded_ms(start + _milliseconds(values.get("d"))), values)
        elif name == "text" and "start" in values:  # srv1, in seconds
            start = self._ms(values["start"]) or 0
            self._begin(start, start + (self._ms(values.get("dur", "")) or 0), values)
        elif name in ("body", "div", "p", "span"):
            self._open_timed(name, values)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        name = _local(name)
        self._languages.pop()
        if name == "agent":
            self._agent = None
        elif name in ("body", "div", "p", "span") and len(self._times) > 1:
            self._times.pop()
        if name == "span" and self._readings and self._readings.pop() and self._spoken:
            self._spoken.text.append(")")
        if name in ("p", "text"):
            self._finish()

    def text(self, text: str) -> None:
        """Handle characters between elements."""
        if self._spoken:
            self._spoken.text.append(text.replace("\n", " "))
        elif self._agent and text.strip():
            self._agents[self._agent] = (self._agents.get(self._agent, "") + text).strip()

    def _open_timed(self, name: str, values: Mapping[str, str]) -> None:
        outer_start, outer_end = self._times[-1]
        begin, end, duration = (self._ms(values.get(key, "")) for key in ("begin", "end", "dur"))
        base = outer_start if self._is_relative else 0
        start = outer_start if begin is None else bounded_ms(base + begin)
        ends = [base + end] if end is not None else []
        ends += [start + duration] if duration is not None else []
        end_ms = bounded_ms(min(ends)) if ends else outer_end
        self._times.append((start, end_ms))
        if name == "p":
            self._is_timed_by_spans = begin is None and end_ms is None
            self._begin(None if self._is_timed_by_spans else start, end_ms, values)
        elif name == "span" and self._spoken and begin is not None:
            if self._is_timed_by_spans:
                self._finish()
                self._begin(start, end_ms, values)
            else:
                self._spoken.spans.append((len(self._spoken.text), start, end_ms if ends else None))
        is_reading = name == "span" and values.get("ruby") == "text"
        if name == "span":
            self._readings.append(is_reading)
        if is_reading and self._spoken:
            self._spoken.text.append("(")

    def _begin(self, start: int | None, end: int | None, values: Mapping[str, str]) -> None:
        self._finish()
        speaker = self._agents.get(values.get("agent", "").lstrip("#"), "")
        self._spoken = _Spoken(start, end, self._languages[-1], speaker)

    def _finish(self) -> None:
        paragraph, self._spoken = self._spoken, None
        if paragraph is None or paragraph.start_ms is None:
            return
        end = paragraph.start_ms if paragraph.end_ms is None else paragraph.end_ms
        parts = [_Part(paragraph.start_ms, end, "".join(paragraph.text))]
        if paragraph.spans:
            parts = _parts(paragraph, end)
            if not _are_phrases(parts):
                parts = [_Part(parts[0].start_ms, end, _sung(parts))]
        voice = "<v " + re.sub(r"[<>]", "", paragraph.speaker) + ">" if paragraph.speaker else ""
        for part in parts:
            if part.text.strip():
                lines = [voice + line for line in part.text.split("\n")]
                self.blocks.append((paragraph.language, CueBlock(part.start_ms, part.end_ms, lines)))

    def _read_rates(self, values: Mapping[str, str], attributes: Mapping[str, str]) -> None:
        frame = _number(values.get("frameRate")) or 30.0
        over, _space, under = values.get("frameRateMultiplier", "").partition(" ")
        frame *= (_number(over) or 1.0) / (_number(under) or 1.0)
        tick = _number(values.get("tickRate")) or (frame if "frameRate" in values else 1.0)
        self._rates = {"frame": frame, "tick": tick}
        self._is_relative = not any(key.startswith("itunes:") for key in attributes)  # Apple's times are absolute

    def _ms(self, value: str) -> int | None:
        """Return the milliseconds of a time, or None."""
        value = value.strip()
        if match := _OFFSET.fullmatch(value):
            unit = match[2]
            ms = {"f": 1000 / self._rates["frame"], "t": 1000 / self._rates["tick"]}.get(unit) or _UNIT_MS[unit]
            return bounded_ms(round(float(match[1]) * ms))
        if not (match := _CLOCK.fullmatch(value)):
            return None
        sign, hours, minutes, seconds, fraction = match.groups("")
        if value.count(":") == 3:  # the last part is a frame number
            frames_ms = round(int(fraction or 0) * 1000 / self._rates["frame"])
            return bounded_ms(clock_ms(sign, hours, minutes, seconds, "") + frames_ms)
        return clock_ms(sign, hours, minutes, seconds, fraction)


def xml_cues(text: str, language: str) -> list[Cue] | None:
    """Return the cues of a TTML or srv file, in `language` if it has several; None without times.

    Raises:
        UnusableTextError: it declares entities, or is damaged in the middle.
        TooMuchTextError: there are more cues than in any video.
    """
    reader = _Reader()
    _parse(text, reader)
    if not reader.blocks:
        return None
    sizes: Counter[str] = Counter()
    for tag, block in reader.blocks:
        sizes[tag] += sum(map(len, block.lines))
    best_tag = best_language(sizes, language)
    return cues_of_blocks((block for tag, block in reader.blocks if tag == best_tag))


def _parse(text: str, reader: _Reader) -> None:
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = _refuse_entities
    try:
        parser.Parse(_BARE_AMPERSAND.sub("&amp;", text).encode("utf-8", errors="replace"), True)
    except expat.ExpatError as error:
        if error.code not in _CUT or not reader.blocks:
            reason = _("its XML is damaged in line {n:,}").format(n=error.lineno)
            raise UnusableTextError(reason) from None


def _refuse_entities(*_declaration: object) -> None:
    raise UnusableTextError(_("its XML declares entities of its own, which are not read"))


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _number(value: str | None) -> float | None:
    """Return a positive number of a few digits; None for anything else."""
    if value is None or not re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value.strip()):
        return None
    return float(value) or None


def _milliseconds(value: str | None) -> int:
    """Return the milliseconds of an srv attribute; 0 if missing or odd."""
    return int(float(value)) if value and re.fullmatch(r"-?\d{1,12}(?:\.\d{1,9})?", value.strip()) else 0
