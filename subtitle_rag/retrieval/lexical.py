"""What a query of the `bm25` retriever is made of; `material` is the documents' side.

A query is widened by words that a recogniser could have written for the same
sound, and by words that live in the same contexts; both weigh less than what was typed.
"""

import math
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index import Filter, Hit, Searched, SparseVector
from subtitle_rag.retrieval.morphemes import (
    QueryMorphemes,
    query_bigrams,
    sparse,
    term_id,
    words,
)

MISHEARD_WEIGHT = 0.8
RELATED_WEIGHT = 1.0
"""Shared among the related words that the library holds: together they count as much as the word itself, at most."""
MIN_MISHEARD_LETTERS = 3
"""Shorter words have too many neighbours at one letter's distance."""
VOCABULARY_SECONDS = 5.0
REMEMBERED = 1_000
"""Forms of which it is known how they may be misheard."""


def inverse_document_frequency(documents: int, total: int) -> float:
    """ln((N − n + ½) / (n + ½) + 1), the form that Lucene and Qdrant use."""
    return math.log((total - documents + 0.5) / (documents + 0.5) + 1)


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A query for the `bm25` vector, and what of it is worth marking in a text."""

    vector: SparseVector
    forms: frozenset[str]
    words: tuple[str, ...]
    """The typed words, in their indexed form."""


class LexicalSearch(Protocol):
    """Analyses queries and finds windows by their words: `QueryAnalyzer`, or the host of the index."""

    def analyze(self, text: str) -> LexicalQuery: ...

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """The analysed query, and what it finds in `index` by the `bm25` vector."""


def _shared(related: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    present = [form for form in related if form in counts]
    return {form: RELATED_WEIGHT * related[form] / len(present) for form in present}


class QueryAnalyzer:
    """Turns query text into a vector, with the library's own vocabulary at hand."""

    def __init__(self, library: Library, analyzer: QueryMorphemes) -> None:
        self._library = library
        self._analyzer = analyzer
        self._vocabulary: tuple[list[str], list[str]] = [], []
        self._near: dict[str, list[str]] = {}
        """What is misheard for a form, in this vocabulary: a query is typed letter by letter."""
        self._total = 0
        self._version: int | None = None
        self._read_at = -math.inf

    def analyze(self, text: str) -> LexicalQuery:
        """The query's vector: what was typed with weight 1, its likely variants with less."""
        self._refresh()
        typed = next(self._analyzer.morphemes([text])).forms
        found = words(text)
        variants = self._variants(typed, found)
        weights: dict[int, float] = {}
        for form, count in Counter(typed).items():
            weights[term_id("m", form)] = float(count)
        for form, weight in variants.items():
            weights.setdefault(term_id("m", form), weight)
        for gram, weight in query_bigrams(text):
            term = term_id("b", gram)
            weights[term] = weights.get(term, 0.0) + weight
        telling = (form for form in variants if len(form) > 1)  # one-letter stems (있, 하) would mark half the text
        return LexicalQuery(sparse(weights), frozenset((*typed, *telling)), tuple(found))

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """See `LexicalSearch.search`."""
        lexical = self.analyze(text)
        if where.only is not None and not where.only:  # nothing can be found: nobody is asked
            return lexical, []
        return lexical, index.search("bm25", lexical.vector, limit=limit, where=where, payload=())

    def reopened(self, is_changed: Callable[[], bool]) -> None:
        """The library was closed and counts its versions anew; `is_changed` tells whether it is another one since."""
        version = self._library.database.version()  # first: what is committed after it changes it
        self._version = None if is_changed() else version

    def _variants(self, typed: Sequence[str], spoken: Sequence[str]) -> dict[str, float]:
        """Forms that stand for a typed one, with weights; a rare variant never outscores the word itself."""
        entered = dict.fromkeys((*typed, *spoken))
        misheard = {form: dict.fromkeys(self._misheard(form), MISHEARD_WEIGHT) for form in entered}
        related = self._analyzer.related(typed)
        named = {other for others in (*misheard.values(), *related.values()) for other in others}
        counts = self._library.term_counts([*entered, *named])
        total = max(self._total, *counts.values(), 1)
        found: dict[str, float] = {}
        for form, others in chain(misheard.items(), ((form, _shared(o, counts)) for form, o in related.items())):
            own = inverse_document_frequency(counts.get(form, 0), total)
            for other in others.keys() & counts.keys() - entered.keys():
                rarity = min(1.0, own / inverse_document_frequency(counts[other], total))
                found[other] = max(found.get(other, 0.0), others[other] * rarity)
        return found

    def _misheard(self, form: str) -> list[str]:
        """Words of the library at one letter's (jamo's) distance: 청귤 heard as 청률."""
        if len(form) < MIN_MISHEARD_LETTERS or not form.isalpha():
            return []
        known = self._near
        found = known.get(form)
        if found is None:
            found = self._nearest(form)
            if len(known) >= REMEMBERED:
                known.clear()
            known[form] = found
        return found

    def _nearest(self, form: str) -> list[str]:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extract

        forms, choices = self._vocabulary
        letters = unicodedata.normalize("NFD", form)
        near = extract(letters, choices, scorer=Levenshtein.distance, score_cutoff=1, limit=20)
        return [forms[at] for _text, _distance, at in near if forms[at] != form]

    def _refresh(self) -> None:
        """Read the vocabulary where the library has changed since, but not with every commit of a long job."""
        version = self._library.database.version()
        if version != self._version and time.monotonic() - self._read_at > VOCABULARY_SECONDS:
            forms = sorted(self._library.vocabulary(letters=MIN_MISHEARD_LETTERS))
            self._vocabulary = forms, [unicodedata.normalize("NFD", form) for form in forms]
            self._near = {}
            self._total = self._library.counts().searchable
            self._version, self._read_at = version, time.monotonic()
