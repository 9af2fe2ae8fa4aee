"""Which windows say all typed words themselves: in their text, or with their context.

Words of the title, of neighbours and relatives, words that sound alike and pairs of letters help to find a window, but
one that says all that was typed is what was asked for.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.korean.morphemes import folded, key
from subtitle_rag.retrieval.search.reasons import FoundWord, WordSource

IN_TEXT, WITH_CONTEXT, BY_SOUND, BORROWED = range(4)
"""Places in the order: the window's text says all words, or text and context together; it says those that the library
has in the other alphabet only as they are spelled there (skype for 스카이프); or some are borrowed."""


class Spoken(Protocol):
    """What windows say: the library."""

    def forms_said(self, forms: Collection[str], ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return by window the morphemes of `forms` that its text has; windows without an analysis are left out."""

    def texts(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the texts of windows."""

    def contexts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the context of each window that has one."""


def typed_words(lexical: LexicalQuery) -> dict[str, frozenset[str]]:
    """Return the typed words with content, each with its own morphemes."""
    forms: dict[str, set[str]] = {word: set() for word in lexical.words}
    for form, word in lexical.words_by_form.items():
        if word in forms and form in lexical.forms:
            forms[word].add(form)
    return {word: frozenset(of_word) for word, of_word in forms.items()}


class WordPlaces:
    """Where windows say the typed words of one query: each window is read once, what it says last of all.

    A search orders its windows up to three times, most of them again.
    """

    def __init__(self, lexical: LexicalQuery, spoken: Spoken) -> None:
        self._words = typed_words(lexical)
        self._sayable = {word: forms for word, forms in self._words.items() if _is_sayable(word, forms)}
        self._by_sound = lexical.by_sound
        self._spoken = spoken
        self._places: dict[str, int] = {}

    def of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return by window one of the places; none for a query without content."""
        new = [id for id in ids if id not in self._places]
        if self._words and new:
            self._places |= self._read(new)
        return self._places

    def _read(self, ids: Sequence[str]) -> dict[str, int]:
        unsaid = self._unwritten(ids)
        lacking = [id for id in ids if unsaid[id]]
        heard: dict[str, set[str]] = {}
        if lacking:  # the analyzer may divide a word otherwise than by its letters: 예뻐 says 예쁘
            wanted = frozenset[str]().union(*self._sayable.values(), *self._by_sound.values())
            for id, said in self._spoken.forms_said(wanted, lacking).items():
                unsaid[id].difference_update([word for word, forms in self._sayable.items() if forms <= said])
                heard[id] = {word for word, forms in self._by_sound.items() if not forms.isdisjoint(said)}
        lacking = [id for id in lacking if unsaid[id]]
        contexts = self._spoken.contexts(lacking) if lacking else {}
        places = {id: _place(words, self._words, contexts.get(id, "")) for id, words in unsaid.items()}
        by_sound = (id for id, words in heard.items() if places[id] == BORROWED and unsaid[id] <= words)
        return places | dict.fromkeys(by_sound, BY_SOUND)

    def _unwritten(self, ids: Sequence[str]) -> dict[str, set[str]]:
        """Return by window the words that its letters do not say; one letter inside another word is chance."""
        long = {word for word in self._words if len(word) > 1}
        said = {id: folded(text) for id, text in self._spoken.texts(ids).items()} if long else {}
        return {id: {word for word in self._words if word not in long or word not in said.get(id, "")} for id in ids}


def found_words(
    lexical: LexicalQuery, said: Mapping[str, str], text: str, context: str, title: str, around: str
) -> tuple[FoundWord, ...]:
    """Return where a scene has each typed word that the library knows. `said`: morphemes of its text → how they stand
    there; `around` is said beside it."""
    texts: dict[WordSource, str] = {"text": text, "context": context, "title": title, "nearby": around}
    letters = {source: folded("".join(each.split())) for source, each in texts.items()}

    def of_word(word: str, forms: frozenset[str]) -> FoundWord:
        if _is_said(word, forms, said.keys()):
            return FoundWord(word, "text")
        for source in ("text", "context"):
            if _is_written(word, forms, letters[source]):
                return FoundWord(word, source)
        variants = {form: by for form, (of, by) in lexical.variants.items() if of == word}
        alike = [form for form in variants if form in said or (len(form) > 1 and form in letters["text"])]
        if heard := [form for form in alike if variants[form] == "sound"]:
            return FoundWord(word, "sound", said.get(heard[0], heard[0]))
        if _is_written(word, forms, letters["title"]):
            return FoundWord(word, "title")
        if alike:
            return FoundWord(word, "related", said.get(alike[0], alike[0]))
        parts = [form for form in sorted(forms, key=len, reverse=True) if len(form) > 1 and form in said]
        pairs = [word[at : at + 2] for at in range(len(word) - 1) if not word.isascii()]
        if part := next((each for each in (*parts, *pairs) if each != word and each in letters["text"]), ""):
            return FoundWord(word, "part", part)
        if letter := next((form for form in sorted(forms) if form in said), ""):  # 매워 of 맵단짠
            return FoundWord(word, "part", said[letter])
        return FoundWord(word, "nearby" if _is_written(word, forms, letters["nearby"]) else "missing")

    unknown = set(map(key, lexical.words_not_in_library))  # the search tells them once
    words = (of_word(word, forms) for word, forms in typed_words(lexical).items())
    return tuple(found for found in words if found.source != "missing" or found.word not in unknown)


def _is_sayable(word: str, forms: frozenset[str]) -> bool:
    """Return whether morphemes say a word. Syllables that only stand side by side in it (꽃 and 개 of 꽃개) do not."""
    is_split = sum(map(len, forms)) == len(word) > max(map(len, forms), default=0)
    return bool(forms) and not (is_split and any(len(form) == 1 for form in forms))


def _is_said(word: str, forms: frozenset[str], said: Collection[str]) -> bool:
    return _is_sayable(word, forms) and all(form in said for form in forms)


def _is_written(word: str, forms: frozenset[str], letters: str) -> bool:
    """Return whether letters without spaces have a word or all its morphemes; one letter alone is chance."""
    return (len(word) > 1 and word in letters) or (len(forms) > 1 and all(form in letters for form in forms))


def _place(unsaid: Collection[str], words: Mapping[str, frozenset[str]], context: str) -> int:
    if not unsaid:
        return IN_TEXT
    text = folded("".join(context.split()))
    is_written = text and all(
        word in text or (words[word] and all(form in text for form in words[word])) for word in unsaid
    )
    return WITH_CONTEXT if is_written else BORROWED
