"""The words of a library, with tables of their beginnings, sounds and spellings."""

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import chain, islice, takewhile

from subtitle_rag.korean.keyboard import first_consonants, key_sequence
from subtitle_rag.korean.morphemes import words
from subtitle_rag.korean.pronunciation import SoundIndex
from subtitle_rag.library.names import video_facets
from subtitle_rag.library.store import Library

MIN_MISHEARD_LETTERS = 3
"""Fewest letters of a misheard word; shorter ones have too many neighbours."""
COMPLETIONS = 8
NEAR_SPELLINGS = 20
NEAREST = 200
"""Completions to compare by frequency."""
CACHE_SIZE = 1_000
"""Forms per cache of variants."""

Spellings = dict[int, tuple[list[str], list[str]]]
"""Number of letters → forms with that number, sorted, and the letters (NFD) of each."""


def spellings(forms: Iterable[str]) -> Spellings:
    """Return the forms that may be misheard."""
    by_length: Spellings = {}
    for form in sorted(forms):
        if len(form) >= MIN_MISHEARD_LETTERS:
            letters = unicodedata.normalize("NFD", form)
            forms_of_length, letters_of_forms = by_length.setdefault(len(letters), ([], []))
            forms_of_length.append(form)
            letters_of_forms.append(letters)
    return by_length


def nearest(form: str, vocabulary: Spellings) -> list[str]:
    """Return at most `NEAR_SPELLINGS` other forms that differ in one letter."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extract

    letters = unicodedata.normalize("NFD", form)
    near: list[tuple[int, str]] = []
    for length in (len(letters) - 1, len(letters), len(letters) + 1):
        forms, choices = vocabulary.get(length, ([], []))
        matches = extract(letters, choices, scorer=Levenshtein.distance, score_cutoff=1, limit=NEAR_SPELLINGS)
        near += ((distance, forms[at]) for _letters, distance, at in matches)
    return [each for _distance, each in sorted(near)[:NEAR_SPELLINGS] if each != form]


class Vocabulary:
    """The words of a library at one time, with tables built at their first use.

    Its caches hold no reference to it. Otherwise each replaced vocabulary, tens of megabytes, would stay in memory
    until the next garbage collection.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._forms = forms = library.vocabulary(letters=2)
        self.windows = library.counts().searchable
        spelled, sounds = spellings(forms), cache(lambda: SoundIndex(forms))
        self.nearest = lru_cache(CACHE_SIZE)(lambda form: nearest(form, spelled))
        """Queries are typed letter by letter."""
        self.by_sound = lru_cache(CACHE_SIZE)(lambda name: sounds().hangul_of(name) or sounds().latin_of(name))
        self.pair_by_sound = lru_cache(CACHE_SIZE)(lambda name: sounds().latin_pair_of(name))

    def has(self, form: str) -> bool:
        """Return whether the library has a form of two letters or more."""
        at = bisect_left(self._forms, form)
        return at < len(self._forms) and self._forms[at] == form

    def containing(self, word: str) -> tuple[str, ...]:
        """Return the longer words that contain this one: 양념치킨 for 치킨."""
        containing, at = [], self._joined.find(word)
        while at >= 0:
            end = self._joined.index("\n", at)
            containing.append(self._joined[self._joined.rindex("\n", 0, at) + 1 : end])
            at = self._joined.find(word, end)
        return tuple(form for form in containing if form != word)

    def begun(self, word: str) -> tuple[str, ...]:
        """Return completions of an unfinished word by its keys: 떡볶이 for 떡볶."""
        typed, keys = key_sequence(word), self._keys
        start = bisect_left(keys, (typed, ""))
        near = takewhile(lambda pair: pair[0].startswith(typed), islice(keys, start, None))
        return tuple(form for _keys, form in islice(near, NEAREST))

    def begun_names(self, word: str) -> list[str]:
        """Return completions of an unfinished word from names."""
        typed, keys = key_sequence(word), self._name_keys
        entries = takewhile(lambda entry: entry[0].startswith(typed), islice(keys, bisect_left(keys, (typed,)), None))
        return [name for _at, name in sorted((at, name) for _keys, at, name in entries)]

    def abbreviated(self, consonants: str) -> list[str]:
        """Return the words of names with exactly these first consonants, or else those that begin with them."""
        names = self._names.items()
        exact = [name for name, letters in names if letters == consonants]
        return (exact or [name for name, letters in names if letters.startswith(consonants)])[:COMPLETIONS]

    def names_any(self, spelled: Iterable[str]) -> bool:
        """Return whether a name has one of these words or continues it."""
        long = [each for each in spelled if len(each) > 1]
        return any(each in name for name in self._names for each in long)

    def tables(self) -> Iterator[Callable[[], object]]:
        """Yield builders of the tables, each 0.1 s at 100,000 windows, to run before a key waits for them.

        Leaves out the table of sounds, which only unknown Latin words need, to save memory.
        """
        yield lambda: self._keys
        yield lambda: self._names
        yield lambda: self._name_keys

    @cached_property
    def _joined(self) -> str:
        return "\n".join(("", *self._forms, ""))

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        """The keys of each form, sorted."""
        return sorted((key_sequence(form), form) for form in self._forms)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The words of titles, channels and glossaries, with their first consonants."""
        videos = video_facets(self._library)
        channels = {video.channel_id: video.channel for video in videos}
        glossaries = (name for id in channels for name in self._library.contexts.glossary(id))
        texts = chain((video.title for video in videos), channels.values(), glossaries)
        return {word: first_consonants(word) for text in texts for word in words(text)}

    @cached_property
    def _name_keys(self) -> list[tuple[str, int, str]]:
        """The keys of each name, sorted, with its index among the names."""
        return sorted((key_sequence(name), at, name) for at, name in enumerate(self._names))
