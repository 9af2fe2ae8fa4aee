"""SubStation Alpha, `.ass` and `.ssa`: one event per line, with fields in the declared order.

pysubs2 was tried: it refuses a whole file for one damaged line or style, and one with its fields in another order.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.clock_lines import loose_clock_ms
from subtitle_rag.captions.cue_blocks import (
    MAX_CUES,
    TIME,
    CueBlock,
    clock_ms,
    cues_of_blocks,
    fold_frames,
    inline_time,
)

_FIELDS: tuple[str, ...] = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
"""Order of the fields in a file that declares none."""

_LINE = re.compile(r"^[ \t]*(\[[^\]\n]{1,50}\]|Format:|Dialogue:)([^\n]*)", re.MULTILINE | re.IGNORECASE)
_CLOCK = re.compile(rf"\s*{TIME}\s*")
_OVERRIDE = re.compile(r"\{([^{}]*)\}")
_KARAOKE = re.compile(r"\\[kK][fot]?(\d{1,6})")
_DRAWING = re.compile(r"\\p(\d{1,3})(?!\w)")
_BREAK = re.compile(r"\\[Nn]")


def substation_cues(text: str, language: str) -> list[Cue] | None:  # noqa: ARG001 - as all readers
    """Return the cues of the visible events, without comments, drawings and styles. None without events.

    An event's name is its speaker; karaoke tags give the times of words.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    if not re.search(r"^[ \t]*Dialogue:", text, re.MULTILINE | re.IGNORECASE):
        return None
    blocks = sorted(islice(_blocks(text), MAX_CUES + 1), key=lambda block: block.start_ms)
    return cues_of_blocks(fold_frames(blocks) if len(blocks) <= MAX_CUES else blocks)


def unread_times(text: str) -> int:
    """Count the events with text but unreadable times; they are left out."""
    return sum(_times(event) is None and bool(_speech(event.get("text", ""), 0).strip()) for event in _events(text))


def _events(text: str) -> Iterator[dict[str, str]]:
    """Yield the events except comments, by field name."""
    fields, section = _FIELDS, ""
    for match in _LINE.finditer(text):
        keyword, rest = match[1].lower(), match[2]
        if keyword.startswith("["):
            section = keyword
        elif keyword == "format:":
            declared = tuple(field.strip().lower() for field in rest.split(","))
            if section in ("[events]", "") and {"start", "text"} <= set(declared):
                fields = declared
        else:
            yield dict(zip(fields, rest.split(",", len(fields) - 1), strict=False))


def _times(event: Mapping[str, str]) -> tuple[int, int] | None:
    """Return an event's start and end, from one of them if the other is unreadable; None without any."""
    times = [ms for name in ("start", "end") if (ms := _ms(event.get(name, ""))) is not None]
    return (times[0], times[-1]) if times else None


def _ms(text: str) -> int | None:
    match = _CLOCK.fullmatch(text)
    return clock_ms(*match.groups("")) if match else loose_clock_ms(text)


def _blocks(text: str) -> Iterator[CueBlock]:
    """Yield each event once: outlines and shadows are layers with the same text and time."""
    events: set[tuple[int, int, str]] = set()
    for event in _events(text):
        times = _times(event)
        if times is None:
            continue
        start_ms, end_ms = times
        line_text = _speech(event.get("text", ""), start_ms)
        if (start_ms, end_ms, line_text) in events or not line_text.strip():
            continue
        events.add((start_ms, end_ms, line_text))
        speaker = " ".join(re.sub(r"[<>]", "", event.get("name", event.get("actor", ""))).split())
        voice = f"<v {speaker}>" if speaker else ""
        yield CueBlock(start_ms, end_ms, [voice + line for line in _BREAK.split(line_text)])


def _speech(text: str, start_ms: int) -> str:
    """Return an event's text without overrides and drawings, with the times of its syllables."""
    pieces: list[str] = []
    done, clock, is_drawing = 0, start_ms, False
    for match in _OVERRIDE.finditer(text):
        if not is_drawing:
            pieces.append(text[done : match.start()])
        done = match.end()
        for scale in _DRAWING.finditer(match[1]):
            is_drawing = int(scale[1]) > 0
        for syllable in _KARAOKE.finditer(match[1]):
            pieces.append(inline_time(clock))
            clock += int(syllable[1]) * 10
    if not is_drawing:
        pieces.append(text[done:])
    return "".join(pieces).replace("\\h", " ")
