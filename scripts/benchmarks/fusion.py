"""Measures the fusion of word and meaning search, and the effect of changing a constant in `search/fusion.py`.

    scripts/bench fusion --data FOLDER --encoder FOLDER ... [--sets LIST] [--number WORDS=0.5,0.7,1.0 ...] [--pieces]

The data set is scene_bench, with and without its contexts. `--encoder` is a folder in the
layout of sentence-transformers, with its prompts; it encodes every set. `--number` tries the given values of a
constant, one arm per value: `WORDS`, `MERGED_MEANING` or, with `--pieces`, `PIECE_SHARE`. `--pieces` also encodes
pieces, which triples the work.

The table shows every arm on both halves of the questions, which share no video: its scores with 95 % intervals, its
gain over words alone, and the length of its scenes. Choose a value by the half `fitted`, and judge it by the half
`judged`. `loss` is the negative log-likelihood of the right windows, with a softmax of the scores over all candidates.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import documents
from scripts.benchmarks._frame import Table, mean_texts
from scripts.benchmarks._halves import halves
from subtitle_rag.base.domain.values import nfc
from subtitle_rag.contexts import context_file
from subtitle_rag.evaluation import metrics, temp_library
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.metrics import GoldWindows
from subtitle_rag.evaluation.questions import Dataset, Document, gold_set
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.search import fusion
from subtitle_rag.search.fusion import Candidates, Ranked, fuse, fuse_scores, merge_neighbours, shares
from subtitle_rag.search.query import parse_query

SHOWN = ("hit@1", "hit@5", "mrr@10", "failure@20")
GAINS = ("hit@1", "mrr@10")
SHARPNESS = 14.0
"""Factor of the fused score in the loss; of all factors, this one fits best."""
HALVES, HALVES_SEED = ("fitted", "judged"), 7
READ = 20
"""Number of best windows whose scenes are measured."""
SETS = ("scene_bench", "scene_bench+contexts")


def read_set(name: str, data: Path) -> tuple[Dataset, list[Document], dict[str, str]]:
    """Return a set's questions, its documents, and their contexts by window."""
    videos = list(documents([data / "fashion_asr", data / "pyconkr_2019"]))
    questions = load_questions(data / "scene_bench" / "queries.jsonl")
    contexts = {}
    if name.endswith("+contexts"):
        by_name = {nfc(Path(video.source or "").name): windows for video, windows in videos}
        contexts = context_file.assign(context_file.load(data / "scene_bench" / "contexts.jsonl"), by_name)
    return questions, videos, contexts


@dataclass(frozen=True)
class Measured:
    """Questions of a set with an encoder's candidates for them, and the times of its windows."""

    name: str
    gold: tuple[GoldWindows, ...]
    candidates: list[Candidates]
    halves: tuple[list[int], list[int]]
    times: Mapping[str, tuple[int, int]]


def measured(name: str, data: Path, encoder: Path, analyzer: Analyzer, *, pieces: bool) -> Measured:
    dataset, videos, contexts = read_set(name, data)
    with (
        _frame.models_of(encoder, pieces=pieces) as models,
        temp_library.create(videos, analyzer, contexts, models=models, encoder=models.encoder()) as copy,
    ):
        questions = gold_set(dataset, copy.library, {video.id: some for video, some in videos})
        candidates = [copy.searcher.candidates(parse_query(question.query)) for question in questions.questions]
    times = {window.id: (window.start_ms, window.end_ms) for _video, some in videos for window in some}
    of_halves = halves(questions.questions, HALVES_SEED)
    return Measured(f"{name}, {encoder.name}", questions.windows, candidates, of_halves, times)


@dataclass(frozen=True)
class Arm:
    """A way to fuse, with other numbers in the module `fusion`."""

    name: str
    order: Callable[[Candidates], list[Ranked]]
    numbers: Mapping[str, float]


def alone(name: str, candidates: Candidates) -> list[Ranked]:
    return fuse({name: candidates.lists[name]}, candidates.positions)


def by_scores(candidates: Candidates) -> list[Ranked]:
    return fuse_scores(candidates, shares(candidates))


def by_given_words(candidates: Candidates) -> list[Ranked]:
    """Fuse by `WORDS`, regardless of the known encoder."""
    return by_scores(replace(candidates, words=None))


def arms(numbers: Sequence[str]) -> Iterator[Arm]:
    """Yield the arms; `numbers` are texts like `WORDS=0.5,0.7`."""
    yield from (Arm(name, partial(alone, name), {}) for name in ("bm25", "dense"))
    yield Arm("ranks (RRF, k 60)", lambda candidates: fuse(candidates.lists, candidates.positions), {})
    yield Arm("scores, as the program", by_scores, {})
    for name, _, values in (text.partition("=") for text in numbers):
        order = by_given_words if name == "WORDS" else by_scores
        yield from (Arm(f"{name} {value}", order, {name: float(value)}) for value in values.split(","))


def rows(each: Measured, numbers: Sequence[str]) -> Iterator[list[object]]:
    first: Any = {}
    for arm in arms(numbers):
        with patch.dict(vars(fusion), arm.numbers):
            orders = [arm.order(candidates) for candidates in each.candidates]
            scenes = [merge_neighbours(order, READ, lambda _ids: each.times) for order in orders]
        for name, half in zip(HALVES, each.halves, strict=True):
            gold = [each.gold[at] for at in half]
            values = metrics.per_question(gold, [[hit.window_id for hit in orders[at]] for at in half])
            loss = mean_loss(gold, [orders[at] for at in half])
            lengths = scene_lengths(each, [group for at in half for group in scenes[at]])
            gains = mean_texts(values - first.setdefault(name, values), GAINS, "+")
            yield [f"{each.name} ({len(half)})", name, arm.name, loss, *mean_texts(values, SHOWN), *gains, lengths]


def mean_loss(gold: Sequence[GoldWindows], orders: Sequence[Sequence[Ranked]]) -> str:
    losses = []
    for question, order in zip(gold, orders, strict=True):
        scores = SHARPNESS * np.array([hit.score for hit in order])
        right = np.array([hit.window_id in question.windows for hit in order], bool)
        if right.any():
            losses.append(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[right]))
    return f"{np.mean(losses):.4f}" if losses else "–"


def scene_lengths(each: Measured, groups: Sequence[Sequence[Ranked]]) -> str:
    """Return the median and the 90th percentile of scenes' lengths in seconds."""
    spans = [[each.times[hit.window_id] for hit in group] for group in groups]
    lengths = [(max(end for _, end in span) - min(start for start, _ in span)) / 1000 for span in spans]
    median, long = np.percentile(lengths, [50, 90])
    return f"{median:.0f} / {long:.0f}"


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--encoder", type=Path, action="append", required=True, metavar="FOLDER")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--number", action="append", default=[], metavar="NAME=VALUES")
    parser.add_argument("--pieces", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or SUBTITLE_RAG_DATA names the folder of the sets")
    names, analyzer = options.sets.split(","), Analyzer()
    sets = [(name, encoder) for encoder in options.encoder for name in names]
    gains = [f"{name} over bm25" for name in GAINS]
    table = Table("set", "half", "arm", "loss", *SHOWN, *gains, "s of scenes, p50 / p90")
    for name, encoder in sets:
        for row in rows(measured(name, options.data, encoder, analyzer, pieces=options.pieces), options.number):
            table.row(*row)
