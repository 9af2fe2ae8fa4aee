"""Measures encoders side by side on windows of a library, and prints a Markdown table.

    scripts/bench encoders [--home HOME] [--windows 1000] REFERENCE [ENCODER…]

REFERENCE and the others are what `[models] encoder` may be: names of fetched models, folders, ONNX graphs. The windows
are the newest of the library in HOME (by default the user's own), with title and context, as `vectors write` reads
them; `query_prompt` and `document_prompt` of its settings hold for all. Each encoder runs in a process of its own.
Windows a second are those of one core: by the seconds that all threads took of the processors, which other programs
hardly disturb. The cosine is that to the reference's vector of the same window; "first 20" is the part of the 20
windows nearest to a window that the reference has among its 20.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, agreement, in_new_process, peak_mb
from subtitle_rag.domain import AppError

QUERIES = 20
BATCH = 50


class WindowFigures(NamedTuple):
    """What a process finds of the windows."""

    seconds: float
    query_s: float
    megabytes: int
    """The most memory."""
    vectors: Sequence[Sequence[float]]


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


def measure(home: Path | None, name: str, texts: Sequence[str]) -> WindowFigures:
    """Encode the texts; raises AppError or LookupError for an encoder that is not here."""
    from subtitle_rag.config import settings
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.retrieval.neural import HostedModels
    from subtitle_rag.retrieval.neural.neural_host import NeuralService

    loaded = settings.load(home)
    folder = Path(loaded.models.folder or loaded.paths.models)
    store = ModelStore(folder, replace(loaded.models, encoder=name))
    encoder = HostedModels(loaded.paths.cache / "bench", store).encoder()
    if encoder is None or not hasattr(encoder, "spec"):
        raise LookupError(f"{name} is not here")
    service = NeuralService(loaded.paths.cache / "depths.json", 600)
    service.load(encoder.spec)
    began, vectors = time.process_time(), []
    for start in range(0, len(texts), BATCH):
        vectors += [each.dense.values for each in service.passages(encoder.spec, texts[start : start + BATCH])]
    seconds, began = time.process_time() - began, time.process_time()
    for text in texts[:QUERIES]:
        service.query(encoder.spec, text[:30])
    query_s = (time.process_time() - began) / QUERIES
    return WindowFigures(seconds, query_s, peak_mb(), vectors)


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--home", type=Path, help="of the library")
    parser.add_argument("--windows", type=int, default=1_000)
    parser.add_argument("encoders", nargs="+", metavar="ENCODER")
    options = parser.parse_args()
    texts = passages(options.home, options.windows)
    print(f"{len(texts)} windows, {sum(map(len, texts)) / max(1, len(texts)):.0f} characters each\n")
    table = Table("encoder", "windows/s", "s for 1,000", "ms a query", "MB", *_frame.AGREEMENT)
    reference: Sequence[Sequence[float]] | None = None
    for name in options.encoders:
        try:
            found = in_new_process(measure, options.home, name, texts)
        except (AppError, LookupError) as error:
            print(error, file=sys.stderr)
            continue
        reference = reference or found.vectors
        rate = len(texts) / found.seconds
        cells = [f"{rate:.1f}", f"{1_000 / rate:.0f}", f"{1_000 * found.query_s:.0f}", f"{found.megabytes:,}"]
        table.row(Path(name).as_posix()[-50:], *cells, *agreement(found.vectors, reference))
