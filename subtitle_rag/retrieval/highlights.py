"""Which characters of a window's text a query meant, and in which line it is best met."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import is_normalized

from subtitle_rag.domain import Line, Morphemes
from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.morphemes import key

MIN_RUN = 3
"""Letters that a part of a word must share with the text to be marked on its own."""

Span = tuple[int, int]

_LETTER = re.compile(r"[^\W_]")


def spans(text: str, analysis: Morphemes | None, query: LexicalQuery) -> list[Span]:
    """The [start, end) spans of `text` to mark, in order and disjoint.

    Marked are the window's morphemes that the query or one of its variants names, with their endings (먹었 marks
    먹었어요), and runs of letters that a typed word shares with the text where the analyzer divided them otherwise
    (르메르 in 르메르셔츠), whatever the spaces.
    """
    return list(_merged(sorted((*_morpheme_spans(analysis, query), *_run_spans(text, query)))))


def best_line(lines: Sequence[Line], text: str, marked: Iterable[Span]) -> Line:
    """The line from which most of what was searched is seen: the most distinct marked strings in it and the next."""
    found: list[set[str]] = [set() for _ in lines]
    offsets = [line.offset for line in lines]
    for start, end in marked:
        found[max(0, bisect_right(offsets, start) - 1)].add(text[start:end])
    pairs = [len(own | after) + 0.5 * bool(own) for own, after in zip(found, [*found[1:], set()], strict=True)]
    return lines[max(range(len(lines)), key=lambda index: (pairs[index], -index))]


def _morpheme_spans(analysis: Morphemes | None, query: LexicalQuery) -> Iterator[Span]:
    if analysis is not None:
        for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
            if form in query.forms:
                yield start, end


def _run_spans(text: str, query: LexicalQuery) -> Iterator[Span]:
    joined, places = _letters(text)
    for word in query.words:
        for run in _runs(word, joined):
            at = joined.find(run)
            while at >= 0:
                start, end = places[at], places[at + len(run) - 1] + 1
                if len(run) >= MIN_RUN or end - start <= len(run):  # two letters across a space are chance
                    yield start, end
                at = joined.find(run, at + 1)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in their indexed form, without anything between, and where each stands."""
    lower = text.lower()
    if len(lower) == len(text) and is_normalized("NFKC", text):
        found = [(match[0], match.start()) for match in _LETTER.finditer(lower)]
    else:  # some characters are several in their indexed form
        found = [(k, at) for at, c in enumerate(text) if c.isalnum() for k in key(c) if k.isalnum()]
    return "".join(k for k, _at in found), [at for _k, at in found]


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
