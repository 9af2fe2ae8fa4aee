"""Search over the same windows with several models' contexts, or several encoders' vectors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.evaluation import temp_library
from subtitle_rag.evaluation.arm_run import ArmRun, MeasuredArm
from subtitle_rag.evaluation.arms import GIVEN, NO_MODEL, Arm, Retrievers
from subtitle_rag.evaluation.dataset import load_questions
from subtitle_rag.evaluation.questions import Dataset, Document, GoldSet, gold_set
from subtitle_rag.evaluation.report import Row
from subtitle_rag.library.portable_names import all_windows, windows_by_name
from subtitle_rag.models.neural.protocols import Encoder, Models
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL


@dataclass(frozen=True, slots=True)
class Variant:
    """The contexts and vectors of one row."""

    name: str
    contexts: Mapping[str, str]
    """By window."""
    encoder: Encoder | None = None
    models: Models | None = None
    """Finds the encoder; None without one."""
    sets: Sequence[Retrievers] = (LEXICAL,)


def questions_about(path: Path, runtime: Runtime) -> tuple[Dataset, frozenset[str]]:
    """Read a set of questions; return it with the ids of the library's videos in it.

    Raises:
        UsageError: as `load_questions`; `bad_line` also if the library has none of the videos.
    """
    dataset = load_questions(path)
    windows = all_windows(runtime.library)
    gold_set(dataset, runtime.library, windows)
    names = {gold.video for question in dataset.questions for gold in question.gold}
    by_name = windows_by_name(runtime.library, windows, names)
    return dataset, frozenset(window.video_id for some in by_name.values() for window in some)


def measure(
    runtime: Runtime,
    documents: Sequence[Document],
    gold: GoldSet,
    variants: Sequence[Variant],
    encoded: Callable[[int], object] = lambda _count: None,
) -> tuple[list[Row], dict[str, float]]:
    """Search a copy of the chosen videos for each variant; the first is the baseline.

    Args:
        runtime: the library and its models.
        documents: the videos with their windows.
        gold: the questions.
        variants: the contexts and vectors of each row.
        encoded: gets the size of every batch of windows.

    Returns:
        The rows, and the time to make the vectors by variant.

    Raises:
        BusyError, AppError: from the index and the models.
    """
    analyzer = temp_library.CachingAnalyzer(runtime.analyzer, temp_library.known_morphemes(runtime.library))
    windows = sum(len(some) for _video, some in documents)
    seconds: dict[str, float] = {}

    def runs() -> Iterator[ArmRun]:
        for variant in variants:
            with temp_library.create(
                documents,
                analyzer,
                variant.contexts,
                models=variant.models,
                encoder=variant.encoder,
                encoded=encoded,
                level=GIVEN if variant.contexts else NO_MODEL,
                setting=f"{len(variant.contexts)}/{windows}",
            ) as view:
                if variant.encoder is not None:
                    seconds[variant.name] = view.encode_seconds
                for names in variant.sets:
                    name = ": ".join(filter(None, (variant.name, "+".join(names))))
                    yield ArmRun(Arm(name, view.level, names), view)

    rows: list[Row] = []
    bases: dict[Retrievers, MeasuredArm] = {}
    for run in runs():
        measured = run.measure(gold)
        base = bases.setdefault(run.arm.retrievers, measured)
        rows.append(Row.of(measured, gold, lesser=base if base is not measured else None))
    return rows, seconds
