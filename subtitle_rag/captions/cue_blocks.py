"""Blocks of a caption file → cues, with every spoken line once.

YouTube's automatic captions roll: every line is in three cues in a row (spoken, settled, scrolled up). Here each line
becomes one cue with the times of its words. Lines are told apart by their position on the screen rather than by their
text, so a word said twice stays twice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise
from typing import NamedTuple

from subtitle_rag.base.domain.values import Cue, nfc
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.caption_text import UNCLEAN, plain_text, without_markup
from subtitle_rag.captions.cue_speakers import name_speakers

SCREEN_ROWS = 15
"""Maximum number of lines that scroll at once: closed captions have 15 rows."""

SETTLED_MS = 20
"""Longest rolling cue that only repeats: YouTube's last 10 ms, and some tools round up."""

TOUCH_MS, LEAST_STEPS = 50, 3
"""Largest gap between karaoke cues of one sentence, and the fewest such cues where no markup shows it."""

FRAME_MS = 200
"""Longest frame of a drawn sign: nobody says a word in less."""

LONGEST_MS, SLOW_MS = 30_000, 300
"""Longest display of a line without an end, and the time per character of a long line."""

MAX_CUES = 100_000
"""Maximum number of cues of a track; 12 hours of a rolling one have 70,000."""

MAX_CHARACTERS = 2_000_000
"""Maximum number of spoken characters of a track; 24 hours of fast speech have 900,000."""

MAX_RAW_LINE = 2 * MAX_CHARACTERS
"""Longest line including markup, in characters."""

MAX_MS = 2**53 - 1
"""Largest integer that every JSON reader keeps exact; later times, damaged or hostile, count as this."""

TIME = r"(-?)(?:(\d{1,10}):)?(\d{1,3}):(\d{1,2})(?:[.,:](\d{1,9}))?"
_INLINE_TIME = re.compile(f"<{TIME}>")
_MARKED = re.compile(r"<(u|b|i|c|font|em|strong)\b[^<>]*>[^<>]+</\1>", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]{1,300})>|</v>")


class UnusableTextError(Exception):
    """The text is not captions; the message says why."""


class TooMuchTextError(UnusableTextError):
    """The text has more captions than any video."""


class CueBlock(NamedTuple):
    """A cue as in the file: times in milliseconds and raw lines, with blank ones because positions matter."""

    start_ms: int
    end_ms: int
    lines: list[str]


class _Line(NamedTuple):
    """A line of a cue as shown, with one start per word; `timed` if the file has inline times."""

    text: str
    starts: tuple[int, ...]
    timed: bool
    speaker: str = ""


class _Screen(NamedTuple):
    """The lines of one cue, with its times in milliseconds."""

    start_ms: int
    end_ms: int
    lines: list[_Line]


def cues_of_blocks(blocks: Iterable[CueBlock]) -> list[Cue]:
    """Return the cues of a file's blocks, sorted by start. In rolling tracks each ends where the next begins.

    Raises:
        TooMuchTextError: there are more cues than in any video.
    """
    ordered = list(islice(blocks, MAX_CUES + 1))
    if len(ordered) > MAX_CUES:
        raise too_much(_("more than {n:,} cues"), MAX_CUES)
    ordered.sort(key=lambda block: block.start_ms)
    single = [block for block, _same in groupby(ordered)]
    return name_speakers(_cues(list(_screens(fold_sung(single)))))


def too_much(reason: str, most: int) -> TooMuchTextError:
    return TooMuchTextError(reason.format(n=most))


def clock_ms(sign: str, hours: str, minutes: str, seconds: str, fraction: str) -> int:
    """Return the milliseconds of a time; a time before the start of the video counts as 0.

    Args:
        sign: "-" for a time before the start, else empty.
        hours: digits, or empty.
        minutes: digits.
        seconds: digits.
        fraction: decimals of the second, or empty.
    """
    total_s = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return 0 if sign else min(total_s * 1000 + int(fraction[:3].ljust(3, "0")), MAX_MS)


def bounded_ms(ms: int) -> int:
    return min(max(ms, 0), MAX_MS)


def fold_sung(blocks: list[CueBlock]) -> Iterator[CueBlock]:
    """Yield karaoke as one block per sentence with word times, and all other blocks unchanged.

    Karaoke files repeat a sentence once per word, in touching cues, each marking or adding one more word.
    """
    if any(map(_is_timed, blocks)):
        yield from blocks  # rolling lines repeat too, but have times of their own
        return
    if not any(len(block.lines) > 1 and _is_brief(block) for block in blocks):  # else the lines may roll
        blocks = fold_frames(blocks)
    run: list[tuple[CueBlock, str]] = []
    for block in blocks:
        text = _block_text(block)
        if run and not _goes_on(run[-1], block, text):
            yield from _sentence(run)
            run = []
        run.append((block, text))
    yield from _sentence(run)


def fold_frames(blocks: Sequence[CueBlock]) -> list[CueBlock]:
    """Return signs drawn frame by frame as one block each, also where several are drawn at once.

    A sign written letter by letter becomes one block with the whole text, and so does one whose last frame stays.
    """
    folded: list[CueBlock] = []
    signs: dict[str, tuple[int, int]] = {}
    latest = ""
    for block in blocks:
        is_brief = _is_brief(block)
        if not (is_brief or signs):
            folded.append(block)
            continue
        text = _block_text(block)
        if not text or _is_timed(block) or not (is_brief or text in signs):
            folded.append(block)
            continue
        grows = bool(latest) and text.startswith(latest) and block.start_ms > folded[signs[latest][0]].start_ms
        sign = text if text in signs else latest if grows else ""
        at, frames = signs.get(sign, (-1, 0))
        if (is_brief or frames > 1) and frames and abs(block.start_ms - folded[at].end_ms) <= TOUCH_MS:
            del signs[sign]
            folded[at] = CueBlock(folded[at].start_ms, max(block.end_ms, folded[at].end_ms), block.lines)
        else:
            at, frames = len(folded), 0
            folded.append(block)
        signs[text], latest = (at, frames + 1), text
    return folded


def _block_text(block: CueBlock) -> str:
    """Return the text of a block on one line."""
    raw = " ".join(block.lines)
    return plain_text(" ".join(map(without_markup, block.lines))) if UNCLEAN.search(raw) else " ".join(raw.split())


def _is_brief(block: CueBlock) -> bool:
    return block.end_ms - block.start_ms <= FRAME_MS


def _is_timed(block: CueBlock) -> bool:
    return any(_INLINE_TIME.search(line) for line in block.lines if "<" in line)


def _goes_on(last: tuple[CueBlock, str], block: CueBlock, text: str) -> bool:
    """Whether a block touches the previous one and has the same text, or a word or two more."""
    before, earlier_text = last
    more = text[len(earlier_text) :]
    is_longer = more.startswith(" ") and len(more.split()) <= 2
    touches = abs(block.start_ms - before.end_ms) <= TOUCH_MS
    return touches and bool(earlier_text) and text.startswith(earlier_text) and (not more or is_longer)


def _sentence(run: list[tuple[CueBlock, str]]) -> Iterator[CueBlock]:
    """Yield one block for the cues of a sentence, or the cues themselves where nothing marks them as karaoke."""
    if len(run) < 2:
        yield from (block for block, _text in run)
        return
    texts = {text for _block, text in run}
    marked = [_marked_word(block) for block, _text in run]
    moves = len({at for at in marked if at is not None}) > 1
    grows = len(texts) >= LEAST_STEPS
    repeats = len(texts) == 1 and len(run) >= LEAST_STEPS and len(run[0][1].split()) >= LEAST_STEPS
    if not (moves or grows or repeats):
        yield from (block for block, _text in run)
        return
    first, last = run[0][0], run[-1][0]
    words = run[-1][1].split()
    begins = [first.start_ms] * len(words)
    for (block, text), at in zip(run, marked, strict=True):
        begin = at if moves else len(text.split()) - 1 if grows else None
        if begin is not None and begin < len(words):
            begins[begin:] = [max(block.start_ms, begins[begin])] * (len(words) - begin)
    line = " ".join(f"{inline_time(begin)}{word}" for begin, word in zip(begins, words, strict=True))
    yield CueBlock(first.start_ms, last.end_ms, [line if moves or grows else run[-1][1]])


def _marked_word(block: CueBlock) -> int | None:
    """Return the index of the only word with its own markup; None if no word or every word has it."""
    raw = " ".join(block.lines)
    match = _MARKED.search(raw) if "<" in raw else None
    if match is None or not without_markup(raw[: match.start()] + raw[match.end() :]).strip():
        return None
    return len(without_markup(raw[: match.start()]).split())


def until_next(lines: Sequence[tuple[int, int, str]]) -> Iterator[CueBlock]:
    """Yield the non-empty ones of lines given as (start in ms, end or 0, text), in any order.

    A line without an end lasts until the next line begins, even an empty one, but at most `LONGEST_MS` or the time that
    slow reading takes.
    """
    ordered = sorted(lines, key=lambda line: line[0])
    starts = sorted({start for start, _end, _text in ordered})
    following = dict(pairwise(starts))
    for start, end, text in ordered:
        if text.strip():
            latest = start + max(LONGEST_MS, SLOW_MS * len(text))
            latest = min(following.get(start, latest), latest)
            yield CueBlock(start, end if start < end < latest else latest, text.split("\n"))


def inline_time(ms: int) -> str:
    """Return the inline time mark of WebVTT."""
    seconds, ms = divmod(ms, 1000)
    return f"<{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}>"


def words_line(pieces: Iterable[tuple[int, str]], timed: bool) -> _Line:
    """Join timed pieces of text into words with start times.

    A piece without a leading space continues the previous word; several words in one piece share its time.
    """
    words: list[str] = []
    rest: list[str] = []  # rest of the last word, joined once
    starts: list[int] = []
    glue = False
    for time, piece in pieces:
        text = without_markup(piece)
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


def _screens(blocks: Iterable[CueBlock]) -> Iterator[_Screen]:
    """Yield the screens of blocks; raise TooMuchTextError as soon as they have too much text."""
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
            raise too_much(_("more than {n:,} characters of text"), MAX_CHARACTERS)


def _screen(block: CueBlock) -> _Screen:
    """Return a block's screen. Text before the first inline time shows at the cue's start."""
    lines: list[_Line] = []
    clock = block.start_ms
    has_markup = any("<" in line for line in block.lines)
    for speaker, raw in _voices(block.lines) if has_markup else (("", line) for line in block.lines):
        if not UNCLEAN.search(raw):  # most lines; in NFC like the whole text
            words = raw.split()
            lines.append(_Line(" ".join(words), (clock,) * len(words), False, speaker))
            continue
        pieces: list[tuple[int, str]] = []
        done = 0
        for match in _INLINE_TIME.finditer(raw):
            pieces.append((clock, raw[done : match.start()]))
            clock, done = max(clock, clock_ms(*match.groups(""))), match.end()
        line = words_line([*pieces, (clock, raw[done:])], timed=bool(pieces))
        lines.append(line._replace(speaker=speaker))
    return _Screen(block.start_ms, max(block.start_ms, block.end_ms), lines)


def _voices(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines with their speakers; a line with several speakers is divided."""
    speaker = ""
    for line in lines:
        done = 0
        for match in _VOICE.finditer(line) if "v" in line else ():
            if before := line[done : match.start()].strip():
                yield speaker, before
            speaker, done = plain_text(without_markup(match[1] or "")), match.end()
        if not done or line[done:].strip():
            yield speaker, line[done:]


def _cues(screens: list[_Screen]) -> list[Cue]:
    timed_screens = [screen for screen in screens if any(line.timed for line in screen.lines)]
    if _rolls(screens, bool(timed_screens)):
        return end_at_next(_lines_once(screens, bool(timed_screens), rolling=True))
    untimed = [
        _untimed_cue(screen, speaker, tuple(lines), has_words=bool(timed_screens))
        for screen in screens
        if not any(line.timed for line in screen.lines)
        for speaker, lines in groupby((line for line in screen.lines if line.text), lambda line: line.speaker)
    ]
    sung = end_at_next(_lines_once(timed_screens, timed=True, rolling=False))
    return sorted([*sung, *untimed], key=lambda cue: cue.start_ms)


def _untimed_cue(screen: _Screen, speaker: str, lines: tuple[_Line, ...], *, has_words: bool) -> Cue:
    """Return a cue of lines without word times; in a file with word times, all words get the cue's start."""
    starts = lines[0].starts if has_words and len(lines) == 1 else ()
    return Cue(screen.start_ms, screen.end_ms, " ".join(line.text for line in lines), starts, speaker)


def _rolls(screens: list[_Screen], timed: bool) -> bool:
    """Whether lines scroll up: cues begin with a line of the previous cue, or with a blank line.

    A repeated line alone proves nothing (people repeat themselves): it must be above another line, or vanish at once.
    """
    scrolled = still = 0
    for before, after in pairwise(screens):
        old = [line.text for line in before.lines if line.text]
        if old and after.lines and after.lines[0].text:
            brief = after.end_ms - after.start_ms <= SETTLED_MS
            repeats = after.lines[0].text in old and (brief or len(after.lines) > 1)
            scrolled, still = scrolled + repeats, still + (not repeats)
    return scrolled >= still and scrolled >= (1 if timed else 2)


def _lines_once(screens: list[_Screen], timed: bool, rolling: bool) -> Iterator[Cue]:
    """Yield each line once, in the cue where it appears first."""
    last_lines: list[str] = []
    cleared_ms = 0
    for screen in screens:
        visible = [line for line in screen.lines if line.text]
        old = _scrolled_up(last_lines, screen, visible, screen.start_ms > cleared_ms) if rolling else 0
        for line in visible[old:]:
            starts = line.starts if timed else ()
            yield Cue(line.starts[0], max(screen.end_ms, line.starts[-1]), line.text, starts, line.speaker)
        last_lines, cleared_ms = [line.text for line in visible], screen.end_ms


def _scrolled_up(last_lines: list[str], screen: _Screen, visible: list[_Line], after_gap: bool) -> int:
    """Return how many upper lines of the cue were already on the screen, because they equal the last lines shown.

    A line under a blank one is new, and so is one with inline times. A single line without a blank one (some tools trim
    them) is new only if the screen was empty before and the line stays.
    """
    if not visible or not screen.lines[0].text:
        return 0
    for count in range(min(len(last_lines), len(visible), SCREEN_ROWS), 0, -1):
        if [line.text for line in visible[:count] if not line.timed] == last_lines[-count:]:
            is_single = len(screen.lines) == 1 and screen.end_ms - screen.start_ms > SETTLED_MS
            return 0 if is_single and after_gap else count
    return 0


def end_at_next(cues: Iterable[Cue]) -> list[Cue]:
    """Return the cues sorted by start, each ending where the next begins at the latest."""
    ordered = sorted(cues, key=lambda cue: cue.start_ms)
    return [
        cue if cue.end_ms <= after.start_ms else replace(cue, end_ms=after.start_ms) for cue, after in pairwise(ordered)
    ] + ordered[-1:]
