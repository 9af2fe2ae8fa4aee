"""Measures encoders and rerankers side by side on windows of a library, and prints Markdown tables.

    scripts/bench models [--home HOME] [--windows 1000] [--rounds 1] [--rerankers NAME…]
                         [--random FOLDER] [REFERENCE [ENCODER…]]

Models are values of `[models] encoder` and `reranker`: names of downloaded models, folders, or ONNX graphs.
`library:FOLDER` runs BGE-M3 from that folder by FlagEmbedding with its defaults. `--random` creates models with random
weights in FOLDER (6 GB) and measures them, in the sizes of BGE-M3, bge-reranker-v2-m3 and a small reranker. Speed and
memory depend on sizes alone. Agreement between models depends on the weights too, so with random ones it is only a
hint.

The windows are the newest of the library in HOME (default: the user's own), with title and context, as `vectors write`
encodes them. Each model runs in its own process, in turns with the others, and its best round counts. Rates are per
second of CPU time over all threads, which other programs hardly affect; ratios are to the first model. The cosine is to
the reference's vector of the same window. "first 20" is the share of a window's 20 nearest windows that are also among
the reference's 20. Rerankers score pairs of a query and a window.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, agreement, in_new_process, peak_mb
from subtitle_rag.base.domain.errors import AppError

QUERIES = 20
BATCH = 50
LIBRARY = "library:"
HIDDEN = 1024
SHAPE = {"vocab_size": 250_002, "num_hidden_layers": 24, "num_attention_heads": 16, "initializer_range": HIDDEN**-0.5}
"""XLM-RoBERTa, large; with these weights a layer keeps the scale of its input."""
RERANKERS = ("bge-reranker-v2-m3", "KURE-Reranker-nano")


class ModelFigures(NamedTuple):
    """Measurements of one process."""

    rate: float
    """Windows or pairs per second of one core."""
    query_s: float
    megabytes: int
    """Peak memory."""
    vectors: Sequence[Sequence[float]]


def make(folder: Path) -> None:
    """Make models of random weights, with the same files as the real ones."""
    from transformers import AutoModelForSequenceClassification, ModernBertConfig

    from tests.support.tiny_models import begin, tiny_encoder, tiny_reranker

    tiny_encoder(folder / "encoder", hidden=HIDDEN, **SHAPE)
    large, small = (folder / name for name in RERANKERS)
    tiny_reranker(large, hidden=HIDDEN, **SHAPE)
    begin(small)
    ends = {"bos_token_id": 0, "cls_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "sep_token_id": 2}
    AutoModelForSequenceClassification.from_config(ModernBertConfig(num_labels=1, **ends)).save_pretrained(small)


def passages(home: Path | None, count: int) -> list[str]:
    """Return the texts of the newest windows."""
    from subtitle_rag.base.config import settings
    from subtitle_rag.index.index_document import IndexDocument
    from subtitle_rag.library.store import Library

    library = Library(settings.load(home).paths.library)
    texts: list[str] = []
    for state in library.videos():
        windows = library.windows_of(state.video.id)
        contexts = library.contexts.of_windows([window.id for window in windows])
        document = IndexDocument(state.video, windows, {id: (each.key, each.text) for id, each in contexts.items()})
        texts += [document.passage(window.id) for window in windows]
    return texts[:count]


Encode = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def measure(home: Path | None, kind: str, name: str, texts: Sequence[str]) -> ModelFigures:
    """Have a model read the texts. Raises AppError or LookupError if it is not here."""
    from subtitle_rag.base.config import settings
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.models.neural.neural_client import HostedModels
    from subtitle_rag.models.neural.neural_host import NeuralService

    if name.startswith(LIBRARY):
        return measure_encoder(*of_library(name.removeprefix(LIBRARY)), texts)
    loaded = settings.load(home)
    folder = Path(loaded.models.folder or loaded.paths.models)
    models = HostedModels(loaded.paths.cache / "bench", ModelStore(folder, replace(loaded.models, **{kind: name})))
    model = models.encoder() if kind == "encoder" else models.reranker()
    if model is None or not hasattr(model, "files"):
        raise LookupError(f"{name} is not here")
    files, service = model.files, NeuralService(loaded.paths.cache / "depths.json", 600)
    service.load(files)
    if kind == "reranker":
        service.scores(files, texts[0][:30], texts[:2])  # the first pass costs more
        began = time.process_time()
        service.scores(files, texts[0][:30], texts)
        return ModelFigures(len(texts) / (time.process_time() - began), 0, peak_mb(), ())
    encode: Encode = lambda batch: [each.dense.values for each in service.passages(files, batch)]  # noqa: E731
    return measure_encoder(encode, lambda text: service.query(files, text), texts)


def measure_encoder(encode: Encode, query: Callable[[str], object], texts: Sequence[str]) -> ModelFigures:
    query(texts[0])
    began = time.process_time()
    vectors: list[Sequence[float]] = []
    for start in range(0, len(texts), BATCH):
        vectors += encode(texts[start : start + BATCH])
    seconds, began = time.process_time() - began, time.process_time()
    for text in texts[:QUERIES]:
        query(text[:30])
    return ModelFigures(len(texts) / seconds, (time.process_time() - began) / QUERIES, peak_mb(), vectors)


def of_library(folder: str) -> tuple[Encode, Callable[[str], object]]:
    """Return FlagEmbedding's functions to encode windows and a query."""
    from FlagEmbedding import BGEM3FlagModel

    model = BGEM3FlagModel(folder)
    encode = lambda batch: model.encode(list(batch), return_sparse=True)["dense_vecs"].tolist()  # noqa: E731
    return encode, lambda text: model.encode_queries([text], return_sparse=True)


def measured(
    home: Path | None, kind: str, names: Sequence[str], rounds: int, texts: Sequence[str]
) -> Iterator[tuple[str, ModelFigures, ModelFigures]]:
    """Measure models in turns, each in a new process.

    Args:
        home: home of the library.
        kind: encoder or reranker.
        names: names or folders of the models.
        rounds: runs of each model.
        texts: texts to read.

    Yields:
        Each model's name, its best figures and the first model's.
    """
    runs: dict[str, list[ModelFigures]] = {}
    for _round in range(rounds):
        for name in names:
            try:
                figures = in_new_process(measure, home, kind, name, texts)
            except (AppError, LookupError) as error:
                print(error, file=sys.stderr)
                continue
            runs.setdefault(name, []).append(figures)
    best = {name: max(of, key=lambda figures: figures.rate) for name, of in runs.items()}
    for name, figures in best.items():
        yield Path(name).as_posix()[-50:], figures, next(iter(best.values()))


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--home", type=Path, help="of the library")
    parser.add_argument("--windows", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rerankers", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--random", type=Path, metavar="FOLDER", help="make and measure models of random weights")
    parser.add_argument("encoders", nargs="*", metavar="ENCODER")
    options = parser.parse_args()
    encoders, rerankers = options.encoders, options.rerankers
    if options.random:
        options.random.mkdir(parents=True, exist_ok=True)
        in_new_process(make, options.random)
        encoders = [f"{LIBRARY}{options.random / 'encoder'}", str(options.random / "encoder"), *encoders]
        rerankers = [*(str(options.random / name) for name in RERANKERS), *rerankers]
    texts = passages(options.home, options.windows)
    print(f"{len(texts)} windows, {sum(map(len, texts)) / max(1, len(texts)):.0f} characters each\n")
    arguments = options.rounds, texts
    columns = ("windows/s", "ratio", "s for 1,000", "ms a query", "MB")
    table = Table("encoder", *columns, *_frame.AGREEMENT)
    for name, best, first in measured(options.home, "encoder", encoders, *arguments):
        speed = [f"{best.rate:.1f}", f"{best.rate / first.rate:.1f}", f"{1_000 / best.rate:.0f}"]
        cells = [*speed, f"{1_000 * best.query_s:.0f}", f"{best.megabytes:,}"]
        table.row(name, *cells, *agreement(best.vectors, first.vectors))
    print()
    table = Table("reranker", "pairs/s", "pairs in 2 s", "ratio", "MB")
    for name, best, first in measured(options.home, "reranker", rerankers, *arguments):
        pairs = [f"{best.rate:.2f}", f"{2 * best.rate:.0f}", f"{best.rate / first.rate:.1f}"]
        table.row(name, *pairs, f"{best.megabytes:,}")
