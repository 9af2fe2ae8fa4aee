"""Measures against the budgets of the design and prints a Markdown table.

    scripts/bench budgets [--data FOLDER] [--sizes 1000,20000,100000]

`--data` (or SUBTITLE_RAG_DATA) is a folder with `pyconkr_2019` and `fashion_asr`; without one, copies of the bundled
sample serve. Larger libraries are copies of the corpus' windows under new ids, with their words shuffled and every
twentieth morpheme renamed, so that the vocabulary grows. Times are of this machine at this moment: look at its load.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    SETTLE_S,
    Analysed,
    Filling,
    analysed,
    corpus_folders,
    end_host,
    grown,
    latency,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, command, numbers, timed
from subtitle_rag.garbage import tune_garbage_collector
from subtitle_rag.retrieval.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.search import DEPTH, Searcher
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.values import VectorSearch
from tests.support.terminal import memory as process_memory

RUNS = 7
"""Of each cold start."""


def stages(folders: Sequence[Path], analyzer: Analyzer, scratch: Path) -> tuple[list[Cells], list[Analysed]]:
    """The stages one by one, then all of them as `index` runs them."""
    spent: dict[str, float] = {}
    corpus = analysed(folders, analyzer, spent)
    count = sum(len(entry.windows) for entry in corpus)
    filling = Filling(scratch / "stages", analyzer)
    spent["put (SQLite)"] = timed(lambda: filling.put(corpus))
    spent["upsert (host)"] = timed(lambda: filling.insert(corpus))
    filling.close()
    rows = [budget(f"{name}, windows/s", f"{count / seconds:,.0f}") for name, seconds in spent.items()]
    filling = Filling(scratch / "whole", analyzer)
    began = time.process_time()
    seconds = timed(lambda: list(filling.indexer.index(folders)))  # with Kiwi and the host loaded
    cores = (time.process_time() - began) / seconds
    filling.close()
    rate = count / seconds
    share = rate * spent["Kiwi (two workers)"] / count
    limit, is_met = "≥ 300, or 0.8 of Kiwi alone", rate >= 300 or share >= 0.8
    rows.append(budget("whole, windows/s", f"{rate:,.0f} ({cores:.1f} cores busy)", limit, is_met))
    rows.append(budget("whole ÷ Kiwi alone", f"{share:.3f}", "1 is the ceiling"))
    return rows, corpus


def queries(filling: Filling, corpus: Sequence[Analysed], size: int) -> Iterator[Cells]:
    analyzer = HostedQueryAnalyzer(filling.index, filling.library.path)
    searcher = Searcher(filling.library, filling.index, analyzer)
    parsed = [parse_query(query) for query in typed(corpus)]
    for query in parsed[:10]:
        searcher.search(query)  # files in the cache, Kiwi loaded
    searches = [VectorSearch("bm25", analyzer.analyze(query.text).vector, DEPTH) for query in parsed]
    name = f"{size:,} windows:"
    yield latency(filling, f"{name} query analysis with expansion", lambda query: analyzer.analyze(query.text), parsed)
    through_host = lambda search: filling.index.search_all([search])  # noqa: E731
    yield latency(filling, f"{name} `index.search` through the host", through_host, searches, 12)
    yield latency(filling, f"{name} `Searcher.search` whole", searcher.search, parsed)


def cold(arguments: Sequence[str], before: Callable[[], None] = lambda: None) -> tuple[float, float]:
    """Processor and wall seconds of a process, each the median of several; `before` is called before each."""
    spent = []
    for _run in range(RUNS):
        before()
        started = time.perf_counter()
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _pid, _status, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        spent.append((usage.ru_utime + usage.ru_stime, time.perf_counter() - started))
    return statistics.median(cpu for cpu, _wall in spent), statistics.median(wall for _cpu, wall in spent)


def starts(home: Path) -> Iterator[Cells]:
    bare_cpu, bare_wall = cold([sys.executable, "-c", "pass"])
    yield budget("bare interpreter", f"{bare_cpu:.2f} s process, {bare_wall:.2f} s wall")

    def row(what: str, cpu: float, wall: float, most: float) -> Cells:
        beyond = cpu - bare_cpu
        figure = f"{beyond:.2f} s process beyond the interpreter, {wall:.2f} s wall"
        return budget(what, figure, f"≤ {most} s process", beyond <= most)

    yield row("`--help` cold", *cold(command(home, "--help")), 0.15)
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
    search = command(home, "search", "치킨 소스")
    subprocess.run(search, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    yield row("`search`, host running", *cold(search), 0.6)
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "0.05"
    yield row("`search`, host not running", *cold(search, lambda: end_host(home)), 0.6)


MEMORY = """
import sys
from pathlib import Path
from subtitle_rag.cli import run
run(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
"""


def memory(filling: Filling, size: int) -> Iterator[Cells]:
    if not Path("/proc/self/status").exists():
        return
    host = process_memory(filling.index.host_pid)
    arguments = [sys.executable, "-c", MEMORY, "--home", str(filling.home), "search", "치킨 소스"]
    narration = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True).stderr
    client = int(narration.split()[-1]) // 1024
    figure = f"host {host['VmRSS']:.0f} MB ({host['RssAnon']:.0f} its own, Kiwi included), `search` {client} MB at most"
    limited = size >= 100_000
    is_met = host["RssAnon"] + client <= 500 if limited else None
    yield budget(f"{size:,} windows: memory", figure, "≤ 500 MB" if limited else "", is_met)


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--sizes", type=numbers, default=(1_000, 20_000, 100_000))
    options = parser.parse_args()
    tune_garbage_collector()
    analyzer = Analyzer(yields=True)  # as commands have it
    analyzer.load()
    with _frame.machine(ANALYZER), tempfile.TemporaryDirectory(prefix="subtitle-rag-bench-") as name:
        table = Table(*BUDGET_COLUMNS)
        scratch = Path(name)
        rows, corpus = stages(corpus_folders(options.data, scratch), analyzer, scratch)
        for row in rows:
            table.row(*row)
        os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
        filling = Filling(scratch / "grown", analyzer)
        for size, seconds in grown(filling, corpus, options.sizes):
            table.row(*budget(f"{size:,} windows: filled without analysis in", f"{seconds:.0f} s"))
            time.sleep(SETTLE_S)
            for row in (*queries(filling, corpus, size), *memory(filling, size)):
                table.row(*row)
        filling.close()
        for row in starts(filling.home):
            table.row(*row)
        for home in ("stages", "whole", "grown"):
            end_host(scratch / home)
