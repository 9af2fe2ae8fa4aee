"""Queries that find something, in the place of one that does not.

`bm25` finds whatever one word of a query stands in. Where it finds nothing, either what must hold besides (a filter, a
phrase, an exclusion) leaves nothing over, or no word is spelt as anywhere in the library. What is suggested was
searched: it is true for this query, and its scenes are counted.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from subtitle_rag.errors import UsageError
from subtitle_rag.retrieval.keyboard import hangul, latin
from subtitle_rag.retrieval.morphemes import key, words
from subtitle_rag.retrieval.query import Part, parse, parts, tidy

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library
    from subtitle_rag.retrieval.search import Searcher

WANTED = 2
TRIES = 5
"""Searches, at most."""
COUNTED = 20
"""Scenes up to which they are counted."""
WORDS = 3
"""Of a query that are looked up in the library's vocabulary."""
SPELLINGS = 2
"""Of one word that are tried."""
NEAREST = 20
"""Forms of the vocabulary that are compared by how often they stand."""
MIN_LETTERS = 2
PARTICLES = frozenset(
    (
        *("은", "는", "이", "가", "을", "를", "의", "에", "도", "만", "로", "와", "과", "랑", "나", "야"),
        *("에서", "에게", "으로", "이랑", "하고", "한테", "까지", "부터", "처럼", "보다", "이나"),
    )
)
"""What a word may end in that the library's vocabulary, of stems, does not hold."""

Kind = Literal["layout", "spelling", "quotes", "exclusion", "filter", "filters"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query that finds `scenes`, and how it differs from the one that finds none."""

    kind: Kind
    query: str
    changed: str
    """What stood in the way, as it was typed."""
    instead: str = ""
    """The other spelling, or what the same keys write."""
    scenes: int = 0
    more: bool = False
    """There are further scenes."""


def suggestions(
    searcher: "Searcher", library: "Library", typed: str, stop: Callable[[], bool] = lambda: False
) -> list[Suggestion]:
    """At most `WANTED` queries near to `typed`, which finds nothing, after at most `TRIES` searches.

    Raises what searching raises.
    """
    typed = tidy(typed)
    held = [part for part in _meant(typed) if not (part.name or part.minus)]
    spelt, freed = chain(_retyped(typed, held), _spellings(library, typed, held)), _freed(typed)
    known = library.term_counts([form for part in held for form in (*words(part.value), *_stems(part.value))])
    likelier, other = (freed, spelt) if known else (spelt, freed)
    candidates = chain(islice(likelier, TRIES - WANTED), other, likelier)
    found: list[Suggestion] = []
    for candidate in islice(candidates, TRIES):
        if stop() or len(found) == WANTED:
            break
        if counted := _counted(searcher, candidate):
            found.append(counted)
    return found


def _counted(searcher: "Searcher", candidate: Suggestion) -> Suggestion | None:
    try:
        query = parse(candidate.query)
    except UsageError:  # nothing to look for is left
        return None
    found = searcher.search(query, limit=COUNTED, retrievers=("bm25",), rerank=False)
    if not found.scenes:
        return None
    return Suggestion(
        candidate.kind, candidate.query, candidate.changed, candidate.instead, len(found.scenes), found.more
    )


# What must hold besides


def _freed(typed: str) -> Iterator[Suggestion]:
    """Without each thing that narrows the query, what changes its meaning least first; then without all of them."""
    narrowing = [part for part in _meant(typed) if part.name or part.minus or part.quoted]
    for part in sorted(narrowing, key=lambda part: (not part.name, not part.minus)):
        kind: Kind = "filter" if part.name else "exclusion" if part.minus else "quotes"
        yield Suggestion(kind, _without(typed, [part]), _raw(typed, part))
    if len(narrowing) > 1:
        yield Suggestion("filters", _without(typed, narrowing), " ".join(_raw(typed, part) for part in narrowing))


def _meant(typed: str) -> list[Part]:
    """The parts that say something."""
    return [part for part in parts(typed) if part.value]


def _raw(typed: str, part: Part) -> str:
    return typed[part.start : part.end]


def _without(typed: str, some: list[Part]) -> str:
    """The words of a phrase stay."""
    for part in reversed(some):
        kept = "" if part.name or part.minus else part.value
        typed = f"{typed[: part.start]}{kept}{typed[part.end :]}"
    return tidy(typed)


# Other spellings


def _retyped(typed: str, held: list[Part]) -> Iterator[Suggestion]:
    """All words that were typed while the keyboard was in its other mode, as they were meant."""
    meant: list[tuple[str, str]] = []
    retyped = typed
    for start, end in reversed([span for part in held for span in _words_in(typed, part)]):
        word = typed[start:end]
        other = hangul(word) if word.isascii() else latin(word)
        if other:
            retyped = f"{retyped[:start]}{other}{retyped[end:]}"
            meant.insert(0, (word, other))
    if meant:
        changed, instead = map(" ".join, zip(*meant, strict=True))
        yield Suggestion("layout", retyped, changed, instead)


def _spellings(library: "Library", typed: str, held: list[Part]) -> Iterator[Suggestion]:
    """Words that stand in no window, as the nearest words of the library."""
    forms: list[str] = []
    letters: list[str] = []
    spans = [span for part in held for span in _words_in(typed, part)]
    for start, end in spans[:WORDS]:
        if not forms:
            forms = library.vocabulary(letters=MIN_LETTERS)
            letters = [unicodedata.normalize("NFD", form) for form in forms]
        for stem, near in _near(library, typed[start:end], forms, letters):
            yield Suggestion("spelling", f"{typed[:start]}{near}{typed[start + len(stem) :]}", stem, near)


def _words_in(typed: str, part: Part) -> Iterator[tuple[int, int]]:
    """Where the words of a part begin and end."""
    at = part.start
    while at < part.end:
        end = at
        while end < part.end and typed[end].isalnum():
            end += 1
        if end - at >= MIN_LETTERS:
            yield at, end
        at = end + 1


def _stems(word: str) -> list[str]:
    """The word, and what is left of it without a particle, the longest first."""
    stems = [word[:end] for end in range(len(word) - 1, MIN_LETTERS - 1, -1) if word[end:] in PARTICLES]
    return [word, *stems]


def _near(library: "Library", word: str, forms: list[str], letters: list[str]) -> list[tuple[str, str]]:
    """Pairs of what stands in no window and what does, the nearest first, then the most frequent."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extract

    stems = _stems(word)
    if library.term_counts([key(stem) for stem in stems]):
        return []
    ranked: list[tuple[int, int, str, str]] = []
    for stem in stems:
        spelt = unicodedata.normalize("NFD", key(stem))
        near = extract(spelt, letters, scorer=Levenshtein.distance, score_cutoff=_reach(spelt), limit=NEAREST)
        counts = library.term_counts([forms[at] for _text, _distance, at in near])
        ranked += [(distance, -counts.get(forms[at], 0), stem, forms[at]) for _text, distance, at in near]
    best = [(stem, form) for _distance, _count, stem, form in sorted(ranked)[:SPELLINGS]]
    held = {stem for stem in {stem for stem, _form in best} if library.containing([stem])}
    return [(stem, form) for stem, form in best if stem not in held]


def _reach(letters: str) -> int:
    """How many letters (jamo) a slip may change."""
    return 1 if len(letters) < 7 else 2 if len(letters) < 12 else 3
