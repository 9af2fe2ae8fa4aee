"""Measures encoder and rerankers by precision and prints Markdown tables.

    scripts/bench models [--folder FOLDER] [--lengths 64,128,256,384] [--rounds 2]

The models have the true sizes and random weights, made from their configurations in `--folder` (6 GB, a temporary one
by default): speed and memory hang on shapes alone, how well two paths agree hangs on weights too, so that the agreement
is a hint and no more. The encoder is BGE-M3's, by FlagEmbedding's defaults and by this program with each precision;
rerankers read pairs of 300 tokens, like a window with its context. Each runs in a process of its own, in turns with the
others, and the best round counts; ratios are of one run on one machine. With `OMP_NUM_THREADS=1` seconds are those of
the processor, which other programs hardly disturb.
"""

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, agreement, in_new_process, numbers, peak_mb

BATCH = 4
"""Texts of a measurement, which FlagEmbedding is given as its batch; more were no faster with any precision."""
DOCUMENTS = 60
QUERIES = 6
PAIRS = 8
LIBRARY = "FlagEmbedding"
PATHS = (LIBRARY, "auto", "float32", "int8")
"""The library by its defaults, and this program with each precision."""
HIDDEN = 1024
SHAPE = {"vocab_size": 250_002, "num_hidden_layers": 24, "num_attention_heads": 16, "initializer_range": HIDDEN**-0.5}
"""XLM-RoBERTa, large; with such weights a layer gives out what it takes in."""
RERANKERS = ("BAAI/bge-reranker-v2-m3", "nlpai-lab/KURE-Reranker-nano")


class EncoderFigures(NamedTuple):
    """What a process finds."""

    rates: list[float]
    """Texts a second, by length."""
    query_ms: float
    vectors: Sequence[Sequence[float]]
    megabytes: int
    """The most memory."""


def make(folder: Path) -> None:
    """Make the models of random weights in the files of the real ones."""
    from transformers import AutoModelForSequenceClassification, ModernBertConfig

    from tests.support.tiny_models import begin, tiny_encoder, tiny_reranker

    tiny_encoder(folder / "encoder", hidden=HIDDEN, **SHAPE)
    large, small = (folder / name for name in RERANKERS)
    tiny_reranker(large, hidden=HIDDEN, **SHAPE)
    begin(small)
    ends = {"bos_token_id": 0, "cls_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "sep_token_id": 2}
    AutoModelForSequenceClassification.from_config(ModernBertConfig(num_labels=1, **ends)).save_pretrained(small)


def texts(count: int, words: int, seed: int = 0) -> list[str]:
    """Return Korean without sense, of words of the sample."""
    from tests.support.tiny_models import spoken_lines

    vocabulary = sorted({word for line in spoken_lines() for word in line.split()})
    chance = random.Random(seed)
    return [" ".join(chance.choices(vocabulary, k=words)) for _ in range(count)]


def encode(folder: Path, path: str, lengths: Sequence[int]) -> EncoderFigures:
    run, query = encoder_of(folder, path)
    run(texts(1, 40), 64)
    rates = []
    for length in lengths:
        batch = texts(BATCH, length)
        # FlagEmbedding runs its first batch twice: both count as work here, and show in the query's latency
        work = BATCH * (2 if path == LIBRARY else 1)
        rates.append(work / timed(lambda batch=batch, length=length: run(batch, length)))  # type: ignore[misc]
    first, *queries = texts(QUERIES, 7, seed=1)
    query(first)
    query_ms = 1000 * min(timed(lambda text=text: query(text)) for text in queries)  # type: ignore[misc]
    documents = [text for at in range(DOCUMENTS) for text in texts(1, 15 + 40 * at // DOCUMENTS, seed=at)]
    return EncoderFigures(rates, query_ms, run(documents, max(lengths)), peak_mb())


def encoder_of(
    folder: Path, path: str
) -> tuple[Callable[[list[str], int], list[Sequence[float]]], Callable[[str], object]]:
    """Return what encodes texts of so many tokens, and what encodes a query."""
    if path == LIBRARY:
        from FlagEmbedding import BGEM3FlagModel

        flag = BGEM3FlagModel(str(folder))

        def by_library(batch: list[str], length: int) -> list[Sequence[float]]:
            output = flag.encode(batch, batch_size=BATCH, max_length=length, return_sparse=True)
            return [row.tolist() for row in output["dense_vecs"]]

        return by_library, lambda text: flag.encode_queries([text], return_sparse=True)
    from subtitle_rag.retrieval.neural.encoder import FlagEncoder

    ours = FlagEncoder(folder, "random", planned(path))

    def by_program(batch: list[str], length: int) -> list[Sequence[float]]:
        ours._max_tokens = length
        return [encoded.dense.values for encoded in ours.passages(batch)]

    return by_program, ours.query


def pairs_per_second(folder: Path, precision: str) -> tuple[str, float]:
    """Return the precision that was taken, and the pairs that a reranker reads in a second."""
    from subtitle_rag.retrieval.neural.reranker import CrossReranker

    plan = planned(precision)
    reranker = CrossReranker(folder, "random", plan)
    reranker.load()
    reranker._timed(2)
    return plan.precision, PAIRS / reranker._timed(PAIRS)


def planned(precision: str) -> Any:
    from subtitle_rag.config.settings import ModelSettings
    from subtitle_rag.retrieval.neural.device import plan_device

    return plan_device(ModelSettings(precision=precision, device="cpu" if precision == "int8" else "auto"))


def timed(work: Callable[[], object]) -> float:
    """Return the seconds by the clock, or of the processor where it calculates in one thread."""
    clock = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter
    started = clock()
    work()
    return clock() - started


def encoder_rows(folder: Path, lengths: Sequence[int], rounds: int) -> Iterator[list[str]]:
    runs: dict[str, list[EncoderFigures]] = {path: [] for path in PATHS}
    for _round in range(rounds):
        for path in PATHS:
            runs[path].append(in_new_process(encode, folder / "encoder", path, lengths))
    best = {path: [max(rates) for rates in zip(*(run.rates for run in of), strict=True)] for path, of in runs.items()}
    for path, of_path in runs.items():
        rates = [f"{rate:.2f} ({rate / base:.1f})" for rate, base in zip(best[path], best[LIBRARY], strict=True)]
        query, megabytes = min(run.query_ms for run in of_path), min(run.megabytes for run in of_path)
        yield [path, *rates, f"{query:.0f}", f"{megabytes:,}", *agreement(of_path[0].vectors, runs[LIBRARY][0].vectors)]


def reranker_rows(folder: Path, rounds: int) -> Iterator[list[str]]:
    for precision in ("auto", "int8"):
        rates: dict[str, float] = {}
        for _round in range(rounds):
            for name in RERANKERS:
                taken, rate = in_new_process(pairs_per_second, folder / name, precision)
                rates[name] = max(rates.get(name, 0.0), rate)
        for name, rate in rates.items():
            yield [name, taken, f"{rate:.2f}", f"{2 * rate:.0f}", f"{rate / rates[RERANKERS[0]]:.1f}"]


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--lengths", type=numbers, help="tokens of a text", default=(64, 128, 256, 384))
    parser.add_argument("--rounds", type=int, help="of which the best counts", default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-models-", dir=options.folder) as name:
        in_new_process(make, Path(name))
        rates = [f"texts/s (ratio), {length} tokens" for length in options.lengths]
        table = Table("encoder", *rates, "ms a query", "MB", *_frame.AGREEMENT)
        for row in encoder_rows(Path(name), options.lengths, options.rounds):
            table.row(*row)
        print()
        table = Table("reranker", "precision", "pairs/s", "pairs in 2 s", "ratio")
        for row in reranker_rows(Path(name), options.rounds):
            table.row(*row)
