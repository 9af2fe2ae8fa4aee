"""Shared parts of the benchmarks: options, machine, Markdown tables, means with intervals."""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from unittest.mock import patch

from tests.support.terminal import memory

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Mean, Values
    from subtitle_rag.models.neural.neural_client import HostedModels

BUDGET_COLUMNS = ("what", "figure", "budget", "met")
T = TypeVar("T")
Cells = tuple[str, ...]
"""Columns of a row about a budget."""


def parser(description: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """Return the parser of a benchmark's options; with `data` it has the folder of a corpus."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        folder = os.environ.get("SUBTITLE_RAG_DATA")
        options.add_argument("--data", type=Path, default=Path(folder) if folder else None)
    return options


def numbers(text: str) -> tuple[int, ...]:
    """Read a text like `3,5,7`."""
    return tuple(int(part) for part in text.split(",") if part)


@contextmanager
def machine(*more: str) -> Iterator[None]:
    """Print cores, load and versions; at the end of the block, the load again."""
    python = sys.version.split()[0]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {python}{''.join(f', {m}' for m in more)}\n")
    yield
    print(f"\nload at the end: {os.getloadavg()[0]:.1f}")


class Table:
    """A Markdown table, printed row by row."""

    def __init__(self, *columns: str) -> None:
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)

    def row(self, *cells: object) -> None:
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def budget(what: str, figure: str, limit: str = "", is_met: bool | None = None) -> Cells:
    """Return the cells of a row of `BUDGET_COLUMNS`."""
    return what, figure, limit, "" if is_met is None else ("yes" if is_met else "**no**")


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor_and_wall(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return processor and wall seconds of a process."""
    started = time.perf_counter()
    process = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started


def in_new_process(work: Callable[..., T], *arguments: object) -> T:
    """Return the result of `work` in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def peak_mb() -> int:
    """Return this process's peak memory."""
    return round(memory(os.getpid())["VmHWM"])


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p95 of seconds, in ms."""
    ordered = sorted(1000 * value for value in values)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]


def mean_text(mean: "Mean", sign: str = "") -> str:
    """Return a mean with its 95 % interval; the `sign` of a difference is `+`."""
    value, low, high = (f"{number:{sign}.3f}" for number in (mean.value, *mean.interval))
    return f"{value} [{low}, {high}]"


def mean_texts(values: "Values", names: Sequence[str], sign: str = "") -> list[str]:
    """Return the means of some metrics of `metrics.per_question`, or of their differences, with their intervals."""
    from subtitle_rag.evaluation import metrics

    means = metrics.means(values)
    return [mean_text(means[name], sign) for name in names]


@contextmanager
def models_of(encoder: Path, *, pieces: bool = False) -> Iterator["HostedModels"]:
    """Open models with only this encoder; with `pieces`, it makes vectors of pieces, too."""
    from subtitle_rag.base.config.settings import ModelSettings
    from subtitle_rag.models.model_store import ModelStore
    from subtitle_rag.models.neural.neural_client import HostedModels

    settings = ModelSettings(encoder=str(encoder.resolve()), reranker="")
    with (
        tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder,
        patch("subtitle_rag.models.neural.neural_client.makes_pieces", lambda _encoder: pieces),
        closing(HostedModels(Path(folder), ModelStore(Path(folder), settings))) as models,
    ):
        if models.encoder() is None:
            raise SystemExit(f"{encoder} is not here, or lacks the extra that runs it")
        yield models
        models.unload()


NEAREST = 20
AGREEMENT = ("cosine", "least", f"first {NEAREST}")
"""Columns of `agreement`."""


def agreement(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> list[str]:
    """Compare an encoder's vectors with a reference's for the same texts.

    Returns mean and minimum cosine, and the share of the texts nearest to a text that the reference agrees with.
    """
    import numpy as np

    mine, reference = np.array(ours), np.array(theirs)
    if mine.shape != reference.shape:
        return ["–", "–", "–"]
    cosines = (mine * reference).sum(axis=1)
    near = [np.argsort(-(vectors @ vectors.T), axis=1)[:, 1 : NEAREST + 1] for vectors in (mine, reference)]
    shared = [
        len({*first} & {*second}) / NEAREST for first, second in zip(*(each.tolist() for each in near), strict=True)
    ]
    return [f"{cosines.mean():.4f}", f"{cosines.min():.4f}", f"{np.mean(shared):.2f}"]
