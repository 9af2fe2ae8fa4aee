"""Highlights: the spans of a text that match a query, and its best line."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import is_normalized

from subtitle_rag.domain import Line, Morphemes
from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.morphemes import key

MIN_RUN = 3
"""Fewest letters of a part of a word to mark."""

Span = tuple[int, int]

_BETWEEN = re.compile(r"[\W_]+")


def spans(text: str, analysis: Morphemes | None, query: LexicalQuery) -> list[Span]:
    """Return the [start, end) spans of `text` to mark, in order and disjoint.

    Marked are the typed morphemes, with their endings (먹었 marks 먹었어요), and runs of letters of a typed word that
    the analyzer divided otherwise (르메르 in 르메르셔츠), regardless of spaces.
    """
    return list(_merged(sorted((*_morpheme_spans(analysis, query.forms), *_run_spans(text, query)))))


def marks(text: str, analysis: Morphemes | None, query: LexicalQuery) -> tuple[list[Span], list[Span]]:
    """Return the spans of typed words, and those of the query's variants beside them.

    A part of a typed word inside a variant (루투스 in 불루투스) belongs to the variant.
    """
    variants = list(_merged(sorted(_morpheme_spans(analysis, query.related))))

    def is_part(span: Span) -> bool:
        inside = any(start <= span[0] and span[1] <= end for start, end in variants)
        return inside and key(text[span[0] : span[1]]) not in query.words

    typed = [span for span in spans(text, analysis, query) if not is_part(span)]
    return typed, [(start, end) for start, end in variants if all(end < a or start > b for a, b in typed)]


def shares_letters(text: str, query: LexicalQuery) -> bool:
    """Return whether the text has two letters in a row of a typed Hangul word."""
    joined = _BETWEEN.sub("", key(text))
    pairs = (word[at : at + 2] for word in query.words for at in range(len(word) - 1))
    return any(pair in joined for pair in pairs if not pair.isascii())


def best_line(lines: Sequence[Line], text: str, marks: Iterable[Span]) -> Line:
    """Return the line with the most letters of distinct marks in it and the next line."""
    words: dict[int, set[str]] = {}
    offsets = [line.offset for line in lines]
    for start, end in marks:
        words.setdefault(max(0, bisect_right(offsets, start) - 1), set()).add(text[start:end])

    def score(at: int) -> tuple[float, int]:
        inside, after = words.get(at, set()), words.get(at + 1, set())
        return sum(map(len, inside | after)) + 0.5 * bool(inside), -at

    near = {max(0, at - step) for at in words for step in (0, 1)}
    return lines[max(near, key=score, default=0)]


def _morpheme_spans(analysis: Morphemes | None, forms: Collection[str]) -> Iterator[Span]:
    if analysis is not None:
        for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
            if form in forms:
                yield start, end


def _run_spans(text: str, query: LexicalQuery) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) == len(text) and is_normalized("NFKC", text):
        yield from _plain_run_spans(lower, query)
        return
    # some characters become several when indexed: each letter carries its offset
    letters = [(k, at) for at, c in enumerate(text) if c.isalnum() for k in key(c) if k.isalnum()]
    joined = "".join(k for k, _at in letters)
    for run in _shared_runs(query, joined):
        at = joined.find(run)
        while at >= 0:
            start, end = letters[at][1], letters[at + len(run) - 1][1] + 1
            if len(run) >= MIN_RUN or end - start <= len(run):
                yield start, end
            at = joined.find(run, at + 1)


def _plain_run_spans(lower: str, query: LexicalQuery) -> Iterator[Span]:
    for run in _shared_runs(query, _BETWEEN.sub("", lower)):
        # two letters across a space are chance
        pattern = _spaced(run) if len(run) >= MIN_RUN else re.compile(re.escape(run))
        for match in pattern.finditer(lower):
            yield match.span()


def _shared_runs(query: LexicalQuery, joined: str) -> Iterator[str]:
    return (run for word in query.words for run in _runs(word, joined))


@lru_cache(maxsize=1024)
def _spaced(run: str) -> re.Pattern[str]:
    """Return a pattern of the run's letters with anything but letters between them."""
    return re.compile(r"[\W_]*".join(map(re.escape, run)))


def _runs(word: str, joined: str) -> Iterator[str]:
    """Yield the longest pieces of `word` in `joined`: the full word of two letters or more, or parts of `MIN_RUN`."""
    at = 0
    while at < len(word):
        length = min(MIN_RUN, len(word))
        if length > 1 and len(word) - at >= length and word[at : at + length] in joined:
            while at + length < len(word) and word[at : at + length + 1] in joined:
                length += 1
            yield word[at : at + length]
            at += length
        else:
            at += 1


def _merged(ordered: Sequence[Span]) -> Iterator[Span]:
    current: Span | None = None
    for start, end in ordered:
        if current and start <= current[1]:
            current = current[0], max(current[1], end)
        else:
            if current:
                yield current
            current = start, end
    if current:
        yield current
