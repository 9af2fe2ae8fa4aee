"""Korean analysis: Kiwi's morphemes, character bigrams, and their BM25 weights.

The only module that imports kiwipiepy. Both fields share one sparse vector with disjoint term ids, because their sum
ranks better than a fusion of two lists. Cleaning keeps a text's length, so offsets are valid in the raw window.
"""

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

from subtitle_rag.base.domain.errors import BusyError
from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.base.platforms import lower_thread_priority
from subtitle_rag.base.vectors.points import SparseVector
from subtitle_rag.korean import numerals
from subtitle_rag.korean.hanja import hangul_of_hanja
from subtitle_rag.korean.letter_names import HAS_SIGN, PLAIN_RUN, RUN, written_names, written_word
from subtitle_rag.korean.negation import negations
from subtitle_rag.korean.opposites import are_opposite
from subtitle_rag.korean.readings import Reading, readings

if TYPE_CHECKING:
    from kiwipiepy import Kiwi, Token

_WORDS = ("NNG", "NNP", "NNB", "NR", "SL", "SN", "SH", "XR", "VV", "VA", "MAG")
TAGS = frozenset((*_WORDS, "W_URL", "W_EMAIL", "W_HASHTAG", "W_MENTION", "W_SERIAL"))
"""Parts of speech with content."""
_INFLECTED = frozenset(f"{tag}{conjugation}" for tag in ("VV", "VA") for conjugation in ("", "-R", "-I"))
_CONTENT = TAGS | _INFLECTED
"""In Kiwi's notation: verbs and adjectives with their conjugation, regular or irregular."""
_UNNAMING = frozenset(("MAG", "MAJ", "MM", "NP", "IC", "XR"))
"""Parts of speech that name nothing; roots of adjectives (화려하다) are not words."""
_VERBS = frozenset(("VV", "VA", "VX"))
MAX_NUMERALS = 12
"""Most morphemes of a number."""
NICENESS = 5
"""Niceness of threads that yield: a third of the others' share of a busy processor."""
MIN_RELATED = 2
"""Fewest letters of related words: one-letter words have many meanings."""
_NOUN = "NNG"
"""Only common nouns have related words: for names, verbs and adjectives they are often opposites."""
DENSITY = 10
"""Nearest words that measure how dense a word's neighbourhood is."""
RELATED = 0.08
"""Least corrected cosine of a related word."""
MUTUAL = 2
"""Rank within which a form must be among the nearest words of its related word."""


@dataclass(frozen=True, slots=True)
class Bm25Params:
    """Parameters of a document's weights.

    `bigrams` is the weight of a bigram relative to a morpheme, 0 for none. `context` is the weight of a term in the
    context relative to the text. `keywords` come from each neighbouring window; 10 or 20 rank no better.
    """

    k1: float = 0.8
    b: float = 0.75
    bigrams: float = 0.5
    context: float = 1.5
    keywords: int = 5


DEFAULT_PARAMS = Bm25Params()
SPANNING_WEIGHT = 0.4
"""Weight of a query's bigram across a space: speech recognition puts spaces anywhere."""
AVERAGE_MORPHEMES = 120.0
AVERAGE_BIGRAMS = 340.0
"""Fixed average lengths, so that new windows never change the weights of old ones."""

_NUMBERS = (
    DEFAULT_PARAMS.k1,
    DEFAULT_PARAMS.b,
    DEFAULT_PARAMS.bigrams,
    AVERAGE_MORPHEMES,
    AVERAGE_BIGRAMS,
    sorted(TAGS),
)
REVISION = 12
"""Increase it with every change of the analysis outside these numbers."""
ANALYZER = f"kiwi0.24-v{REVISION}-{crc32(repr(_NUMBERS).encode()):08x}"
"""Version of the `bm25` vectors; an index with another version must be rebuilt."""

_NOISE = re.compile(r"\[[^\[\]]{1,12}\]|>>|♪+|[\x1c-\x1f]")
"""Includes ASCII's separators: spaces to Python, but part of a hashtag to Kiwi."""
_DIGITS = {ord(first) + at: str(at + 1) for first in "\N{CIRCLED DIGIT ONE}❶\N{ROMAN NUMERAL ONE}ⅰ" for at in range(9)}
_NO_MEMORY = re.compile(
    "failed to map segment|cannot allocate|bad.?alloc|resource temporarily unavailable", re.IGNORECASE
)
"""Messages of the dynamic loader, C++ and threads when memory is short."""


class TaggedWord(NamedTuple):
    """A morpheme with its part of speech and its place in the text."""

    form: str
    tag: str
    start: int
    end: int
    unknown: bool
    """Whether the dictionary lacks the word."""


class QueryMorphemes(Protocol):
    """Analysis of queries, by `Analyzer` or the index host's client."""

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]: ...


class SentenceAnalyzer(QueryMorphemes, Protocol):
    """Analysis with parts of speech, by `Analyzer` or the index host's client."""

    def tagged(self, texts: Sequence[str]) -> list[list[TaggedWord]]:
        """Return all morphemes of each text."""


class TextMorphemes(QueryMorphemes, Protocol):
    """Analysis for indexing, by `Analyzer` or the index host's client."""

    def load_soon(self) -> None:
        """Start to load in the background, once."""


class Analyzer:
    """Kiwi, loaded at first use (0.7 s, 270 MB) and safe to share between threads.

    Leaves out Kiwi's extra dictionaries: they rank no better and double that time.
    """

    def __init__(self, *, yields: bool = False) -> None:
        """With `yields` Kiwi's threads give way to the producer and consumer of its texts: indexing is 5 % faster."""
        self._yields = yields
        self._kiwi: Kiwi | None = None
        self._loading = threading.Lock()

    def load(self) -> "Kiwi":
        """Return Kiwi.

        Raises:
            BusyError: `system_limit`, without the memory for it.
        """
        with self._loading:
            if self._kiwi is None:
                self._kiwi = _new_kiwi_that_yields() if self._yields else _new_kiwi()
            return self._kiwi

    def load_soon(self) -> None:
        if self._kiwi is None and not self._loading.locked():
            threading.Thread(target=self.load, name="kiwi").start()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the content morphemes of each text; one call with many texts uses all workers."""
        kiwi = self.load()
        plain_texts = [blank_unspoken(text) for text in texts]
        for text, tokens in zip(plain_texts, kiwi.tokenize(plain_texts), strict=True):  # a list keeps all workers busy
            content = _with_readings(text, tokens)
            forms, starts, ends = zip(*content, strict=True) if content else ((), (), ())
            yield Morphemes(forms, starts, ends)

    def tagged(self, texts: Sequence[str]) -> list[list[TaggedWord]]:
        """Return all morphemes of each text."""
        tokenized = self.load().tokenize([blank_unspoken(text) for text in texts])
        return [
            [TaggedWord(each.form, each.tag, each.start, each.end, each.oov) for each in tokens] for tokens in tokenized
        ]

    def related(self, forms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return for each form the related words of Kiwi's language model, nearest first.

        Takes some milliseconds per word. The cosine is corrected by the density of both neighbourhoods (CSLS: Conneau
        et al. 2018, arXiv 1710.04087), as rare words are close to everything.
        """
        kiwi = self.load()
        return {form: _relatives(kiwi, form) for form in dict.fromkeys(forms)}

    def nearness(self, forms: Sequence[str]) -> dict[str, float]:
        """Return for each form the cosine of its nearest word in Kiwi's language model; 0 for an unknown form.

        Not corrected as in `related`: rare words are close to some others, whichever they are.
        """
        kiwi = self.load()
        return {
            form: max((cosine for word, cosine in _near_words(kiwi, form) if key(word) != form), default=0.0)
            for form in dict.fromkeys(forms)
        }

    def adverbs(self, forms: Sequence[str]) -> set[str]:
        """Return the forms that alone are adverbs, determiners, pronouns, interjections, roots, verbs or adjectives.

        The verbs 가져가 and 생각나 look like nouns in a text.
        """
        tokenized = self.load().tokenize(list(forms))
        return {
            form
            for form, tokens in zip(forms, tokenized, strict=True)
            if (len(tokens) == 1 and tokens[0].tag in _UNNAMING) or _is_verb([token.tag for token in tokens])
        }


def _is_verb(tags: Sequence[str]) -> bool:
    """Return whether the tags form one verb or adjective, with or without endings."""
    return bool(tags) and tags[0][:2] in _VERBS and all(tag.startswith("E") for tag in tags[1:])


def _new_kiwi() -> "Kiwi":
    try:
        from kiwipiepy import Kiwi

        return Kiwi(num_workers=2, load_default_dict=False, load_multi_dict=False)
    except (ImportError, MemoryError, RuntimeError, OSError) as error:
        if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
            raise BusyError("system_limit", path="Kiwi", reason=str(error)[:300] or "Cannot allocate memory") from error
        raise


def _new_kiwi_that_yields() -> "Kiwi":
    """Load Kiwi with low-priority threads, on Linux: threads inherit their starter's priority."""

    def load() -> "Kiwi":
        lower_thread_priority(NICENESS)
        kiwi = _new_kiwi()
        list(kiwi.tokenize([""]))  # the first texts start its threads
        return kiwi

    with ThreadPoolExecutor(1, "kiwi") as executor:
        return executor.submit(load).result()


def _with_readings(text: str, tokens: "Sequence[Token]") -> list[tuple[str, int, int]]:
    """Return form, start and end of each morpheme with content and each reading, in order."""
    read = [*readings(text, tokens), *written_names(text, tokens)]
    content = list(_content(text, tokens, [each for each in read if each.replaced]))
    beside = {(form, start, end) for form, start, end, _replaced in read}
    beside |= {(key(form), tokens[at].start, _end(tokens, last)) for form, at, last in negations(tokens)}
    if not beside:
        return content
    content += beside.difference(content)
    return sorted(content, key=lambda each: (each[1], -each[2]))


def _content(text: str, tokens: "Sequence[Token]", replacing: Sequence[Reading]) -> Iterator[tuple[str, int, int]]:
    """Yield form, start and end of each morpheme with content; the numerals of a number are one.

    A number below 100 also comes with its counter. Morphemes replaced by a reading are left out.
    """

    covered = {offset for reading in replacing for offset in range(reading.start, reading.end + 1)}

    def is_replaced(token: "Token") -> bool:
        return any(r.start <= token.start and token.end <= r.end and token.tag in r.replaced for r in replacing)

    at = number_end = 0
    while at < len(tokens):
        token = tokens[at]
        tag = token.tag
        if covered and token.start in covered and is_replaced(token):
            at += 1
            continue
        if tag in numerals.TAGS and (joined := _number(tokens, at)):
            digits, after = joined
            end = tokens[after - 1].end
            if end - token.start == 1 and tag == "NR" and not numerals.is_counted(text, end):
                yield key(token.form), token.start, end  # 백, 만 and 열 are other words, too
            else:
                yield from numerals.counted(digits, text, token.start, end)
                yield digits, token.start, end
            at = number_end = after
            continue
        if tag in _CONTENT:
            form = key(token.form)
            if form in numerals.NAMED:
                yield numerals.NAMED[form], token.start, token.end
            if at == number_end > 0 and token.start - tokens[at - 1].end <= 1:
                form = numerals.unit(token.form) or form
            if tag == "SH" and (read := hangul_of_hanja(token.form)):
                yield read, token.start, token.end
            yield form, token.start, _end(tokens, at) if tag in _INFLECTED else token.end
        at += 1


def _number(tokens: "Sequence[Token]", first: int) -> tuple[str, int] | None:
    """Return the longest number that begins at a numeral, and the index of the token after it; None for no number."""
    texts, gaps = [key(tokens[first].form)], list[int]()
    for previous, token in pairwise(islice(tokens, first, first + MAX_NUMERALS)):
        gap = token.start - previous.end
        text = key(token.form)
        if token.tag not in numerals.TAGS or not numerals.joins(texts[-1], text, gap):
            break
        texts.append(text)
        gaps.append(gap)
    for count in range(len(texts), 0, -1):
        is_inside = count < len(texts) and not gaps[count - 1]
        if not is_inside and (digits := numerals.number("".join(texts[:count]))):
            return digits, first + count
    return None


def _near_words(kiwi: "Kiwi", form: str) -> Iterator[tuple[str, float]]:
    """Yield the words with content near a form, for each of its parts of speech, with cosines."""
    nouns = [near for tag in ("NNG", "NNP") if (near := _most_similar(kiwi, form, tag))]
    # longer nouns are only stems of dialect verbs: 소스 of 솟다, 두릅 of 두렵다
    verbs = [] if nouns and len(form) > 1 else [_most_similar(kiwi, form, tag) for tag in ("VV", "VA")]
    return ((word, cosine) for near in (*nouns, *verbs) for word, tag, cosine in near if tag in _CONTENT)


@lru_cache(maxsize=4096)
def _relatives(kiwi: "Kiwi", form: str) -> tuple[str, ...]:
    """Return words that may replace a common noun.

    Each must be among the other's nearest words. Nearness alone also finds words of one kind (서울 and 부산) and
    opposites.
    """
    near = _most_similar(kiwi, form, _NOUN) if len(form) >= MIN_RELATED else ()
    density, related = _density(near), list[str]()
    for word, tag, cosine in near:
        if tag == _NOUN and len(word) >= MIN_RELATED and not are_opposite(form, word):
            back = _most_similar(kiwi, word, tag)
            is_mutual = any(each[0] == form for each in back[:MUTUAL])
            if is_mutual and 2 * cosine - density - _density(back) >= RELATED:
                related.append(key(word))
    return tuple(related)


@lru_cache(maxsize=65536)
def _most_similar(kiwi: "Kiwi", form: str, tag: str) -> tuple[tuple[str, str, float], ...]:
    """Return form, tag and cosine of a morpheme's nearest ones; empty for an unknown morpheme."""
    try:
        return tuple((near.form, near.tag, near.score) for near in kiwi.most_similar_morphemes((form, tag), DENSITY))
    except (ValueError, KeyError):
        return ()


def _density(near: Sequence[tuple[str, str, float]]) -> float:
    return sum(score for _form, _tag, score in near) / len(near) if near else 1.0


def _end(tokens: "Sequence[Token]", at: int) -> int:
    """Return the end of a verb or adjective with its endings (먹 + 었 + 어요)."""
    end: int = tokens[at].end
    for ending in map(tokens.__getitem__, range(at + 1, len(tokens))):
        if not ending.tag.startswith("E") or ending.start > end:
            break
        end = max(end, ending.end)
    return end


def blank_unspoken(text: str) -> str:
    """Blank out sound tags, speaker marks and ASCII separators, and turn circled and Roman numbers into digits.

    Every character keeps its offset.
    """
    return _NOISE.sub(lambda match: " " * len(match[0]), text).translate(_DIGITS)


_LONE_LETTER = re.compile("[\u1100-\u11ff]")
_AS_TYPED = str.maketrans({unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0x3131, 0x3164)})
"""Hangul letters outside syllables: NFKC form → form typed on keyboards, such as ㅋㅋ."""


def folded(text: str) -> str:
    """Return a text with its words in their indexed form."""
    normal = unicodedata.normalize("NFKC", text).lower()
    return normal.translate(_AS_TYPED) if _LONE_LETTER.search(normal) else normal


def squeezed(text: str) -> str:
    """Return a text without spaces, in its indexed form."""
    return folded("".join(text.replace(" ", "").split()))  # most texts have nothing left to split


key = lru_cache(maxsize=65536)(folded)
"""Return the indexed form of a word; whole texts would fill its cache."""


def words(text: str) -> list[str]:
    """Return a text's runs of letters and digits, in their indexed form."""
    speech = folded(blank_unspoken(text))
    return list(map(written_word, RUN.findall(speech))) if HAS_SIGN.search(speech) else PLAIN_RUN.findall(speech)


def document_bigrams(text: str) -> Counter[str]:
    """Count the character bigrams of the spaceless text; a one-letter word is also a gram."""
    runs = words(text)
    joined = "".join(runs)
    grams = Counter(map(str.__add__, joined, joined[1:]))
    grams.update(word for word in runs if len(word) == 1)
    return grams


def query_bigrams(text: str) -> Iterator[tuple[str, float]]:
    """Yield a query's grams with weights; grams across a space weigh less."""
    previous = ""
    for word in words(text):
        if previous:
            yield previous + word[0], SPANNING_WEIGHT
        if len(word) == 1:
            yield word, 1.0
        for first, second in pairwise(word):
            yield first + second, 1.0
        previous = word[-1]


_FIELD_SUMS = {field: crc32(f"{field}\x1f".encode()) for field in "mb"}


def term_id(field: str, term: str) -> int:
    """Return the stable 32-bit id of a term in field `m` (morphemes) or `b` (bigrams)."""
    return crc32(term.encode(), _FIELD_SUMS[field])


def document_vector(
    forms: Iterable[str],
    text: str,
    params: Bm25Params = DEFAULT_PARAMS,
    *,
    context_forms: Iterable[str] = (),
    context: str = "",
) -> SparseVector:
    """Return a document's BM25 weights by term frequency; the index multiplies by inverse document frequency.

    Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", equation 3.15, and section 3.6
    (BM25F) for the context as a weighted field.

    Args:
        forms: The morphemes of the text.
        text: The text, for its bigrams.
        params: The weights of fields.
        context_forms: The morphemes of the context.
        context: The context, for its bigrams.

    Returns:
        The vector of both fields.
    """
    weights: dict[int, float] = {}
    morphemes = _weighted(Counter(forms), Counter(context_forms), params.context)
    _add_field(weights, "m", morphemes, AVERAGE_MORPHEMES, 1.0, params)
    if params.bigrams:
        bigrams = _weighted(document_bigrams(text), document_bigrams(context), params.context)
        _add_field(weights, "b", bigrams, AVERAGE_BIGRAMS, params.bigrams, params)
    return sparse(weights)


def _weighted(counts: Counter[str], context: Counter[str], weight: float) -> Mapping[str, float]:
    """Return the counts of a text's terms plus the weighted counts of its context."""
    if not context:
        return counts
    return {term: counts[term] + weight * context[term] for term in counts | context}


def _add_field(
    weights: dict[int, float],
    field: str,
    counts: Mapping[str, float],
    average: float,
    field_weight: float,
    params: Bm25Params,
) -> None:
    """Add the weights of one field's terms.

    Args:
        weights: Term id → weight, changed in place.
        field: `m` or `b`.
        counts: Term → frequency.
        average: The average length of the field.
        field_weight: The weight of the field.
        params: The parameters of BM25.
    """
    norm = params.k1 * (1 - params.b + params.b * sum(counts.values()) / average)
    by_frequency = {tf: field_weight * tf * (params.k1 + 1) / (tf + norm) for tf in set(counts.values())}
    field_sum = _FIELD_SUMS[field]
    for term, tf in counts.items():  # four hundred per window: no calls of our own in the loop
        id = crc32(term.encode(), field_sum)
        weights[id] = weights.get(id, 0.0) + by_frequency[tf]


def sparse(weights: Mapping[int, float]) -> SparseVector:
    """Return the vector of these weights, with ascending ids."""
    ids = sorted(weights)
    return SparseVector(tuple(ids), tuple(map(weights.__getitem__, ids)))
