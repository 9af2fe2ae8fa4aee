"""`eval bench`: the tables of `eval run` on the sample library and on published sets, as one page.

Two machines that make the page compare line by line: it names the machine, the models and the command.
"""

import os
import platform
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from subtitle_rag import __version__
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.arms import Retrievers
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.eval_run import run_arms
from subtitle_rag.evaluation.questions import Dataset
from subtitle_rag.evaluation.report import EvalReport, render_report
from subtitle_rag.evaluation.tables import markdown
from subtitle_rag.evaluation.temp_library import ProgressCallback, ignore_progress
from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.runtime import Runtime

SAMPLE_QUESTIONS = Path(__file__).with_name("sample_questions.jsonl")
SAMPLE_CONTEXTS = Path(__file__).with_name("sample_contexts.jsonl")
SEED = 7
"""Draws the questions of a set that has more than are wanted."""

DIFFERENCES = (
    N_("the article embeds chunks of 800 tokens of code, fiction, papers and science; a window is a minute of speech"),
    N_("its contexts are by Claude 3 Haiku; those of the sample are by hand, by those who made the questions"),
    N_("its figures are means of several sets in English; each of these is one set, and the sample a small one"),
)
"""What is other than in the article beside whose figures the steps stand."""
OTHER_MODELS = """```
subtitle-rag models get BAAI/bge-m3 BAAI/bge-reranker-v2-m3
subtitle-rag eval bench {sets}--encoder BAAI/bge-m3 --reranker BAAI/bge-reranker-v2-m3
```"""


@dataclass(frozen=True, slots=True)
class BenchReport:
    """The figures of all sets, the machine and its models."""

    machine: str
    models: tuple[str, ...]
    sets: tuple[tuple[str, EvalReport], ...]
    """Each set's name, with its figures."""

    def to_json(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "machine": self.machine,
            "models": list(self.models),
            "sets": [{"name": name, **report.to_json()} for name, report in self.sets],
        }


def run_bench(
    sample: Runtime,
    paths: Sequence[Path],
    *,
    retrievers: Sequence[Retrievers] | None = None,
    neural: bool = True,
    rerank: bool = True,
    limit: int | None = None,
    progress: ProgressCallback = ignore_progress,
    encoding: ProgressCallback = ignore_progress,
) -> BenchReport:
    """Measure the search on the sample library, which `sample` has open, then on each set with documents of its own.

    Of a set with more questions, `limit` are drawn.

    Raises:
        UsageError: `unreadable`, `bad_queries`, `retriever_not_ready`.
        AppError: `eval_missing`.
        BusyError, AppError: from the library, the index and the models.
    """
    datasets = [(path, load_set(path)) for path in paths]  # a mistake in the last one is told before the first is read
    used = EvalModels.of(sample, neural=neural, rerank=rerank)
    reports = []
    for path, dataset in [(SAMPLE_QUESTIONS, load_set(SAMPLE_QUESTIONS)), *datasets]:
        report = run_arms(
            sample,
            _drawn(dataset, limit),
            contexts=SAMPLE_CONTEXTS if path == SAMPLE_QUESTIONS else None,
            retrievers=retrievers,
            neural=neural,
            rerank=rerank,
            progress=progress,
            encoding=encoding,
        )
        reports.append((_("sample library") if path == SAMPLE_QUESTIONS else path.stem, report))
    names = (each.id if each is not None else "" for each in (used.encoder, used.reranker))
    processors = n_("{n} processor", "{n} processors", os.cpu_count() or 1)
    machine = f"{platform.system()} {platform.machine()}, {processors}, Python {platform.python_version()}"
    return BenchReport(machine, tuple(filter(None, names)), tuple(reports))


def _drawn(dataset: Dataset, limit: int | None) -> Dataset:
    questions = dataset.questions
    if limit is None or len(questions) <= limit:
        return dataset
    numbers = sorted(random.Random(SEED).sample(range(len(questions)), limit))
    return replace(dataset, questions=tuple(questions[at] for at in numbers))


def render_bench(report: BenchReport, sets: Sequence[str], command: str) -> str:
    """Return the page as Markdown; `command` has made it of these sets."""
    parts: list[Sequence[str]] = [
        ["# " + _("Benchmarks")],
        [
            _("Made by `{command}` with subtitle-rag {version} on {machine}.").format(
                command=command, version=__version__, machine=report.machine
            )
        ],
        [_("Models: {names}.").format(names=", ".join(report.models) or _("none"))],
        [_("What differs from the article whose figures stand beside the steps:")],
        [f"- {_(difference)}" for difference in DIFFERENCES],
        [_("With other models, such as a larger encoder and a reranker, the same page is made by:")],
        [OTHER_MODELS.format(sets="".join(f"{name} " for name in sets))],
    ]
    for name, of_set in report.sets:
        questions = n_("{n} question", "{n} questions", of_set.queries)
        parts += [[f"## {name}: {questions}"], [render_report(of_set).rstrip()]]
    return markdown(*parts)
