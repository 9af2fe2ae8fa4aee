"""Reciprocal rank fusion of the retrievers' hits, and groups of neighbours."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from subtitle_rag.retrieval.index import Hit

RRF_K = 60
"""Cormack, Clarke & Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet"."""
WEIGHTS = {"bm25": 1.0, "dense": 1.0, "sparse": 0.3}
"""The weight of a rank, by retriever.

`bm25` and `dense` count alike, as in Cormack et al.: one finds words, the other meaning. `sparse` comes from the same
pass as `dense` and mostly finds words, as `bm25` does: it counts as in the hybrid of Chen et al. 2024,
"M3-Embedding" (arXiv 2402.03216: 1 for dense, 0.3 for sparse on MIRACL, whose passages are as long as windows).
Anthropic's "Contextual Retrieval" (2024) gives embeddings 0.8 and BM25 0.2, for source code and a BM25 of words.
"""
MAX_MERGED = 3


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """A window's rank (from 1) and score by a retriever, the fusion or the reranker."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A window in the order of a search."""

    window_id: str
    video_id: str
    ordinal: int
    score: float
    """The sort key."""
    scores: Mapping[str, RetrieverScore]
    """By retriever, `fused` and `rerank`."""


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    positions: Mapping[str, tuple[str, int]],
    weights: Mapping[str, float] = WEIGHTS,
    unseen: Collection[str] = frozenset(),
) -> list[Ranked]:
    """Fuse the hits with a position (video, ordinal) by weighted reciprocal ranks; ties by id.

    A single list keeps its own order and scores. `unseen` windows have no vectors yet, so only `bm25` can find them:
    the other retrievers are assumed to agree with it, else every window with vectors would come first. With vectors
    of a tenth of the videos hit@1 is 0.53 (as `bm25` alone) instead of 0.07; of a half, 0.52 instead of 0.26 (100
    questions of scene_bench, with latent semantic analysis in place of the encoder).
    """
    scores: dict[str, dict[str, RetrieverScore]] = {}
    for name, hits in lists.items():
        for rank, hit in enumerate((hit for hit in hits if hit.id in positions), start=1):
            scores.setdefault(hit.id, {})[name] = RetrieverScore(rank, hit.score)
    all_weights = sum(weights[name] for name in lists)

    def score(id: str) -> float:
        if len(lists) == 1:
            return next(iter(scores[id].values())).score
        total = sum(weights[name] / (RRF_K + ranked.rank) for name, ranked in scores[id].items())
        return total * all_weights / weights["bm25"] if id in unseen else total

    ordered = [(score(id), id) for id in scores]  # a single list keeps its own order
    if len(lists) > 1:
        ordered.sort(key=lambda pair: (-pair[0], pair[1]))
    return [
        Ranked(id, *positions[id], value, {**scores[id], "fused": RetrieverScore(rank, value)})
        for rank, (value, id) in enumerate(ordered, start=1)
    ]


def merge_neighbours(ranked: Sequence[Ranked], limit: int) -> list[list[Ranked]]:
    """Group adjacent windows, the best first: at most `limit` groups of at most three windows.

    A greater limit only adds groups.
    """
    groups: list[list[Ranked]] = []
    group_at: dict[tuple[str, int], int] = {}
    for entry in ranked:
        beside = (group_at.get((entry.video_id, entry.ordinal + step)) for step in (-1, 1))
        open_groups = [at for at in beside if at is not None and len(groups[at]) < MAX_MERGED]
        if open_groups:
            at = min(open_groups)
        elif len(groups) < limit:
            at = len(groups)
            groups.append([])
        else:
            continue
        groups[at].append(entry)
        group_at[entry.video_id, entry.ordinal] = at
    return groups
