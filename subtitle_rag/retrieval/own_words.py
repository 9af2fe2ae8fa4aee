"""Which windows say all typed words themselves: in their text, or with their context.

Words of the title, of neighbours and relatives, words that sound alike and pairs of letters help to find a window, but
one that says all that was typed is what was asked for.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from subtitle_rag.retrieval.lexical import LexicalQuery
from subtitle_rag.retrieval.morphemes import key

IN_TEXT, WITH_CONTEXT, BORROWED = range(3)
"""Places in the order: the window's text says all words, or text and context together, or some are borrowed."""


class SpokenForms(Protocol):
    """What windows say: the library."""

    def forms_said(self, forms: Collection[str], ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return by window the morphemes of `forms` that its text has; windows without an analysis are left out."""

    def texts(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the texts of windows."""


def typed_words(lexical: LexicalQuery) -> dict[str, frozenset[str]]:
    """Return the typed words with content, each with its own morphemes."""
    forms: dict[str, set[str]] = {word: set() for word in lexical.words}
    for form, word in lexical.words_by_form.items():
        if word in forms and form in lexical.forms:
            forms[word].add(form)
    return {word: frozenset(of_word) for word, of_word in forms.items()}


def word_places(
    lexical: LexicalQuery, ids: Sequence[str], spoken: SpokenForms, contexts: Mapping[str, str]
) -> dict[str, int]:
    """Return by window the place of `IN_TEXT`, `WITH_CONTEXT` or `BORROWED`; none for a query without content."""
    words = typed_words(lexical)
    if not words:
        return {}
    forms_of = spoken.forms_said(frozenset().union(*words.values()), ids)
    missing = {
        id: {word for word, forms in words.items() if not forms or not forms <= said} for id, said in forms_of.items()
    }
    long = {word for word in words if len(word) > 1}  # one letter inside another word is chance
    lacking = [id for id, unsaid in missing.items() if not long.isdisjoint(unsaid)]
    for id, text in spoken.texts(lacking).items() if lacking else ():
        said = key(text)  # the analyzer may divide a word otherwise in its sentence
        missing[id] = {word for word in missing[id] if word not in long or word not in said}
    return {id: _place(unsaid, words, contexts.get(id, "")) for id, unsaid in missing.items()}


def _place(unsaid: Collection[str], words: Mapping[str, frozenset[str]], context: str) -> int:
    if not unsaid:
        return IN_TEXT
    text = key("".join(context.split()))
    is_written = text and all(
        word in text or (words[word] and all(form in text for form in words[word])) for word in unsaid
    )
    return WITH_CONTEXT if is_written else BORROWED
