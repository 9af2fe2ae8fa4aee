"""Which windows say all typed words themselves: in their text, or with their context.

Words of the title, of neighbours and relatives, words that sound alike and pairs of letters help to find a window, but
one that says all that was typed is what was asked for.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.korean.morphemes import key, squeezed
from subtitle_rag.retrieval.search.fusion import Ranked, RetrieverScore
from subtitle_rag.retrieval.search.reasons import FoundWord
from subtitle_rag.retrieval.search.window_reads import Windows

IN_TEXT, WITH_CONTEXT, BY_SOUND, BORROWED = range(4)
"""Ranks in the order: the window's text says all words, or text and context together; it says those that the library
has in the other alphabet only as they are spelled there (skype for 스카이프); or some are borrowed."""


class TypedWord(NamedTuple):
    """A typed word with content, and what may say it."""

    word: str
    forms: frozenset[str]
    """Its own morphemes."""
    is_sayable: bool
    """Whether its morphemes say it. Syllables that only stand side by side in it (꽃 and 개 of 꽃개) do not."""


def typed_words(lexical: LexicalQuery) -> tuple[TypedWord, ...]:
    """Return the typed words with content."""
    forms: dict[str, set[str]] = {word: set() for word in lexical.words}
    for form, word in lexical.words_by_form.items():
        if word in forms and form in lexical.forms:
            forms[word].add(form)
    return tuple(
        TypedWord(word, frozenset(word_forms), _is_sayable(word, word_forms)) for word, word_forms in forms.items()
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
    return {word: tuple(_spellings(word, word_forms, lexical.containing)) for word, word_forms in forms.items()}


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
    """Which windows say the typed words of one query: the letters of each are read first, its morphemes last of all."""

    def __init__(self, lexical: LexicalQuery, windows: Windows) -> None:
        words, unsaid = typed_words(lexical), set(map(key, lexical.words_not_in_library))
        self._words = {each.word: each.forms for each in words}
        self._sayable = {each.word: each.forms for each in words if each.is_sayable and each.word not in unsaid}
        self._by_sound = lexical.by_sound
        sounds = (form.split() for forms in self._by_sound.values() for form in forms)
        self._all_forms = frozenset[str]().union(*self._sayable.values(), *sounds)
        self._windows = windows

    def ranks(self, ids: Sequence[str]) -> dict[str, int]:
        """Return `IN_TEXT`, `WITH_CONTEXT`, `BY_SOUND` or `BORROWED` by window; none for a query without content."""
        if not (self._words and ids):
            return {}
        saying = self._written(ids)
        lacking = [id for id in ids if not all(id in each for each in saying.values())]
        contexts = self._windows.contexts(lacking) if lacking else {}
        heard = self._heard(saying, lacking, contexts)
        in_text = set.intersection(*saying.values())
        lacking = [id for id in lacking if id not in in_text]
        ranks = dict.fromkeys(ids, IN_TEXT) | dict.fromkeys(lacking, BORROWED)
        if heard:
            alike = set.intersection(*(each | heard.get(word, set()) for word, each in saying.items()))
            ranks |= dict.fromkeys(alike.difference(in_text), BY_SOUND)
        for id, context in contexts.items():
            unsaid = [word for word, each in saying.items() if id not in each]
            if unsaid and _is_all_written(unsaid, self._words, context):
                ranks[id] = WITH_CONTEXT
        return ranks

    def _heard(
        self, saying: dict[str, set[str]], lacking: Sequence[str], contexts: Mapping[str, str]
    ) -> dict[str, set[str]]:
        """Add to `saying` the windows whose morphemes say a word; return by word those that say it by its sound.

        The analyzer may divide a word otherwise than by its letters: 예뻐 says 예쁘.
        """
        letters_alone = [each for word, each in saying.items() if word not in {*self._sayable, *self._by_sound}]
        # others can say not all words, whatever their morphemes
        open_ = [id for id in lacking if id in contexts or all(id in each for each in letters_alone)]
        if not (open_ and self._all_forms):
            return {}
        windows_by_form = self._windows.saying(self._all_forms, open_)
        for word, forms in self._sayable.items():
            saying[word].update(set.intersection(*(windows_by_form[form] for form in forms)))
        return {
            word: set.union(*(set.intersection(*(windows_by_form[part] for part in form.split())) for form in forms))
            for word, forms in self._by_sound.items()
        }

    def _written(self, ids: Sequence[str]) -> dict[str, set[str]]:
        """Return by word the windows whose letters say it; inside another word one letter is chance, and so are two
        of a word that the library only has in the other alphabet."""
        long = [word for word in self._words if len(word) > (2 if word in self._by_sound else 1)]
        texts = self._windows.letters(ids) if long else {}
        return {word: set() for word in self._words} | {
            word: {id for id, text in texts.items() if word in text} for word in long
        }


class _Traces(NamedTuple):
    """What stands for a typed word in a scene, the likeliest first."""

    typed: TypedWord
    heard: Sequence[str]
    """Variants by sound."""
    related: Sequence[str]
    parts: Sequence[str]
    """Its morphemes of two letters or more, the longest first."""
    pairs: Sequence[str]
    """Its letters two by two, of a Hangul word."""


class WordFinder:
    """Finds where scenes have the typed words of one query."""

    def __init__(self, lexical: LexicalQuery) -> None:
        self._traces = [_traces(typed, lexical) for typed in typed_words(lexical)]
        self._unknown = set(map(key, lexical.words_not_in_library))  # the search tells them once
        self.forms = frozenset[str]().union(*(each.typed.forms for each in self._traces), lexical.variants)
        """The morphemes that stand for typed words."""

    def find(
        self, text_by_form: Mapping[str, str], text: str, context: str, title: str, around: str
    ) -> tuple[FoundWord, ...]:
        """Return where a scene has each typed word that the library knows.

        `text_by_form` has at least those of `forms` that its text says, and how it writes them; `around` is said beside
        it.
        """
        texts = {"text": text, "context": context, "title": title, "nearby": around}
        letters = cache(lambda source: squeezed(texts[source]))  # of those that are needed
        words = (_found(each, text_by_form, letters) for each in self._traces)
        return tuple(word for word in words if word.source != "missing" or word.word not in self._unknown)


def _traces(typed: TypedWord, lexical: LexicalQuery) -> _Traces:
    word = typed.word
    variants = {form: by for form, (of, by) in lexical.variants.items() if of == word}
    return _Traces(
        typed,
        [form for form, by in variants.items() if by == "sound"],
        [form for form, by in variants.items() if by != "sound"],
        [form for form in sorted(typed.forms, key=lambda form: (-len(form), form)) if len(form) > 1],
        [] if word.isascii() else [word[at : at + 2] for at in range(len(word) - 1)],
    )


def _found(traces: _Traces, text_by_form: Mapping[str, str], letters: Callable[[str], str]) -> FoundWord:
    """Return where a scene has a word; `letters` returns those of its text, context, title or what is nearby."""
    word, forms, is_sayable = traces.typed
    if is_sayable and forms <= text_by_form.keys():
        return FoundWord(word, "text")
    text = letters("text")
    if _is_written(word, forms, text):
        return FoundWord(word, "text")
    if _is_written(word, forms, letters("context")):
        return FoundWord(word, "context")

    def alike(variants: Sequence[str]) -> str:
        return next((form for form in variants if form in text_by_form or (len(form) > 1 and form in text)), "")

    if heard := alike(traces.heard):
        return FoundWord(word, "sound", text_by_form.get(heard, heard))
    if _is_written(word, forms, letters("title")):
        return FoundWord(word, "title")
    if related := alike(traces.related):
        return FoundWord(word, "related", text_by_form.get(related, related))
    parts = (*(form for form in traces.parts if form in text_by_form), *traces.pairs)
    if part := next((each for each in parts if each != word and each in text), ""):
        return FoundWord(word, "part", part)
    if letter := next((form for form in sorted(forms) if form in text_by_form), ""):  # 매워 of 맵단짠
        return FoundWord(word, "part", text_by_form[letter])
    return FoundWord(word, "nearby" if _is_written(word, forms, letters("nearby")) else "missing")


def _is_sayable(word: str, forms: Collection[str]) -> bool:
    is_split = sum(map(len, forms)) == len(word) > max(map(len, forms), default=0)
    return bool(forms) and not (is_split and any(len(form) == 1 for form in forms))


def _is_written(word: str, forms: frozenset[str], letters: str) -> bool:
    """Return whether letters without spaces have a word or all its morphemes; one letter alone is chance."""
    return (len(word) > 1 and word in letters) or (len(forms) > 1 and all(form in letters for form in forms))


def _is_all_written(unsaid: Collection[str], words: Mapping[str, frozenset[str]], context: str) -> bool:
    """Return whether a context has the words that its window does not say."""
    text = squeezed(context)
    return bool(text) and all(
        word in text or (words[word] and all(form in text for form in words[word])) for word in unsaid
    )


def own_words_first(ranked: Sequence[Ranked], own_word_ranks: Mapping[str, int]) -> list[Ranked]:
    """Move the windows that say all typed words before those that borrow some; among equals the order stays.

    Each gets its rank in this order, and its score as the fused one. A window without a rank borrows.
    """
    ordered = sorted(ranked, key=lambda entry: own_word_ranks.get(entry.window_id, BORROWED))
    return [
        entry
        if entry.scores.get("fused") == (fused := RetrieverScore(rank, entry.score))
        else replace(entry, scores={**entry.scores, "fused": fused})
        for rank, entry in enumerate(ordered, start=1)
    ]
