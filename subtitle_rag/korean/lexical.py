"""Queries of the `bm25` retriever; `index_document` handles the documents.

A query is expanded by words that a speech recogniser confuses with the typed ones, and by related words; both weigh
less than the typed words.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.named_vectors import BM25
from subtitle_rag.base.vectors.points import Filter, Hit, Searched, SparseVector, VectorSearch
from subtitle_rag.korean.expansion import Expansion, TermSources, inverse_document_frequency
from subtitle_rag.korean.keyboard import FIRST_CONSONANTS
from subtitle_rag.korean.letter_names import RUN
from subtitle_rag.korean.morphemes import Analyzer, key, query_bigrams, sparse, term_id
from subtitle_rag.korean.periods import find_uploads
from subtitle_rag.korean.typed_text import WEIGHTLESS, WORD, TypedText, without_particle
from subtitle_rag.korean.vocabulary import Vocabulary
from subtitle_rag.library.store import Library

_INITIALS = re.compile(f"(?<!\\S)[{FIRST_CONSONANTS}]{{2,}}(?!\\S)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
VOCABULARY_SECONDS = 5.0
LEAST_WINDOWS = 1_000
"""Least size of a library for the rarity of words: in a small one, a word of one window is not common."""
LONG = 3
"""Letters above which an unknown word is replaced by a known one that differs in one letter."""
TWICE = 0.5
"""Weight of a morpheme whose letters also belong to another one (`TypedText.read_twice`); see `docs/dev/evaluation.md`.
"""


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A query for the `bm25` vector, and its forms to mark in a text."""

    vector: SparseVector
    forms: frozenset[str]
    """Typed morphemes with content."""
    words: tuple[str, ...]
    """Typed words with content, in their indexed form."""
    related: frozenset[str] = frozenset()
    """Substitutes in the query: misheard variants and related words."""
    words_by_form: Mapping[str, str] = field(default_factory=dict)
    """Typed morphemes and completions → the typed word of each, from `words`."""
    required_terms: SparseVector | None = None
    """The vector without pairs of letters from numbers and unknown Latin words, and without units after numbers; None
    if it has none of these.

    Such terms order hits, but make none: nearly every text has a common pair of Latin letters, and 2,000원 is not
    30,000원.
    """
    variants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Substitute → its typed word, and `sound` or `related`."""
    words_not_in_library: tuple[str, ...] = ()
    """Words, as typed, that are in no window's morphemes and in no name. Contexts and parts of longer words may still
    have them, see `unknown_words`.
    """
    by_sound: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Typed words missing from all texts, contexts and names → library words with their sound in the other alphabet; a
    pair of words has a space.
    """
    containing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Typed words and morphemes from two letters → longer library words that contain them."""
    meant: frozenset[str] = frozenset()
    """Completions of an unfinished word or of first consonants, from `forms`."""
    rarities: Mapping[str, float] = field(default_factory=dict)
    """Typed words with content → rarity in the library, 0 to 1; an unknown word has 1."""
    stems: Mapping[str, str] = field(default_factory=dict)
    """Typed words → the words without particles and endings after the last morpheme with content."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words of first consonants → the names that they may stand for, in their indexed form: 바삭골 for ㅂㅅㄱ."""


def unknown_words(lexical: LexicalQuery, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the words of `LexicalQuery.words_not_in_library` missing from all these texts, `folded`, regardless of
    spaces.
    """
    letters = "".join("|".join(texts).replace(" ", "").split()) if lexical.words_not_in_library else ""
    forms: dict[str, set[str]] = {word: {key(word)} for word in lexical.words_not_in_library}
    for form, word in lexical.words_by_form.items():
        for each in forms:
            if key(each) == word and len(form) > 1:
                forms[each].add(form)
    return tuple(word for word, spellings in forms.items() if not any(form in letters for form in spellings))


def initials_sentence(words: Iterable[str]) -> str:
    """Return a sentence with the names that first consonants among the words stand for; empty without any."""
    initials = ", ".join(word for word in words if _INITIALS.fullmatch(word))
    sentence = _("{words}: read as first consonants, but no title, channel or name of the library begins so.")
    return sentence.format(words=initials) if initials else ""


class LexicalSearch(Protocol):
    """Analyser of queries and search by words: `QueryAnalyzer`, or the index host's client."""

    def analyze(self, text: str) -> LexicalQuery: ...

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """Return the analysed query and its hits in `index` by the `bm25` vector."""


def word_search(lexical: LexicalQuery, *, limit: int, where: Filter) -> VectorSearch:
    """Return the search by the words of a query.

    A window is no hit if it shares only pairs of letters of an unknown Latin word.
    """
    return VectorSearch(BM25, lexical.vector, limit, where, lexical.required_terms)


class QueryAnalyzer:
    """Maker of query vectors, with the library's own vocabulary."""

    _vocabulary: Vocabulary

    def __init__(self, library: Library, analyzer: Analyzer) -> None:
        self._library = library
        self._analyzer = analyzer
        self._version: int | None = None
        self._read_at = -math.inf

    def analyze(self, text: str) -> LexicalQuery:
        """Return the query's vector: typed words with weight 1, likely variants with less.

        Two look-ups count the windows with typed forms, then with substitutes for rare ones.
        """
        vocabulary = self._current_vocabulary()
        entered = _THOUSANDS.sub("", text)
        names = {
            word: tuple(matches) for word in _INITIALS.findall(entered) if (matches := vocabulary.abbreviated(word))
        }
        spelled_out = _INITIALS.sub(lambda match: " ".join((match[0], *names.get(match[0], ()))), entered)
        typed = TypedText.of(spelled_out, next(self._analyzer.morphemes([spelled_out])))
        entered_words = (without_particle(key(word)) for word in RUN.findall(typed.text))
        expansion = Expansion.of(typed, entered_words, self._library, vocabulary, self._analyzer)
        variants = expansion.weights(vocabulary.windows)
        weights, required = _term_weights(expansion, variants)
        typed_for = {name: word for word, of_word in names.items() for name in of_word}
        by_form = {form: typed_for.get(word, word) for form, word in expansion.words_by_form.items()}
        # 바삭 alone is not 바삭골
        parts = {
            form for form, word in typed.words_by_form.items() if word in typed_for and form != word in typed.forms
        }
        content = frozenset((*typed.content, *expansion.completions)) - parts
        return LexicalQuery(
            sparse(weights),
            content,
            tuple(word for word in typed.content_words if word not in typed_for),
            # one-letter stems would mark half the text
            frozenset(form for form in variants if len(form) > 1 and form not in content),
            by_form,
            sparse(required) if required.keys() != weights.keys() else None,
            {
                form: (typed_for.get(word, word), kind)
                for form, (word, kind) in expansion.reasons.items()
                if form in variants
            },
            (*_unread(entered, vocabulary), *_unknown(expansion, vocabulary)),
            expansion.by_sound_alone(vocabulary),
            {each: vocabulary.containing(each) for each in {*content, *by_form.values()} if len(each) > 1},
            (frozenset(expansion.completions) - {*typed.forms}) | (content & typed_for.keys()),
            _rarities(expansion, vocabulary.windows, names),
            typed.stems,
            names,
        )

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """See `LexicalSearch.search`."""
        lexical = self.analyze(text)
        return lexical, index.search_all([word_search(lexical, limit=limit, where=where)])[0]

    def tables(self) -> Iterator[Callable[[], object]]:
        """See `Vocabulary.tables`; none before the first query."""
        return self._vocabulary.tables() if self._version is not None else iter(())

    def reopened(self, is_changed: Callable[[], bool]) -> None:
        """Keep the vocabulary of a reopened library, which counts its versions again, unless `is_changed`."""
        version = self._library.database.version()  # first: a later commit must change it
        self._version = None if is_changed() else version

    def _current_vocabulary(self) -> Vocabulary:
        """Return the vocabulary, reloaded after a change of the library, but not with every commit of a long job."""
        version = self._library.database.version()
        if version != self._version and time.monotonic() - self._read_at > VOCABULARY_SECONDS:
            self._vocabulary = Vocabulary(self._library)
            self._version, self._read_at = version, time.monotonic()
        return self._vocabulary


def _unread(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the words of different first consonants that match no name."""
    words = (word for word in _INITIALS.findall(text) if len({*word}) > 1)
    return (word for word in words if not vocabulary.abbreviated(word))


def _unknown(expansion: Expansion, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the words with content that neither the vocabulary nor a name has."""
    typed, counts, forms = expansion.typed, expansion.counts, dict[str, list[str]]()
    unfinished = typed.last_word if expansion.completions else ""
    for form, word in expansion.words_by_form.items():
        if form not in typed.units:
            forms.setdefault(word, []).append(form)
    runs = map(without_particle, RUN.findall(typed.text))
    entered = [word for word in runs if key(word) in forms and key(word) != unfinished]
    unsaid = [word for word in dict.fromkeys(entered) if _is_unsaid(key(word), forms[key(word)], counts)]
    dated = RUN.findall(_upload_date(typed.text)) if unsaid else ()
    for word in unsaid:
        if word not in dated and not vocabulary.names_any([key(word), *forms[key(word)]]):
            yield word


def _is_unsaid(word: str, forms: Sequence[str], counts: TermSources) -> bool:
    return counts.keys().isdisjoint((word, *forms)) and not WEIGHTLESS.issuperset(forms)


def _upload_date(text: str) -> str:
    """Return the words about the day of an upload, which are not searched; "" without any."""
    spans = [word.span() for word in WORD.finditer(text)]
    uploads = find_uploads(text, spans, date.today())
    return text[spans[uploads.first][0] : spans[uploads.last][1]] if uploads else ""


def _rarities(expansion: Expansion, windows: int, names: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return `LexicalQuery.rarities`.

    A word is as rare as its rarest morpheme, and first consonants are as rare as their commonest name.
    """
    typed, counts = expansion.typed, expansion.counts
    total = max(windows, LEAST_WINDOWS, *map(sum, counts.values()))
    most = inverse_document_frequency(0, total)
    forms: dict[str, list[str]] = {word: [] for word in typed.content_words}
    for form, word in expansion.words_by_form.items():
        if word in forms and form not in WEIGHTLESS:
            forms[word].append(form)

    def count(form: str) -> int:
        return min(total, sum(counts.get(form, (0, 0))))

    def windows_with(word: str) -> int:
        spelled = [form for form in forms[word] if form not in typed.forms]
        parts = [form for form in forms[word] if form in typed.forms]
        said = max(count(word), min(map(count, parts), default=0), *map(count, spelled), 0)
        # a typo in a long word is certainly that word: 시물레이션
        slips = [near for form in (word, *parts) for near in expansion.misheard.get(form, ()) if len(form) > LONG]
        return said or max(map(count, slips), default=0)

    # a word without a morpheme of content (그거, 않고) is not searched
    rarities = {
        word: inverse_document_frequency(windows_with(word), total) / most if of_word or word in counts else 0.0
        for word, of_word in forms.items()
    }
    of_names = {word: min(rarities.get(name, 1.0) for name in of_word) for word, of_word in names.items()}
    return rarities | of_names


def _term_weights(expansion: Expansion, variants: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
    """Return the weights of a query's terms, and of `LexicalQuery.required_terms`."""
    typed = expansion.typed
    weights = {
        term_id("m", form): count * (TWICE if form in typed.read_twice else 1.0)
        for form, count in Counter(typed.ranked).items()
    }
    for form, weight in variants.items():
        weights.setdefault(term_id("m", form), weight)
    units = {term_id("m", unit) for unit in typed.units}
    required = {term: weight for term, weight in weights.items() if term not in units}
    spoken_forms = (form for form, (windows, _contexts) in expansion.counts.items() if windows)
    of_words = {gram for gram, _weight in query_bigrams(typed.without_numbers)}
    latin = _latin_bigrams(typed.words, {*expansion.completions, *spoken_forms})
    for gram, weight in query_bigrams(typed.without_unranked):
        if _is_latin(gram) and gram not in latin:
            continue
        term = term_id("b", gram)
        weights[term] = weights.get(term, 0.0) + weight
        if gram in of_words and not _is_latin(gram):  # nearly every text has a common pair of Latin letters
            required[term] = required.get(term, 0.0) + weight
    return weights, required


def _latin_bigrams(query_words: Iterable[str], vocabulary: Collection[str]) -> set[str]:
    """Return the pairs of letters of the Latin words in the vocabulary."""
    without_unknown = ("|" if word.isascii() and word not in vocabulary else word for word in query_words)
    return {gram for gram, _weight in query_bigrams(" ".join(without_unknown))}


def _is_latin(gram: str) -> bool:
    return gram.isascii() and gram.isalpha()
