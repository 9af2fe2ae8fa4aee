"""Measures against the budgets of the design and prints a Markdown table.

    scripts/bench budgets [--data FOLDER] [--sizes 1000,20000,100000] [--dimensions 384 [--pieces]] [--url http://…]
    scripts/bench budgets --ratios [--data FOLDER]

`--data` (or SUBTITLE_RAG_DATA) is a folder with `pyconkr_2019` and `fashion_asr`; without it, copies of the bundled
sample are used. Larger libraries are copies of the corpus's windows with new ids, shuffled words, and every twentieth
morpheme renamed, so that the vocabulary grows.

With `--dimensions`, every window gets random neural vectors, without an encoder, and three retrievers search: dense
vectors around 200 topics, and sparse ones of 100 tokens out of 250,000, common ones more often. `--pieces` adds
vectors of pieces, which rerank the results and take additional time. `--url` is an empty Qdrant server to use instead
of the tests' stand-in. The last rows are ratios to an older commit, whose source comes from git; with `--ratios`, only
these. Times depend on the machine's current load.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    DAYS,
    LAST_DAY,
    SAMPLE,
    SETTLE_S,
    Corpus,
    Filling,
    analysed,
    channel_id,
    corpus_folders,
    end_host,
    grown,
    latency,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, numbers, processor_and_wall, timed
from scripts.benchmarks._made_up import MadeUpEncoder
from scripts.benchmarks._ratios import ratios
from subtitle_rag.base.garbage import tune_garbage_collector
from subtitle_rag.base.vectors.named_vectors import PIECES, vector_names
from subtitle_rag.base.vectors.points import Filter, VectorSearch
from subtitle_rag.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.index.encoding import EncodingRun
from subtitle_rag.index.indexing import Indexer
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.search.parts import LEXICAL, RETRIEVERS
from subtitle_rag.search.query import Query, parse_query
from subtitle_rag.search.searcher import DEPTH, Searcher
from tests.stand_ins.qdrant import StandIn
from tests.support.processes import command_line
from tests.support.terminal import memory as process_memory

RUNS = 7
"""Number of cold starts."""
CHANNELS = 5
WHERE = Filter(channels=(channel_id(0), channel_id(1)), after=LAST_DAY - timedelta(days=DAYS // 2))
"""Two of five channels, and half of the days."""
SEARCH = ("search", "치킨 소스")


def indexing(folders: Sequence[Path], analyzer: Analyzer, scratch: Path) -> tuple[list[Cells], Corpus]:
    """Measure Kiwi alone, then all of `index`."""
    started = time.perf_counter()
    corpus = analysed(folders, analyzer)
    kiwi_rate = len(corpus) / (time.perf_counter() - started)
    filling = Filling(scratch / "whole", analyzer)
    indexer = Indexer(filling.library, filling.index, analyzer)
    began = time.process_time()
    seconds = timed(lambda: list(indexer.index(folders)))  # with Kiwi and the host loaded
    cores = (time.process_time() - began) / seconds
    filling.close()
    rate = len(corpus) / seconds
    limit, is_met = "≥ 300, or 0.8 of Kiwi alone", rate >= 300 or rate / kiwi_rate >= 0.8
    return [
        budget("Kiwi alone (two workers), windows/s", f"{kiwi_rate:,.0f}"),
        budget("whole, windows/s", f"{rate:,.0f} ({cores:.1f} cores busy)", limit, is_met),
        budget("whole ÷ Kiwi alone", f"{rate / kiwi_rate:.3f}", "1 is the ceiling"),
    ], corpus


def filtered(text: str) -> Query:
    return replace(parse_query(text), channels=WHERE.channels, after=WHERE.after)


def queries(filling: Filling, encoder: MadeUpEncoder | None, texts: Sequence[str], size: int) -> Iterator[Cells]:
    """Measure the parts of a search, then whole searches."""
    index = filling.index
    analyzer = HostedQueryAnalyzer(index, filling.library.path)
    searcher = Searcher(filling.library, index, analyzer, encoder)
    for text in texts[:10]:
        searcher.search(filtered(text))  # files in the cache, Kiwi loaded
    vectors: list[dict[str, Any]] = [{"bm25": analyzer.analyze(parse_query(text).text).vector} for text in texts]
    searches: dict[str, Callable[[str], object]] = {}
    if encoder is not None:
        encoded = [encoder.query(parse_query(text).text) for text in texts]
        dense, sparse = vector_names(encoder.id)
        vectors = [each | {dense: of.dense, sparse: of.sparse} for each, of in zip(vectors, encoded, strict=True)]
        orders = [PIECES] * encoder.has_pieces
        for names in (*((name,) for name in RETRIEVERS), RETRIEVERS, *((*RETRIEVERS, order) for order in orders)):
            rank = lambda text, names=names: searcher.rank(filtered(text), retrievers=names)  # noqa: E731
            searches[f"`Searcher.rank` by {'+'.join(names)}, filter"] = rank
    searches["`Searcher.search`, filter"] = lambda text: searcher.search(filtered(text))
    searches["`Searcher.search`, no filter"] = lambda text: searcher.search(parse_query(text))
    windows, retrievers = f"{size:,} windows:", RETRIEVERS if encoder else LEXICAL
    yield latency(filling, f"{windows} query analysis with expansion", analyzer.analyze, texts)
    for what, where in (("filter", WHERE), ("no filter", Filter())):
        requests = [[VectorSearch(name, vector, DEPTH, where) for name, vector in each.items()] for each in vectors]
        what = f"{windows} the index through the host by {'+'.join(retrievers)}, {what}"
        yield latency(filling, what, index.search_all, requests, 12)
    for what, work in searches.items():
        yield latency(filling, f"{windows} {what}", work, texts)


def encode(filling: Filling, encoder: MadeUpEncoder) -> float:
    return timed(lambda: list(EncodingRun(filling.library, filling.index, encoder, encoder).run(patient=False)))


def cold(arguments: Sequence[str], before: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """Return processor and wall seconds of a process, each the median of several; call `before` before each."""
    spent = []
    for _run in range(RUNS):
        before()
        spent.append(processor_and_wall(arguments))
    return statistics.median(cpu for cpu, _wall in spent), statistics.median(wall for _cpu, wall in spent)


def run(arguments: Sequence[str]) -> None:
    subprocess.run(arguments, check=True, capture_output=True)


def starts(home: Path, scratch: Path, url: str) -> Iterator[Cells]:
    bare_cpu, bare_wall = cold([sys.executable, "-c", "pass"])
    yield budget("bare interpreter", f"{bare_cpu:.2f} s process, {bare_wall:.2f} s wall")

    def row(what: str, times: tuple[float, float], most: float) -> Cells:
        beyond = times[0] - bare_cpu
        figure = f"{beyond:.2f} s process beyond the interpreter, {times[1]:.2f} s wall"
        return budget(what, figure, f"≤ {most} s process", beyond <= most)

    yield row("`--help` cold", cold(command_line(home, "--help")), 0.15)
    search = command_line(home, *SEARCH)
    run(search)
    yield row("`search`, host running", cold(search), 0.6)
    with StandIn() as server:
        for what, address in (("sample", ""), ("sample on a Qdrant server", url or server.base)):
            run(command_line(sample_home(scratch / what, address), *SEARCH))
            requests_before = len(server.asked)
            yield row(f"`search` of the {what}, host running", cold(command_line(scratch / what, *SEARCH)), 0.6)
            if address == server.base:
                yield budget("requests of one search", f"{(len(server.asked) - requests_before) / RUNS:g}")
            end_host(scratch / what)
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "0.05"
    yield row("`search`, host not running", cold(search, lambda: end_host(home)), 0.6)


def sample_home(home: Path, url: str) -> Path:
    """Make a home whose library is the sample, with its index on this server or embedded."""
    home.mkdir()
    quiet = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
    (home / "config.toml").write_text(f'[qdrant]\nurl = "{url}"\n{quiet}', encoding="utf-8")
    run(command_line(home, "index", str(SAMPLE)))
    return home


MEMORY = """
import sys
from pathlib import Path
from subtitle_rag.cli.main import run
run(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
"""


def memory(filling: Filling, size: int) -> Iterator[Cells]:
    if not Path("/proc/self/status").exists():
        return
    host = process_memory(filling.index.host_pid)
    arguments = [sys.executable, "-c", MEMORY, "--home", str(filling.home), *SEARCH]
    narration = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True).stderr
    client = int(narration.split()[-1]) // 1024
    figure = f"host {host['VmRSS']:.0f} MB ({host['RssAnon']:.0f} its own, Kiwi included), `search` {client} MB at most"
    limited = size >= 100_000
    is_met = host["RssAnon"] + client <= 500 if limited else None
    yield budget(f"{size:,} windows: memory", figure, "≤ 500 MB" if limited else "", is_met)


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--sizes", type=numbers, default=(1_000, 20_000, 100_000))
    parser.add_argument("--dimensions", type=int, default=0)
    parser.add_argument("--pieces", action="store_true")
    parser.add_argument("--url", default="", help="of an empty Qdrant server; its collection is left there")
    parser.add_argument("--ratios", action="store_true")
    options = parser.parse_args()
    tune_garbage_collector()
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
    with _frame.machine(ANALYZER), tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as name:
        table = Table(*BUDGET_COLUMNS)
        scratch = Path(name)
        folders = corpus_folders(options.data, scratch)
        if not options.ratios:
            absolute(table, folders, scratch, options)
        for row in ratios(folders, scratch, SEARCH):
            table.row(*row)


def absolute(table: Table, folders: Sequence[Path], scratch: Path, options: Namespace) -> None:
    analyzer = Analyzer(yields=True)  # as commands have it
    analyzer.load()
    encoder = None
    if options.dimensions:
        encoder = MadeUpEncoder(options.dimensions, pieces=options.pieces)
    rows, corpus = indexing(folders, analyzer, scratch)
    for row in rows:
        table.row(*row)
    filling = Filling(scratch / "grown", analyzer)
    for size, seconds in grown(filling, corpus, options.sizes, CHANNELS if encoder else 300):
        table.row(*budget(f"{size:,} windows: filled without analysis in", f"{seconds:.0f} s"))
        if encoder:
            table.row(*budget(f"{size:,} windows: vectors made up and written in", f"{encode(filling, encoder):.0f} s"))
        time.sleep(SETTLE_S)
        for row in (*queries(filling, encoder, typed(corpus), size), *memory(filling, size)):
            table.row(*row)
    filling.close()
    for row in starts(filling.home, scratch, options.url):
        table.row(*row)
    for home in ("whole", "grown"):
        end_host(scratch / home)
