"""Timing lines as machine translators, OCR, caption editors and people leave them.

A line that has only the start and end of a cue is never speech: it is read if its figures are clear, else counted as
unreadable. Times inside a sentence are speech.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from subtitle_rag.captions.cue_blocks import bounded_ms

LONGEST = 300
"""Longest line to examine, in characters: a timing line has only settings next to its times."""

_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―─━ー−", "-"),
        **dict.fromkeys("»›→⟶➔➜⇒⇨＞", ">"),
        **dict.fromkeys("〜∼", "~"),
        **dict.fromkeys("：∶ː", ":"),
        **dict.fromkeys("；", ";"),
        **dict.fromkeys("。、・，．", "."),
        **dict.fromkeys("’‘`´", "'"),
    }
)
_LOOKALIKES = str.maketrans(
    {**dict.fromkeys("OoОоQ", "0"), **dict.fromkeys("lIi|!", "1"), "S": "5", "B": "8", "Z": "2"}
)

_FIGURE = r"[0-9OoОоQlIi|!SBZ]"
_BETWEEN = r" ?[:;.,'hms] ?"
_CLOCK = rf"-?{_FIGURE}{{1,3}}(?:{_BETWEEN}{_FIGURE}{{1,9}}){{1,3}}"
_DASHED = rf"{_FIGURE}{{1,2}}-{_FIGURE}{{1,2}}-{_FIGURE}{{1,2}}[.,:]{_FIGURE}{{1,3}}"
_ARROW = r"[ ]*(?:to|[-~=_|/<>.,]{1,8}(?: ?[->]{1,3})?)[ ]*|[ ]+|(?<=[.,:][0-9]{3})"
_SETTINGS = r"(?:[ ]+(?:align|position|line|size|vertical|region|[XY][12]):\S+)*"
_RANGE = re.compile(
    rf"(?:[#\[(]?\d{{1,7}}[.)\]:]?[ ]+)?[\[(<]*({_CLOCK}|{_DASHED})[\])]*({_ARROW})[\[(]*({_CLOCK}|{_DASHED})[\])>]*"
    rf"(?:[ ]+{_CLOCK})?({_SETTINGS})([ ].*)?"
)
"""A cue number, two times with an arrow between them, the duration, settings, and text."""
_LABEL = r"(?:[^\W\d]{1,12}[ ]?:?[ ]*)?"
_LABELLED = re.compile(rf"{_LABEL}({_CLOCK})[ ]*[-=~]{{1,3}}>[ ]*{_LABEL}({_CLOCK})")
"""Two times with a label each, as in editors' tables: `시작 00:00:01,000 --> 끝 00:00:05,000`."""
_SINGLE = re.compile(rf"[\[(<]*({_CLOCK})[\])>]*[ ]*(?:-+>?)?")
_PARTS = re.compile(rf"({_FIGURE}+)|([:;.,'hms-])")
_LONG_ARROW = re.compile(r"(?:- ?){2,3}>")
_UNREAD_SIDE = re.compile(r"[\s\d:;.,'?#*xX_�□■-]{0,40}|(?:NaN|undefined|null|[:., ])+")


class Clocks(NamedTuple):
    """The two times of a line, in milliseconds.

    `start_ms` is None if unreadable, `end_ms` if missing; `beside` is the rest of the line.
    """

    start_ms: int | None
    end_ms: int | None
    beside: str = ""


class _Clock(NamedTuple):
    """A time: milliseconds without frames, the frame number or -1, and whether it has more than `mm:ss`."""

    ms: int
    frames: int
    is_full: bool
    has_fraction: bool


def read_clocks(line: str, *, is_first: bool, frame_ms: Callable[[], float]) -> Clocks | None:
    """Return the times of a line that has nothing else; None for speech.

    `frame_ms` returns the milliseconds of a frame. With `is_first` (the line begins a paragraph or follows a cue
    number), `mm:ss` and a single time count as well.
    """
    if len(line) > LONGEST:
        return None
    text = _plain(line)
    if match := _RANGE.fullmatch(text):
        first, arrow, second, _settings, beside = match.groups("")
        start, end = _read(first), _read(second)
        has_arrow = ">" in arrow
        if start and end and _is_range(start, end, has_arrow, is_first, beside):
            return Clocks(_ms(start, frame_ms), _ms(end, frame_ms), beside.strip())
    if match := _LABELLED.fullmatch(text):
        start, end = _read(match[1]), _read(match[2])
        if start and end and start.is_full and end.is_full:
            return Clocks(_ms(start, frame_ms), _ms(end, frame_ms))
    if is_first and (match := _SINGLE.fullmatch(text)):
        only = _read(match[1])
        if only and only.is_full and (only.has_fraction or only.frames >= 0):
            return Clocks(_ms(only, frame_ms), None)
    if (sign := _LONG_ARROW.search(text)) and _is_unread(text[: sign.start()], text[sign.end() :]):
        end = _read(text[sign.end() :].strip())
        return Clocks(None, _ms(end, frame_ms) if end else None)
    return None


def loose_clock_ms(text: str) -> int | None:
    """Return the milliseconds of a time with clear figures; None for any other text."""
    clock = _read(_plain(text)) if len(text) <= LONGEST else None
    return clock.ms if clock else None


def frame_length(lines: Sequence[str]) -> float:
    """Return the milliseconds of one frame in `00:00:01:12`, judged by the highest frame number in these lines."""
    largest = max(map(int, _FRAMES.findall("\n".join(lines))), default=0)
    return 1000 / next(rate for rate in (24, 25, 30, 60, 100) if largest < rate)


_FRAMES = re.compile(r"(?<![\d:;])\d{1,2}[:;]\d{2}[:;]\d{2}[:;](\d{2})(?![\d:;])")


def _plain(line: str) -> str:
    text = _HIDDEN.sub("", line).replace("&gt;", ">").translate(_SIGNS)
    return " ".join(unicodedata.normalize("NFKC", text).translate(_SIGNS).split())


def _is_range(start: _Clock, end: _Clock, has_arrow: bool, is_first: bool, beside: str) -> bool:
    """Whether a line with two times is a timing line.

    Args:
        start: its first time.
        end: its second time.
        has_arrow: whether an arrow is between them.
        is_first: whether the line begins a paragraph, or follows a cue number.
        beside: the rest of the line.
    """
    if beside and not has_arrow:
        return False
    if start.is_full and end.is_full:
        return True
    if start.is_full or end.is_full:
        return has_arrow
    return is_first and not beside


def _is_unread(before: str, after: str) -> bool:
    """Whether both sides of an arrow were times, at most one of them readable."""
    clocks = [_read(side.strip()) for side in (before, after)]
    if any(clock and clock.is_full for clock in clocks):
        opposite = before if clocks[1] and clocks[1].is_full else after
        return bool(_UNREAD_SIDE.fullmatch(opposite)) or len(re.findall(r"\d", opposite)) >= 4
    both = f"{before}{after}"
    return len(re.findall(r"\d", both)) >= 6 and bool(_UNREAD_SIDE.fullmatch(before) and _UNREAD_SIDE.fullmatch(after))


def _read(text: str) -> _Clock | None:
    """Return a time with clear figures: at least half are digits, and none is out of range."""
    if not re.fullmatch(rf"{_CLOCK}|{_DASHED}", text):
        return None
    parts = _PARTS.findall(text.lstrip("-"))
    figures = [figure for figure, _sign in parts if figure]
    signs = [sign for _figure, sign in parts if sign]
    letters = "".join(figures)
    if sum(letter.isdecimal() for letter in letters) * 2 < len(letters) or len(signs) != len(figures) - 1:
        return None
    has_colon = any(sign in ":;hm-" for sign in signs)
    if not has_colon and not (len(figures) == 4 and [len(figure) for figure in figures] == [2, 2, 2, 3]):
        return None
    values = [figure.translate(_LOOKALIKES) for figure in figures]
    fraction, frames = "", -1
    if len(values) == 4:
        if signs[3 - 1] in ":;" and len(values[3]) == 2:
            frames = int(values.pop())
        else:
            fraction = values.pop()
    elif len(values) == 3 and (signs[1] not in ":;-m" or (signs[0] == signs[1] and len(values[2]) == 3)):
        fraction = values.pop()
    numbers = [int(value) for value in values]
    if any(number > 59 or len(value) > 2 for number, value in zip(numbers[1:], values[1:], strict=True)):
        return None
    seconds = 0
    for number in numbers:
        seconds = seconds * 60 + number
    is_full = len(numbers) > 2 or bool(fraction) or frames >= 0
    ms = 0 if text.startswith("-") else seconds * 1000 + int(fraction[:3].ljust(3, "0"))
    return _Clock(bounded_ms(ms), frames, is_full, bool(fraction))


def _ms(clock: _Clock, frame_ms: Callable[[], float]) -> int:
    return bounded_ms(clock.ms + (round(clock.frames * frame_ms()) if clock.frames > 0 else 0))
