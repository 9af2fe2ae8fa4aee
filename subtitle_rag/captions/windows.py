"""Cues → windows: about a minute each, cut where a listener would cut.

The cuts of a video are chosen together (dynamic programming over the cues), so that no cut is good at the cost of the
next and no short remainder is left at the end. Every cue's text is in exactly one window. The overlap on either side is
kept apart from the text, because neighbours' raw speech in the index ruins the search for known scenes.
"""

import math
import uuid
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, takewhile

from subtitle_rag.base.domain.values import NAMESPACE, Cue, Line, Window

MAX_CHARS = 2_000
"""Longest window of broken captions (a thousand cues at 0:00); 90 s of fast speech are about 800 characters."""
MAX_CUES = 300
"""Maximum number of cues of a window, for cues of a letter or two; 90 s of one cue per word have fewer."""
TARGET_MS, SHORTEST_MS, LONGEST_MS = 60_000, 20_000, 90_000
"""Durations of windows."""
OVERLAP_MS = 12_000
"""Speech kept on either side of a window, at most `MAX_CHARS`."""
RULE = f"p1.w3.{TARGET_MS // 1000}-{SHORTEST_MS // 1000}-{LONGEST_MS // 1000}.o{OVERLAP_MS // 1000}"
"""Id of the parsing and windowing rules; windows of another rule are stale."""

_LENGTH_SCALE_MS = 30_000
_CUT_WEIGHT = 0.3
_TOO_SHORT = 10.0
_LONG_PAUSE_MS = 2_000
_BORDER_GAIN = 1.0
"""Bonus for a cut at a chapter border: the cost of a window 30 s off the target."""
_BORDER_MS = 5_000
"""Farthest cue from a border that may begin its chapter; authors set borders to the second, and early."""
_SENTENCE_ENDS = ("니다", "요", "죠", "까", "네", ".", "?", "!", "…", "。")
_CLOSING = "\"'”’)]"
_NEW_SPEAKER = (">>", "- ", "[")


def cut_windows(video_id: str, cues: Sequence[Cue], borders: Sequence[int] = ()) -> list[Window]:
    """Cut the windows of one video, in order. `borders` are the starts of its chapters (ms).

    A window lasts 20–90 s, less only where silence or the end of the video forces it. A cue longer than a window is
    divided between words, and other cues may begin before its parts.
    """
    pieces = divide_cues(cues)
    twins: Counter[int] = Counter()
    result = []
    for ordinal, (first, last) in enumerate(_best_cuts(pieces, borders)):
        start = pieces[first].start_ms
        result.append(_window(video_id, ordinal, pieces, first, last, twins[start]))
        twins[start] += 1
    return result


def divide_cues(cues: Iterable[Cue]) -> list[Cue]:
    """Return the cues in order, each one longer than a window divided between words."""
    return sorted((piece for cue in cues for piece in _divide(cue)), key=lambda piece: piece.start_ms)


def window_id(video_id: str, start_ms: int, twin: int = 0) -> str:
    """Return the id of the window starting at a time (ms); `twin` tells windows with the same start apart."""
    name = f"{video_id}\x1f{start_ms}\x1f{RULE}" + (f"\x1f{twin}" if twin else "")
    return str(uuid.uuid5(NAMESPACE, name))


def _window(video_id: str, ordinal: int, cues: Sequence[Cue], first: int, last: int, twin: int) -> Window:
    """Return the window of consecutive cues, with the overlap on either side.

    Args:
        video_id: id of the video.
        ordinal: number of the window in the video.
        cues: all cues of the video.
        first: index of the window's first cue.
        last: index of its last cue.
        twin: number of earlier windows with the same start.
    """
    window_cues = cues[first : last + 1]
    start = window_cues[0].start_ms
    end = min(max(cue.end_ms for cue in window_cues), start + LONGEST_MS)
    offsets = accumulate((len(cue.text) + 1 for cue in window_cues[:-1]), initial=0)
    earlier = (cues[at] for at in range(first - 1, -1, -1))
    before = _fitting(takewhile(lambda cue: cue.start_ms >= start - OVERLAP_MS, earlier))
    later = (cues[at] for at in range(last + 1, len(cues)))
    after = _fitting(takewhile(lambda cue: cue.start_ms < end + OVERLAP_MS, later))
    return Window(
        id=window_id(video_id, start, twin),
        video_id=video_id,
        ordinal=ordinal,
        start_ms=start,
        end_ms=end,
        text=" ".join(cue.text for cue in window_cues),
        lines=tuple(Line(at, cue.start_ms, cue.speaker) for at, cue in zip(offsets, window_cues, strict=True)),
        overlap_before=" ".join(reversed(before)),
        overlap_after=" ".join(after),
    )


def _fitting(cues: Iterable[Cue]) -> list[str]:
    """List the texts of the first cues that fit into `MAX_CHARS` when joined."""
    texts = []
    room = MAX_CHARS + 1  # a joined text has one space fewer than cues
    for cue in cues:
        room -= len(cue.text) + 1
        if room < 0:
            break
        texts.append(cue.text)
    return texts


def _best_cuts(cues: Sequence[Cue], borders: Sequence[int]) -> list[tuple[int, int]]:
    """Return the indices of the first and last cue of each window, at the least total cost."""
    cut_costs = [_cut_cost(a, b) for a, b in zip(cues, cues[1:], strict=False)] + [0.0]
    for first in _chapter_beginnings(cues, borders):
        cut_costs[first - 1] = -_BORDER_GAIN
    begins = _begins_of_windows(cues, cut_costs)
    cuts: list[tuple[int, int]] = []
    end = len(cues)
    while end:
        cuts.append((begins[end - 1], end - 1))
        end = begins[end - 1]
    return cuts[::-1]


def _chapter_beginnings(cues: Sequence[Cue], borders: Sequence[int]) -> set[int]:
    """Return the indices of the cues, except the first, that begin nearest to a border."""
    beginnings = set()
    starts = [cue.start_ms for cue in cues]
    for border in borders:
        at = bisect_left(starts, border)
        near = min(range(max(0, at - 1), min(at + 1, len(starts))), key=lambda i: abs(starts[i] - border), default=0)
        if near and abs(starts[near] - border) <= _BORDER_MS:
            beginnings.add(near)
    return beginnings


def _begins_of_windows(cues: Sequence[Cue], cut_costs: Sequence[float]) -> list[int]:
    """Return, for each cue, the first cue of the best window that ends with it; it may be the cue itself.

    The windows of one cue, up to `MAX_CUES`, are weighed together, as arrays.
    """
    import numpy as np

    starts = np.array([cue.start_ms for cue in cues])
    ends = np.array([cue.end_ms for cue in cues])
    costs = np.zeros(len(cues) + 1)  # of the cues before i, cut at their best
    begins = []
    for last, first in enumerate(earliest_begins(cues)):
        spans = np.maximum.accumulate(ends[first : last + 1][::-1])[::-1] - starts[first : last + 1]
        deviations = (spans - TARGET_MS) / _LENGTH_SCALE_MS
        totals = costs[first : last + 1] + (deviations * deviations + _TOO_SHORT * (spans < SHORTEST_MS))
        totals[:-1][spans[:-1] > LONGEST_MS] = math.inf
        best = int(totals.argmin())
        costs[last + 1] = totals[best] + cut_costs[last]
        begins.append(first + best)
    return begins


def earliest_begins(cues: Sequence[Cue]) -> list[int]:
    """Return, for each cue, the earliest first cue of a window that ends with it, by the window's limits."""
    import numpy as np

    starts = np.array([cue.start_ms for cue in cues])
    ends = np.array([cue.end_ms for cue in cues])
    chars = np.cumsum([0] + [len(cue.text) + 1 for cue in cues])
    itself = np.arange(len(cues))
    by_span = np.searchsorted(starts, ends - LONGEST_MS)
    by_chars = np.searchsorted(chars, chars[1:] - (MAX_CHARS + 1))
    by_cues = itself - (MAX_CUES - 1)
    begins: list[int] = np.minimum(np.maximum.reduce([by_span, by_chars, by_cues]), itself).tolist()
    return begins


def _cut_cost(before: Cue, after: Cue) -> float:
    """Return the cost of a cut: 0 at a natural place, `_CUT_WEIGHT` in the middle of a sentence."""
    pause = min(1.0, max(0, after.start_ms - before.end_ms) / _LONG_PAUSE_MS)
    sentence = 0.7 if before.text.rstrip(_CLOSING).endswith(_SENTENCE_ENDS) else 0.0
    speaker = 0.9 if after.text.startswith(_NEW_SPEAKER) else 0.0
    return _CUT_WEIGHT * (1.0 - max(pause, sentence, speaker))


def _divide(cue: Cue) -> list[Cue]:
    """Return the cue, or parts of half a window's size if it exceeds a window in time or text."""
    if cue.end_ms - cue.start_ms <= LONGEST_MS and len(cue.text) <= MAX_CHARS:
        return [cue]
    if len(cue.text) > MAX_CHARS:
        cue = _split_long_words(cue)
    words = cue.text.split()
    if len(words) < 2:
        return [cue]
    starts = cue.word_starts or _spread(words, cue)
    result = []
    first = chars = 0
    for at, word in enumerate([*words[1:], ""], start=1):
        chars += len(words[at - 1]) + 1
        over = at == len(words)
        if over or starts[at] - starts[first] > TARGET_MS // 2 or chars + len(word) > MAX_CHARS // 2:
            end = min(cue.end_ms if over else starts[at], starts[first] + LONGEST_MS)
            text = " ".join(words[first:at])
            result.append(Cue(starts[first], end, text, cue.word_starts[first:at], cue.speaker))
            first, chars = at, 0
    return result


def _split_long_words(cue: Cue) -> Cue:
    """Cut words longer than a window into parts of half its size."""
    words = cue.text.split()
    if max(map(len, words), default=0) <= MAX_CHARS:
        return cue
    half = MAX_CHARS // 2
    parts = [
        [word] if len(word) <= MAX_CHARS else [word[at : at + half] for at in range(0, len(word), half)]
        for word in words
    ]
    starts = [start for start, part in zip(cue.word_starts, parts, strict=False) for _slice in part]
    return Cue(cue.start_ms, cue.end_ms, " ".join(chain.from_iterable(parts)), tuple(starts), cue.speaker)


def _spread(words: Sequence[str], cue: Cue) -> list[int]:
    """Return start times for the words of a cue without word times, in proportion to their characters."""
    total = len(cue.text)
    offsets = accumulate((len(word) + 1 for word in words[:-1]), initial=0)
    return [cue.start_ms + (cue.end_ms - cue.start_ms) * offset // total for offset in offsets]
