"""Measures encoders side by side on windows of a library, and prints a Markdown table.

    scripts/bench encoders [--home HOME] [--windows 1000] REFERENCE [ENCODER…]

REFERENCE and the others are what `[models] encoder` may be: names of fetched models, folders, ONNX graphs. The windows
are the newest of the library in HOME (by default the user's own), with title and context, as `vectors write` reads
them; `query_prompt` and `document_prompt` of its settings hold for all. Each encoder runs in a process of its own.
Windows a second are those of one core: by the seconds that all threads took of the processors, which other programs
hardly disturb. The cosine is that to the reference's vector of the same window; "first 20" is the part of the 20
windows nearest to a window that the reference has among its 20.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table

NEAREST = 20
QUERIES = 20
BATCH = 50


def passages(home: Path | None, count: int) -> list[str]:
    """The texts of the newest windows."""
    from subtitle_rag.config import settings
    from subtitle_rag.library.store import Library
    from subtitle_rag.retrieval.index.index_document import IndexDocument

    library = Library(settings.load(home).paths.library)
    texts: list[str] = []
    for state in library.videos():
        windows = library.windows_of(state.video.id)
        contexts = library.contexts.of_windows([window.id for window in windows])
        document = IndexDocument(state.video, windows, {id: (each.key, each.text) for id, each in contexts.items()})
        texts += [document.passage(window.id) for window in windows]
    return texts[:count]


def measure(home: Path | None, name: str) -> dict[str, Any]:
    """Encode the texts of stdin; in a process of its own."""
    from subtitle_rag.config import settings
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.retrieval.neural import HostedModels
    from subtitle_rag.retrieval.neural.neural_host import NeuralService

    loaded = settings.load(home)
    folder = Path(loaded.models.folder or loaded.paths.models)
    store = ModelStore(folder, replace(loaded.models, encoder=name))
    encoder = HostedModels(loaded.paths.cache / "bench", store).encoder()
    if encoder is None or not hasattr(encoder, "spec"):
        raise SystemExit(f"{name} is not here")
    service = NeuralService(loaded.paths.cache / "depths.json", 600)
    texts = json.load(sys.stdin)
    service.load(encoder.spec)
    began, vectors = time.process_time(), []
    for start in range(0, len(texts), BATCH):
        vectors += [each.dense.values for each in service.passages(encoder.spec, texts[start : start + BATCH])]
    seconds, began = time.process_time() - began, time.process_time()
    for text in texts[:QUERIES]:
        service.query(encoder.spec, text[:30])
    query_s = (time.process_time() - began) / QUERIES
    return {"id": encoder.spec.id, "seconds": seconds, "query_s": query_s, "vectors": vectors}


def cells(result: dict[str, Any], reference: dict[str, Any], megabytes: float) -> list[str]:
    import numpy as np

    ours, theirs = np.array(result["vectors"]), np.array(reference["vectors"])
    rate = len(ours) / result["seconds"]
    columns = [f"{rate:.1f}", f"{1_000 / rate:.0f}", f"{1_000 * result['query_s']:.0f}", f"{megabytes:,.0f}"]
    if ours.shape != theirs.shape:
        return [*columns, "–", "–", "–"]
    cosines = (ours * theirs).sum(axis=1)
    near = [np.argsort(-(vectors @ vectors.T), axis=1)[:, 1 : NEAREST + 1] for vectors in (ours, theirs)]
    shared = [len({*one} & {*other}) / NEAREST for one, other in zip(*(each.tolist() for each in near), strict=True)]
    return [*columns, f"{cosines.mean():.4f}", f"{cosines.min():.4f}", f"{np.mean(shared):.2f}"]


def peak_megabytes(process: "subprocess.Popen[str]") -> float:
    """The most memory that an ended process had."""
    _pid, _status, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1e3


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--home", type=Path, help="of the library")
    parser.add_argument("--windows", type=int, default=1_000)
    parser.add_argument("--only", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("encoders", nargs="+", metavar="ENCODER")
    options = parser.parse_args()
    if options.only:
        json.dump(measure(options.home, options.encoders[0]), sys.stdout)
        return
    texts = passages(options.home, options.windows)
    print(f"{len(texts)} windows, {sum(map(len, texts)) / max(1, len(texts)):.0f} characters each\n")
    figures = ("windows/s", "s for 1,000", "ms a query", "MB", "cosine", "least", f"first {NEAREST}")
    table = Table("encoder", *figures)
    reference: dict[str, Any] | None = None
    home = ["--home", str(options.home)] if options.home else []
    for name in options.encoders:
        command = [sys.executable, "-m", "scripts.benchmarks", "encoders", "--only", *home, name]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin
        assert process.stdout
        json.dump(texts, process.stdin)
        process.stdin.close()
        answer = process.stdout.read()
        megabytes = peak_megabytes(process)
        if not answer:
            continue
        result = json.loads(answer)
        reference = reference or result
        table.row(Path(name).as_posix()[-50:], *cells(result, reference, megabytes))
