"""Which windows say all typed words themselves: in their text, or with their context.

Words of the title, of neighbours and relatives, words that sound alike and pairs of letters help to find a window, but
one that says all that was typed is what was asked for.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from subtitle_rag.domain.values import NEGATED
from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.korean.morphemes import folded, key, squeezed
from subtitle_rag.retrieval.korean.pronunciation import is_hangul
from subtitle_rag.retrieval.search.evidence import Evidence, is_enough
from subtitle_rag.retrieval.search.fusion import Ranked, RetrieverScore
from subtitle_rag.retrieval.search.reasons import FoundWord
from subtitle_rag.retrieval.search.window_reads import Windows

IN_TEXT, WITH_CONTEXT, BY_SOUND, BORROWED = range(4)
"""Ranks in the order: the window's text says all words, or text and context together; it says those that the library
has in the other alphabet only as they are spelled there (skype for 스카이프); or some are borrowed."""
SAID_SHARE = 0.2
"""How much of the best score the share of the query that a window has adds to its own.

MRR of scene_bench is .593 instead of .591 by words and .587 instead of .577 with multilingual-e5-small, that of the
sample .492 instead of .488 and .568 instead of .565; with .3 it is less, with vectors. Of a window that says what is
negated (안 매운) the whole share is added: nobody wants the opposite first.
"""

NO_EVIDENCE = Evidence(BORROWED, 0.0, False)
HEARD, INSTEAD = 0.8, 0.5
"""How much of a word another one is that sounds like it, and any other that stands in its place: a related one, a part
of it, one of two letters by its sound."""


class TypedWord(NamedTuple):
    """A typed word with content, and what may say it."""

    word: str
    forms: frozenset[str]
    """Its own morphemes."""
    is_sayable: bool
    """Whether its morphemes say it. Syllables that only stand side by side in it (꽃 and 개 of 꽃개) do not, nor does
    its end (초기 of 예초기)."""
    meant: frozenset[str]
    """The library's words that each say it: compounds with it (양념치킨), and what an unfinished one begins."""


def typed_words(lexical: LexicalQuery) -> tuple[TypedWord, ...]:
    """Return the typed words with content."""
    forms: dict[str, set[str]] = {word: set() for word in lexical.words}
    meant: dict[str, set[str]] = {word: set() for word in lexical.words}
    for form, word in lexical.words_by_form.items():
        if word in forms and form in lexical.forms:
            (meant if form in lexical.meant else forms)[word].add(form)
    for word, inside in meant.items():
        inside.update(each for each in lexical.containing.get(word, ()) if each.startswith(word) or each.endswith(word))
    return tuple(
        TypedWord(word, frozenset(word_forms), _is_whole(word, word_forms, lexical), frozenset(meant[word]))
        for word, word_forms in forms.items()
    )


def spellings_by_word(lexical: LexicalQuery) -> dict[str, tuple[frozenset[str], ...]]:
    """Return by typed word, numbers too, the sets of morphemes that each say it, whatever its ending.

    They are the word as one, a longer word that has it inside (양념치킨 for 치킨), its own morphemes together, or a
    word that an unfinished one begins. What only sounds like it or is related to it is none of them.
    """
    forms: dict[str, set[str]] = {}
    for form, word in lexical.words_by_form.items():
        if form in lexical.forms:
            forms.setdefault(word, set()).add(form)
    return {
        word: tuple(frozenset([name]) for name in lexical.names[word])
        if word in lexical.names
        else tuple(_spellings(word, word_forms, lexical.containing))
        for word, word_forms in forms.items()
    }


def _spellings(
    word: str, forms: Collection[str], containing: Mapping[str, Collection[str]]
) -> Iterator[frozenset[str]]:
    begun = {form for form in forms if len(form) > len(word)}
    parts = frozenset(forms) - begun - {word}
    stem = "".join(parts) if len(parts) == 1 else word
    yield from (
        frozenset([form]) for form in sorted({word, *begun, *containing.get(word, ()), *containing.get(stem, ())})
    )
    # 소스 and 리 of 리소스 may be said apart
    if parts and (all(len(part) > 1 for part in parts) if word in forms else _is_sayable(word, parts)):
        yield parts


class OwnWords:
    """What windows have of the typed words of one query."""

    def __init__(self, lexical: LexicalQuery, windows: Windows) -> None:
        self._words = typed_words(lexical)
        unsaid = set(map(key, lexical.words_not_in_library))
        self._sayable = {each.word for each in self._words if each.is_sayable and each.word not in unsaid}
        self._rarities = {each.word: lexical.rarities.get(each.word, 1.0) for each in self._words}
        self._negated = {word for form, word in lexical.words_by_form.items() if form.startswith(NEGATED)}
        self._by_sound = lexical.by_sound
        self._letters = {each.word: _letters(each.word, lexical) for each in self._words}
        self._substitutes = _substitutes(self._words, lexical)
        self._windows = windows

    def of(self, ids: Sequence[str]) -> dict[str, Evidence]:
        """Return the evidence of these windows; none for a query without content."""
        if not (self._words and ids):
            return {}
        texts, forms = self._windows.letters(ids), self._windows.forms(ids)
        contexts = self._windows.contexts(ids)
        places = self._windows.places(ids)
        titles = self._titles({video for video, _ordinal in places.values()})
        rarities = list(self._rarities.values())
        total = sum(rarities)
        evidence: dict[str, Evidence] = {}
        for id in ids:
            text, lines, context = texts.get(id, ""), forms.get(id, ""), squeezed(contexts.get(id, ""))
            title = titles.get(places[id][0], "") if id in places else ""
            mass = titled = 0.0
            is_said, is_heard, is_written, is_negated = True, True, bool(context), False
            for typed in self._words:
                word, rarity = typed.word, self._rarities[typed.word]
                if self._is_said(typed, text, lines):
                    mass += rarity
                    is_negated |= word in self._negated
                    continue
                is_said = False
                in_context = bool(context) and _is_written(word, typed.forms, context)
                is_written &= in_context
                if self._is_heard(word, lines):
                    mass += rarity
                    continue
                is_heard = False
                if in_context:
                    mass += rarity
                elif any(says_letters(letters, title) for letters in self._letters[word]):
                    mass += rarity
                    titled += rarity
                else:
                    mass += rarity * self._borrowed(word, lines)
            rank = IN_TEXT if is_said else WITH_CONTEXT if is_written else BY_SOUND if is_heard else BORROWED
            share = mass / total if total else 1.0
            lift = share if is_negated else SAID_SHARE * share
            evidence[id] = Evidence(rank, share, is_enough(rarities, mass, titled), lift)
        return evidence

    def _titles(self, video_ids: Collection[str]) -> dict[str, str]:
        """Return the letters of the videos' titles and chapters, and these without spaces."""
        titles = {
            id: folded(" ".join((video.title, *(chapter.title for chapter in video.chapters))))
            for id, video in self._windows.videos(video_ids).items()
        }
        return {id: f"{title}\n{squeezed(title)}" for id, title in titles.items()}

    def _is_said(self, typed: "TypedWord", text: str, lines: str) -> bool:
        """Return whether the letters of a text say a word, or its morphemes: 예뻐 says 예쁘.

        Inside another word one letter is chance, and so are two of a word that the library only has in the other
        alphabet.
        """
        if any(says_letters(letters, text) for letters in self._letters[typed.word]):
            return True
        if typed.word in self._sayable and all(f"\n{form}\n" in lines for form in typed.forms):
            return True
        return any(f"\n{form}\n" in lines for form in typed.meant)

    def _is_heard(self, word: str, lines: str) -> bool:
        """Return whether a text says a word that the library has in the other alphabet alone, by its sound."""
        return any(all(f"\n{part}\n" in lines for part in form.split()) for form in self._by_sound.get(word, ()))

    def _borrowed(self, word: str, lines: str) -> float:
        """Return how much of a word a text has in another one's place."""
        substitutes = self._substitutes[word]
        return max((worth for form, worth in substitutes if f"\n{form}\n" in lines), default=0.0)


def says_letters(letters: str, text: str) -> bool:
    """Return whether a text has these letters; two of them only where they begin a word: 아기, but not in 이야기."""
    if len(letters) > 2:
        return letters in text
    return letters in text and bool(re.search(rf"(?<![^\W_]){re.escape(letters)}", text))


def _letters(word: str, lexical: LexicalQuery) -> tuple[str, ...]:
    least = 3 if word in lexical.by_sound else 2
    written = {word, lexical.stems.get(word, word), *lexical.names.get(word, ())}
    return tuple(letters for letters in written if len(letters) >= least)


def _substitutes(typed: Sequence[TypedWord], lexical: LexicalQuery) -> dict[str, list[tuple[str, float]]]:
    """Return by typed word what may stand for it, and how much of it that is.

    It is the whole word where that is only spelled otherwise. A word of two letters sounds like many others.
    """
    substitutes = {
        each.word: [(form, INSTEAD) for form in each.forms if len(form) > 1 or len(each.forms) == 1] for each in typed
    }
    for form, (word, kind) in lexical.variants.items():
        is_long = len(word) > 2 and is_hangul(form) == is_hangul(word)
        worth = HEARD if kind == "sound" and is_long else INSTEAD
        if word in substitutes:
            substitutes[word].append((form, 1.0 if lexical.words_by_form.get(form) == word else worth))
    return substitutes


class _Traces(NamedTuple):
    """What stands for a typed word in a scene, the likeliest first."""

    typed: TypedWord
    written: Sequence[str]
    """It, it without particles, and the names of its first consonants."""
    heard: Sequence[str]
    """Variants by sound."""
    related: Sequence[str]
    parts: Sequence[str]
    """Its morphemes, the longest first: those of two letters or more, or the only one."""


class WordFinder:
    """Finds where scenes have the typed words of one query."""

    def __init__(self, lexical: LexicalQuery) -> None:
        self._traces = [_traces(typed, lexical) for typed in typed_words(lexical)]
        self.forms = frozenset[str]().union(
            *(each.typed.forms | each.typed.meant for each in self._traces), lexical.variants
        )
        """The morphemes that stand for typed words."""

    def find(
        self, text_by_form: Mapping[str, str], text: str, context: str, title: str, around: str
    ) -> tuple[FoundWord, ...]:
        """Return where a scene has each typed word.

        `text_by_form` has at least those of `forms` that its text says, and how it writes them; `around` is said beside
        it.
        """
        texts = {"text": text, "context": context, "title": title, "nearby": around}
        letters = cache(lambda source: (folded(texts[source]), squeezed(texts[source])))  # of those that are needed
        return tuple(_found(each, text_by_form, letters) for each in self._traces)


def _traces(typed: TypedWord, lexical: LexicalQuery) -> _Traces:
    word = typed.word
    variants = {form: by for form, (of, by) in lexical.variants.items() if of == word}
    return _Traces(
        typed,
        (word, lexical.stems.get(word, word), *lexical.names.get(word, ())),
        [form for form, by in variants.items() if by == "sound"],
        [form for form, by in variants.items() if by != "sound"],
        [
            form
            for form in sorted(typed.forms, key=lambda form: (-len(form), form))
            if len(form) > 1 or len(typed.forms) == 1
        ],
    )


def _found(traces: _Traces, text_by_form: Mapping[str, str], letters: Callable[[str], tuple[str, str]]) -> FoundWord:
    """Return where a scene has a word; `letters` returns those of its text, context, title or what is nearby."""
    word, forms, is_sayable, meant = traces.typed
    if is_sayable and forms <= text_by_form.keys():
        return FoundWord(word, "text")

    def is_written(source: str) -> bool:
        text, joined = letters(source)
        either = any(says_letters(each, text) or (len(each) > 2 and each in joined) for each in traces.written)
        return either or (len(forms) > 1 and all(form in joined for form in forms))

    if is_written("text"):
        return FoundWord(word, "text")
    if form := next((form for form in sorted(meant) if form in text_by_form), ""):
        return FoundWord(word, "text", form)
    if is_written("context"):
        return FoundWord(word, "context")

    def alike(variants: Sequence[str]) -> str:
        return next((form for form in variants if form in text_by_form), "")

    if heard := alike(traces.heard):
        return FoundWord(word, "sound", text_by_form.get(heard, heard))
    if is_written("title"):
        return FoundWord(word, "title")
    if related := alike(traces.related):
        return FoundWord(word, "related", text_by_form.get(related, related))
    if part := next((form for form in traces.parts if form in text_by_form), ""):
        return FoundWord(word, "part", text_by_form[part])
    return FoundWord(word, "nearby" if is_written("nearby") else "missing")


def _is_whole(word: str, forms: Collection[str], lexical: LexicalQuery) -> bool:
    stem = lexical.stems.get(word, word)
    is_only_end = any(map(stem.endswith, forms)) and not any(map(stem.startswith, forms))
    return _is_sayable(word, forms) and not is_only_end


def _is_sayable(word: str, forms: Collection[str]) -> bool:
    is_split = sum(map(len, forms)) == len(word) > max(map(len, forms), default=0)
    return bool(forms) and not (is_split and any(len(form) == 1 for form in forms))


def _is_written(word: str, forms: frozenset[str], letters: str) -> bool:
    """Return whether letters without spaces have a word or all its morphemes; one letter alone is chance."""
    return (len(word) > 1 and word in letters) or (len(forms) > 1 and all(form in letters for form in forms))


def own_words_first(ranked: Sequence[Ranked], evidence: Mapping[str, Evidence]) -> list[Ranked]:
    """Put windows that say all typed words before those that borrow some; having more of the query lifts a window.

    Each gets its rank in this order, and its score as the fused one. A window without a rank borrows.
    """
    best = max((entry.score for entry in ranked), default=0.0)

    def place(entry: Ranked) -> tuple[int, float]:
        of_window = evidence.get(entry.window_id, NO_EVIDENCE)
        return of_window.rank, -(entry.score + of_window.lift * best)

    ordered = sorted(ranked, key=place)
    return [
        entry
        if entry.scores.get("fused") == (fused := RetrieverScore(rank, entry.score))
        else replace(entry, scores={**entry.scores, "fused": fused})
        for rank, entry in enumerate(ordered, start=1)
    ]
