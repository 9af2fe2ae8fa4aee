"""The usual baselines: BM25 over words, and over pairs of letters, on the same windows.

Both by `bm25s` (Lù 2024, "BM25S: Orders of magnitude faster lexical search via eager sparse scoring",
arXiv:2407.03618) in Lucene's variant with Lucene's default parameters, over the windows' text alone.
"""

from collections.abc import Callable, Sequence
from unicodedata import normalize

from subtitle_rag.retrieval.korean.morphemes import blank_unspoken, words as letter_runs

K1 = 1.2
B = 0.75
SETTING = f"lucene k1={K1} b={B}"


def words(text: str) -> list[str]:
    """Return the words between spaces, without the marks around them."""
    bare = (word.strip(_MARKS) for word in normalize("NFKC", blank_unspoken(text)).lower().split())
    return [word for word in bare if word]


def letter_pairs(text: str) -> list[str]:
    """Return the pairs of neighbouring letters of each word; a word of one letter is its own pair."""
    return [pair for word in letter_runs(text) for pair in map(str.__add__, word, word[1:] or [""])]


_MARKS = ".,?!…~·:;'\"“”‘’()[]{}<>《》〈〉「」『』-"

Terms = Callable[[str], list[str]]
"""Cuts a text into terms."""
BASELINES: dict[str, Terms] = {"whitespace": words, "bigrams": letter_pairs}


def rankings(
    terms_of: Terms, windows: Sequence[tuple[str, str]], queries: Sequence[str], *, depth: int
) -> list[list[str]]:
    """Return for each query the ids of the best windows ((id, text) pairs) that share a term with it; ties by id."""
    if not windows:
        return [[] for _ in queries]
    import bm25s
    import numpy as np

    ordered = sorted(windows)
    model = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    model.index([terms_of(text) for _id, text in ordered], show_progress=False)
    rankings = []
    for query in queries:
        terms = [term for term in terms_of(query) if term in model.vocab_dict]
        scores = model.get_scores(terms) if terms else np.zeros(len(ordered), dtype=np.float32)
        best = np.argsort(-scores, kind="stable")[:depth]
        rankings.append([ordered[at][0] for at in best if scores[at] > 0])
    return rankings
