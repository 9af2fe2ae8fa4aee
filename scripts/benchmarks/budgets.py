"""Measures against the budgets of the design and prints a Markdown table.

    scripts/bench budgets [--data FOLDER] [--sizes 1000,20000,100000]

`--data` (or SUBTITLE_RAG_DATA) is a folder with `pyconkr_2019` and `fashion_asr`; without one, copies of the bundled
sample serve. Larger libraries are copies of the corpus' windows under new ids, with their words shuffled and every
twentieth morpheme renamed, so that the vocabulary grows. Times are of this machine at this moment: look at its load.
"""

import os
import pty
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    Analysed,
    Filling,
    corpus_folders,
    end_host,
    grown,
    joined,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, numbers, spread, timed
from subtitle_rag.captions import files
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.garbage import tune_garbage_collector
from subtitle_rag.retrieval.index.analysis_client import HostedQueryAnalyzer
from subtitle_rag.retrieval.index.index_document import IndexDocument
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.search import DEPTH, Searcher
from subtitle_rag.retrieval.search.query import parse_query as parse_query
from subtitle_rag.retrieval.values import VectorSearch

if TYPE_CHECKING:
    from subtitle_rag.domain import Cue, Morphemes, Window
    from subtitle_rag.retrieval.values import SparseVector

RUNS = 7
"""Of each cold start."""
SETTLE_S = 8.0
"""After filling: the host optimizes when it has been idle for 5 s."""


def stages(folders: Sequence[Path], analyzer: Analyzer, scratch: Path) -> tuple[list[Cells], list[Analysed]]:
    """The stages one by one, then all of them as `index` runs them."""
    groups = [group for group in files.discover(folders) if isinstance(group, files.CaptionGroup)]
    tracks = [(group.video, files.read(group.candidates[0])) for group in groups]
    parse_captions(b"WEBVTT\n\n00:00.000 --> 00:01.000\nx\n", "vtt")  # its imports are not its work
    cues: list[list[Cue]] = []
    spent = {"parse": timed(lambda: cues.extend(list(parse_captions(t.raw, t.format, path=v.id)) for v, t in tracks))}
    windows_by_track: list[list[Window]] = []
    spent["window"] = timed(
        lambda: windows_by_track.extend(
            cut_windows(video.id, track_cues) for (video, _track), track_cues in zip(tracks, cues, strict=True)
        )
    )
    texts = [window.text for some in windows_by_track for window in some]
    analyses: list[Morphemes] = []
    spent["Kiwi (two workers)"] = timed(lambda: analyses.extend(analyzer.morphemes(texts)))
    analysed = list(joined(tracks, windows_by_track, iter(analyses)))
    materials = [IndexDocument(entry.video, entry.windows, {}) for entry in analysed]
    before = [list(analyzer.morphemes(material.prefix_texts())) for material in materials]
    vectors: list[list[SparseVector]] = []
    spent["vectors"] = timed(
        lambda: vectors.extend(
            list(material.vectors([*first, *entry.analyses]).values())
            for material, first, entry in zip(materials, before, analysed, strict=True)
        )
    )
    analysed = [replace(entry, vectors=video_vectors) for entry, video_vectors in zip(analysed, vectors, strict=True)]
    with_place = Filling(scratch / "stages", analyzer)
    spent["put (SQLite)"] = timed(lambda: with_place.put(analysed))
    spent["upsert (host)"] = timed(lambda: with_place.insert(analysed))
    with_place.close()
    rows = [budget(f"{name}, windows/s", f"{len(texts) / seconds:,.0f}") for name, seconds in spent.items()]
    total, cpu = whole_run(folders, analyzer, scratch)
    rate = len(texts) / total
    share = rate * spent["Kiwi (two workers)"] / len(texts)
    limit, is_met = "≥ 300, or 0.8 of Kiwi alone", rate >= 300 or share >= 0.8
    rows.append(budget("whole, windows/s", f"{rate:,.0f} ({cpu / total:.1f} cores busy)", limit, is_met))
    rows.append(budget("whole ÷ Kiwi alone", f"{share:.3f}", "1 is the ceiling"))
    return rows, analysed


def whole_run(folders: Sequence[Path], analyzer: Analyzer, scratch: Path) -> tuple[float, float]:
    """Wall and processor seconds of indexing into an empty library, with Kiwi and the host loaded."""
    filling = Filling(scratch / "whole", analyzer)
    before = resource.getrusage(resource.RUSAGE_SELF)
    wall = timed(lambda: list(filling.indexer.index(folders)))
    after = resource.getrusage(resource.RUSAGE_SELF)
    filling.close()
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def queries(filling: Filling, corpus: Sequence[Analysed], size: int) -> Iterator[Cells]:
    analyzer = HostedQueryAnalyzer(filling.index, filling.library.path)
    searcher = Searcher(filling.library, filling.index, analyzer)
    parsed = [parse_query(query) for query in typed(corpus)]
    for query in parsed[:10]:
        searcher.search(query)  # files in the cache, Kiwi loaded
    analysed = [analyzer.analyze(query.text) for query in parsed]
    parts: dict[str, list[float]] = {
        "query analysis with expansion": [timed(lambda q=q: analyzer.analyze(q.text)) for q in parsed],  # type: ignore[misc]
        "`index.search` through the host": [
            timed(lambda a=a: filling.index.search_all([VectorSearch("bm25", a.vector, DEPTH)]))  # type: ignore[misc]
            for a in analysed
        ],
        "`Searcher.search` whole": [timed(lambda q=q: searcher.search(q)) for q in parsed],  # type: ignore[misc]
    }
    for name, times in parts.items():
        p50, p95 = spread(times)
        limited = "index.search" in name
        limit = "≤ 12 ms p95 (of three retrievers: scripts/bench hybrid)" if limited else ""
        yield budget(
            f"{size:,} windows: {name}, p50 / p95", f"{p50:.1f} / {p95:.1f} ms", limit, p95 <= 12 if limited else None
        )


def command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "subtitle_rag", "--home", str(home), *arguments]


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
    painted = sorted(paint(command(home)) for _run in range(RUNS))
    yield row("TUI, exec to first frame", *painted[len(painted) // 2], 0.5)


def paint(arguments: Sequence[str]) -> tuple[float, float]:
    """Processor and wall seconds from exec until a terminal has received a frame: the alternate screen, and text."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
        os.execv(arguments[0], list(arguments))
    frame = b""
    while time.perf_counter() - started < 20:
        if select.select([terminal], [], [], 0.5)[0]:
            frame += os.read(terminal, 65536)
            if len(frame.partition(b"\x1b[?1049h")[2]) > 1000:
                break
    wall = time.perf_counter() - started
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)
    return cpu, wall


def status_mb(pid: int, *names: str) -> list[int]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return [int(line.split()[1]) // 1024 for name in names for line in lines if line.startswith(f"{name}:")]


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
    rss, anonymous = status_mb(filling.index.host_pid, "VmRSS", "RssAnon")
    arguments = [sys.executable, "-c", MEMORY, "--home", str(filling.home), "search", "치킨 소스"]
    narration = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True).stderr
    client = int(narration.split()[-1]) // 1024
    figure = f"host {rss} MB ({anonymous} MB its own, Kiwi included), `search` {client} MB at most"
    limit = size >= 100_000
    yield budget(
        f"{size:,} windows: memory", figure, "≤ 500 MB" if limit else "", anonymous + client <= 500 if limit else None
    )


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
