"""Queries of the `bm25` retriever; `index_document` has the documents' side.

A query is expanded by words that a speech recogniser confuses with the typed ones, and by related words; both weigh
less than the typed ones.
"""

import math
import re
import time
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property, lru_cache
from itertools import chain, islice, takewhile
from typing import Protocol

from subtitle_rag.domain import Morphemes
from subtitle_rag.i18n import _
from subtitle_rag.library import Library, video_facets
from subtitle_rag.retrieval.korean.keyboard import FIRST_CONSONANTS, first_consonants, key_sequence
from subtitle_rag.retrieval.korean.morphemes import Analyzer, key, query_bigrams, sparse, term_id, words
from subtitle_rag.retrieval.korean.numerals import COUNTERS
from subtitle_rag.retrieval.korean.periods import find_uploads
from subtitle_rag.retrieval.korean.pronunciation import (
    SoundIndex,
    homophones,
    is_hangul,
    letters_of,
    near_sounds,
    open_finals,
    sound_distance,
    sounds_like,
)
from subtitle_rag.retrieval.korean.readings import TEARS, joined_words, other_spellings, read_aloud
from subtitle_rag.retrieval.named_vectors import BM25, LEVELS
from subtitle_rag.retrieval.values import Filter, Hit, Searched, SparseVector, VectorSearch

MISHEARD_WEIGHT = 0.8
RELATED_WEIGHT = 1.0
"""Divided among the related words in the library: together they count at most as much as the typed word."""
SOUND_WEIGHT = 0.8
SOUND_DECAY = 5.0
LEAST_SOUND = 0.5
"""A word by sound weighs less by so many times its cost above the nearest one's, down to this part: 오스트 and 고스트
for ghost."""
MIN_PAIR = 3
"""Syllables above which a Hangul word may be two Latin ones."""
MIN_MISHEARD_LETTERS = 3
"""Shorter words have too many neighbours at one letter's distance."""
UNRANKED = frozenset(["거", "것", "건", "게", "안", "말", TEARS])
"""Morphemes with a tag of content that every scene says. They count where a query has no others."""
WEIGHTLESS = UNRANKED | frozenset(["수", "하", "되", "있", "쓰", "같", "등"])
"""Morphemes that are neither marked nor jumped to beside others. Without those verbs the order is worse: mrr@10 of
scene_bench is 0.575 instead of 0.582."""
READ_WEIGHT = 0.5
"""Weight of a name read by its letters, as 오지 for 5G: it is mostly another word."""
COMPLETIONS = 8
COMPLETION_WEIGHT = 1.0
NEAR_SPELLINGS = 20
NEAREST = 200
"""Completions to compare by frequency."""
_REQUEST = re.compile(
    r"(?<=\S)\s+(?:장면|부분|대목|동?영상|클립|순간|씬)(?:들?[이은을를도만]?|에서)"
    r"(?:\s+(?:찾아|보여|알려|틀어)\s?(?:줘|주세요|줄래)(?:요)?|\s+어디\S*)?[?.!\s]*$"
)
"""What a query asks for, after what is to be found: 치킨 먹는 장면."""
_INITIALS = re.compile(f"(?<!\\S)[{FIRST_CONSONANTS}]{{2,}}(?!\\S)")
_WORD = re.compile(r"\S+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COUNTED = re.compile(r"-?\d+(?:[./]\d+)?\D{0,4}")
"""A number, also one with what it counts: 21살, -10도, 1/3."""
_RUN = re.compile(r"[^\W_]+")
VOCABULARY_SECONDS = 5.0
CACHE_SIZE = 1_000
"""Forms in each cache of their variants."""


def inverse_document_frequency(documents: int, total: int) -> float:
    """Return ln((N − n + ½) / (n + ½) + 1), the form of Lucene and Qdrant."""
    return math.log((total - documents + 0.5) / (documents + 0.5) + 1)


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """A query for the `bm25` vector, and its forms to mark in a text."""

    vector: SparseVector
    forms: frozenset[str]
    """The typed morphemes with content."""
    words: tuple[str, ...]
    """The typed words with content, in their indexed form."""
    related: frozenset[str] = frozenset()
    """Forms that expand the query: misheard variants and related words."""
    words_by_form: Mapping[str, str] = field(default_factory=dict)
    """Typed morphemes and completions → the typed word that they stand for, as in `words`."""
    required_terms: SparseVector | None = None
    """The vector without pairs of letters of numbers and of Latin words that the library does not say, and without
    units after numbers; None if it has none of them. They order hits, but a window without anything else is no hit:
    nearly every text shares a pair of Latin letters, and 2,000원 is not 30,000원."""
    variants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Forms that expand the query → the typed word that each stands for, and whether by `sound` or as `related`."""
    words_not_in_library: tuple[str, ...] = ()
    """The words, as typed, that stand in no window's morphemes and no name. A window may say one inside another word,
    and a context may have one: `unknown_words` looks there."""
    by_sound: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Typed words that no text, context or name has → the library's words of their sound in the other alphabet; a
    pair of words has a space between them."""

    def has_other_known_word(self, words_not_in_library: Iterable[str]) -> bool:
        """Return whether a typed word with content is not among these."""
        words = {word for form, word in self.words_by_form.items() if form in self.forms}
        return not words <= set(map(key, words_not_in_library))


def unknown_words(lexical: LexicalQuery, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the words of `LexicalQuery.words_not_in_library` that none of these texts, `folded`, has, whatever its
    spaces."""
    letters = "".join("|".join(texts).replace(" ", "").split()) if lexical.words_not_in_library else ""
    forms: dict[str, set[str]] = {word: {key(word)} for word in lexical.words_not_in_library}
    for form, word in lexical.words_by_form.items():
        for each in forms:
            if key(each) == word and len(form) > 1:
                forms[each].add(form)
    return tuple(word for word, spellings in forms.items() if not any(form in letters for form in spellings))


def initials_sentence(words: Iterable[str]) -> str:
    """Return what those of these words mean that are first consonants alone; empty without any."""
    initials = ", ".join(word for word in words if _INITIALS.fullmatch(word))
    sentence = _("{words}: read as first consonants, but no title, channel or name of the library begins so.")
    return sentence.format(words=initials) if initials else ""


class LexicalSearch(Protocol):
    """Analyses queries and finds windows by their words: `QueryAnalyzer`, or the host of the index."""

    def analyze(self, text: str) -> LexicalQuery: ...

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """Return the analysed query and its hits in `index` by the `bm25` vector."""


def word_search(lexical: LexicalQuery, *, limit: int, where: Filter) -> VectorSearch:
    """Return the search by the words of a query.

    Windows that share only pairs of letters of an unknown Latin word with it are no hits.
    """
    return VectorSearch(BM25, lexical.vector, limit, where, lexical.required_terms)


def level_searches(lexical: LexicalQuery, *, limit: int, where: Filter) -> list[VectorSearch]:
    """Return the searches by the words of a query in each level above windows."""
    return [VectorSearch(name, lexical.vector, limit, where) for name in LEVELS.values()]


TermSources = Mapping[str, tuple[int, int]]
"""Form → the windows that say it, and the contexts and titles that have it."""


def _shared(related: Mapping[str, float], counts: TermSources) -> dict[str, float]:
    present = [form for form in related if form in counts]
    return {form: RELATED_WEIGHT * related[form] / len(present) for form in present}


def _without(weightless: frozenset[str], text: str, analysis: Morphemes) -> str:
    """Return the text without the words whose morphemes are all weightless, or all of it if it has no others."""
    if weightless.issuperset(analysis.forms):
        return text
    content: list[str] = []
    for word in _WORD.finditer(text):
        inside = {form for form, at in zip(analysis.forms, analysis.starts, strict=True) if at in range(*word.span())}
        if not inside or inside - weightless:
            content.append(word[0])
    return " ".join(content)


def _request_start(text: str, analysis: Morphemes) -> int:
    """Return where a text begins to name what is asked for; its end, where it does not or nothing else has content."""
    match = _REQUEST.search(text)
    if match is None:
        return len(text)
    content = (at for form, at in zip(analysis.forms, analysis.ends, strict=True) if form not in WEIGHTLESS)
    return match.start() if any(at <= match.start() for at in content) else len(text)


def _without_request(text: str, analysis: Morphemes) -> Morphemes:
    start = _request_start(text, analysis)
    count = sum(at < start for at in analysis.starts)
    return Morphemes(analysis.forms[:count], analysis.starts[:count], analysis.ends[:count])


def _whole(query_words: Iterable[str], typed: Collection[str], counts: TermSources) -> list[str]:
    """Return the typed words that the library has whole, and the analyzer divides in the query alone."""
    return [word for word in query_words if len(word) > 1 and is_hangul(word) and word in counts and word not in typed]


@lru_cache(CACHE_SIZE)
def _respelled(word: str) -> tuple[str, ...]:
    return (*other_spellings(letters_of(word)), *open_finals(word))


@lru_cache(CACHE_SIZE)
def _heard(form: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the homophones of a form, and what it is misheard as."""
    return tuple(homophones(form)), tuple(near_sounds(form))


def heard_as(word: str, forms: Collection[str]) -> tuple[list[str], list[str]]:
    """Return what a recogniser may have written for a word: what sounds the same, and those of these forms nearby.

    The analyzer divides many of the former, so that they are among no forms: 대 and 님 for 데님.
    """
    same, alike = _heard(word) if is_hangul(word) else ((), ())
    near = nearest(word, spellings(forms)) if len(word) >= MIN_MISHEARD_LETTERS else []
    return list(same), [form for form in dict.fromkeys((*alike, *near)) if form in forms and form not in same]


def certain_spellings(word: str, forms: Collection[str]) -> list[str]:
    """Return those of these forms that are surely the same word: those of the table, or if it has none by sound."""
    return [form for form in forms if form in _respelled(word)] or [form for form in forms if sounds_like(word, form)]


def _sound_weights(word: str, forms: Sequence[str]) -> dict[str, float]:
    """Return the weights of the other spellings of a word: those of the table count most, or the nearest by sound."""
    by_sound = [form for form in forms if form not in _respelled(word)]
    costs = {form: sound_distance(word, form) for form in by_sound}
    least = min(costs.values()) if costs and len(costs) == len(forms) else 0.0
    return {form: SOUND_WEIGHT * max(LEAST_SOUND, 1 - SOUND_DECAY * (costs.get(form, least) - least)) for form in forms}


def _is_spelling(word: str, form: str) -> bool:
    """Return whether a form is surely the same word: of the table, or nearly as it sounds."""
    return form in _respelled(word) or sounds_like(word, form)


def _add_bigrams(
    weights: dict[int, float], certain: dict[int, float], text: str, worded: str, latin: Collection[str]
) -> None:
    """Add the pairs of letters of a text, to `certain` those of the words in `worded`.

    Of Latin letters only those of `latin`, and never as certain: nearly every text shares a pair of them.
    """
    of_words = {gram for gram, _weight in query_bigrams(worded)}
    for gram, weight in query_bigrams(text):
        if _is_latin(gram) and gram not in latin:
            continue
        term = term_id("b", gram)
        weights[term] = weights.get(term, 0.0) + weight
        if gram in of_words and not _is_latin(gram):
            certain[term] = certain.get(term, 0.0) + weight


def _latin_pairs(query_words: Sequence[str], said: Collection[str]) -> set[str]:
    """Return the pairs of letters of those Latin words that the library says."""
    known = ("|" if word.isascii() and word not in said else word for word in query_words)
    return {gram for gram, _weight in query_bigrams(" ".join(known))}


def _words_by_form(text: str, analysis: Morphemes) -> dict[str, str]:
    """Return the first word of the text that each morpheme stands in."""
    by_form: dict[str, str] = {}
    for word in _RUN.finditer(text):
        for form, at in zip(analysis.forms, analysis.starts, strict=True):
            if at in range(*word.span()):
                by_form.setdefault(form, key(word[0]))
    return by_form


def _without_syllables_of_words(forms: Sequence[str], by_form: Mapping[str, str]) -> list[str]:
    """Return the forms without those of one syllable that are parts of a longer word: 준 of 서준 is no kin of 장."""
    parts = Counter(by_form.values())
    return [form for form in forms if len(form) > 1 or parts[by_form.get(form, "")] < 2]


Spellings = dict[int, tuple[list[str], list[str]]]
"""Number of letters → forms of so many letters, in order, and the letters (NFD) of each."""


def spellings(forms: Iterable[str]) -> Spellings:
    """Return the forms that can be misheard."""
    by_length: Spellings = {}
    for form in sorted(forms):
        if len(form) >= MIN_MISHEARD_LETTERS:
            letters = unicodedata.normalize("NFD", form)
            forms_of_length, letters_of_forms = by_length.setdefault(len(letters), ([], []))
            forms_of_length.append(form)
            letters_of_forms.append(letters)
    return by_length


def nearest(form: str, vocabulary: Spellings) -> list[str]:
    """Return the other forms at a distance of one letter, at most `NEAR_SPELLINGS`."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extract

    letters = unicodedata.normalize("NFD", form)
    near: list[tuple[int, str]] = []
    for length in (len(letters) - 1, len(letters), len(letters) + 1):
        forms, choices = vocabulary.get(length, ([], []))
        matches = extract(letters, choices, scorer=Levenshtein.distance, score_cutoff=1, limit=NEAR_SPELLINGS)
        near += ((distance, forms[at]) for _letters, distance, at in matches)
    return [each for _distance, each in sorted(near)[:NEAR_SPELLINGS] if each != form]


def _is_latin(gram: str) -> bool:
    return gram.isascii() and gram.isalpha()


def _units(analysis: Morphemes) -> frozenset[str]:
    """Return the counters that follow a number and nowhere else: 원 of 3만 원."""
    number_end = -2
    behind, alone = set[str](), set[str]()
    for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
        if form in COUNTERS:
            (behind if start - number_end <= 1 else alone).add(form)
        elif _COUNTED.fullmatch(form):
            number_end = max(number_end, end)
    return frozenset(behind - alone)


def _blanked(text: str, analysis: Morphemes, units: frozenset[str]) -> str:
    """Return the text, as long as before, with blanks for its numbers and their units."""
    for form, start, end in zip(analysis.forms, analysis.starts, analysis.ends, strict=True):
        if form in units or _COUNTED.fullmatch(form):
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


class _Vocabulary:
    """The words of a library at one time, with tables that are made of them at their first use.

    Its caches do not refer to it: it would stay in memory after its successor has come, tens of megabytes each time,
    until Python looks for garbage.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._forms = forms = library.vocabulary(letters=2)
        self.windows = library.counts().searchable
        spelled, sounds = spellings(forms), cache(lambda: SoundIndex(forms))
        self.nearest = lru_cache(CACHE_SIZE)(lambda form: nearest(form, spelled))
        """A query is typed letter by letter."""
        self.by_sound = lru_cache(CACHE_SIZE)(lambda name: sounds().hangul_of(name) or sounds().latin_of(name))
        self.pair_by_sound = lru_cache(CACHE_SIZE)(lambda name: sounds().latin_pair_of(name))

    def has(self, form: str) -> bool:
        """Return whether a form of two letters or more is among them."""
        at = bisect_left(self._forms, form)
        return at < len(self._forms) and self._forms[at] == form

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """The keys of each form, in order."""
        return sorted((key_sequence(form), form) for form in self._forms)

    def tables(self) -> Iterator[Callable[[], object]]:
        """Yield what makes the tables, each 0.1 s at 100,000 windows: a key would wait for them.

        The sounds, which only unknown Latin words need, are not among them, for the sake of memory.
        """
        yield lambda: self.keys
        yield lambda: self.names
        yield lambda: self.name_keys

    @cached_property
    def names(self) -> dict[str, str]:
        """The words of titles, channels and glossaries with their first consonants."""
        videos = video_facets(self._library)
        channels = {video.channel_id: video.channel for video in videos}
        glossaries = (name for id in channels for name in self._library.contexts.glossary(id))
        texts = chain((video.title for video in videos), channels.values(), glossaries)
        return {word: first_consonants(word) for text in texts for word in words(text)}

    @cached_property
    def name_keys(self) -> list[tuple[str, int, str]]:
        """The keys of each name, in order, with its place among the names."""
        return sorted((key_sequence(name), at, name) for at, name in enumerate(self.names))


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What words of the library may stand for typed ones, before the library is asked for any of them."""

    completions: tuple[str, ...]
    """Words that an unfinished last word begins."""
    homophones: Mapping[str, Sequence[str]]
    """By typed form of two letters, those that sound the same,"""
    near_sounds: Mapping[str, Sequence[str]]
    """and those that sound alike."""
    nearest: Mapping[str, Sequence[str]]
    """By longer typed form, those at a distance of one letter."""
    spellings: Mapping[str, Sequence[str]]
    """By typed word, its other spellings."""
    read: Sequence[str]
    """Other words that letters and digits are read as."""
    related: Collection[str]

    def all(self) -> set[str]:
        groups = chain(*(part.values() for part in (self.homophones, self.near_sounds, self.nearest, self.spellings)))
        return {*chain(*groups), *self.completions, *self.read, *self.related}


class QueryAnalyzer:
    """Turns query text into a vector, with the library's own vocabulary at hand."""

    _vocabulary: _Vocabulary

    def __init__(self, library: Library, analyzer: Analyzer) -> None:
        self._library = library
        self._analyzer = analyzer
        self._version: int | None = None
        self._read_at = -math.inf

    def analyze(self, text: str) -> LexicalQuery:
        """Return the query's vector: typed words with weight 1, likely variants with less.

        The library is asked once how many windows have which forms.
        """
        self._refresh()
        entered = text = _THOUSANDS.sub("", text)
        text = self._with_names(text)
        unread = tuple(word for word in _INITIALS.findall(entered) if len({*word}) > 1 and not self._named(word))
        analysis = _without_request(text, next(self._analyzer.morphemes([text])))
        text = text[: _request_start(text, analysis)]
        typed, units = analysis.forms, _units(analysis)
        content = tuple(form for form in typed if form not in WEIGHTLESS and form not in units) or typed
        query_words = words(text)
        ranked = tuple(form for form in typed if form not in UNRANKED) or typed
        counted = tuple(form for form in ranked if form not in units)
        relating = _without_syllables_of_words(counted, _words_by_form(text, analysis))
        candidates = self._candidates(counted, query_words, relating)
        counts = self._library.term_sources({*typed, *query_words, *map(key, _RUN.findall(entered)), *candidates.all()})
        completions = self._completions(candidates, counts, query_words)
        spelled = self._spelled(candidates, counts)
        pairs = self._pairs(typed, spelled, counts)
        spelled |= {word: [*pair] for word, pair in pairs.items()}
        is_same = {word for word, forms in spelled.items() if any(_is_spelling(word, form) for form in forms)}
        misheard = {form: self._misheard(form, candidates, counts) for form in (*counted, *query_words)}
        variants = {
            form: weight
            for word, forms in spelled.items()
            for form, weight in _sound_weights(word, forms).items()
            if form not in typed
        }
        variants |= {form: READ_WEIGHT for form in candidates.read if form in counts and form not in typed}
        variants |= dict.fromkeys(_whole(query_words, typed, counts), 1.0)
        kin = self._analyzer.related(relating, said=lambda _forms: counts)
        variants |= self._variants(counted, query_words, kin, misheard, counts)
        variants |= dict.fromkeys(completions, COMPLETION_WEIGHT)
        weights = {term_id("m", form): float(count) for form, count in Counter(ranked).items()}
        for form, weight in variants.items():
            weights.setdefault(term_id("m", form), weight)
        worded = _blanked(text, analysis, units)
        said = {*completions, *(form for form, (windows, _written) in counts.items() if windows)}
        certain = {term: weight for term, weight in weights.items() if term not in {term_id("m", u) for u in units}}
        _add_bigrams(weights, certain, _without(UNRANKED, text, analysis), worded, _latin_pairs(query_words, said))
        content += completions
        related = frozenset(
            form for form in variants if len(form) > 1 and form not in content
        )  # one-letter stems would mark half the text
        content_words = words(_without(WEIGHTLESS, worded, analysis))
        by_form = _words_by_form(text, analysis) | dict.fromkeys(completions, query_words[-1] if query_words else "")
        by_form |= {form: word for word in is_same for form in spelled[word] if form not in by_form}
        alike = {variant: (by_form.get(form, form), "related") for form, forms in kin.items() for variant in forms}
        alike |= {form: (word, "sound") for word in query_words for form in read_aloud(word)}
        for form, forms in chain(misheard.items(), spelled.items()):
            alike |= dict.fromkeys(forms, (by_form.get(form, form), "sound"))
        return LexicalQuery(
            sparse(weights),
            frozenset(content),
            tuple(content_words),
            related,
            by_form,
            sparse(certain) if certain.keys() != weights.keys() else None,
            {form: of_word for form, of_word in alike.items() if form in variants},
            unread + self._unknown(entered, by_form, units, query_words[-1] if completions else "", counts),
            self._by_sound_alone(
                content_words, spelled, {by_form.get(form, form): pair for form, pair in pairs.items()}, counts
            ),
        )

    def search(self, index: Searched, text: str, *, limit: int, where: Filter) -> tuple[LexicalQuery, list[Hit]]:
        """See `LexicalSearch.search`."""
        lexical = self.analyze(text)
        return lexical, index.search_all([word_search(lexical, limit=limit, where=where)])[0]

    def tables(self) -> Iterator[Callable[[], object]]:
        """See `_Vocabulary.tables`; none before the first query."""
        return self._vocabulary.tables() if self._version is not None else iter(())

    def reopened(self, is_changed: Callable[[], bool]) -> None:
        """Note that the library was reopened and counts its versions again; `is_changed` compares its content."""
        version = self._library.database.version()  # first: what is committed after it changes it
        self._version = None if is_changed() else version

    def _candidates(self, typed: Sequence[str], query_words: Sequence[str], relating: Sequence[str]) -> _Candidates:
        """Collect what may stand for these forms and words, and for those with relatives; nothing asks the library."""
        vocabulary = self._vocabulary
        entered = dict.fromkeys((*typed, *query_words))
        short = [form for form in entered if len(form) == MIN_MISHEARD_LETTERS - 1 and is_hangul(form)]
        long = [form for form in entered if len(form) >= MIN_MISHEARD_LETTERS and form.isalpha()]
        latin = [word for word in query_words if word.isascii() and word.isalpha()]
        joined = {word: last - first + 1 for word, first, last in joined_words(latin) if word not in latin}
        spellings: dict[str, list[str]] = {}
        for word in dict.fromkeys((*joined, *entered)):
            others = [*_respelled(word)]
            if word.isascii() and word.isalpha() and joined.get(word, 2) == 2:  # longer names are those of the table
                others += vocabulary.by_sound(word)
            spellings[word] = others
        last = query_words[-1] if query_words else ""
        is_begun = (
            last and not (last.isascii() and len(last) < 2) and not last[0].isdigit() and not vocabulary.has(last)
        )
        return _Candidates(
            tuple(self._begun(last)) if is_begun else (),
            {form: _heard(form)[0] for form in short},
            {form: _heard(form)[1] for form in short},
            {form: vocabulary.nearest(form) for form in long},
            spellings,
            [form for word in query_words for form in read_aloud(word)],
            self._analyzer.neighbours(relating),
        )

    def _begun(self, last: str) -> Iterator[str]:
        """Yield words of the library that begin with the keys of an unfinished word: 떡볶이 for 떡볶."""
        typed, keys = key_sequence(last), self._vocabulary.keys
        start = bisect_left(keys, (typed, ""))
        near = takewhile(lambda pair: pair[0].startswith(typed), islice(keys, start, None))
        return (form for _keys, form in islice(near, NEAREST))

    def _completions(self, candidates: _Candidates, counts: TermSources, query_words: Sequence[str]) -> tuple[str, ...]:
        """Return the most frequent words of the library that an unfinished last word begins."""
        last = query_words[-1] if query_words else ""
        if not last or last in counts or (last.isascii() and len(last) < 2) or last[0].isdigit():
            return ()
        spoken = sorted((form for form in candidates.completions if form in counts), key=lambda f: (-sum(counts[f]), f))
        return tuple(dict.fromkeys((*spoken, *self._titled(key_sequence(last)))))[:COMPLETIONS]

    def _spelled(self, candidates: _Candidates, counts: TermSources) -> dict[str, list[str]]:
        """Return the library's other spellings of typed words: 디올 for Dior, 로보트 for 로봇."""
        spelled: dict[str, list[str]] = {}
        for word, forms in candidates.spellings.items():
            said = [form for form in forms if form in counts]
            if is_hangul(word) and not said and not counts.get(word, (0, 0))[0]:
                said = self._vocabulary.by_sound(word)
            if said:
                spelled[word] = said
        return spelled

    def _pairs(
        self, forms: Iterable[str], spelled: Mapping[str, Sequence[str]], counts: TermSources
    ) -> dict[str, tuple[str, str]]:
        """Return long nouns that nobody says, with two Latin words of their sound: spring boot for 스프링부트."""
        unsaid = (form for form in forms if form not in counts and form not in spelled and len(form) > MIN_PAIR)
        pairs = ((form, self._vocabulary.pair_by_sound(form)) for form in unsaid if is_hangul(form))
        return {form: pair for form, pair in pairs if pair}

    def _by_sound_alone(
        self,
        query_words: Sequence[str],
        spelled: Mapping[str, Sequence[str]],
        pairs: Mapping[str, tuple[str, str]],
        counts: TermSources,
    ) -> dict[str, frozenset[str]]:
        """Return the words that the library has in the other alphabet only, with what it has.

        Each word of a name of several Latin ones is said where the name is one in Hangul: 브루노마스.
        """
        alone = (word for word in query_words if word in spelled and word not in counts and word not in pairs)
        other = {word: frozenset(form for form in spelled[word] if form.isascii() != word.isascii()) for word in alone}
        heard = {word: forms for word, forms in other.items() if forms and not self._is_named([word])}
        heard |= {word: frozenset((" ".join(pair),)) for word, pair in pairs.items()}
        for joined, first, last in joined_words(query_words):
            if joined in spelled and joined.isascii():
                forms = frozenset(filter(is_hangul, spelled[joined]))
                heard |= {word: heard.get(word, frozenset()) | forms for word in query_words[first : last + 1]}
        return {word: forms for word, forms in heard.items() if forms}

    def _titled(self, typed: str) -> Iterator[str]:
        """Yield the morphemes of titles, channels and glossaries that begin with these keys."""
        keys = self._vocabulary.name_keys
        begun = takewhile(lambda entry: entry[0].startswith(typed), islice(keys, bisect_left(keys, (typed,)), None))
        names = [name for _at, name in sorted((at, name) for _keys, at, name in begun)]
        for analysis in self._analyzer.morphemes(names[:COMPLETIONS]) if names else ():
            yield from (form for form in analysis.forms if key_sequence(form).startswith(typed))

    def _with_names(self, text: str) -> str:
        """Put after words of first consonants the names that they stand for: 바삭골 for ㅂㅅㄱ."""
        return _INITIALS.sub(lambda match: " ".join((match[0], *self._named(match[0]))), text)

    def _named(self, consonants: str) -> list[str]:
        """Return words of titles, channels and glossaries with these first consonants, or that begin with them."""
        names = self._vocabulary.names
        exact = [name for name, letters in names.items() if letters == consonants]
        return (exact or [name for name, letters in names.items() if letters.startswith(consonants)])[:COMPLETIONS]

    def _unknown(
        self,
        text: str,
        by_form: Mapping[str, str],
        units: frozenset[str],
        unfinished: str,
        counts: TermSources,
    ) -> tuple[str, ...]:
        """Return the words that neither the vocabulary nor a name has; words without content are none of them."""
        forms: dict[str, list[str]] = {}
        for form, word in by_form.items():
            if form not in units:
                forms.setdefault(word, []).append(form)
        entered = [word for word in _RUN.findall(text) if key(word) in forms and key(word) != unfinished]
        unsaid = [
            word
            for word in dict.fromkeys(entered)
            if counts.keys().isdisjoint((key(word), *forms[key(word)])) and not WEIGHTLESS.issuperset(forms[key(word)])
        ]
        spans = [word.span() for word in _WORD.finditer(text)]
        if unsaid and (uploads := find_uploads(text, spans, date.today())):  # a date is no word of what is looked for
            dated = text[spans[uploads.first][0] : spans[uploads.last][1]]
            unsaid = [word for word in unsaid if word not in _RUN.findall(dated)]
        return tuple(word for word in unsaid if not self._is_named([key(word), *forms[key(word)]]))

    def _is_named(self, spellings: Iterable[str]) -> bool:
        """Return whether a name has one of these words, or the beginning of a longer one."""
        long = [spelling for spelling in spellings if len(spelling) > 1]
        return any(spelling in name for name in self._vocabulary.names for spelling in long)

    def _variants(
        self,
        typed: Sequence[str],
        query_words: Sequence[str],
        related: Mapping[str, Mapping[str, float]],
        misheard: Mapping[str, Sequence[str]],
        counts: TermSources,
    ) -> dict[str, float]:
        """Return variants of the typed forms with weights; a rare variant never outscores the typed form."""
        entered = dict.fromkeys((*typed, *query_words))
        heard = {form: dict.fromkeys(forms, MISHEARD_WEIGHT) for form, forms in misheard.items()}
        total = max(self._vocabulary.windows, *map(sum, counts.values()), 1)
        weights: dict[str, float] = {}
        shared = ((form, _shared(variants, counts)) for form, variants in related.items())
        for form, variants in chain(heard.items(), shared):
            frequency = inverse_document_frequency(sum(counts.get(form, (0, 0))), total)
            for variant in variants.keys() & counts.keys() - entered.keys():
                rarity = min(1.0, frequency / inverse_document_frequency(sum(counts[variant]), total))
                weights[variant] = max(weights.get(variant, 0.0), variants[variant] * rarity)
        return weights

    def _misheard(self, form: str, candidates: _Candidates, counts: TermSources) -> list[str]:
        """Return words that a recogniser may have heard in this one's place.

        Those of three letters and more are words of the library at a distance of one jamo: 청귤간장 misheard as
        청률간장. Those of two letters, which have many neighbours, sound the same: 꽃게 written as 꽃개. Where the
        library says neither, they sound alike: 꽁치 heard as 콩치.
        """
        same = candidates.homophones.get(form, ())
        heard = same if any(each in counts for each in (form, *same)) else candidates.near_sounds.get(form, ())
        return [each for each in (*heard, *candidates.nearest.get(form, ())) if each in counts]

    def _refresh(self) -> None:
        """Read the vocabulary after a change of the library, but not with every commit of a long job."""
        version = self._library.database.version()
        if version != self._version and time.monotonic() - self._read_at > VOCABULARY_SECONDS:
            self._vocabulary = _Vocabulary(self._library)
            self._version, self._read_at = version, time.monotonic()
