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
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from subtitle_rag.domain import Morphemes
from subtitle_rag.retrieval.index import SparseVector

if TYPE_CHECKING:
    from kiwipiepy import Kiwi, Token

_WORDS = ("NNG", "NNP", "NNB", "NR", "SL", "SN", "SH", "XR", "VV", "VA", "MAG")
TAGS = frozenset((*_WORDS, "W_URL", "W_EMAIL", "W_HASHTAG", "W_MENTION", "W_SERIAL"))
"""Parts of speech with content; a tag counts up to its `-` (`VV-I`)."""


@dataclass(frozen=True, slots=True)
class Bm25:
    """Parameters of a document's weights; `bigrams` is the weight of a bigram beside a morpheme, 0 for none."""

    k1: float = 0.8
    b: float = 0.75
    bigrams: float = 0.5


SHIPPED = Bm25()
SPANNING_WEIGHT = 0.4
"""Weight of a query's bigram across a space: speech recognition puts spaces anywhere."""
AVERAGE_MORPHEMES = 120.0
AVERAGE_BIGRAMS = 340.0
"""Fixed average lengths: a window's weights never change because other windows arrived."""

_NUMBERS = (SHIPPED.k1, SHIPPED.b, SHIPPED.bigrams, AVERAGE_MORPHEMES, AVERAGE_BIGRAMS, sorted(TAGS))
ANALYZER = f"kiwi0.24-v3-{crc32(repr(_NUMBERS).encode()):08x}"
"""Version of the `bm25` vectors; an index of another version must be rebuilt. Raise it with every change of the
analysis outside these numbers."""

_NOISE = re.compile(r"\[[^\[\]]{1,12}\]|>>|♪+")
_LETTERS = re.compile(r"[^\W_]+")


class QueryMorphemes(Protocol):
    """Analysis for queries, implemented by `Analyzer` and the client of the index host."""

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]: ...

    def related(self, forms: Sequence[str], *, limit: int = 8) -> dict[str, dict[str, float]]: ...


class TextMorphemes(Protocol):
    """Analysis for indexing, implemented by `Analyzer` and the client of the index host."""

    def load_soon(self) -> None:
        """Begin to load in the background, once."""

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]: ...


class Analyzer:
    """Kiwi, loaded at first use (0.7 s, 270 MB) and safe to share between threads.

    Kiwi's extra dictionaries stay out: they rank no better and double that time.
    """

    def __init__(self) -> None:
        self._kiwi: Kiwi | None = None
        self._loading = threading.Lock()

    def load(self) -> "Kiwi":
        with self._loading:
            if self._kiwi is None:
                from kiwipiepy import Kiwi

                self._kiwi = Kiwi(num_workers=2, load_default_dict=False, load_multi_dict=False)
            return self._kiwi

    def load_soon(self) -> None:
        """Begin to load in the background, once."""
        if self._kiwi is None and not self._loading.locked():
            threading.Thread(target=self.load, name="kiwi").start()

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        """Yield the content morphemes of each text; one call with many texts uses all workers."""
        kiwi = self.load()
        for tokens in kiwi.tokenize([clean(text) for text in texts]):  # a list keeps all workers busy
            content = [
                (key(token.form), token.start, _end(tokens, at))
                for at, token in enumerate(tokens)
                if token.tag.partition("-")[0] in TAGS
            ]
            forms, starts, ends = zip(*content, strict=True) if content else ((), (), ())
            yield Morphemes(forms, starts, ends)

    def related(self, forms: Sequence[str], *, limit: int = 8) -> dict[str, dict[str, float]]:
        """Return for each form the related words of Kiwi's language model, with similarities (0–1)."""
        kiwi = self.load()
        return {form: _neighbours(kiwi, form, limit) for form in dict.fromkeys(forms)}


@lru_cache(maxsize=4096)
def _neighbours(kiwi: "Kiwi", form: str, limit: int) -> dict[str, float]:
    similarities: dict[str, float] = {}
    for tag in ("NNG", "NNP", "VV", "VA"):
        try:
            neighbours = kiwi.most_similar_morphemes((form, tag), limit)
        except (ValueError, KeyError):  # not a morpheme of this tag in Kiwi's dictionary
            continue
        for neighbour in neighbours:
            if neighbour.tag.partition("-")[0] in TAGS:
                related = key(neighbour.form)
                similarities[related] = max(similarities.get(related, 0.0), neighbour.score)
    similarities.pop(form, None)
    return dict(sorted(similarities.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])


def _end(tokens: "Sequence[Token]", at: int) -> int:
    """Return the end of a token's span; a verb's or adjective's includes its endings (먹 + 었 + 어요)."""
    end: int = tokens[at].end
    if tokens[at].tag.startswith(("VV", "VA")):
        for ending in tokens[at + 1 :]:
            if not ending.tag.startswith("E") or ending.start > end:
                break
            end = max(end, ending.end)
    return end


def clean(text: str) -> str:
    """Blank out sound tags and speaker marks; every other character keeps its offset."""
    return _NOISE.sub(lambda match: " " * len(match[0]), text)


@lru_cache(maxsize=65536)
def key(form: str) -> str:
    """Return the indexed form of a word."""
    return unicodedata.normalize("NFKC", form).lower()


def words(text: str) -> list[str]:
    """Return a text's runs of letters and digits, in their indexed form."""
    return _LETTERS.findall(unicodedata.normalize("NFKC", clean(text)).lower())


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


@lru_cache(maxsize=262144)
def term_id(field: str, term: str) -> int:
    """Return the stable 32-bit id of a term of the field `m` (morphemes) or `b` (bigrams)."""
    return crc32(f"{field}\x1f{term}".encode())


def document_vector(forms: Iterable[str], text: str, numbers: Bm25 = SHIPPED) -> SparseVector:
    """Return a document's BM25 weights (term-frequency part); the index multiplies by the inverse document frequency.

    Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", equation 3.15.
    """
    weights: dict[int, float] = {}
    _add_field(weights, "m", Counter(forms), AVERAGE_MORPHEMES, 1.0, numbers)
    if numbers.bigrams:
        _add_field(weights, "b", document_bigrams(text), AVERAGE_BIGRAMS, numbers.bigrams, numbers)
    return sparse(weights)


def _add_field(
    weights: dict[int, float], field: str, counts: Counter[str], average: float, field_weight: float, numbers: Bm25
) -> None:
    norm = numbers.k1 * (1 - numbers.b + numbers.b * counts.total() / average)
    by_frequency = {tf: field_weight * tf * (numbers.k1 + 1) / (tf + norm) for tf in set(counts.values())}
    for term, tf in counts.items():
        id = term_id(field, term)
        weights[id] = weights.get(id, 0.0) + by_frequency[tf]


def sparse(weights: Mapping[int, float]) -> SparseVector:
    """Return the vector of these weights, ids ascending."""
    ids = sorted(weights)
    return SparseVector(tuple(ids), tuple(map(weights.__getitem__, ids)))
