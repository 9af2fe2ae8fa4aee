"""Compares starts and indexing with a pinned older commit: both by one interpreter, in turns."""

import os
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count
from pathlib import Path
from tarfile import open as open_tar

from scripts.benchmarks._corpus import SAMPLE, end_host
from scripts.benchmarks._frame import Cells, budget, processor_and_wall
from subtitle_rag.base.config.settings import Paths
from subtitle_rag.base.hosting.entry import host_entry
from tests.support.processes import command_line
from tests.support.terminal import Terminal, processor_s

PINNED = "5318666"
"""The commit before hosts, errors and screens took their present form."""
TURNS = 7
ROOT = Path(__file__).parents[2]
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'

Spent = tuple[float, float]
"""Processor and wall seconds."""


@dataclass
class Tree:
    """Source of the program, and a folder for its homes."""

    source: Path
    scratch: Path
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.home = self.new_home()
        self.spent(self.home, "index", SAMPLE)

    def new_home(self) -> Path:
        home = self.scratch / str(next(self.numbers))
        home.mkdir(parents=True)
        (home / "config.toml").write_text(QUIET, encoding="utf-8")
        return home

    def environment(self) -> Mapping[str, str]:
        """Return the variables with which `python -m subtitle_rag` and its hosts come from this source."""
        bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(self.scratch / "bytecode")}
        return {"PYTHONPATH": str(self.source), "PYTHONSAFEPATH": "1", **bytecode}

    def spent(self, home: Path, *arguments: object) -> Spent:
        return processor_and_wall(command_line(home, *arguments), {**os.environ, **self.environment()})

    def painted(self) -> Spent:
        """Return what the app needs to its first frame."""
        with Terminal(command_line(self.home), self.environment()) as terminal:
            return terminal.painted()

    def indexed(self, folders: Sequence[Path]) -> Spent:
        """Return what `index` needs in a new home and its host, beyond that for one file: Kiwi's load is in both."""
        spent = []
        for sources in (folders, [min(SAMPLE.glob("*.vtt"))]):
            home = self.new_home()
            processor, wall = self.spent(home, "index", *sources)
            entry = host_entry(Paths.under(home).index)
            assert entry, "the index host outlives its client"
            spent.append((processor + processor_s(entry["pid"]), wall))
            end_host(home)
        (processor, wall), (one_processor, one_wall) = spent
        return processor - one_processor, wall - one_wall

    def cold_search(self, *arguments: object) -> Spent:
        end_host(self.home)
        return self.spent(self.home, *arguments)


def ratios(folders: Sequence[Path], scratch: Path, search: Sequence[str]) -> Iterator[Cells]:
    """Yield rows that compare this source with `PINNED`; both spend each turn one after the other."""
    packed = subprocess.run(["git", "archive", PINNED], cwd=ROOT, check=True, capture_output=True)
    with open_tar(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(scratch / PINNED, filter="data")
    trees = Tree(ROOT, scratch / "of this source"), Tree(scratch / PINNED, scratch / "of the older source")
    works: Mapping[str, Callable[[Tree], Spent]] = {
        "`--help`": lambda tree: tree.spent(tree.home, "--help"),
        "`search`, host running": lambda tree: tree.spent(tree.home, *search),
        "`search`, host not running": lambda tree: tree.cold_search(*search),
        "`status`, host running": lambda tree: tree.spent(tree.home, "status"),
        "`status`, host not running": lambda tree: tree.cold_search("status"),
        "app to its first frame": Tree.painted,
        "`index` with its host, without Kiwi's load": lambda tree: tree.indexed(folders),
    }
    for what, work in works.items():
        for tree in trees:
            work(tree)  # files in the cache, bytecode written
        turns = [[work(tree) for tree in trees] for _turn in range(TURNS)]
        for kind, unit in enumerate(("processor", "wall")):
            ours, older = (statistics.median(turn[tree][kind] for turn in turns) for tree in range(2))
            figure = f"{ours:.2f} s ÷ {older:.2f} s = {ours / older:.2f}"
            yield budget(f"{what} ÷ {PINNED}, {unit}", figure, "≤ 1", round(ours / older, 2) <= 1)
    for tree in trees:
        end_host(tree.home)
