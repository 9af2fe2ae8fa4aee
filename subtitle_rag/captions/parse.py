"""Reads the bytes of a caption file as cues: one line of text each, without markup, in the order they are spoken.

A well-formed WebVTT file is read by webvtt-py in its strict mode, everything else by the block reader below. The
library drops the text of damaged blocks in silence (one-space lines trimmed away, commas before the milliseconds,
missing blank lines), and its readers of SRT and SBV refuse a file for its first line. One reader that only looks for
the lines with times serves all three formats and loses nothing that can still be read.

YouTube's automatic captions roll: every line stands in three cues in a row (spoken, settled, scrolled up). Here each
becomes one cue with its words' times, told apart by where a line stands on the screen rather than by its text, so that
a word said twice stays twice.
"""

import codecs
import html
import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice, pairwise
from typing import Any, NamedTuple

from subtitle_rag.domain import CaptionError, Cue, nfc
from subtitle_rag.i18n import _

LIBRARY_LIMIT = 3_000_000
"""Characters up to which webvtt-py reads: it takes five times the block reader's time, and 10 bytes of memory for
each character. Tracks of real videos stay far below."""

SCREEN_ROWS = 15
"""The most lines that scroll at a time: closed captions have no more rows."""

SETTLED_MS = 20
"""A rolling cue this short only repeats: YouTube's last 10 ms, some tools round them up."""

LIMIT_MB = {"json3": 32, "vtt": 16, "srt": 16, "sbv": 16}
"""MiB that a caption file may have. Tracks of real videos have less than 1 MB an hour, those with a time for each
word 13 MB in 12 hours as YouTube indents them."""

MAX_CUES = 100_000
"""Cues of one track; 12 hours of a rolling one have 70,000."""

MAX_CHARACTERS = 2_000_000
"""Characters that are spoken in one track; 24 hours of fast speech have 900,000."""

MAX_RAW_LINE = 2 * MAX_CHARACTERS
"""Characters of a line with its markup."""

MAX_OBJECTS, MAX_VALUES = 600_000, 2_000_000
"""Brackets and commas in the JSON of one track; 12 hours of timed words have 180,000 and 550,000."""

MAX_MS = 2**53 - 1
"""The largest time that every reader of JSON keeps exact; later ones, damaged or hostile, count as this."""

_TIME = r"(-?)(?:(\d{1,10}):)?(\d{1,3}):(\d{1,2})(?:[.,:](\d{1,9}))?"
_ARROW_LINE = re.compile(rf"^[ \t]*{_TIME}[ \t]*-{{1,3}}>[ \t]*(?:{_TIME})?.*$", re.MULTILINE)
_SBV_LINE = re.compile(rf"^[ \t]*{_TIME},{_TIME}[ \t]*$", re.MULTILINE)
_INLINE_TIME = re.compile(f"<{_TIME}>")
_CUT_TAG = re.compile(r"<(?:\d\d?:[\d:.]*|\d\d|/?c?)\Z")
_JSON_START = re.compile(r'\{\s*["}]|\[\s*[\[{"]')
_BREAK = re.compile(r"<(?:br|p|div)\b[^<>]*>|\[br\]|\\N", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:[cibuvs]|lang|ruby|rt|font|span|p|div|em|strong)(?:[\s./][^<>]*)?>"
    r"|<\d[\d:.,]*>"
    r"|\{\\[^{}]*\}",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INVISIBLES = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_FILLERS = "\u115f\u1160\u3164\uffa0"
_INVISIBLE = re.compile(f"[{_INVISIBLES}]")
_FILLER = re.compile(f"[{_FILLERS}]")
_HIDING = re.compile(f"[{_INVISIBLES}{_FILLERS}]")
_UNCLEAN = re.compile(rf"[<&\[\\{_INVISIBLES}{_FILLERS}]")
"""What markup, entities and characters that show nothing begin with."""
_BINARY_BYTES = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))


class _Block(NamedTuple):
    """A cue as the file has it: times in milliseconds and its raw lines, blank ones included (they are positions)."""

    start_ms: int
    end_ms: int
    lines: list[str]


class _Line(NamedTuple):
    """A line of a cue as it shows on the screen, one start per word; `timed` when the file gave inline times."""

    text: str
    starts: tuple[int, ...]
    timed: bool


class _Screen(NamedTuple):
    """The lines of one cue with its times (milliseconds)."""

    start_ms: int
    end_ms: int
    lines: list[_Line]


def parse_captions(raw: bytes, format: str, *, path: str = "") -> list[Cue]:
    """Return the cues of a caption file, sorted by start, times in milliseconds.

    `format` is `vtt`, `srt`, `sbv` or `json3`; a text format under another's name is read all the same. `path` only
    serves the details of errors. Cues of rolling and json3 tracks end where the next begins; others may overlap.

    Raises:
        CaptionError: `not_captions` for anything that is no caption file, `no_cues` for one without spoken lines,
            `too_large` and `too_much_text` for more than any video has.
    """
    limit = LIMIT_MB[format]
    if len(raw) > limit * 2**20:
        raise CaptionError("too_large", path=path, size=math.ceil(len(raw) / 2**20), limit=limit)
    text = decode(raw, path=path).lstrip("\ufeff \t\n")
    _refuse_other_files(text, path)
    if _JSON_START.match(text) or (format == "json3" and not text.startswith("WEBVTT")):
        cues = _json3_cues(text, path)
    else:
        blocks = _blocks(text, format, path)
        if not blocks and not text.startswith("WEBVTT"):
            raise CaptionError("not_captions", path=path, reason=_("no line in it has caption times"))
        blocks.sort(key=lambda block: block.start_ms)
        cues = _cues(list(_screens((block for block, _same in groupby(blocks)), path)))
    if not cues:
        raise CaptionError("no_cues", path=path)
    return cues


def decode(raw: bytes, *, path: str = "") -> str:
    """Return the text of a caption file in NFC, with `\\n` line ends: UTF-8, UTF-16 (with or without BOM), else CP949.

    Invalid bytes are left out, so a file cut in the middle of a character keeps its encoding.

    Raises:
        CaptionError: `not_captions`, with `path` in its details, for a binary file.
    """
    encoding = _utf16(raw)
    if encoding is None:
        sample = raw[:4096].rstrip(b"\0")  # a crash leaves files that end in NULs
        if (raw and not sample) or len(sample) - len(sample.translate(None, _BINARY_BYTES)) > len(sample) // 20:
            raise CaptionError("not_captions", path=path, reason=_("it is a binary file"))
        encoding = "utf-8" if _looks_utf8(raw) else "cp949"
    text = raw.decode(encoding, errors="ignore").removeprefix("\ufeff")
    return nfc(text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n"))


def plain_text(text: str) -> str:
    """Return a text from outside as one line fit to show: in NFC, with single spaces, without invisible characters."""
    if not text.isascii() or not text.isprintable():
        text = _visible(text)
    return " ".join(text.split())


def _visible(text: str) -> str:
    """Return a text in NFC without invisible characters; fillers of Hangul syllables take a space's place."""
    if _HIDING.search(text):
        text = _INVISIBLE.sub("", _FILLER.sub(" ", text))
    return nfc(text)


def _utf16(raw: bytes) -> str | None:
    """Return UTF-16 in its byte order, told by the BOM or the NULs beside ASCII digits; None for another encoding."""
    if raw.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if raw.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = raw[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 20 < len(sample) or min(even, odd) * 3 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _looks_utf8(raw: bytes) -> bool:
    try:
        codecs.utf_8_decode(raw, "strict", False)  # False: the last character may be cut off
    except UnicodeDecodeError:
        # Korean in CP949 hardly ever forms valid UTF-8 sequences; a damaged UTF-8 file still has mostly valid ones
        ascii_count = len(raw.translate(None, bytes(range(128, 256))))
        valid = len(raw.decode("utf-8", errors="ignore")) - ascii_count
        invalid = raw.decode("utf-8", errors="replace").count("\ufffd")
        return valid >= invalid
    return True


def _refuse_other_files(text: str, path: str) -> None:
    start = text[:64].lower()
    if not text:
        reason = _("the file is empty")
    elif start.startswith(("<!doctype html", "<html", "<head", "<body", "<script")):
        reason = _("it is a web page")
    elif re.match(r"<(?:\?xml|!doctype|tt\b|timedtext|transcript)", start):
        reason = _("it is XML, a format that is not read here")
    else:
        return
    raise CaptionError("not_captions", path=path, reason=reason)


# --- text formats ---


def _blocks(text: str, format: str, path: str) -> list[_Block]:
    is_vtt = format == "vtt" or text.startswith("WEBVTT")
    if is_vtt:
        text = _CUT_TAG.sub("", text.rstrip("\n"))
    if text.startswith("WEBVTT") and len(text) <= LIBRARY_LIMIT and text.count("-->") <= MAX_CUES:
        blocks = _library_blocks(text)
        if blocks is not None:
            return blocks
    for pattern in (_ARROW_LINE, _SBV_LINE):
        blocks = list(islice(_tolerant_blocks(text, pattern, is_vtt and pattern is _ARROW_LINE), MAX_CUES + 1))
        if len(blocks) > MAX_CUES:
            raise _too_much(path, _("more than {n:,} cues"), MAX_CUES)
        if blocks:
            return blocks
    return []


def _too_much(path: str, reason: str, most: int) -> CaptionError:
    return CaptionError("too_much_text", path=path, reason=reason.format(n=most))


def _library_blocks(text: str) -> list[_Block] | None:
    """Return the blocks that webvtt-py reads; None for a file that it refuses or would read with losses."""
    import webvtt
    from webvtt.errors import MalformedCaptionError, MalformedFileError

    try:
        captions = webvtt.WebVTT.from_string(text, strict=True).captions
    except (MalformedFileError, MalformedCaptionError):
        return None
    if not all(caption.lines for caption in captions):
        return None
    # its seconds are whole numbers, cut off; the milliseconds are exact
    return [
        _Block(_bounded(c.start_time.in_milliseconds()), _bounded(c.end_time.in_milliseconds()), c.lines)
        for c in captions
    ]


def _tolerant_blocks(text: str, pattern: re.Pattern[str], is_vtt: bool) -> Iterator[_Block]:
    """Yield a block of the lines between two lines with times, without identifiers, comments and styles."""
    mark: re.Match[str] | None = None
    for following in chain(pattern.finditer(text), [None]):
        if mark:
            lines = text[mark.end() : following.start() if following else len(text)].split("\n")[1:]
            if following:
                _drop_identifier(lines)
            times = mark.groups("")
            start = _clock_ms(*times[:5])
            end = _clock_ms(*times[5:]) if times[7] else start
            yield _Block(start, end, _vtt_payload(lines) if is_vtt else [line for line in lines if line])
        mark = following


def _drop_identifier(lines: list[str]) -> None:
    """Drop the next cue's identifier: a number, or what stands alone after a blank line, right above its times."""
    lines.pop()  # the empty rest in front of the next line with times
    if lines and (lines[-1].strip().isdecimal() or (len(lines) > 1 and not lines[-2])):
        lines.pop()


def _vtt_payload(lines: list[str]) -> list[str]:
    """Return the first paragraph: WebVTT ends a cue at an empty line, and comments and styles follow as paragraphs.

    Where a tool trimmed the one-space line above a rolling line, that line's place is kept as an empty string.
    """
    first = next((i for i, line in enumerate(lines) if line), len(lines))
    last = next((i for i in range(first, len(lines)) if not lines[i]), len(lines))
    payload = lines[first:last]
    if not first:
        return payload
    return [] if not payload or re.match(r"(?:NOTE|STYLE|REGION|WEBVTT)\b", payload[0]) else ["", *payload]


def _clock_ms(sign: str, hours: str, minutes: str, seconds: str, fraction: str) -> int:
    """Return the milliseconds of a time's parts; a time before the video's start counts as its start."""
    total_s = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return 0 if sign else min(total_s * 1000 + int(fraction[:3].ljust(3, "0")), MAX_MS)


def _bounded(ms: int) -> int:
    return min(max(ms, 0), MAX_MS)


# --- lines and words ---


def _clean(text: str) -> str:
    """Return a text without markup and entities. Spaces stay as they are: they part the words of timed pieces."""
    if "<" in text or "[" in text or "\\" in text:
        text = _TAG.sub("", _BREAK.sub(" ", text))
    for _round in range(3):  # entities are found escaped twice, and tags behind them
        if "&" not in text:
            break
        text = _TAG.sub("", _BREAK.sub(" ", _ENTITY.sub(lambda match: html.unescape(match[0]), text)))
    return text if text.isascii() and text.isprintable() else _visible(text)


def _line(pieces: Iterable[tuple[int, str]], timed: bool) -> _Line:
    """Join pieces of text, each with its time, to words with their starts. A piece that does not begin with a space
    goes on with the word before it; several words in one piece share its time."""
    words: list[str] = []
    rest: list[str] = []  # of the last word, joined once
    starts: list[int] = []
    glue = False
    for time, piece in pieces:
        text = _clean(piece)
        new = text.split()
        if not new:
            glue = glue and not text
            continue
        if glue and not text[0].isspace():
            rest.append(new.pop(0))
        if new and rest:
            words[-1] = nfc("".join([words[-1], *rest]))
            rest.clear()
        words += new
        starts += [max(time, starts[-1] if starts else time)] * len(new)
        glue = not text[-1].isspace()
    if rest:
        words[-1] = nfc("".join([words[-1], *rest]))
    return _Line(" ".join(words), tuple(starts), timed)


def _screens(blocks: Iterable[_Block], path: str) -> Iterator[_Screen]:
    """Yield the blocks' screens; raise CaptionError `too_much_text` as soon as they hold too much."""
    count = 0
    for block in blocks:
        if max(map(len, block.lines), default=0) <= MAX_RAW_LINE:
            screen = _screen(block)
            for line in screen.lines:
                count += len(line.text)
            yield screen
        else:
            count = MAX_CHARACTERS + 1
        if count > MAX_CHARACTERS:
            raise _too_much(path, _("more than {n:,} characters of text"), MAX_CHARACTERS)


def _screen(block: _Block) -> _Screen:
    """Return the block's screen. Inline times count through the whole cue: text before the first shows at its start."""
    lines: list[_Line] = []
    clock = block.start_ms
    for raw in block.lines:
        if not _UNCLEAN.search(raw):  # as most lines; in NFC like the whole text
            words = raw.split()
            lines.append(_Line(" ".join(words), (clock,) * len(words), False))
            continue
        pieces: list[tuple[int, str]] = []
        done = 0
        for match in _INLINE_TIME.finditer(raw):
            pieces.append((clock, raw[done : match.start()]))
            clock, done = max(clock, _clock_ms(*match.groups(""))), match.end()
        lines.append(_line([*pieces, (clock, raw[done:])], timed=bool(pieces)))
    return _Screen(block.start_ms, max(block.start_ms, block.end_ms), lines)


def _cues(screens: list[_Screen]) -> list[Cue]:
    timed = any(line.timed for screen in screens for line in screen.lines)
    rolling = _rolls(screens, timed)
    if timed or rolling:
        return _end_at_next(_spoken(screens, timed, rolling))
    texts = (" ".join(line.text for line in screen.lines if line.text) for screen in screens)
    return [Cue(s.start_ms, s.end_ms, text) for s, text in zip(screens, texts, strict=True) if text]


def _rolls(screens: list[_Screen], timed: bool) -> bool:
    """Return whether lines scroll up: cues begin with a line of the cue before, or with a blank one.

    A repeated line alone proves nothing (people repeat themselves); it must stand above another, or be gone at once.
    """
    scrolled = still = 0
    for before, after in pairwise(screens):
        old = [line.text for line in before.lines if line.text]
        if old and after.lines and after.lines[0].text:
            brief = after.end_ms - after.start_ms <= SETTLED_MS
            repeats = after.lines[0].text in old and (brief or len(after.lines) > 1)
            scrolled, still = scrolled + repeats, still + (not repeats)
    return scrolled >= still and scrolled >= (1 if timed else 2)


def _spoken(screens: list[_Screen], timed: bool, rolling: bool) -> Iterator[Cue]:
    """Yield each line once, in the cue where it appears first."""
    last_lines: list[str] = []
    cleared_ms = 0
    for screen in screens:
        visible = [line for line in screen.lines if line.text]
        old = _scrolled_up(last_lines, screen, visible, screen.start_ms > cleared_ms) if rolling else 0
        for line in visible[old:]:
            starts = line.starts if timed else ()
            yield Cue(line.starts[0], max(screen.end_ms, line.starts[-1]), line.text, starts)
        last_lines, cleared_ms = [line.text for line in visible], screen.end_ms


def _scrolled_up(last_lines: list[str], screen: _Screen, visible: list[_Line], after_gap: bool) -> int:
    """Return how many of the cue's upper lines stood on the screen before: those that equal the last ones shown.

    A line under a blank one is new, and so is one with inline times. A single line without a blank one beside it,
    left by tools that trim them, is new only when the screen was empty before and it stays.
    """
    if not visible or not screen.lines[0].text:
        return 0
    for count in range(min(len(last_lines), len(visible), SCREEN_ROWS), 0, -1):
        if [line.text for line in visible[:count] if not line.timed] == last_lines[-count:]:
            is_single = len(screen.lines) == 1 and screen.end_ms - screen.start_ms > SETTLED_MS
            return 0 if is_single and after_gap else count
    return 0


def _end_at_next(cues: Iterable[Cue]) -> list[Cue]:
    """Return the cues sorted by start, each ending where the next begins at the latest."""
    ordered = sorted(cues, key=lambda cue: cue.start_ms)
    return [
        cue if cue.end_ms <= after.start_ms else Cue(cue.start_ms, after.start_ms, cue.text, cue.word_starts)
        for cue, after in pairwise(ordered)
    ] + ordered[-1:]


# --- json3 ---


def _json3_cues(text: str, path: str) -> list[Cue]:
    if text.count("{") + text.count("[") > MAX_OBJECTS or text.count(",") > MAX_VALUES:
        raise _too_much(path, _("more than {n:,} values"), MAX_OBJECTS)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise CaptionError("not_captions", path=path, reason=_("its JSON is damaged or cut off")) from None
    events = data.get("events") if isinstance(data, dict) else None
    events = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else None
    if events is None or (events and not any("tStartMs" in event for event in events)):
        raise CaptionError("not_captions", path=path, reason=_("its JSON is not YouTube's json3"))
    # aAppend only feeds a line; events without segs set up the window
    captions = [(event, segs) for event in events if not event.get("aAppend") and (segs := _segs(event))]
    if len(captions) > MAX_CUES:
        raise _too_much(path, _("more than {n:,} cues"), MAX_CUES)
    if sum(len(seg["utf8"]) for _event, segs in captions for seg in segs) > MAX_CHARACTERS:
        raise _too_much(path, _("more than {n:,} characters of text"), MAX_CHARACTERS)
    timed = any("tOffsetMs" in seg for _event, segs in captions for seg in segs)
    return _end_at_next(cue for event, segs in captions if (cue := _json3_cue(event, segs, timed)))


def _segs(event: dict[str, Any]) -> list[dict[str, Any]]:
    segs = event.get("segs")
    if not isinstance(segs, list):
        return []
    return [seg for seg in segs if isinstance(seg, dict) and isinstance(seg.get("utf8"), str)]


def _json3_cue(event: dict[str, Any], segs: list[dict[str, Any]], timed: bool) -> Cue | None:
    start = _number_ms(event.get("tStartMs"))
    line = _line(((_bounded(start + _number_ms(seg.get("tOffsetMs"))), seg["utf8"]) for seg in segs), timed)
    if not line.text:
        return None
    end = _bounded(start + _number_ms(event.get("dDurationMs")))
    return Cue(line.starts[0], max(end, line.starts[-1]), line.text, line.starts if timed else ())


def _number_ms(value: object) -> int:
    """Return a field's milliseconds; a missing or invalid one counts as 0."""
    if isinstance(value, float):  # an int of 309 digits is finite, but no float
        value = int(value) if math.isfinite(value) else 0
    return _bounded(value) if isinstance(value, int) else 0
