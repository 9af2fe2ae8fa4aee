"""Expansion of a query by the library's words: completions, other spellings, misheard and related words."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from subtitle_rag.korean.keyboard import key_sequence
from subtitle_rag.korean.letter_names import same_names
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.pronunciation import (
    homophones,
    is_hangul,
    letters_of,
    near_sounds,
    open_finals,
    sound_distance,
    sounds_like,
)
from subtitle_rag.korean.readings import joined_words, other_spellings, read_aloud
from subtitle_rag.korean.typed_text import TypedText
from subtitle_rag.korean.vocabulary import (
    CACHE_SIZE,
    COMPLETIONS,
    MIN_MISHEARD_LETTERS,
    Vocabulary,
)
from subtitle_rag.library.store import Library

MISHEARD_WEIGHT = 0.8
RELATED_WEIGHT = 1.0
"""Total weight of the related words, at most that of the typed word."""
SOUND_WEIGHT = 0.8
SOUND_DECAY = 5.0
LEAST_SOUND = 0.5
"""Least weight of a word by sound; its cost above the nearest word's lowers it: 오스트 and 고스트 for ghost."""
READ_WEIGHT = 0.5
"""Weight of a name read letter by letter, such as 오지 for 5G: usually it is another word."""
COMPLETION_WEIGHT = 1.0
FEW = 3
"""Most windows with a word for which misheard forms are looked up."""
MIN_LATIN_LETTERS = 5
"""Fewest letters of a Latin word that may have one typo: pdf is not hdf."""
MIN_PAIR = 3
"""Syllables above which a Hangul word may be two Latin ones."""

TermSources = Mapping[str, tuple[int, int]]
"""Form → number of windows with it in the text, and in the context or title."""


def inverse_document_frequency(documents: int, total: int) -> float:
    """Return ln((N − n + ½) / (n + ½) + 1), the form of Lucene and Qdrant."""
    return math.log((total - documents + 0.5) / (documents + 0.5) + 1)


@dataclass(frozen=True, slots=True)
class WordCandidates:
    """Library words that may stand for typed ones, before any library look-up."""

    completions: tuple[str, ...]
    """Completions of an unfinished last word."""
    homophones: Mapping[str, Sequence[str]]
    """Two-letter form → words with the same sound,"""
    near_sounds: Mapping[str, Sequence[str]]
    """and words with a similar sound."""
    nearest: Mapping[str, Sequence[str]]
    """Longer form → words that differ in one letter."""
    spellings: Mapping[str, Sequence[str]]
    """Typed word → its other spellings."""
    read: Sequence[str]
    """Words that letters and digits are read as."""
    related: Mapping[str, Sequence[str]]
    """Typed form that the library lacks under any spelling → related words."""

    @classmethod
    def of(cls, typed: TypedText, counts: TermSources, vocabulary: Vocabulary, analyzer: Analyzer) -> "WordCandidates":
        """Collect the candidates, by the library's `counts` of typed words, without a look-up."""
        entered = typed.varied
        rare = [form for form in entered if counts.get(form, (0, 0))[0] <= FEW]
        short = [form for form in rare if len(form) == MIN_MISHEARD_LETTERS - 1 and is_hangul(form)]
        long = [
            form
            for form in rare
            if len(form) >= (MIN_LATIN_LETTERS if form.isascii() else MIN_MISHEARD_LETTERS) and form.isalpha()
        ]
        last = typed.last_word
        spelled = dict(_other_spellings(entered, typed, vocabulary))
        spelled_forms = {form for form, forms in spelled.items() if not counts.keys().isdisjoint(forms)}
        relating = [form for form in typed.relating if form not in counts and form not in spelled_forms]
        return cls(
            vocabulary.begun(last) if last and not vocabulary.has(last) else (),
            {form: _heard(form)[0] for form in short},
            {form: _heard(form)[1] for form in short},
            {form: vocabulary.nearest(form) for form in long},
            spelled,
            [form for word in typed.words for form in read_aloud(word)],
            analyzer.related(relating),
        )

    def all(self) -> set[str]:
        groups = chain(*(part.values() for part in (self.homophones, self.near_sounds, self.nearest, self.spellings)))
        return {*chain(*groups, *self.related.values()), *self.completions, *self.read}


@dataclass(frozen=True)
class Expansion:
    """The library's words for a query."""

    typed: TypedText
    counts: TermSources
    completions: tuple[str, ...]
    """The most frequent completions of an unfinished last word."""
    spelled: Mapping[str, Sequence[str]]
    """Typed word → other spellings: 디올 for Dior, 로보트 for 로봇."""
    pairs: Mapping[str, tuple[str, str]]
    """Unknown noun → two Latin words with its sound, also in `spelled`: spring boot for 스프링부트."""
    misheard: Mapping[str, Sequence[str]]
    """Typed form or word → words that a recogniser may have written instead."""
    related: Mapping[str, Sequence[str]]
    """Typed form that the library lacks → related words, in the library or not."""
    read: Sequence[str]
    """Words that letters and digits are read as."""

    @classmethod
    def of(
        cls, typed: TypedText, entered: Iterable[str], library: Library, vocabulary: Vocabulary, analyzer: Analyzer
    ) -> "Expansion":
        """Look up the windows with typed forms and `entered` words, then with their substitutes.

        Common words get no substitutes: these cost time and worsen the order.

        Args:
            typed: The typed text with its morphemes.
            entered: The typed words, as entered.
            library: The library that counts windows.
            vocabulary: The library's words.
            analyzer: The source of related words.

        Returns:
            The typed words, their substitutes and the counts of all of them.
        """
        counts = library.term_sources({*typed.forms, *typed.words, *entered})
        candidates = WordCandidates.of(typed, counts, vocabulary, analyzer)
        if more := candidates.all() - counts.keys():
            counts = {**counts, **library.term_sources(more)}
        spelled = dict(_said_spellings(candidates, counts, vocabulary))
        pairs = dict(_latin_pairs(typed.forms, spelled, counts, vocabulary))
        return cls(
            typed,
            counts,
            _completions(typed, candidates, counts, vocabulary, analyzer),
            spelled | {word: [*pair] for word, pair in pairs.items()},
            pairs,
            {form: _misheard(form, candidates, counts) for form in typed.varied},
            candidates.related,
            [form for form in candidates.read if form in counts],
        )

    def weights(self, windows: int) -> dict[str, float]:
        """Return the substitutes with their weights, for a library of `windows`."""
        typed = self.typed.forms
        by_spelling = (_sound_weights(word, forms).items() for word, forms in self.spelled.items())
        weights = {form: weight for form, weight in chain(*by_spelling) if form not in typed}
        weights |= {form: READ_WEIGHT for form in self.read if form not in typed}
        weights |= {word: 1.0 for word in self.typed.words if self._is_divided(word)}
        weights |= self._rarity_weights(windows)
        return weights | dict.fromkeys(self.completions, COMPLETION_WEIGHT)

    @cached_property
    def words_by_form(self) -> Mapping[str, str]:
        """Typed morphemes, completions and certain spellings → the typed word that each represents."""
        words = self.typed.words
        by_form = self.typed.words_by_form | dict.fromkeys(self.completions, words[-1] if words else "")
        same = (word for word, forms in self.spelled.items() if any(_is_spelling(word, form) for form in forms))
        return by_form | {form: word for word in same for form in self.spelled[word] if form not in by_form}

    @property
    def reasons(self) -> dict[str, tuple[str, str]]:
        """Substitute → its typed word, and `sound` or `related`."""
        by_form = self.words_by_form
        reasons = {each: (by_form.get(form, form), "related") for form, forms in self.related.items() for each in forms}
        reasons |= {form: (word, "sound") for word in self.typed.words for form in read_aloud(word)}
        for form, forms in chain(self.misheard.items(), self.spelled.items()):
            reasons |= dict.fromkeys(forms, (by_form.get(form, form), "sound"))
        return reasons

    def by_sound_alone(self, vocabulary: Vocabulary) -> dict[str, frozenset[str]]:
        """Return the words that the library has only in the other alphabet, with these forms.

        For a name of several Latin words written as one in Hangul, each of them counts: 브루노마스.
        """
        words = self.typed.content_words
        pairs = {self.words_by_form.get(form, form): pair for form, pair in self.pairs.items()}
        respelled = (word for word in words if word in self.spelled and word not in self.counts and word not in pairs)
        other_alphabet = {
            word: frozenset(form for form in self.spelled[word] if form.isascii() != word.isascii())
            for word in respelled
        }
        heard = {word: forms for word, forms in other_alphabet.items() if forms and not vocabulary.names_any([word])}
        heard |= {word: frozenset((" ".join(pair),)) for word, pair in pairs.items()}
        for joined, first, last in joined_words(words):
            if joined in self.spelled and joined.isascii():
                forms = frozenset(filter(is_hangul, self.spelled[joined]))
                heard |= {word: heard.get(word, frozenset()) | forms for word in words[first : last + 1]}
        return {word: forms for word, forms in heard.items() if forms}

    def _is_divided(self, word: str) -> bool:
        """Return whether the library has the word whole, but the analyzer divides it in the query."""
        return len(word) > 1 and is_hangul(word) and word in self.counts and word not in self.typed.forms

    def _rarity_weights(self, windows: int) -> dict[str, float]:
        """Return misheard and related words with weights; a rare one never outscores the typed form."""
        entered = {*self.typed.counted, *self.typed.words}
        heard = ((form, dict.fromkeys(forms, MISHEARD_WEIGHT)) for form, forms in self.misheard.items())
        shared = ((form, self._shared(variants)) for form, variants in self.related.items())
        total = max(windows, *map(sum, self.counts.values()), 1)
        weights: dict[str, float] = {}
        for form, variants in chain(heard, shared):
            frequency = inverse_document_frequency(sum(self.counts.get(form, (0, 0))), total)
            for variant in variants.keys() & self.counts.keys() - entered:
                rarity = min(1.0, frequency / inverse_document_frequency(sum(self.counts[variant]), total))
                weights[variant] = max(weights.get(variant, 0.0), variants[variant] * rarity)
        return weights

    def _shared(self, related: Sequence[str]) -> dict[str, float]:
        present = [form for form in related if form in self.counts]
        return {form: RELATED_WEIGHT / len(present) for form in present}


@lru_cache(CACHE_SIZE)
def _respelled(word: str) -> tuple[str, ...]:
    return (*other_spellings(letters_of(word)), *open_finals(word), *same_names(word))


@lru_cache(CACHE_SIZE)
def _heard(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the homophones of a form, and its similar sounds."""
    return tuple(homophones(form)), tuple(near_sounds(form))


def _is_latin_word(word: str) -> bool:
    return word.isascii() and word.isalpha()


def _other_spellings(
    entered: Iterable[str], typed: TypedText, vocabulary: Vocabulary
) -> Iterator[tuple[str, list[str]]]:
    """Yield typed forms, words, and joined Latin words, each with its other spellings."""
    latin = [word for word in typed.words if _is_latin_word(word)]
    joined = {word: last - first + 1 for word, first, last in joined_words(latin) if word not in latin}
    for word in dict.fromkeys((*joined, *entered)):
        # only the table has names of three words or more
        has_sound = _is_latin_word(word) and joined.get(word, 2) == 2 and word not in typed.acronyms
        yield word, [*_respelled(word), *(vocabulary.by_sound(word) if has_sound else ())]


def _said_spellings(
    candidates: WordCandidates, counts: TermSources, vocabulary: Vocabulary
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield typed words with the spellings that the library has."""
    for word, forms in candidates.spellings.items():
        spellings: Sequence[str] = [form for form in forms if form in counts]
        if is_hangul(word) and not spellings and not counts.get(word, (0, 0))[0]:
            spellings = vocabulary.by_sound(word)
        if spellings:
            yield word, spellings


def _latin_pairs(
    forms: Iterable[str], spelled: Collection[str], counts: TermSources, vocabulary: Vocabulary
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield long unknown nouns with two Latin words of the same sound."""
    for form in forms:
        if len(form) > MIN_PAIR and form not in counts and form not in spelled and is_hangul(form):
            pair = vocabulary.pair_by_sound(form)
            if pair:
                yield form, pair


def _completions(
    typed: TypedText, candidates: WordCandidates, counts: TermSources, vocabulary: Vocabulary, analyzer: Analyzer
) -> tuple[str, ...]:
    """Return the most frequent completions of an unfinished last word, then completions by names.

    Args:
        typed: The typed text.
        candidates: The possible completions.
        counts: Windows by form.
        vocabulary: The library's words and names.
        analyzer: Splits the words of names into morphemes.

    Returns:
        The completions, most frequent first.
    """
    last = typed.last_word
    if not last or last in counts:
        return ()
    frequent = sorted((form for form in candidates.completions if form in counts), key=lambda f: (-sum(counts[f]), f))
    names, keys = vocabulary.begun_names(last)[:COMPLETIONS], key_sequence(last)
    titled = (form for analysis in (analyzer.morphemes(names) if names else ()) for form in analysis.forms)
    completed = (form for form in titled if key_sequence(form).startswith(keys))
    return tuple(dict.fromkeys((*frequent, *completed)))[:COMPLETIONS]


def _misheard(form: str, candidates: WordCandidates, counts: TermSources) -> list[str]:
    """Return words that a recogniser may have written instead.

    From three letters on: library words that differ in one jamo (청률간장 for 청귤간장). Two-letter words have many
    neighbours: only those with the same sound (꽃개 for 꽃게), or a similar one if the library has neither (콩치 for
    꽁치).
    """
    same = candidates.homophones.get(form, ())
    heard = same if any(each in counts for each in (form, *same)) else candidates.near_sounds.get(form, ())
    return [each for each in (*heard, *candidates.nearest.get(form, ())) if each in counts]


def _sound_weights(word: str, forms: Sequence[str]) -> dict[str, float]:
    """Return the weights of a word's other spellings; the table's weigh most, or else the nearest in sound."""
    by_sound = [form for form in forms if form not in _respelled(word)]
    costs = {form: sound_distance(word, form) for form in by_sound}
    least = min(costs.values()) if costs and len(costs) == len(forms) else 0.0
    return {form: SOUND_WEIGHT * max(LEAST_SOUND, 1 - SOUND_DECAY * (costs.get(form, least) - least)) for form in forms}


def _is_spelling(word: str, form: str) -> bool:
    """Return whether a form is certainly the same word: by the table, or by nearly the same sound."""
    return form in _respelled(word) or sounds_like(word, form)
