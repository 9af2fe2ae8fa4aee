"""Measures the encoder against its library's defaults and prints Markdown tables.

    scripts/bench models [--folder FOLDER] [--keep] [--quick] [--threads 1]

The model is of full size, with random weights: speed and memory hang on shapes alone, how well two paths agree hangs
on weights too, so that the agreement is a hint and no more. It takes 2.3 GB in `--folder` (a temporary one where none
is named). Every path runs in a process of its own, in turns with the others; ratios are of one run on one machine. With
`--threads 1` seconds are those of the CPU, which other programs on the machine hardly disturb.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame

LENGTHS = (64, 128, 256, 384)
BATCH = 4
"""Texts of a measurement, which FlagEmbedding is given as its batch; more were no faster with any precision."""
DOCUMENTS = 60
VOCABULARY, HIDDEN, LAYERS = 250_002, 1024, 24
PATHS = ("FlagEmbedding", "auto", "float32", "int8")
"""The library by its defaults, and this program with each precision."""
TOP = 20
NAMES = {"FlagEmbedding": "FlagEmbedding, defaults"}


# what each process measures


def make(folder: Path) -> None:
    """The model of random layers, in the files of the real one."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    shape: dict[str, Any] = {
        "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 16,
        "intermediate_size": 4 * HIDDEN, "max_position_embeddings": 8194, "type_vocab_size": 1, "pad_token_id": 1,
        "bos_token_id": 0, "eos_token_id": 2, "layer_norm_eps": 1e-5,
    }  # fmt: skip
    torch.manual_seed(0)
    with torch.device("meta"):
        encoder = XLMRobertaModel(XLMRobertaConfig(**shape))
    layers = {name: _random(name, value) for name, value in encoder.state_dict().items()}
    begin(folder / "encoder", encoder.config)
    torch.save(layers, folder / "encoder" / "pytorch_model.bin")
    for name, rows in (("sparse_linear.pt", 1), ("colbert_linear.pt", HIDDEN)):
        torch.save(torch.nn.Linear(HIDDEN, rows).half().state_dict(), folder / "encoder" / name)


def _random(name: str, like: Any) -> Any:
    """Spread so that a layer gives out what it takes in."""
    import torch

    if "LayerNorm" in name:
        return torch.full(like.shape, float(name.endswith("weight")))
    if not like.is_floating_point():
        return torch.zeros(like.shape, dtype=like.dtype)
    return torch.empty(like.shape).normal_(std=HIDDEN**-0.5)


def begin(folder: Path, config: Any) -> None:
    """The configuration, and a tokenizer of as many words as the real one: the sample's and invented ones."""
    from tests.support.tiny_models import SPECIAL, spoken_lines, train_pieces, write_tokenizer

    folder.mkdir(parents=True)
    config.save_pretrained(folder)
    pieces = dict(train_pieces(spoken_lines()))
    syllables = [chr(code) for code in range(0xAC00, 0xD7A4)]
    for at in range(VOCABULARY):
        if len(pieces) == VOCABULARY - len(SPECIAL) - 1:
            break
        turn, first = divmod(at, len(syllables))
        pieces.setdefault(syllables[first] + syllables[401 * turn] * bool(turn), -20.0)
    write_tokenizer(folder, [*((name, 0.0) for name in SPECIAL), *pieces.items(), ("<mask>", 0.0)])


def texts(count: int, words: int, seed: int = 0) -> list[str]:
    """Korean without sense, of words of the sample."""
    import random

    from tests.support.tiny_models import spoken_lines

    vocabulary = sorted({word for line in spoken_lines() for word in line.split()})
    chance = random.Random(seed)
    return [" ".join(chance.choices(vocabulary, k=words)) for _ in range(count)]


def gemm(_folder: Path) -> dict[str, float]:
    """GFLOP/s of multiplying matrices of the models' shape, by precision."""
    import torch

    rows = 2048
    rates = {}
    for name, kind, precision in (
        ("float32", torch.float32, "highest"),
        ("float32, oneDNN", torch.float32, "medium"),
        ("bfloat16", torch.bfloat16, "medium"),
    ):
        torch.set_float32_matmul_precision(precision)
        first, second = torch.randn(rows, HIDDEN, dtype=kind), torch.randn(HIDDEN, 4 * HIDDEN, dtype=kind)
        seconds = [timed(lambda a=first, b=second: a @ b) for _ in range(7)]  # type: ignore[misc]
        rates[name] = 2 * rows * HIDDEN * 4 * HIDDEN / min(seconds) / 1e9
    return rates


def encode(folder: Path, path: str, lengths: Sequence[int]) -> dict[str, Any]:
    """Texts per second and peak memory at each length, and a query's latency."""
    figures: dict[str, Any] = {}
    run, query = encoder_of(folder, path)
    run(texts(1, 40), 64)
    figures["load"] = peak_mb()
    for length in lengths:
        batch = texts(BATCH, length)
        forget_peak()
        # FlagEmbedding runs its first batch twice: both count as work here, and show in the query's latency
        work = BATCH * (2 if path == "FlagEmbedding" else 1)
        figures[str(length)] = [work / timed(lambda b=batch, n=length: run(b, n)), peak_mb()]  # type: ignore[misc]
    queries = texts(6, 7, seed=1)
    query(queries[0])
    figures["query"] = statistics.median(timed(lambda q=q: query(q)) for q in queries[1:])  # type: ignore[misc]
    figures["again"] = timed(lambda: query(queries[1]))
    return figures


def encoder_of(folder: Path, path: str) -> tuple[Callable[[list[str], int], Any], Callable[[str], Any]]:
    if path == "FlagEmbedding":
        from FlagEmbedding import BGEM3FlagModel

        flag = BGEM3FlagModel(str(folder / "encoder"))
        return (
            lambda batch, length: flag.encode(batch, batch_size=BATCH, max_length=length, return_sparse=True),
            lambda text: flag.encode_queries([text], return_sparse=True),
        )
    from subtitle_rag.retrieval.neural.encoder import FlagEncoder

    ours = FlagEncoder(folder / "encoder", "random", planned(path))

    def run(batch: list[str], length: int) -> Any:
        ours._max_tokens = length
        return ours.passages(batch)

    return run, ours.query


def agree(folder: Path, path: str, count: int) -> dict[str, Any]:
    """The vectors of documents and queries; the reference is FlagEmbedding in float32."""
    documents = [text for at in range(count) for text in texts(1, 15 + 40 * at // count, seed=at)]
    both = [*documents, *texts(8, 6, seed=10_000)]
    if path == "FlagEmbedding":
        from FlagEmbedding import BGEM3FlagModel

        flag = BGEM3FlagModel(str(folder / "encoder"), use_fp16=False)
        output = flag.encode(both, batch_size=BATCH, return_sparse=True)
        sparse = [
            {int(token): float(weight) for token, weight in encoding.items()} for encoding in output["lexical_weights"]
        ]
        dense = output["dense_vecs"].tolist()
    else:
        from subtitle_rag.retrieval.neural.encoder import FlagEncoder

        encoded = FlagEncoder(folder / "encoder", "random", planned(path)).passages(both)
        dense = [encoding.dense.values for encoding in encoded]
        sparse = [
            dict(zip(encoding.sparse.indices, encoding.sparse.values, strict=True))
            for encoding in encoded
            if encoding.sparse
        ]
    return {"dense": dense, "sparse": sparse, "documents": count}


def planned(precision: str) -> Any:
    from subtitle_rag.config.settings import ModelSettings
    from subtitle_rag.retrieval.neural.device import plan_device

    return plan_device(ModelSettings(precision=precision, device="cpu" if precision == "int8" else "auto"))


def timed(work: Callable[[], object]) -> float:
    """Seconds by the clock, or of the CPU where it calculates in one thread."""
    clock = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter
    started = clock()
    work()
    return clock() - started


def forget_peak() -> None:
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5")


def peak_mb() -> int:
    """Of this process's resident memory since `forget_peak`; 0 where the system does not say."""
    path = Path("/proc/self/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), 0)


PARTS: dict[str, Callable[..., Any]] = {part.__name__: part for part in (make, gemm, encode, agree)}


# the tables


def measured(part: str, folder: Path, *arguments: object) -> Any:
    """What a process of its own finds."""
    order = json.dumps([part, *arguments])
    command = [sys.executable, "-m", "scripts.benchmarks", "models", "--folder", str(folder), "--part", order]
    print(f"… {part} {' '.join(map(str, arguments))}", file=sys.stderr, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def flops(tokens: int) -> float:
    """Of one text: its products with the 12 h² weights of each layer, and those of attention."""
    return LAYERS * (24 * HIDDEN**2 * tokens + 4 * HIDDEN * tokens**2)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    print()
    made = _frame.Table(*head)
    for row in rows:
        made.row(*row)


def show_gemm(folder: Path) -> None:
    rates: dict[str, float] = measured("gemm", folder)
    rows = ([name, f"{rate:.0f}", f"{rate / rates['float32']:.1f}"] for name, rate in rates.items())
    table(["multiplying matrices", "GFLOP/s", "ratio"], rows)


def show_speed(folder: Path, lengths: Sequence[int], rounds: int) -> None:
    """Texts per second as the best of the rounds, in which the paths take turns."""
    runs: dict[str, list[Any]] = {path: [] for path in PATHS}
    for _ in range(rounds):
        for path in PATHS:
            runs[path].append(measured("encode", folder, path, lengths))
    best = {path: {n: max(run[str(n)][0] for run in runs[path]) for n in lengths} for path in PATHS}
    rows = []
    for path, rates in best.items():
        figures = [f"{rates[n]:.2f} ({rates[n] / best['FlagEmbedding'][n]:.1f})" for n in lengths]
        work = flops(lengths[-1]) * rates[lengths[-1]] / 1e9
        rows.append([NAMES.get(path, path), *figures, f"{work:.0f}"])
    table(["texts/s (ratio)", *(f"{n} tokens" for n in lengths), "GFLOP/s at the longest"], rows)
    rows = []
    for path in PATHS:
        peaks = [min(run[key][1] for run in runs[path]) for key in map(str, lengths)]
        rows.append([NAMES.get(path, path), str(runs[path][0]["load"]), *map(str, peaks)])
    table(["peak MB", "loading", *(f"{n} tokens" for n in lengths)], rows)
    rows = []
    slow = min(run["query"] for run in runs["FlagEmbedding"])
    for path in PATHS:
        seconds, again = (min(run[key] for run in runs[path]) for key in ("query", "again"))
        rows.append([NAMES.get(path, path), f"{seconds * 1e3:.0f}", f"{slow / seconds:.1f}", f"{again * 1e3:.2f}"])
    table(["query", "ms", "ratio", "once more, ms"], rows)


def show_agreement(folder: Path, count: int) -> None:
    import numpy as np

    results = {path: measured("agree", folder, path, count) for path in PATHS}
    exact = results["FlagEmbedding"]
    rows = []
    for path in PATHS[1:]:
        cosines = np.einsum("ij,ij->i", np.array(results[path]["dense"]), np.array(exact["dense"]))
        row = [path, f"{cosines.mean():.6f}", f"{cosines.min():.6f}"]
        for kind in (dense_scores, sparse_scores):
            row += compared(kind(results[path]), kind(exact))
        rows.append(row)
    kinds = [f"{kind}: {what}" for kind in ("dense", "sparse") for what in ("Spearman", f"top {TOP}")]
    table(["", "cosine, mean", "least", *kinds], rows)


def dense_scores(results: dict[str, Any]) -> Any:
    """Queries × documents."""
    import numpy as np

    vectors = np.array(results["dense"])
    return vectors[results["documents"] :] @ vectors[: results["documents"]].T


def sparse_scores(results: dict[str, Any]) -> Any:
    import numpy as np

    def product(first: dict[str, float], second: dict[str, float]) -> float:
        return sum(weight * second.get(token, 0.0) for token, weight in first.items())

    documents, queries = results["sparse"][: results["documents"]], results["sparse"][results["documents"] :]
    return np.array([[product(query, document) for document in documents] for query in queries])


def compared(fast: Any, exact: Any) -> list[str]:
    """Over all queries: the mean correlation of the documents' ranks, and the share of the best that both have."""
    import numpy as np

    correlations, shares = [], []
    for first, second in zip(fast, exact, strict=True):
        ranks = [np.argsort(np.argsort(-scores, kind="stable")) for scores in (first, second)]
        correlations.append(float(np.corrcoef(ranks[0], ranks[1])[0, 1]))
        shares.append(float(np.mean(ranks[0][ranks[1] < TOP] < TOP)))
    return [f"{statistics.mean(correlations):.4f}", f"{statistics.mean(shares):.2f}"]


def show(folder: Path, lengths: Sequence[int], rounds: int) -> None:
    if not (folder / "encoder").exists():
        measured("make", folder)
    show_gemm(folder)
    show_speed(folder, lengths, rounds)
    show_agreement(folder, DOCUMENTS)
    show_gemm(folder)


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--folder", type=Path, help="where the models are made, or were left by --keep")
    parser.add_argument("--keep", action="store_true", help="leave them there")
    parser.add_argument("--quick", action="store_true", help="two lengths and one round")
    parser.add_argument("--lengths", type=_frame.numbers, help="tokens of a text", default=LENGTHS)
    parser.add_argument("--rounds", type=int, help="of which the best counts", default=2)
    parser.add_argument("--threads", help="of one calculation")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, *arguments = json.loads(options.part)
        print(json.dumps(PARTS[name](options.folder, *arguments)))
        return
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = options.threads
    if options.quick:
        options.lengths, options.rounds = (128, 256), 1
    folder = options.folder or Path(tempfile.mkdtemp(prefix="subtitle-rag-models-"))
    try:
        show(folder, options.lengths, options.rounds)
    finally:
        if not options.keep:
            shutil.rmtree(folder / "encoder", ignore_errors=True)
            if options.folder is None:
                folder.rmdir()
