"""Fusion of the retrievers' hits by scores or by ranks, and grouping of adjacent windows.

Scores are fused by a convex combination over all candidates, each scaled to 0–1 (Bruch, Gai & Ingber 2023, "An Analysis
of Fusion Functions for Hybrid Retrieval", arXiv:2210.11934). `docs/dev/evaluation.md` justifies the constants;
`scripts/bench fusion` measures other values.
"""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.base.vectors.points import DenseVector, Hit
from subtitle_rag.captions.windows import OVERLAP_MS
from subtitle_rag.search.evidence import ENDS_AT, MEASURE, SAME_TALK, Coverage

RRF_K = 60
"""Cormack, Clarke & Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet"."""
WEIGHTS = {"bm25": 1.0, "dense": 1.0, "sparse": 0.3}
"""Weight of a rank, by retriever."""
COSINES = ("dense",)
"""Retrievers whose scores have no zero point, see `spread_cosines`."""
FAR_OUT = 3.0
"""Interquartile ranges below the lower quartile at which a cosine is an outlier (Tukey 1977)."""
DEFAULT_PARTS = {"dense": 1.0, "sparse": 0.15}
"""Weights of the neural retrievers in the fused score, relative to `bm25`."""
WORDS = 1.0
"""Weight of `bm25` relative to `dense` of an unknown encoder where one window says all words; the manifest has `words`
for the known ones."""

VIDEO_PART = 0.2
"""Part of the word score of a video's best window that is added to each of its windows."""

PIECE_SHARE = 0.5
"""Weight of the best piece in a window's cosine; the whole window has the rest."""

MAX_MERGED = 3
"""Most windows per scene."""
MERGED_SCORE = 0.75
"""Least part of the scene's best score at which an adjacent window joins it."""
MERGED_MEANING = 0.85
"""The same for scores with cosines, measured from the worst candidate's score."""


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """A window's rank (from 1) and score by a retriever, the fusion or the reranker."""

    rank: int | None
    """None for a window beyond the end of the retriever's list, with a computed score."""
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
    """By retriever, plus `fused` and `rerank`."""


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

    A single list keeps its own order and scores. Windows `without_vectors` are found by `bm25` only; the other
    retrievers are assumed to agree with it, or else every window with vectors would come first. With vectors for a
    tenth of the videos this gives hit@1 0.53 instead of 0.07, and for half of them 0.52 instead of 0.26 (scene_bench).
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
    """The windows found for a query."""

    lists: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    """Retriever → its hits, best first."""
    positions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Window → video and ordinal; a hit without a position is dropped."""
    scores_on_demand: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Retriever → scores of windows found by others only. A window without a score has none of the query's terms."""
    without_vectors: Collection[str] = frozenset()
    """Windows without vectors, found by `bm25` only."""
    query_weight: float = 1.0
    """Sum of the query's word weights."""
    words: float | None = None
    """Weight of words relative to the encoder; None for `WORDS`."""
    pieces: Mapping[str, float] = field(default_factory=dict)
    """Window → cosine of its best piece, if its pieces have vectors."""
    video_scores: Mapping[str, float] = field(default_factory=dict)
    """Video → word score of its best window, shared with its other windows."""
    evidence: Mapping[str, Coverage] = field(default_factory=dict)
    """Window → its typed words; empty for a query without words."""
    floor: float = -1.0
    """Least cosine of a hit by meaning,"""
    strict_floor: float = -1.0
    """and the stricter one, if no window has enough of the query's words."""
    is_question: bool = False
    """Whether a model answers from the scenes."""
    meaning: tuple[str, DenseVector] | None = None
    """The named vector of pieces, and the query's vector to compare with them."""
    is_cut: bool = False
    """Whether the index has further windows with the query's words."""

    @property
    def floors(self) -> tuple[float, float] | None:
        """Both floors; None without any."""
        return (self.floor, self.strict_floor) if self.strict_floor > -1 else None


def shares(candidates: Candidates) -> dict[str, float]:
    """Return each retriever's share in the fused score; they add up to 1. See `deciding_shares`.

    Words weigh as much as the best window says of the query; pairs of letters in the score say nothing.
    """
    best_score = max((hit.score for hit in candidates.lists.get("bm25", ())), default=0.0) / candidates.query_weight
    said = max((each.share for each in candidates.evidence.values()), default=best_score)
    words = (WORDS if candidates.words is None else candidates.words) * said
    parts = {name: words if name == "bm25" else DEFAULT_PARTS[name] for name in candidates.lists}
    return _normalised(parts)


ScaledScores = Mapping[str, Mapping[str, float]]
"""Retriever → scores of the candidates, 0 to 1."""


def deciding_shares(
    candidates: Candidates, shares: Mapping[str, float], values: ScaledScores | None = None
) -> dict[str, float]:
    """Return how much each retriever decides: its share times the range of its scores over the candidates.

    A retriever with equal scores for all decides nothing, whatever its share. The values add up to 1, or are all 0.
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

    For windows without vectors the other retrievers are assumed to agree with `bm25`.
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
    """Return the windows of `ordered` with the retrievers' `scores` and the fused one."""
    return [
        Ranked(id, *positions[id], value, {**scores[id], "fused": RetrieverScore(rank, value)})
        for rank, (value, id) in enumerate(ordered, start=1)
    ]


def _retriever_scores(
    lists: Mapping[str, Sequence[Hit]],
    positions: Mapping[str, tuple[str, int]],
    scores_on_demand: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, RetrieverScore]]:
    """Return rank and score by candidate and retriever; the rank is None for a score computed on demand."""
    scores: dict[str, dict[str, RetrieverScore]] = {}
    for name, hits in lists.items():
        for rank, hit in enumerate((hit for hit in hits if hit.id in positions), start=1):
            scores.setdefault(hit.id, {})[name] = RetrieverScore(rank, hit.score)
        for id, value in scores_on_demand.get(name, {}).items():
            if id in positions:
                scores.setdefault(id, {}).setdefault(name, RetrieverScore(None, value))
    return scores


def scaled_scores(candidates: Candidates) -> dict[str, dict[str, float]]:
    """Return each retriever's scores of the candidates, scaled to 0–1.

    A list keeps its order: a hit that a rule moved up counts as much as the hits before it.
    """
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
    """Return the windows' cosines blended with those of their best pieces.

    A window whose pieces have no vectors gains the average of the others.
    """
    gains = {id: pieces[id] - cosine for id, cosine in cosines.items() if id in pieces}
    usual = statistics.fmean(gains.values()) if gains else 0.0
    return {id: cosine + PIECE_SHARE * gains.get(id, usual) for id, cosine in cosines.items()}


def min_max_normalised(scores: Sequence[float]) -> list[float]:
    """Scale the scores to 0 (least) to 1 (best)."""
    least, best = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (best - least) if best > least else 1.0 for score in scores]


def spread_cosines(scores: Sequence[float]) -> list[float]:
    """Scale cosines to 0 (least that is no outlier) to 1 (best); equal ones are all 1.

    Only distances count: a * score + b with a > 0 gives the same result.
    """
    if len(scores) > 1:
        lower, _median, upper = statistics.quantiles(scores, method="inclusive")
        least = min(score for score in scores if score >= lower - FAR_OUT * (upper - lower))
        scores = [max(score, least) for score in scores]
    return min_max_normalised(scores)


def carried(ranked: Sequence[Ranked], candidates: Candidates) -> list[Ranked]:
    """Keep windows with typed words or substitutes in them or in a neighbour, and windows close in meaning.

    Parts of words and particles support no window. If no window has enough of the query's words, only windows above
    the strict floor of meaning remain; if just enough, at least one window must be above it.

    The list of a short query ends where windows of other videos say much less of it than the best one, if that one says
    at least half. Without a floor of meaning nothing is known of hits by meaning, and all stay.
    """
    evidence = candidates.evidence
    if not evidence:
        return list(ranked)

    def cosine(entry: Ranked) -> float:
        return entry.scores["dense"].score if "dense" in entry.scores else -2.0

    near = [entry for entry in ranked if cosine(entry) >= candidates.strict_floor]
    has_doubts = candidates.floors is not None and not near
    if not (
        candidates.is_question
        or any(each.is_enough and (each.is_certain or not has_doubts) for each in evidence.values())
    ):
        return near
    saying = {candidates.positions[id] for id, each in evidence.items() if each.share > 0}

    def says_or_is_beside(entry: Ranked) -> bool:
        return any((entry.video_id, entry.ordinal + step) in saying for step in (-1, 0, 1))

    kept = [entry for entry in ranked if cosine(entry) >= candidates.floor or says_or_is_beside(entry)]

    def focus(entry: Ranked) -> float:
        return evidence[entry.window_id].focus if entry.window_id in evidence else 0.0

    best = max(map(focus, kept), default=0.0)
    has_meaning = "dense" in candidates.lists
    if candidates.is_question or best < MEASURE or (has_meaning and candidates.floors is None):
        return kept
    talks = {entry.video_id for entry in kept if focus(entry) >= SAME_TALK * best}
    close = {entry.window_id for entry in near}
    return [
        entry for entry in kept if entry.video_id in talks or focus(entry) >= ENDS_AT * best or entry.window_id in close
    ]


Spans = Callable[[Collection[str]], Mapping[str, tuple[int, int]]]
"""Function from window ids to begin and end in ms."""


def merge_neighbours(ranked: Sequence[Ranked], limit: int, spans: Spans) -> list[list[Ranked]]:
    """Group adjacent windows, best first: at most `limit` groups of at most `MAX_MERGED` windows.

    A window below `MERGED_SCORE` or `MERGED_MEANING`, or after more than `OVERLAP_MS` of silence, starts its own group.
    A greater limit only adds groups.
    """
    near = _near(ranked, spans)
    has_cosines = any("dense" in entry.scores for entry in ranked)
    least = min(entry.score for entry in ranked) if has_cosines else 0.0
    part = MERGED_MEANING if has_cosines else MERGED_SCORE
    groups: list[list[Ranked]] = []
    group_at: dict[tuple[str, int], int] = {}
    for entry in ranked:
        beside = (group_at.get(position) for position in near[entry.window_id])
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
    """Return by window the video and ordinal of its neighbours in the same stretch of speech."""
    ids = {(entry.video_id, entry.ordinal): entry.window_id for entry in ranked}
    pairs = [((video, at), (video, at + 1)) for video, at in ids if (video, at + 1) in ids]
    times = spans({ids[position] for pair in pairs for position in pair})
    near: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for first, second in pairs:
        if {ids[first], ids[second]} <= times.keys() and times[ids[second]][0] - times[ids[first]][1] <= OVERLAP_MS:
            near[ids[first]].append(second)
            near[ids[second]].append(first)
    return near


def best_of_videos(groups: Sequence[list[Ranked]], limit: int, per_video: int) -> tuple[list[list[Ranked]], int]:
    """Move the best `per_video` groups of each of the first videos to the front, at most `limit`, and count them.

    Otherwise the order stays the same.
    """
    by_video: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        by_video.setdefault(group[0].video_id, []).append(at)
    leading = chain.from_iterable(of_video[:per_video] for of_video in by_video.values())
    front = set(islice(leading, limit))
    order = sorted(range(len(groups)), key=lambda at: at not in front)
    return [groups[at] for at in order], len(front)


def _is_open(group: Sequence[Ranked], entry: Ranked, least: float, part: float) -> bool:
    best = max(each.score for each in group)  # the first may have been moved up
    return len(group) < MAX_MERGED and entry.score - least >= part * (best - least)
