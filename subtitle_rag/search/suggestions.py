"""Suggestions for a query without matches.

`bm25` matches any word of a query, so no match means that a filter, phrase or exclusion drops all windows, or that no
word is spelled as in the library. Each suggestion is searched before it is offered, so it has a count of scenes.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Literal

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import tidy
from subtitle_rag.base.i18n import _, in_language, n_
from subtitle_rag.korean.keyboard import hangul, latin
from subtitle_rag.korean.morphemes import key, words
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import KOREAN, Part, parse_query, query_parts
from subtitle_rag.search.searcher import Searcher

MAX_SUGGESTIONS = 2
TRIES = 5
"""Most searches."""
COUNTED = 20
"""Highest count of scenes."""
WORDS = 3
"""Words of a query to look up in the library's vocabulary."""
SPELLINGS = 2
"""Spellings to try per word."""
NEAREST = 20
"""Forms of the vocabulary to compare by frequency."""
MIN_LETTERS = 2
PARTICLES = frozenset(
    (
        *("은", "는", "이", "가", "을", "를", "의", "에", "도", "만", "로", "와", "과", "랑", "나", "야"),
        *("에서", "에게", "으로", "이랑", "하고", "한테", "까지", "부터", "처럼", "보다", "이나"),
    )
)
"""Particles; the library's vocabulary has stems."""

Kind = Literal["speaker", "layout", "spelling", "quotes", "words", "exclusion", "filter", "filters"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query with `scenes`, and its difference from the query without matches."""

    kind: Kind
    query: str
    changed: str
    """The changed part, as typed."""
    instead: str = ""
    """The new spelling, or the same keys in the other mode."""
    scenes: int = 0
    more: bool = False
    """Whether more scenes exist."""


def suggestion_reason(suggestion: Suggestion) -> str:
    """Return the obstacle, and the number of scenes without it."""
    scenes = suggestion.scenes
    n = (_("more than {n}") if suggestion.more else _("{n}")).format(n=scenes)  # Korean has a counter after the number
    fields = {"word": suggestion.changed, "instead": suggestion.instead, "n": n}
    match suggestion.kind:
        case "speaker":
            return n_("“{word}” speaks in {n} scene.", "“{word}” speaks in {n} scenes.", scenes, **fields)
        case "layout":
            return n_(
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there is {n} scene.",
                "The keys of “{word}” write “{instead}” in the keyboard's other mode; there are {n} scenes.",
                scenes,
                **fields,
            )
        case "spelling":
            return n_(
                "“{word}” is in no scene; with “{instead}” there is {n} scene.",
                "“{word}” is in no scene; with “{instead}” there are {n} scenes.",
                scenes,
                **fields,
            )
        case "quotes":
            return n_(
                "With exactly {word} nothing is found; with its words in any order there is {n} scene.",
                "With exactly {word} nothing is found; with its words in any order there are {n} scenes.",
                scenes,
                **fields,
            )
        case "words":
            return n_(
                "No scene says “{word}” with the rest; without it there is {n} scene.",
                "No scene says “{word}” with the rest; without it there are {n} scenes.",
                scenes,
                **fields,
            )
        case "exclusion":
            return n_(
                "{word} leaves nothing; without it there is {n} scene.",
                "{word} leaves nothing; without it there are {n} scenes.",
                scenes,
                **fields,
            )
        case _:
            return n_(
                "Nothing is left within {word}; without it there is {n} scene.",
                "Nothing is left within {word}; without it there are {n} scenes.",
                scenes,
                **fields,
            )


def suggest_queries(
    searcher: Searcher, library: Library, typed: str, stop: Callable[[], bool] = lambda: False
) -> list[Suggestion]:
    """Return at most `MAX_SUGGESTIONS` queries near `typed`, after at most `TRIES` searches.

    Raises the errors of searching.
    """
    typed = tidy(typed)
    terms = [part for part in _complete(typed) if not (part.name or part.minus)]
    respelled = chain(_retyped(typed, terms), _spellings(library, typed, terms))
    relaxed = chain(_relaxed(typed), _shorter(library, typed, terms))
    in_library = library.term_counts([form for part in terms for form in (*words(part.value), *_stems(part.value))])
    nearest, unlikely = (relaxed, respelled) if in_library else (respelled, relaxed)
    likely = chain(_speakers(library, typed, terms), nearest)
    candidates = chain(islice(likely, TRIES - MAX_SUGGESTIONS), unlikely, likely)
    matching: list[Suggestion] = []
    for candidate in islice(candidates, TRIES):
        if stop() or len(matching) == MAX_SUGGESTIONS:
            break
        if counted := _counted(searcher, candidate):
            matching.append(counted)
    return matching


def _counted(searcher: Searcher, candidate: Suggestion) -> Suggestion | None:
    try:
        query = parse_query(candidate.query)
    except UsageError:  # no words remain
        return None
    result = searcher.search(query, limit=COUNTED, retrievers=("bm25",), rerank=False)
    return replace(candidate, scenes=len(result.scenes), more=result.more) if result.scenes else None


# Filters, phrases and exclusions


def _shorter(library: Library, typed: str, terms: list[Part]) -> Iterator[Suggestion]:
    """Yield the query without its unknown words, then each of its words alone, rarest first."""
    counts = {part: _said(library, part.value) for part in terms if not part.quoted}
    absent, present = ([part for part in counts if bool(counts[part]) is is_said] for is_said in (False, True))
    if len(counts) < 2 or not present:
        return
    for parts in [present] * bool(absent and len(present) > 1) + [
        [part] for part in sorted(present, key=counts.__getitem__)
    ]:
        dropped = [part for part in counts if part not in parts]
        yield Suggestion("words", _without(typed, dropped, drop=True), " ".join(_raw(typed, part) for part in dropped))


def _said(library: Library, word: str) -> int:
    """Return how many windows have a word, with or without a particle."""
    return max(library.term_counts([key(stem) for stem in _stems(word)]).values(), default=0)


def _relaxed(typed: str) -> Iterator[Suggestion]:
    """Drop each filter, exclusion and phrase, filters first; then drop all."""
    narrowing = [part for part in _complete(typed) if part.name or part.minus or part.quoted]
    for part in sorted(narrowing, key=lambda part: (not part.name, not part.minus)):
        kind: Kind = "filter" if part.name else "exclusion" if part.minus else "quotes"
        yield Suggestion(kind, _without(typed, [part]), _raw(typed, part))
    if len(narrowing) > 1:
        yield Suggestion("filters", _without(typed, narrowing), " ".join(_raw(typed, part) for part in narrowing))


def _complete(typed: str) -> list[Part]:
    """Return the parts with a value."""
    return [part for part in query_parts(typed) if part.value]


def _raw(typed: str, part: Part) -> str:
    return typed[part.start : part.end]


def _without(typed: str, some: list[Part], *, drop: bool = False) -> str:
    """Drop parts of a query, but keep the words of phrases unless `drop` includes them."""
    for part in reversed(some):
        text = "" if part.name or part.minus or drop else part.value
        typed = f"{typed[: part.start]}{text}{typed[part.end :]}"
    return tidy(typed)


# Other spellings


def _speakers(library: Library, typed: str, terms: list[Part]) -> Iterator[Suggestion]:
    """Yield the query with a speaker's name as a filter."""
    for start, end in [span for part in terms for span in _words_in(typed, part)][:WORDS]:
        for name in _stems(typed[start:end]):
            if library.said_by([name]):
                filter_name = in_language({"ko": KOREAN["speaker"], "en": "speaker"})
                yield Suggestion("speaker", tidy(f"{typed[:start]}{typed[end:]} {filter_name}:{name}"), name)
                break


def _retyped(typed: str, terms: list[Part]) -> Iterator[Suggestion]:
    """Yield the query with words from the wrong keyboard mode corrected."""
    pairs: list[tuple[str, str]] = []
    retyped = typed
    for start, end in reversed([span for part in terms for span in _words_in(typed, part)]):
        word = typed[start:end]
        switched = hangul(word) if word.isascii() else latin(word)
        if switched:
            retyped = f"{retyped[:start]}{switched}{retyped[end:]}"
            pairs.insert(0, (word, switched))
    if pairs:
        changed, instead = map(" ".join, zip(*pairs, strict=True))
        yield Suggestion("layout", retyped, changed, instead)


def _spellings(library: Library, typed: str, terms: list[Part]) -> Iterator[Suggestion]:
    """Yield the query with an unknown word replaced by the library's nearest words."""
    forms: list[str] = []
    letters: list[str] = []
    spans = [span for part in terms for span in _words_in(typed, part)]
    for start, end in spans[:WORDS]:
        if not forms:
            forms = library.vocabulary(letters=MIN_LETTERS)
            letters = [unicodedata.normalize("NFD", form) for form in forms]
        for stem, near in _near(library, typed[start:end], forms, letters):
            yield Suggestion("spelling", f"{typed[:start]}{near}{typed[start + len(stem) :]}", stem, near)


def _words_in(typed: str, part: Part) -> Iterator[tuple[int, int]]:
    """Yield the [start, end) spans of a part's words."""
    at = part.start
    while at < part.end:
        end = at
        while end < part.end and typed[end].isalnum():
            end += 1
        if end - at >= MIN_LETTERS:
            yield at, end
        at = end + 1


def _stems(word: str) -> list[str]:
    """Return the word, and its stems without a particle, the longest first."""
    stems = [word[:end] for end in range(len(word) - 1, MIN_LETTERS - 1, -1) if word[end:] in PARTICLES]
    return [word, *stems]


def _near(library: Library, word: str, forms: list[str], letters: list[str]) -> list[tuple[str, str]]:
    """Return pairs of a missing stem and a word of the library, nearest first, then most frequent."""
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
    present = {stem for stem in {stem for stem, _form in best} if library.containing([stem])}
    return [(stem, form) for stem, form in best if stem not in present]


def _reach(letters: str) -> int:
    """Return the edit distance, in jamo, of a slip in a word of this length."""
    return 1 if len(letters) < 7 else 2 if len(letters) < 12 else 3
