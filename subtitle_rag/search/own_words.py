"""Windows that have all typed words themselves, in their text or context.

Titles, neighbours, related words, similar sounds and pairs of letters help to find a window, but a window with all
typed words comes first.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from operator import mul
from typing import NamedTuple

from subtitle_rag.base.domain.values import NEGATED
from subtitle_rag.korean.lexical import LexicalQuery
from subtitle_rag.korean.morphemes import folded, key, squeezed
from subtitle_rag.korean.pronunciation import is_hangul
from subtitle_rag.search.evidence import Coverage, focus, is_certain, is_enough
from subtitle_rag.search.fusion import Ranked, RetrieverScore
from subtitle_rag.search.reasons import FoundWord
from subtitle_rag.search.window_reads import Windows

IN_TEXT, WITH_CONTEXT, BY_SOUND, BORROWED = range(4)
"""Ranks: all words in the text; in text and context; by sound (skype for 스카이프); or some of them borrowed."""
SAID_SHARE = 0.2
"""Part of the best score that a window with all of the query gains; see `docs/dev/evaluation.md`."""

NO_COVERAGE = Coverage(BORROWED, 0.0, False)
HEARD, INSTEAD, PART = 0.8, 0.5, 0.25
"""Weight of a word by sound, of a related word or a two-letter word by sound, and of a part of the word."""


class TypedWord(NamedTuple):
    """A typed word with content, and the forms that match it."""

    word: str
    forms: frozenset[str]
    """Its own morphemes."""
    is_sayable: bool
    """Whether its morphemes together are the word. Adjacent syllables (꽃 and 개 of 꽃개) and its end (초기 of 예초기)
    are not.
    """
    meant: frozenset[str]
    """Library words that match alone: compounds (양념치킨), and completions of an unfinished word."""


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
    """Return the sets of morphemes that match each typed word or number, whatever its ending.

    A set is the word as one, a longer word that contains it (양념치킨 for 치킨), its morphemes together, or a
    completion. Similar sounds and related words do not count.
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
    completions = {form for form in forms if len(form) > len(word)}
    parts = frozenset(forms) - completions - {word}
    stem = "".join(parts) if len(parts) == 1 else word
    yield from (
        frozenset([form]) for form in sorted({word, *completions, *containing.get(word, ()), *containing.get(stem, ())})
    )
    # 소스 and 리 of 리소스 may occur apart.
    if parts and (all(len(part) > 1 for part in parts) if word in forms else _is_sayable(word, parts)):
        yield parts


class OwnWords:
    """The typed words of one query in windows."""

    def __init__(self, lexical: LexicalQuery, windows: Windows) -> None:
        self._words = typed_words(lexical)
        unsaid = set(map(key, lexical.words_not_in_library))
        self._sayable = {each.word for each in self._words if each.is_sayable and each.word not in unsaid}
        self._rarities = {each.word: lexical.rarities.get(each.word, 1.0) for each in self._words}
        self._has_unknown = any(key(each.word) in unsaid for each in self._words)
        self._negated = {word for form, word in lexical.words_by_form.items() if form.startswith(NEGATED)}
        self._by_sound = lexical.by_sound
        self._letters = {each.word: _letters(each.word, lexical) for each in self._words}
        self._substitutes = _substitutes(self._words, lexical)
        self._windows = windows

    def of(self, ids: Sequence[str]) -> dict[str, Coverage]:
        """Return the coverage of these windows; empty for a query without content."""
        if not (self._words and ids):
            return {}
        texts, forms = self._windows.letters(ids), self._windows.forms(ids)
        contexts = self._windows.contexts(ids)
        places = self._windows.places(ids)
        titles = self._titles({video for video, _ordinal in places.values()})
        rarities = list(self._rarities.values())
        total = sum(rarities)
        evidence: dict[str, Coverage] = {}
        for id in ids:
            text, lines, context = texts.get(id, ""), forms.get(id, ""), squeezed(contexts.get(id, ""))
            title = titles.get(places[id][0], "") if id in places else ""
            said, titled = list[float](), list[float]()
            is_said, is_heard, is_written, is_negated = True, True, bool(context), False
            for typed in self._words:
                word, rarity = typed.word, self._rarities[typed.word]
                said.append(1.0)
                if self._is_said(typed, text, lines):
                    is_negated |= word in self._negated
                    continue
                is_said = False
                in_context = bool(context) and _is_written(word, typed.forms, context)
                is_written &= in_context
                if self._is_heard(word, lines):
                    continue
                is_heard = False
                if in_context:
                    continue
                if any(says_letters(letters, title) for letters in self._letters[word]):
                    titled.append(rarity)
                else:
                    said[-1] = self._borrowed(typed, lines)
            rank = IN_TEXT if is_said else WITH_CONTEXT if is_written else BY_SOUND if is_heard else BORROWED
            mass = sum(map(mul, rarities, said))
            share = mass / total if total else 1.0
            lift = share if is_negated else SAID_SHARE * share
            is_answer = is_enough(rarities, mass, titled, has_unknown=self._has_unknown)
            evidence[id] = Coverage(rank, share, is_answer, lift, is_certain(rarities, share), focus(rarities, said))
        return evidence

    def _titles(self, video_ids: Collection[str]) -> dict[str, str]:
        """Return the letters of the videos' titles and chapters, with and without spaces."""
        titles = {
            id: folded(" ".join((video.title, *(chapter.title for chapter in video.chapters))))
            for id, video in self._windows.videos(video_ids).items()
        }
        return {id: f"{title}\n{squeezed(title)}" for id, title in titles.items()}

    def _is_said(self, typed: "TypedWord", text: str, lines: str) -> bool:
        """Return whether a text has a word by its letters or morphemes: 예뻐 matches 예쁘.

        Inside another word one letter is chance, and so are two letters of a word that the library spells in the other
        alphabet.
        """
        if any(says_letters(letters, text) for letters in self._letters[typed.word]):
            return True
        if typed.word in self._sayable and all(f"\n{form}\n" in lines for form in typed.forms):
            return True
        return any(f"\n{form}\n" in lines for form in typed.meant)

    def _is_heard(self, word: str, lines: str) -> bool:
        """Return whether a text has, by sound, a word that the library spells in the other alphabet only."""
        return any(all(f"\n{part}\n" in lines for part in form.split()) for form in self._by_sound.get(word, ()))

    def _borrowed(self, typed: "TypedWord", lines: str) -> float:
        """Return the weight of a word's best substitute in a text; all its parts together are the word."""
        parts = typed.forms - {typed.word}
        if len(parts) > 1 and all(len(part) > 1 and f"\n{part}\n" in lines for part in parts):
            return 1.0
        substitutes = self._substitutes[typed.word]
        return max((worth for form, worth in substitutes if f"\n{form}\n" in lines), default=0.0)


def says_letters(letters: str, text: str) -> bool:
    """Return whether a text has these letters; two letters only match the start of a word: 아기, but not in 이야기."""
    if len(letters) > 2:
        return letters in text
    return letters in text and bool(re.search(rf"(?<![^\W_]){re.escape(letters)}", text))


def _letters(word: str, lexical: LexicalQuery) -> tuple[str, ...]:
    least = 3 if word in lexical.by_sound else 2
    spellings = {word, lexical.stems.get(word, word), *lexical.names.get(word, ())}
    return tuple(letters for letters in spellings if len(letters) >= least)


def _substitutes(typed: Sequence[TypedWord], lexical: LexicalQuery) -> dict[str, list[tuple[str, float]]]:
    """Return the substitutes of each typed word, with weights.

    Another spelling has full weight. A two-letter word by sound weighs less, as many words sound like it.
    """
    substitutes = {
        each.word: [(form, _form_worth(form, each)) for form in each.forms if len(form) > 1 or len(each.forms) == 1]
        for each in typed
    }
    for form, (word, kind) in lexical.variants.items():
        is_long = len(word) > 2 and is_hangul(form) == is_hangul(word)
        worth = HEARD if kind == "sound" and is_long else INSTEAD
        if word in substitutes:
            substitutes[word].append((form, 1.0 if lexical.words_by_form.get(form) == word else worth))
    return substitutes


def _form_worth(form: str, typed: TypedWord) -> float:
    """Return the weight of one form of a word: all of it in other letters (BTS for 비티에스), less for a part."""
    if form.isascii() != typed.word.isascii():
        return 1.0
    return PART if form != typed.word and form in typed.word and len(typed.forms) > 1 else INSTEAD


class _Traces(NamedTuple):
    """Forms that may represent a typed word in a scene, likeliest first."""

    typed: TypedWord
    written: Sequence[str]
    """The word, the word without particles, and names with its first consonants."""
    heard: Sequence[str]
    """Variants by sound."""
    related: Sequence[str]
    parts: Sequence[str]
    """Its morphemes, longest first: those from two letters, or the only one."""


class WordFinder:
    """Finder of one query's typed words in scenes."""

    def __init__(self, lexical: LexicalQuery) -> None:
        self._traces = [_traces(typed, lexical) for typed in typed_words(lexical)]
        self.forms = frozenset[str]().union(
            *(each.typed.forms | each.typed.meant for each in self._traces), lexical.variants
        )
        """All morphemes that may represent typed words."""

    def find(
        self, text_by_form: Mapping[str, str], text: str, context: str, title: str, around: str
    ) -> tuple[FoundWord, ...]:
        """Find each typed word in a scene.

        Args:
            text_by_form: Form → its spelling in the scene's text, for at least the forms of `forms`.
            text: What the scene says.
            context: The context of its best window.
            title: The video's title.
            around: The speech before and after.

        Returns:
            Each typed word with its place and, for a substitute, the substitute.
        """
        texts = {"text": text, "context": context, "title": title, "nearby": around}
        letters = cache(lambda source: (folded(texts[source]), squeezed(texts[source])))  # only the needed ones
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
    """Find a word in a scene; `letters` returns those of its text, context, title or surroundings."""
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
    """Return whether letters without spaces contain a word or all its morphemes; one letter alone is chance."""
    return (len(word) > 1 and word in letters) or (len(forms) > 1 and all(form in letters for form in forms))


def own_words_first(ranked: Sequence[Ranked], evidence: Mapping[str, Coverage]) -> list[Ranked]:
    """Put windows with all typed words first; a higher share of the query moves a window up.

    Sets each window's `fused` rank to this order. A window without evidence counts as borrowed.
    """
    best = max((entry.score for entry in ranked), default=0.0)

    def place(entry: Ranked) -> tuple[int, float]:
        of_window = evidence.get(entry.window_id, NO_COVERAGE)
        return of_window.rank, -(entry.score + of_window.lift * best)

    ordered = sorted(ranked, key=place)
    return [
        entry
        if entry.scores.get("fused") == (fused := RetrieverScore(rank, entry.score))
        else replace(entry, scores={**entry.scores, "fused": fused})
        for rank, entry in enumerate(ordered, start=1)
    ]
