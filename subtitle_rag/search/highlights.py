"""Highlights: the spans of a text that match a query, and its best line."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import is_normalized

from subtitle_rag.base.domain.values import NEGATED, Line, Morphemes
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.korean.morphemes import key

MIN_RUN = 3
"""Fewest letters of a marked part of a word."""

Span = tuple[int, int]
SpokenForm = tuple[int, int, str]
"""Start and end of a morpheme, and its form."""

LOOK_BACK = 40
"""Most letters of a sentence before its first mark: about six seconds of speech."""
LOOK_BACK_MS = 6_000
TOGETHER_MS = 8_000
"""Longest time from the line of a jump to a typed word that still counts for it."""
MARKED_MS = 15_000
"""Longest time from the line of a jump to the marked line in the scene's row."""
LONG_SENTENCE = 160
"""Most letters of a shown sentence, unless a mark follows."""

_BETWEEN = re.compile(r"[\W_]+")
_SENTENCE_END = re.compile(r"(?:니다|[겠었았였했됐한된는]다|[가-힣]요|죠|[.?!…。])[\"'”’)\]]*(?:\s+|$)|\s+(?=>>)")
"""Ends of sentences. Recognised speech has no punctuation; its sentences end in verb endings."""


class WordMark(NamedTuple):
    """A span of a text with a typed word or a part of it."""

    start: int
    end: int
    word: str
    """The typed word."""
    part: str
    """The morpheme of the word, or the run of its letters, in this span."""


class Marks(NamedTuple):
    """The marks of a query in a text."""

    typed: list[Span]
    """Typed words, disjoint."""
    related: list[Span]
    """Variants of typed words, disjoint from `typed`."""
    words: list[WordMark]
    """Each part of a typed word; parts may overlap."""

    def moved(self, offset: int) -> "Marks":
        """Return the marks shifted by an offset."""
        if not offset:
            return self
        return Marks(
            [(start + offset, end + offset) for start, end in self.typed],
            [(start + offset, end + offset) for start, end in self.related],
            [WordMark(start + offset, end + offset, word, part) for start, end, word, part in self.words],
        )


def spans(text: str, query: LexicalQuery) -> list[Span]:
    """Return the spans to mark in a text without an analysis, by letters alone, ordered and disjoint."""
    return _spans_of(_run_marks(text, query))


def spoken_forms(analysis: Morphemes | None, forms: frozenset[str]) -> list[SpokenForm]:
    """Return the places of some forms in a text, in order."""
    if analysis is None or forms.isdisjoint(analysis.forms):  # five times as fast as the loop
        return []
    matches = [at for at, form in enumerate(analysis.forms) if form in forms]
    return [(analysis.starts[at], analysis.ends[at], analysis.forms[at]) for at in matches]


def marks(text: str, form_spans: Sequence[SpokenForm], query: LexicalQuery) -> Marks:
    """Return the marks of typed words, and of their variants outside them, by the text's `form_spans`.

    Marks typed morphemes with their endings (먹었 marks 먹었어요), and runs of letters of a word that the analyzer
    divided otherwise (르메르 in 르메르셔츠), regardless of spaces. A part of a typed word inside a variant (루투스 in
    불루투스) is marked as the variant.
    """
    word_of = query.words_by_form
    forms = [
        WordMark(start, end, word_of.get(form, form), form) for start, end, form in form_spans if form in query.forms
    ]
    words = [*forms, *_run_marks(text, query)]
    typed = _spans_of(words)
    variants = _merged((start, end) for start, end, form in form_spans if form in query.related)
    if not variants:
        return Marks(typed, [], words)

    def is_part(span: Span) -> bool:
        inside = any(start <= span[0] and span[1] <= end for start, end in variants)
        return inside and key(text[span[0] : span[1]]) not in query.words

    typed = [span for span in typed if not is_part(span)]
    related = [(start, end) for start, end in variants if all(end < a or start > b for a, b in typed)]
    word_marks = [mark for mark in words if any(start <= mark.start and mark.end <= end for start, end in typed)]
    return Marks(typed, related, word_marks)


def sentence_begin(text: str, first: int, at: int, otherwise: int) -> int:
    """Return the start of the sentence around offset `at`, not before `first`; `otherwise` in a long one."""
    earliest = max(first, at - LOOK_BACK)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, earliest, at)]
    return ends[-1] if ends else first if earliest == first else otherwise


def sentence(text: str, lines: Sequence[Line], line: int, spans: Iterable[Span]) -> Span:
    """Return the span from the first marked sentence of a line to the end of the line with its mark.

    Long lines are cut to `LONG_SENTENCE` letters. Marks in lines that begin `MARKED_MS` later are ignored.
    """
    first = lines[line].offset
    at = next((start for start, end in spans if end > first), first)
    marked = max(line, bisect_right(lines, at, key=lambda each: each.offset) - 1)
    if marked > line + 1 and lines[marked].start_ms - lines[line].start_ms >= MARKED_MS:
        at, marked = first, line
    stop = lines[marked + 2].offset - 1 if marked + 2 < len(lines) else len(text)
    word = text.find(" ", max(first, at - LOOK_BACK), at) + 1 or at
    begin = sentence_begin(text, first, at, word)
    if stop - begin > LONG_SENTENCE:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, at, begin + LONG_SENTENCE)]
        stop = ends[-1] if ends else max(text.rfind(" ", at, begin + LONG_SENTENCE), at + 1)
    return begin, begin + len(text[begin:stop].rstrip())


class BestLine(NamedTuple):
    """The line of a window with most of a query."""

    words: int
    """How many typed words occur there, or within `TOGETHER_MS`."""
    line: Line


def best_line(
    lines: Sequence[Line], words: Iterable[WordMark], related: Iterable[Span], rarity: Mapping[str, float]
) -> BestLine:
    """Return the line with most typed words in it or within `TOGETHER_MS` after it.

    Ties: soonest, rarest, most parts, most often, most variants, first.
    """
    offsets = [line.offset for line in lines]

    def number(offset: int) -> int:
        return max(0, bisect_right(offsets, offset) - 1)

    marks: defaultdict[int, list[WordMark]] = defaultdict(list)
    for mark in words:
        marks[number(mark.start)].append(mark)
    variants = Counter(number(start) for start, _end in related)
    marked = sorted(marks)

    def score(at: int) -> tuple[float, ...]:
        spoken_words, took_ms = {mark.word for mark in marks.get(at, ())}, 0
        for later in marked[bisect_right(marked, at) :]:
            if lines[later].start_ms - lines[at].start_ms > TOGETHER_MS:
                break
            if new := {mark.word for mark in marks[later]} - spoken_words:
                spoken_words, took_ms = spoken_words | new, lines[later].start_ms - lines[at].start_ms
        both = [*marks.get(at, ()), *marks.get(at + 1, ())]
        return (
            len(spoken_words),
            -took_ms,
            max((rarity.get(word, 0.0) for word in spoken_words), default=0.0),
            len({(mark.word, mark.part) for mark in both}),
            len({mark[:2] for mark in both}),
            variants[at] + variants[at + 1],
            variants[at],
            -at,
        )

    best = max((score(at) for at in {*marks, *variants}), default=(0, 0))
    return BestLine(int(best[0]), lines[-int(best[-1])])


def _spans_of(marks: Iterable[WordMark]) -> list[Span]:
    return _merged((mark.start, mark.end) for mark in marks)


def _run_marks(text: str, query: LexicalQuery) -> Iterator[WordMark]:
    lower = text.lower()
    if len(lower) == len(text) and is_normalized("NFKC", text):
        yield from _plain_run_marks(lower, query)
        return
    # Some characters become several when indexed, so each letter carries its offset.
    letters = [(k, at) for at, c in enumerate(text) if c.isalnum() for k in key(c) if k.isalnum()]
    joined = "".join(k for k, _at in letters)
    for word, run in _shared_runs(query, joined):
        at = joined.find(run)
        while at >= 0:
            start, end = letters[at][1], letters[at + len(run) - 1][1] + 1
            if len(run) >= MIN_RUN or end - start <= len(run):
                yield WordMark(start, end, word, run)
            at = joined.find(run, at + 1)


def _plain_run_marks(lower: str, query: LexicalQuery) -> Iterator[WordMark]:
    joined = lower.replace(" ", "")
    for word, run in _shared_runs(query, joined if joined.isalnum() else _BETWEEN.sub("", joined)):
        # Two letters across a space are chance.
        pattern = _spaced(run) if len(run) >= MIN_RUN else re.compile(re.escape(run))
        for match in pattern.finditer(lower):
            yield WordMark(*match.span(), word, run)


def _shared_runs(query: LexicalQuery, joined: str) -> Iterator[tuple[str, str]]:
    negated = {word for form, word in query.words_by_form.items() if form.startswith(NEGATED)}
    return ((word, run) for word in query.words for run in _runs(word, joined) if run == word or word not in negated)


@lru_cache(maxsize=1024)
def _spaced(run: str) -> re.Pattern[str]:
    """Return a pattern of the run's letters, with any non-letters between them."""
    return re.compile(r"[\W_]*".join(map(re.escape, run)))


def _runs(word: str, joined: str) -> Iterator[str]:
    """Yield the longest parts of `word` in `joined`: the full word from two letters, or parts from `MIN_RUN`."""
    if len(word) > 1 and word in joined:
        yield word
        return
    at = 0
    while (end := at + MIN_RUN) <= len(word):
        if word[at:end] not in joined:
            at += 1
            continue
        while end < len(word) and word[at : end + 1] in joined:
            end += 1
        yield word[at:end]
        at = end


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping or touching spans merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
