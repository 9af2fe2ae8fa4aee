"""Which characters of a window's text a query meant, and in which line it is best met."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import is_normalized

from subtitle_rag.domain import Line, Morphemes
from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.morphemes import key

MIN_RUN = 3
"""Letters that a part of a word must share with the text to be marked on its own."""

Span = tuple[int, int]

_BETWEEN = re.compile(r"[\W_]+")


def spans(text: str, analysis: Morphemes | None, query: LexicalQuery) -> list[Span]:
    """The [start, end) spans of `text` to mark, in order and disjoint.

    Marked are the window's morphemes that the query or one of its variants names, with their endings (먹었 marks
    먹었어요), and runs of letters that a typed word shares with the text where the analyzer divided them otherwise
    (르메르 in 르메르셔츠), whatever the spaces.
    """
    return list(_merged(sorted((*_morpheme_spans(analysis, query), *_run_spans(text, query)))))


def best_line(lines: Sequence[Line], text: str, marked: Iterable[Span]) -> Line:
    """The line from which most of what was searched is seen: the most letters of distinct marks in it and the next."""
    found: dict[int, set[str]] = {}
    offsets = [line.offset for line in lines]
    for start, end in marked:
        found.setdefault(max(0, bisect_right(offsets, start) - 1), set()).add(text[start:end])

    def met(at: int) -> tuple[float, int]:
        own, after = found.get(at, set()), found.get(at + 1, set())
        return sum(map(len, own | after)) + 0.5 * bool(own), -at

    near = {max(0, at - step) for at in found for step in (0, 1)}
    return lines[max(near, key=met, default=0)]


def _morpheme_spans(analysis: Morphemes | None, query: LexicalQuery) -> Iterator[Span]:
    if analysis is not None:
        for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
            if form in query.forms:
                yield start, end


def _run_spans(text: str, query: LexicalQuery) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) == len(text) and is_normalized("NFKC", text):
        yield from _plain_run_spans(lower, query)
        return
    # some characters are several in their indexed form: each letter is kept with its place
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
    """The run's letters with anything but letters between them."""
    return re.compile(r"[\W_]*".join(map(re.escape, run)))


def _runs(word: str, joined: str) -> Iterator[str]:
    """The longest pieces of `word` that stand in `joined`: the whole of two letters or more, or parts of `MIN_RUN`."""
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


def _merged(found: Sequence[Span]) -> Iterator[Span]:
    current: Span | None = None
    for start, end in found:
        if current and start <= current[1]:
            current = current[0], max(current[1], end)
        else:
            if current:
                yield current
            current = start, end
    if current:
        yield current
