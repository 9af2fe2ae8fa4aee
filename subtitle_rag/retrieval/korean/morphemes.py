"""Korean analysis: Kiwi's morphemes, character bigrams, and their BM25 weights.

The only module that imports kiwipiepy. Both fields share one sparse vector (their term ids are disjoint), because
their sum ranks better than a fusion of two lists. Text is cleaned before analysis with its length kept, so that every
offset is valid in the raw window.
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

from subtitle_rag.domain.errors import BusyError
from subtitle_rag.domain.values import Morphemes
from subtitle_rag.platforms import lower_thread_priority
from subtitle_rag.retrieval.korean import numerals
from subtitle_rag.retrieval.korean.hanja import hangul_of_hanja
from subtitle_rag.retrieval.korean.letter_names import HAS_SIGN, PLAIN_RUN, RUN, written_names, written_word
from subtitle_rag.retrieval.korean.negation import negations
from subtitle_rag.retrieval.korean.opposites import are_opposite
from subtitle_rag.retrieval.korean.readings import Reading, readings
from subtitle_rag.retrieval.values import SparseVector

if TYPE_CHECKING:
    from kiwipiepy import Kiwi, Token

_WORDS = ("NNG", "NNP", "NNB", "NR", "SL", "SN", "SH", "XR", "VV", "VA", "MAG")
TAGS = frozenset((*_WORDS, "W_URL", "W_EMAIL", "W_HASHTAG", "W_MENTION", "W_SERIAL"))
"""Parts of speech with content."""
_INFLECTED = frozenset(f"{tag}{conjugation}" for tag in ("VV", "VA") for conjugation in ("", "-R", "-I"))
_CONTENT = TAGS | _INFLECTED
"""As Kiwi writes them: verbs and adjectives with their conjugation, regular or irregular."""
_UNNAMING = frozenset(("MAG", "MAJ", "MM", "NP", "IC", "XR"))
"""Parts of speech that name nothing, and are in a text as they are; roots of adjectives (화려하다) are no words."""
_VERBS = frozenset(("VV", "VA", "VX"))
MAX_NUMERALS = 12
"""Morphemes of the longest number."""
NICENESS = 5
"""Niceness of threads that yield: a third of another's share of a busy processor."""
MIN_RELATED = 2
"""Fewest letters of related words: those of one letter have many meanings each."""
_NOUN = "NNG"
"""Only common nouns have related words: those of names, verbs and adjectives are as often their opposites."""
DENSITY = 10
"""Nearest words that tell how dense a word's neighbourhood is."""
RELATED = 0.08
"""Corrected cosine of a related word, at least."""
MUTUAL = 2
"""Nearest words of a related one among which the form must be."""


@dataclass(frozen=True, slots=True)
class Bm25Params:
    """Parameters of a document's weights.

    `bigrams` is the weight of a bigram beside a morpheme, 0 for none. `context` is how often a term of the context
    counts, beside one of the text. `keywords` come from each neighbouring window; 10 or 20 rank no better.
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
"""Fixed average lengths: a window's weights never change because other windows arrived."""

_NUMBERS = (
    DEFAULT_PARAMS.k1,
    DEFAULT_PARAMS.b,
    DEFAULT_PARAMS.bigrams,
    AVERAGE_MORPHEMES,
    AVERAGE_BIGRAMS,
    sorted(TAGS),
)
REVISION = 12
"""Raise it with every change of the analysis outside these numbers."""
ANALYZER = f"kiwi0.24-v{REVISION}-{crc32(repr(_NUMBERS).encode()):08x}"
"""Version of the `bm25` vectors; an index of another version must be rebuilt."""

_NOISE = re.compile(r"\[[^\[\]]{1,12}\]|>>|♪+|[\x1c-\x1f]")
"""ASCII's separators are among it: they are spaces to Python, but part of a hashtag to Kiwi."""
_DIGITS = {ord(first) + at: str(at + 1) for first in "\N{CIRCLED DIGIT ONE}❶\N{ROMAN NUMERAL ONE}ⅰ" for at in range(9)}
_NO_MEMORY = re.compile(
    "failed to map segment|cannot allocate|bad.?alloc|resource temporarily unavailable", re.IGNORECASE
)
"""Words of the dynamic loader, C++ and threads for want of memory."""


class TaggedWord(NamedTuple):
    """A morpheme with its part of speech, and its place in the text."""

    form: str
    tag: str
    start: int
    end: int
    unknown: bool
    """Whether the dictionary has no such word."""


class QueryMorphemes(Protocol):
    """Analysis for queries, implemented by `Analyzer` and the client of the index host."""

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]: ...


class SentenceAnalyzer(QueryMorphemes, Protocol):
    """Analysis with parts of speech, implemented by `Analyzer` and the client of the index host."""

    def tagged(self, texts: Sequence[str]) -> list[list[TaggedWord]]:
        """Return all morphemes of each text."""


class TextMorphemes(QueryMorphemes, Protocol):
    """Analysis for indexing, implemented by `Analyzer` and the client of the index host."""

    def load_soon(self) -> None:
        """Begin to load in the background, once."""


class Analyzer:
    """Kiwi, loaded at first use (0.7 s, 270 MB) and safe to share between threads.

    Kiwi's extra dictionaries stay out: they rank no better and double that time.
    """

    def __init__(self, *, yields: bool = False) -> None:
        """With `yields` Kiwi's threads give way to those that make its texts and take its results.

        It reads 32 texts ahead of its consumer and idles when that waits for a processor: indexing is 5 % faster.
        """
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
        """Return for each form the words that Kiwi's language model relates to it, the nearest first.

        Each word costs some milliseconds. The cosine is corrected by how dense the neighbourhoods of both words are
        (CSLS: Conneau et al. 2018, arXiv 1710.04087): rare words lie close to everything.
        """
        kiwi = self.load()
        return {form: _relatives(kiwi, form) for form in dict.fromkeys(forms)}

    def nearness(self, forms: Sequence[str]) -> dict[str, float]:
        """Return for each form the cosine of the word nearest to it in Kiwi's language model; 0 for an unknown form.

        It is not corrected as in `related`: words met rarely lie very near to others, whichever those are.
        """
        kiwi = self.load()
        return {
            form: max((cosine for other, cosine in _near_words(kiwi, form) if key(other) != form), default=0.0)
            for form in dict.fromkeys(forms)
        }

    def adverbs(self, forms: Sequence[str]) -> set[str]:
        """Return those of these forms that are by themselves adverbs, determiners, pronouns, interjections or roots.

        So are verbs and adjectives: 가져가 and 생각나 are in a text as nouns do.
        """
        tokenized = self.load().tokenize(list(forms))
        return {
            form
            for form, tokens in zip(forms, tokenized, strict=True)
            if (len(tokens) == 1 and tokens[0].tag in _UNNAMING) or _is_verb([token.tag for token in tokens])
        }


def _is_verb(tags: Sequence[str]) -> bool:
    """Return whether the tags are those of one verb or adjective, with endings or without."""
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
    """Load Kiwi with threads of a lower priority, where threads have one (Linux): they inherit their starter's."""

    def load() -> "Kiwi":
        lower_thread_priority(NICENESS)
        kiwi = _new_kiwi()
        list(kiwi.tokenize([""]))  # the first texts start its threads
        return kiwi

    with ThreadPoolExecutor(1, "kiwi") as executor:
        return executor.submit(load).result()


def _with_readings(text: str, tokens: "Sequence[Token]") -> list[tuple[str, int, int]]:
    """Return form, start and end of each morpheme with content and of each reading, by their places."""
    read = [*readings(text, tokens), *written_names(text, tokens)]
    content = list(_content(text, tokens, [each for each in read if each.replaced]))
    beside = {(form, start, end) for form, start, end, _replaced in read}
    beside |= {(key(form), tokens[at].start, _end(tokens, last)) for form, at, last in negations(tokens)}
    if not beside:
        return content
    content += beside.difference(content)
    return sorted(content, key=lambda each: (each[1], -each[2]))


def _content(text: str, tokens: "Sequence[Token]", replacing: Sequence[Reading]) -> Iterator[tuple[str, int, int]]:
    """Yield form, start and end of each morpheme with content; numerals that make a number are one.

    A number below 100 comes with what it counts, too. Morphemes that a reading replaces are left out.
    """

    def is_replaced(token: "Token") -> bool:
        return any(r.start <= token.start and token.end <= r.end and token.tag in r.replaced for r in replacing)

    at = number_end = 0
    while at < len(tokens):
        token = tokens[at]
        tag = token.tag
        if replacing and is_replaced(token):
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
    """Return the longest number that begins with a numeral, and the token after it; None if it is none."""
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
    """Yield the words of content near to a form, for each of its parts of speech, with their cosines."""
    nouns = [near for tag in ("NNG", "NNP") if (near := _most_similar(kiwi, form, tag))]
    # longer nouns are stems of dialect verbs alone: 소스 of 솟다, 두릅 of 두렵다
    verbs = [] if nouns and len(form) > 1 else [_most_similar(kiwi, form, tag) for tag in ("VV", "VA")]
    return ((other, cosine) for near in (*nouns, *verbs) for other, tag, cosine in near if tag in _CONTENT)


@lru_cache(maxsize=4096)
def _relatives(kiwi: "Kiwi", form: str) -> tuple[str, ...]:
    """Return the words that may stand for a common noun.

    Each is as near to the other as hardly any third word. Nearness alone also has what stands in the same places: names
    of one kind (서울 and 부산) and opposites.
    """
    near = _most_similar(kiwi, form, _NOUN) if len(form) >= MIN_RELATED else ()
    density, related = _density(near), list[str]()
    for other, tag, cosine in near:
        if tag == _NOUN and len(other) >= MIN_RELATED and not are_opposite(form, other):
            back = _most_similar(kiwi, other, tag)
            is_mutual = any(each[0] == form for each in back[:MUTUAL])
            if is_mutual and 2 * cosine - density - _density(back) >= RELATED:
                related.append(key(other))
    return tuple(related)


@lru_cache(maxsize=65536)
def _most_similar(kiwi: "Kiwi", form: str, tag: str) -> tuple[tuple[str, str, float], ...]:
    """Return form, tag and cosine of a morpheme's nearest ones; none if Kiwi's dictionary has no such morpheme."""
    try:
        return tuple((near.form, near.tag, near.score) for near in kiwi.most_similar_morphemes((form, tag), DENSITY))
    except (ValueError, KeyError):
        return ()


def _density(near: Sequence[tuple[str, str, float]]) -> float:
    return sum(score for _form, _tag, score in near) / len(near) if near else 1.0


def _end(tokens: "Sequence[Token]", at: int) -> int:
    """Return the end of a verb's or adjective's span, which includes its endings (먹 + 었 + 어요)."""
    end: int = tokens[at].end
    for ending in map(tokens.__getitem__, range(at + 1, len(tokens))):
        if not ending.tag.startswith("E") or ending.start > end:
            break
        end = max(end, ending.end)
    return end


def blank_unspoken(text: str) -> str:
    """Blank out sound tags, speaker marks and ASCII separators, and make digits of numbers in circles and Roman ones;
    every character keeps its offset."""
    return _NOISE.sub(lambda match: " " * len(match[0]), text).translate(_DIGITS)


_LONE_LETTER = re.compile("[\u1100-\u11ff]")
_AS_TYPED = str.maketrans({unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0x3131, 0x3164)})
"""Letters of Hangul outside a syllable as NFKC leaves them → as keyboards write them: ㅋㅋ."""


def folded(text: str) -> str:
    """Return a text with its words in their indexed form."""
    normal = unicodedata.normalize("NFKC", text).lower()
    return normal.translate(_AS_TYPED) if _LONE_LETTER.search(normal) else normal


def squeezed(text: str) -> str:
    """Return a text without spaces, in its indexed form."""
    return folded("".join(text.replace(" ", "").split()))  # nothing is left to split in most texts


key = lru_cache(maxsize=65536)(folded)
"""Returns the indexed form of a word; whole texts would fill its cache."""


def words(text: str) -> list[str]:
    """Return a text's runs of letters and digits, in their indexed form."""
    spoken = folded(blank_unspoken(text))
    return list(map(written_word, RUN.findall(spoken))) if HAS_SIGN.search(spoken) else PLAIN_RUN.findall(spoken)


def document_bigrams(text: str) -> Counter[str]:
    """Count the character bigrams of the spaceless text; a one-letter word is also a gram."""
    runs = words(text)
    joined = "".join(runs)
    grams = Counter(map(str.__add__, joined, joined[1:]))
    grams.update(word for word in runs if len(word) == 1)
    return grams


def query_bigrams(text: str) -> Iterator[tuple[str, float]]:
    """Yield a query's grams and weights; grams across a space count less."""
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
    """Return the stable 32-bit id of a term of the field `m` (morphemes) or `b` (bigrams)."""
    return crc32(term.encode(), _FIELD_SUMS[field])


def document_vector(
    forms: Iterable[str],
    text: str,
    params: Bm25Params = DEFAULT_PARAMS,
    *,
    context_forms: Iterable[str] = (),
    context: str = "",
) -> SparseVector:
    """Return a document's BM25 weights (term-frequency part); the index multiplies by the inverse document frequency.

    Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", equation 3.15, and section 3.6
    (BM25F) for the context as a field with a weight of its own.
    """
    weights: dict[int, float] = {}
    morphemes = _weighted(Counter(forms), Counter(context_forms), params.context)
    _add_field(weights, "m", morphemes, AVERAGE_MORPHEMES, 1.0, params)
    if params.bigrams:
        bigrams = _weighted(document_bigrams(text), document_bigrams(context), params.context)
        _add_field(weights, "b", bigrams, AVERAGE_BIGRAMS, params.bigrams, params)
    return sparse(weights)


def _weighted(counts: Counter[str], context: Counter[str], weight: float) -> Mapping[str, float]:
    """Return the counts of a text's terms with those of its context."""
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
    norm = params.k1 * (1 - params.b + params.b * sum(counts.values()) / average)
    by_frequency = {tf: field_weight * tf * (params.k1 + 1) / (tf + norm) for tf in set(counts.values())}
    field_sum = _FIELD_SUMS[field]
    for term, tf in counts.items():  # four hundred of a window: no calls of ours in the loop
        id = crc32(term.encode(), field_sum)
        weights[id] = weights.get(id, 0.0) + by_frequency[tf]


def sparse(weights: Mapping[int, float]) -> SparseVector:
    """Return the vector of these weights, ids ascending."""
    ids = sorted(weights)
    return SparseVector(tuple(ids), tuple(map(weights.__getitem__, ids)))
