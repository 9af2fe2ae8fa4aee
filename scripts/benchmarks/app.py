"""Measures the app in a terminal, on a large library, and prints a Markdown table.

    scripts/bench app [--data FOLDER] [--home FOLDER] [--keys 120] [--only keys,…]

The app runs in a pseudo-terminal of 120×40 and gets keys as bytes; a measurement ends when the frame's bytes have
arrived. The library has 100,000 windows (created as in `budgets`) of 5,000 videos and 300 channels; with `--home` it is
created there and reused. No model is used. `--only` is a list of: start, keys, library. Times depend on the machine's
current load.
"""

import math
import mmap
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import (
    SETTLE_S,
    WINDOWS_IN_VIDEO,
    Filling,
    analysed,
    corpus_folders,
    end_host,
    grown,
    typed,
)
from scripts.benchmarks._frame import BUDGET_COLUMNS, Cells, Table, budget, spread
from subtitle_rag.base.config.settings import Paths
from subtitle_rag.base.hosting.entry import host_entry
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from tests.support.processes import command_line
from tests.support.terminal import Terminal, memory

WINDOWS = 100_000
RUNS = 7
"""Number of starts of each kind."""
SYLLABLES_S = (0.25, 0.6)
"""Seconds between two syllables when typing Hangul: 600 to 250 strokes a minute."""
LONGEST = 14
"""Maximum syllables of a query."""
WAIT_S = 20.0
MAP_LOCKED = 0x2000
"""Flag of Linux's mmap(2)."""
CONFIG = """[models]
encoder = ""
reranker = ""

[player]
default = "stub"

[players.stub]
command = ["true", "{url}"]
"""
ENVIRONMENT = {"SUBTITLE_RAG_LANGUAGE": "ko", "SUBTITLE_RAG_OLLAMA": "", "DISPLAY": ":0"}
CTRL_L, CTRL_U, DOWN, UP, PAGE_DOWN, PAGE_UP = "\x0c", "\x15", "\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[5~"


@dataclass
class Bench:
    home: Path
    queries: Sequence[str]
    keys: int
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    def app(self, gaps: Path) -> Terminal:
        """Start the app, with marks."""
        program = str(Path(__file__).with_name("_measured_app.py"))
        return Terminal([sys.executable, program, str(self.home), str(gaps)], ENVIRONMENT)

    def ready(self, gaps: Path) -> Terminal:
        """Start the app, and wait until it can be searched."""
        terminal = self.app(gaps)
        if terminal.until(mark("SearchReady"), WAIT_S) is None:
            raise SystemExit("the app did not get ready")
        terminal.drain(1.0)
        return terminal

    def typing(self, terminal: Terminal, keys: int) -> tuple[list[float], int]:
        """Type queries: the seconds from a syllable to the list that answers it, and how many were not answered before
        the next syllable."""
        answered: list[float] = []
        late = 0
        for query in self.queries:
            if not query.replace(" ", "").isalnum():  # a query of symbols alone has nothing to find
                continue
            for at, syllable in enumerate(query[:LONGEST], start=1):
                pause = self.rng.uniform(*SYLLABLES_S)
                pressed = terminal.write(syllable)
                if not syllable.isspace():
                    seen_at = terminal.until(mark(f"scenes {query[:at]}"), pause)
                    late += seen_at is None
                    answered += [] if seen_at is None else [seen_at - pressed]
                terminal.drain(pressed + pause - time.monotonic())
                if len(answered) + late == keys:
                    break
            terminal.write(CTRL_U)
            terminal.drain(0.6)
            if len(answered) + late == keys:
                break
        return answered, late

    def start(self) -> Iterator[Cells]:
        bare = statistics.median(self._bare() for _run in range(RUNS))
        cold = [self._painted() for _run in range(RUNS)]
        cpu, wall = (statistics.median(values) for values in zip(*cold, strict=True))
        figure = f"{cpu - bare:.2f} s process beyond the interpreter, {wall:.2f} s wall"
        yield budget("first painted frame", figure, "≤ 0.5 s process", cpu - bare <= 0.5)
        for running in (True, False):
            took = [self._answered(running) for _run in range(3)]
            what = "exec to the scenes of a query typed at once, host " + ("running" if running else "not running")
            yield budget(what, f"{statistics.median(took):.2f} s wall")

    def _bare(self) -> float:
        with Terminal([sys.executable, "-c", "print('x' * 10); input()"]) as terminal:
            terminal.until(b"x{10}", WAIT_S)
            return terminal.spent()

    def _painted(self) -> tuple[float, float]:
        with Terminal(command_line(self.home), ENVIRONMENT) as terminal:
            return terminal.painted()

    def _answered(self, running: bool) -> float:
        if not running:
            end_host(self.home)
        with self.app(Path(os.devnull)) as terminal:
            terminal.painted()
            terminal.write("치킨")
            seen_at = terminal.until(mark("scenes 치킨"), WAIT_S)
            return (seen_at or float("nan")) - terminal.started

    def typed(self) -> Iterator[Cells]:
        with ExitStack() as open_:
            gaps = open_.enter_context(tempfile.NamedTemporaryFile(mode="r"))
            open_.enter_context(in_memory(Paths.under(self.home).library))
            terminal = open_.enter_context(self.ready(Path(gaps.name)))
            self.typing(terminal, 20)
            began = time.monotonic()
            answered, late = self.typing(terminal, self.keys)
            p50, p95 = spread(answered or [math.inf])
            figure = f"{p50:.0f} / {p95:.0f} ms ({len(answered)} keys, {late} not before the next)"
            yield budget("key to repainted list, p50 / p95", figure, "p95 < 60 ms", p95 < 60 and not late)
            yield held("typing", gaps.read(), began)

    def library(self) -> Iterator[Cells]:
        with tempfile.NamedTemporaryFile(mode="r") as gaps, self.ready(Path(gaps.name)) as terminal:
            began = terminal.write(CTRL_L)
            seen_at = terminal.until(mark("videos"), WAIT_S) or float("nan")
            terminal.drain(1.0)
            yield budget(
                f"library with {WINDOWS // WINDOWS_IN_VIDEO:,} videos: Ctrl+L to all rows",
                f"{1000 * (seen_at - began):.0f} ms",
            )
            yield held("opening it", gaps.read(), began)
            began = terminal.write("\t")
            for key in [DOWN, PAGE_DOWN, DOWN, PAGE_UP, UP] * 20:
                terminal.write(key)
                terminal.drain(0.05)
            yield held("moving in it", gaps.read(), began)
            entry = host_entry(Paths.under(self.home).index)
            assert entry
            app, host = (memory(pid)["RssAnon"] for pid in (terminal.pid, entry["pid"]))
            figure = f"app {app:.0f} MB, host {host:.0f} MB"
            yield budget("memory of their own", figure, "≤ 500 MB", app + host <= 500)


@contextmanager
def in_memory(file: Path) -> Iterator[None]:
    """Keep a file in the system's memory, where that of a library in daily use is: some virtual machines take it from
    there within seconds, and then it is their disk that is measured."""
    with file.open("rb") as opened:
        flags = mmap.MAP_SHARED | (MAP_LOCKED if sys.platform == "linux" else 0)
        with mmap.mmap(opened.fileno(), 0, flags, mmap.PROT_READ):
            yield


def mark(text: str) -> bytes:
    """Return the escape sequence that the measured app writes after a frame."""
    return b"\x1b]7777;" + text.encode().hex().encode() + b"\x07"


def held(what: str, gaps: str, began: float) -> Cells:
    """Return the longest time since `began` that the event loop spent on one thing."""
    pairs = (line.split() for line in gaps.splitlines())
    longest = sorted((float(gap) for at, gap in pairs if float(at) >= began), reverse=True)
    often = sum(gap > 0.05 for gap in longest)
    figure = f"{1000 * longest[0]:.0f} ms" if longest else "< 10 ms"
    return budget(f"event loop held longest while {what}", f"{figure} ({often} times over 50 ms)")


def fill(home: Path, folders: Sequence[Path]) -> list[str]:
    """Make the library if it is missing; return queries."""
    notes = home / "queries.txt"
    if notes.exists():
        return notes.read_text(encoding="utf-8").splitlines()
    analyzer = Analyzer()
    corpus = analysed(folders, analyzer)
    filling = Filling(home, analyzer)
    for _size, _seconds in grown(filling, corpus, [WINDOWS]):
        pass
    filling.close()
    time.sleep(SETTLE_S)
    Paths.under(home).config.write_text(CONFIG, encoding="utf-8")
    queries = typed(corpus)
    notes.write_text("\n".join(queries), encoding="utf-8")
    return queries


def main() -> None:
    parser = _frame.parser(__doc__, data=True)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--keys", type=int, default=120)
    parser.add_argument("--only", default="start,keys,library")
    options = parser.parse_args()
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "60"
    with tempfile.TemporaryDirectory(prefix="subtitle-rag-bench-") as name:
        scratch = Path(name)
        home = options.home or scratch / "home"
        home.mkdir(parents=True, exist_ok=True)
        folders = corpus_folders(options.data, scratch)
        bench = Bench(home, fill(home, folders), options.keys)
        parts = {"start": bench.start, "keys": bench.typed, "library": bench.library}
        with _frame.machine(ANALYZER, f"{WINDOWS:,} windows"):
            table = Table(*BUDGET_COLUMNS)
            for part in options.only.split(","):
                for row in parts[part]():
                    table.row(*row)
            end_host(home)
