"""Fusion of the retrievers' hits by scores or by ranks, and groups of neighbours.

By scores: a convex combination of scores between 0 and 1 over all candidates (Bruch, Gai & Ingber 2023, "An Analysis
of Fusion Functions for Hybrid Retrieval", arXiv:2210.11934). A score says how much better a hit is than the next one,
which its rank does not. `scripts/bench fusion` measures both, and other numbers of this module.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from subtitle_rag.captions.windows import OVERLAP_MS
from subtitle_rag.retrieval.named_vectors import PIECES
from subtitle_rag.retrieval.search.evidence import Evidence
from subtitle_rag.retrieval.values import DenseVector, Hit

RRF_K = 60
"""Cormack, Clarke & Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet"."""
WEIGHTS = {"bm25": 1.0, "dense": 1.0, "sparse": 0.3}
"""The weight of a rank, by retriever.

`bm25` and `dense` count alike, as in Cormack et al.: one finds words, the other meaning. `sparse` comes from the same
pass as `dense` and mostly finds words, as `bm25` does: it counts as in the hybrid of Chen et al. 2024,
"M3-Embedding" (arXiv 2402.03216: 1 for dense, 0.3 for sparse on MIRACL, whose passages are as long as windows).
Anthropic's "Contextual Retrieval" (2024) gives embeddings 0.8 and BM25 0.2, for source code and a BM25 of words.
"""
COSINES = ("dense",)
"""The retrievers whose scores have no origin, see `spread_cosines`; a window without a common term scores 0 by others.

Cosines of an E5 all lie between 0.79 and 0.88, those of other encoders between 0 and 0.7.
"""
FAR_OUT = 3.0
"""How many interquartile ranges below the lower quartile a cosine is an outlier (Tukey 1977, "Exploratory Data
Analysis": far out). One strange window must not draw all others together."""
DEFAULT_PARTS = {"dense": 1.0, "sparse": 0.15}
"""The parts of the neural retrievers in the fused score, beside that of `bm25`.

`sparse` is not measured: it mostly finds words, as `bm25` does, and its scores are as far apart.
"""
WORDS = 1.0
"""The part of `bm25`, whose scores count as parts of the sum of the query's weights, beside `dense` of an encoder of
which nothing is known; the better an encoder, the less words weigh beside it (`words` in the manifest).

The theoretical scale of Bruch et al. instead of the best hit's score: words have as much say as the best window says of
the query. In other words than the captions' that is little, and meaning decides; of words that nobody says it is pairs
of letters. Chosen on halves of scene_bench, KorQuAD and the cookbook with multilingual-e5-small and MiniLM, where every
number from 0.7 to 1.0 does as well; `scripts/bench fusion --number WORDS=…` tries others.
"""

VIDEO_PART = 0.2
"""How much of the score by words of a video's best window each of its windows is given.

A video that says all words of a query is about it, and its other windows often name its topic by a pronoun. Failure@20
falls by .020 on scene_bench, by .013 on cookbook, and hit@1 stays the same on them, on qmsum and on KorQuAD.
"""

PIECE_SHARE = 0.5
"""The share of a window's best piece in its cosine, beside that of the whole window."""

MAX_MERGED = 3
"""Windows of a scene, at most."""
MERGED_SCORE = 0.75
"""A window merges into its neighbour's scene at this part of the score of the scene's best window, or more.

Beside the best window of its video that is 0.7 of the score by its own words; the rest is `VIDEO_PART`.
If any of 150 candidates merged, half of all scenes would last three minutes.
"""
MERGED_MEANING = 0.85
"""The merging part for a score with cosines, which counts from that of the worst candidate.

What is said in one breath is alike in meaning. At `MERGED_SCORE` a tenth of all scenes would last three minutes instead
of two, and 28 % of the jumps miss by more than 30 s instead of 22 % (scene_bench;
`scripts/bench fusion --number MERGED_MEANING=…` tells how long scenes are).
"""


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """A window's rank (from 1) and score by a retriever, the fusion or the reranker."""

    rank: int | None
    """None for a window beyond the end of the retriever's list, whose score is computed."""
    score: float


SCORE_DIGITS = {"bm25": 2, "fused": 4}
"""Decimals of a score; others have three."""


def score_cells(name: str, entry: RetrieverScore | None) -> tuple[str, str]:
    """Return rank and score for a table: `#2` and `11.20`."""
    rank = f"#{entry.rank}" if entry and entry.rank else "–"
    return rank, f"{entry.score:.{SCORE_DIGITS.get(name, 3)}f}" if entry else ""


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


def best_by_video(hits: Sequence[Hit], positions: Mapping[str, tuple[str, int]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit in hits:
        if hit.id in positions:
            video_id = positions[hit.id][0]
            best[video_id] = max(best.get(video_id, 0.0), hit.score)
    return best


def add_video_scores(
    hits: Sequence[Hit], positions: Mapping[str, tuple[str, int]], best: Mapping[str, float]
) -> list[Hit]:
    """Add `VIDEO_PART` of its video's best score to each hit, and return them best first; ties by id."""

    def score(hit: Hit) -> float:
        video_id, _ordinal = positions.get(hit.id, ("", 0))
        return hit.score + VIDEO_PART * best.get(video_id, 0.0)

    return sorted((Hit(hit.id, score(hit)) for hit in hits), key=lambda hit: (-hit.score, hit.id))


def fuse(
    lists: Mapping[str, Sequence[Hit]],
    positions: Mapping[str, tuple[str, int]],
    without_vectors: Collection[str] = frozenset(),
) -> list[Ranked]:
    """Fuse the hits with a position (video, ordinal) by weighted reciprocal ranks; ties by id.

    A single list keeps its own order and scores. Only `bm25` can find windows `without_vectors`:
    the other retrievers are assumed to agree with it, else every window with vectors would come first. With vectors
    of a tenth of the videos hit@1 is 0.53 (as `bm25` alone) instead of 0.07; of a half, 0.52 instead of 0.26 (100
    questions of scene_bench, with latent semantic analysis in place of the encoder).
    """
    scores = _retriever_scores(lists, positions, {})
    all_weights = sum(WEIGHTS[name] for name in lists)

    def score(id: str) -> float:
        if len(lists) == 1:
            return next(iter(scores[id].values())).score
        total = sum(WEIGHTS[name] / (RRF_K + (ranked.rank or 0)) for name, ranked in scores[id].items())
        return total * all_weights / WEIGHTS["bm25"] if id in without_vectors else total

    ordered = [(score(id), id) for id in scores]  # a single list keeps its own order
    if len(lists) > 1:
        ordered.sort(key=lambda pair: (-pair[0], pair[1]))
    return _ranked(ordered, positions, scores)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The windows that retrievers have found for a query."""

    lists: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    """By retriever, its hits, best first."""
    positions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Video and ordinal of each window; a hit without one is left out."""
    scores_on_demand: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By retriever, the scores of windows that only others have in their lists. One without a score has none of the
    query's terms."""
    without_vectors: Collection[str] = frozenset()
    """Windows without vectors, which only `bm25` can find yet."""
    query_weight: float = 1.0
    """The sum of the query's weights by words."""
    words: float | None = None
    """How much words weigh beside the encoder's meaning, in place of `WORDS`."""
    pieces: Mapping[str, float] = field(default_factory=dict)
    """By window, the cosine of its best piece. Windows may lack vectors of their pieces."""
    video_scores: Mapping[str, float] = field(default_factory=dict)
    """By video, the score by words of its best window, of which the scores of all its windows have a part."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """By window, what it has of the typed words; empty for a query without any."""
    floor: float = -1.0
    """The cosine below which nothing is found by meaning,"""
    strict_floor: float = -1.0
    """and the one of a query of which no window has enough words."""
    is_question: bool = False
    """Scenes are looked for from which a model answers."""
    meaning: tuple[str, DenseVector] | None = None
    """The named vector of pieces, and the query's vector to compare with them."""
    is_cut: bool = False
    """The query's words find further windows."""

    @property
    def floors(self) -> tuple[float, float] | None:
        """Both floors; None without any."""
        return (self.floor, self.strict_floor) if self.strict_floor > -1 else None


def shares(candidates: Candidates) -> dict[str, float]:
    """Return each retriever's share in the fused score; together they are 1. See `deciding_shares`."""
    best_score = max((hit.score for hit in candidates.lists.get("bm25", ())), default=0.0) / candidates.query_weight
    words = (WORDS if candidates.words is None else candidates.words) * best_score
    parts = {name: words if name == "bm25" else DEFAULT_PARTS[name] for name in candidates.lists}
    return _normalised(parts)


ScaledScores = Mapping[str, Mapping[str, float]]
"""By retriever, the scores of the candidates between 0 and 1."""


def deciding_shares(
    candidates: Candidates, shares: Mapping[str, float], values: ScaledScores | None = None
) -> dict[str, float]:
    """Return how much each retriever decides: its share times the range of its score over the candidates.

    One that scores all of them alike decides nothing, whatever its share. Together they are 1, or all 0.
    """
    values = scaled_scores(candidates) if values is None else values
    ids = {id for of_retriever in values.values() for id in of_retriever}

    def span(of_retriever: Mapping[str, float]) -> float:
        scores = [of_retriever.get(id, 0.0) for id in ids]
        return max(scores, default=0.0) - min(scores, default=0.0)

    return _normalised({name: shares[name] * span(of_retriever) for name, of_retriever in values.items()})


def _normalised(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values()) or 1.0
    return {name: weight / total for name, weight in weights.items()}


def fuse_scores(
    candidates: Candidates, shares: Mapping[str, float], values: ScaledScores | None = None
) -> list[Ranked]:
    """Fuse the candidates by their scores; ties by id.

    Windows without vectors are assumed to be where `bm25` puts them in the order of the other retrievers, too.
    """
    values = scaled_scores(candidates) if values is None else values
    scores = _retriever_scores(candidates.lists, candidates.positions, candidates.scores_on_demand)
    for rank, (id, cosine) in enumerate(sorted(candidates.pieces.items(), key=lambda pair: -pair[1]), start=1):
        if id in scores:
            scores[id][PIECES] = RetrieverScore(rank, cosine)
    by_meaning = {
        id: sum(shares[name] * values[name].get(id, 0.0) for name in candidates.lists if name != "bm25")
        for id in scores
        if id not in candidates.without_vectors
    }
    best_first = sorted(by_meaning.values(), reverse=True)
    by_words = values.get("bm25", {})
    words_share = shares.get("bm25", 0.0)

    def score(id: str) -> float:
        words = words_share * by_words.get(id, 0.0)
        if id in by_meaning:
            return words + by_meaning[id]
        if not best_first:
            return by_words.get(id, 0.0)
        rank = scores[id]["bm25"].rank or len(best_first)
        return words + best_first[min(rank, len(best_first)) - 1]

    ordered = sorted(((score(id), id) for id in scores), key=lambda pair: (-pair[0], pair[1]))
    return _ranked(ordered, candidates.positions, scores)


def _ranked(
    ordered: Sequence[tuple[float, str]],
    positions: Mapping[str, tuple[str, int]],
    scores: Mapping[str, Mapping[str, RetrieverScore]],
) -> list[Ranked]:
    """Return the windows of fused scores, in this order; `scores` are those of the retrievers."""
    return [
        Ranked(id, *positions[id], value, {**scores[id], "fused": RetrieverScore(rank, value)})
        for rank, (value, id) in enumerate(ordered, start=1)
    ]


def _retriever_scores(
    lists: Mapping[str, Sequence[Hit]],
    positions: Mapping[str, tuple[str, int]],
    scores_on_demand: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, RetrieverScore]]:
    """Return by candidate and retriever the rank, None for a score that was computed on demand, and the score."""
    scores: dict[str, dict[str, RetrieverScore]] = {}
    for name, hits in lists.items():
        for rank, hit in enumerate((hit for hit in hits if hit.id in positions), start=1):
            scores.setdefault(hit.id, {})[name] = RetrieverScore(rank, hit.score)
        for id, value in scores_on_demand.get(name, {}).items():
            if id in positions:
                scores.setdefault(id, {}).setdefault(name, RetrieverScore(None, value))
    return scores


def scaled_scores(candidates: Candidates) -> dict[str, dict[str, float]]:
    """Return the scores of the candidates by each retriever, between 0 and 1, its best one. A list keeps its order: a
    hit that a rule has moved before others counts as much as they do."""
    by_retriever = {}
    for name, hits in candidates.lists.items():
        placed = [hit for hit in hits if hit.id in candidates.positions]
        scores = {
            id: score for id, score in candidates.scores_on_demand.get(name, {}).items() if id in candidates.positions
        }
        scores |= {hit.id: hit.score for hit in placed}
        if name in COSINES:
            cosines = add_pieces(scores, candidates.pieces)
            by_retriever[name] = dict(zip(cosines, spread_cosines(list(cosines.values())), strict=True))
            continue
        scale = max(scores.values(), default=0.0)
        values = {id: max(0.0, score) / scale if scale > 0 else 0.0 for id, score in scores.items()}
        best = 0.0
        for hit in reversed(placed):
            best = values[hit.id] = max(best, values[hit.id])
        by_retriever[name] = values
    return by_retriever


def add_pieces(cosines: Mapping[str, float], pieces: Mapping[str, float]) -> dict[str, float]:
    """Return the cosines of windows with their best pieces' share.

    A window without vectors of its pieces is assumed to gain by them what the others gain on average.
    """
    gains = {id: pieces[id] - cosine for id, cosine in cosines.items() if id in pieces}
    usual = statistics.fmean(gains.values()) if gains else 0.0
    return {id: cosine + PIECE_SHARE * gains.get(id, usual) for id, cosine in cosines.items()}


def min_max_normalised(scores: Sequence[float]) -> list[float]:
    """Return the scores between 0, the least of them, and 1, the best."""
    least, best = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (best - least) if best > least else 1.0 for score in scores]


def spread_cosines(scores: Sequence[float]) -> list[float]:
    """Return the cosines of candidates between 0, the least that is no outlier, and 1, the best; equal ones are all 1.

    Only their distances count: a * score + b for a > 0 comes out alike.
    """
    if len(scores) > 1:
        lower, _median, upper = statistics.quantiles(scores, method="inclusive")
        least = min(score for score in scores if score >= lower - FAR_OUT * (upper - lower))
        scores = [max(score, least) for score in scores]
    return min_max_normalised(scores)


def carried(ranked: Sequence[Ranked], candidates: Candidates) -> list[Ranked]:
    """Return the windows that something carries: typed words or what stands for them, also beside it, or the meaning.

    Pieces of words and particles order windows, but carry none. A query of which no window has enough words is answered
    by meaning alone, above the strict floor, or not at all.
    """
    evidence = candidates.evidence
    if not evidence:
        return list(ranked)

    def cosine(entry: Ranked) -> float:
        return entry.scores["dense"].score if "dense" in entry.scores else -2.0

    if not (candidates.is_question or any(each.is_enough for each in evidence.values())):
        return [entry for entry in ranked if cosine(entry) >= candidates.strict_floor]
    saying = {candidates.positions[id] for id, each in evidence.items() if each.share > 0}

    def says_or_is_beside(entry: Ranked) -> bool:
        return any((entry.video_id, entry.ordinal + step) in saying for step in (-1, 0, 1))

    return [entry for entry in ranked if cosine(entry) >= candidates.floor or says_or_is_beside(entry)]


Spans = Callable[[Collection[str]], Mapping[str, tuple[int, int]]]
"""Returns when windows begin and end (ms)."""


def merge_neighbours(ranked: Sequence[Ranked], limit: int, spans: Spans) -> list[list[Ranked]]:
    """Group adjacent windows, the best first: at most `limit` groups of at most `MAX_MERGED` windows.

    A window below `MERGED_SCORE` or `MERGED_MEANING`, or after a silence of more than `OVERLAP_MS`, begins a group of
    its own. A greater limit only adds groups.
    """
    near = _near(ranked, spans)
    has_cosines = any("dense" in entry.scores for entry in ranked)
    least = min(entry.score for entry in ranked) if has_cosines else 0.0
    part = MERGED_MEANING if has_cosines else MERGED_SCORE
    groups: list[list[Ranked]] = []
    group_at: dict[tuple[str, int], int] = {}
    for entry in ranked:
        beside = (group_at.get(place) for place in near[entry.window_id])
        open_groups = [at for at in beside if at is not None and _is_open(groups[at], entry, least, part)]
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


def _near(ranked: Sequence[Ranked], spans: Spans) -> Mapping[str, list[tuple[str, int]]]:
    """Return by window the video and ordinal of those before and after it that are said in one go with it."""
    ids = {(entry.video_id, entry.ordinal): entry.window_id for entry in ranked}
    pairs = [((video, at), (video, at + 1)) for video, at in ids if (video, at + 1) in ids]
    times = spans({ids[place] for pair in pairs for place in pair})
    near: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for first, second in pairs:
        if {ids[first], ids[second]} <= times.keys() and times[ids[second]][0] - times[ids[first]][1] <= OVERLAP_MS:
            near[ids[first]].append(second)
            near[ids[second]].append(first)
    return near


def best_of_videos(groups: Sequence[list[Ranked]], limit: int, per_video: int) -> tuple[list[list[Ranked]], int]:
    """Move the best `per_video` groups of each of the first videos to the front, at most `limit`, and count these.

    All groups keep their order among those at the front, and among those behind.
    """
    by_video: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        by_video.setdefault(group[0].video_id, []).append(at)
    wanted = chain.from_iterable(of_video[:per_video] for of_video in by_video.values())
    front = set(islice(wanted, limit))
    order = sorted(range(len(groups)), key=lambda at: at not in front)
    return [groups[at] for at in order], len(front)


def _is_open(group: Sequence[Ranked], entry: Ranked, least: float, part: float) -> bool:
    best = max(each.score for each in group)  # the first may be lifted before it
    return len(group) < MAX_MERGED and entry.score - least >= part * (best - least)
