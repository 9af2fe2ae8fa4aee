"""How well the same windows are found with the contexts of several models, or with the vectors of several encoders."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from subtitle_rag.evaluation import metrics, temp_library
from subtitle_rag.evaluation.arms import GIVEN, NO_MODEL, Arm, ArmChoice, EvalModels, ProgressCallback, Retrievers, View
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.json_lines import bad_queries
from subtitle_rag.evaluation.model_comparison import DrawnVideo
from subtitle_rag.evaluation.questions import Dataset, GoldSet, gold_set, windows_by_name
from subtitle_rag.evaluation.report import ArmComparison, Row
from subtitle_rag.i18n import _
from subtitle_rag.retrieval import LEXICAL, Encoder, Models
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from pathlib import Path

    from subtitle_rag.evaluation.metrics import Values


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


@dataclass(slots=True)
class VariantRows:
    """The rows of all variants."""

    rows: list[Row] = field(default_factory=list)
    encode_seconds: dict[str, float] = field(default_factory=dict)
    """By variant: the time in which its vectors were made."""


def questions_about(path: "Path", runtime: Runtime) -> tuple[Dataset, frozenset[str]]:
    """Read a set of questions; return it with the ids of the library's videos that they are about.

    Raises:
        UsageError: `unreadable`; `bad_queries` also for a set with documents of its own, and if the library has none of
            the videos.
    """
    dataset = load_set(path)
    if dataset.documents:
        raise bad_queries(path, 1, _("its questions are about documents of its own, not about scenes"))
    windows = {state.video.id: runtime.library.windows_of(state.video.id) for state in runtime.library.videos()}
    gold_set(dataset, runtime.library, windows)
    names = {gold.video for question in dataset.questions for gold in question.gold}
    by_name = windows_by_name(runtime.library, windows, names)
    return dataset, frozenset(window.video_id for some in by_name.values() for window in some)


def drawn_gold(dataset: Dataset, runtime: Runtime, drawn: Sequence[DrawnVideo]) -> GoldSet:
    """Return the questions about these videos, and their right windows; raises UsageError `bad_queries` if none is."""
    return gold_set(dataset, runtime.library, {each.video.id: each.windows for each in drawn})


def of_settings(runtime: Runtime, *, neural: bool) -> tuple[EvalModels, list[Retrievers]]:
    """Return the models of the settings without the reranker, and the retrievers: by words, and all that are ready."""
    models = EvalModels.of(runtime, ArmChoice(neural=neural, rerank=False))
    every = models.retrievers(ArmChoice())[-1]
    return models, [LEXICAL, *([every] if every != LEXICAL else [])]


def measure(
    runtime: Runtime,
    drawn: Sequence[DrawnVideo],
    gold: GoldSet,
    variants: Sequence[Variant],
    encoding: ProgressCallback | None = None,
) -> VariantRows:
    """Search a copy of the drawn videos for each variant; the first one is the base of the comparisons.

    `encoding` gets the number of windows that all copies have encoded, and that they will have.

    Raises:
        BusyError, AppError: from the index and the models.
    """
    documents = [(each.video, each.windows) for each in drawn]
    analyzer = temp_library.CachingAnalyzer(runtime.analyzer, temp_library.known_morphemes(runtime.library))
    total = sum(len(each.windows) for each in drawn) * sum(variant.encoder is not None for variant in variants)
    done = 0
    result = VariantRows()
    base: dict[Retrievers, tuple[str, Values]] = {}
    for variant in variants:
        with ExitStack() as opened:
            copy = opened.enter_context(
                temp_library.create(
                    documents,
                    analyzer,
                    variant.contexts,
                    models=variant.models,
                    fusion=runtime.settings.search.fusion,
                )
            )
            if variant.encoder is not None and variant.models is not None:
                started = perf_counter()
                for count in temp_library.encode(copy, variant.encoder, variant.models):
                    done += count
                    if encoding is not None:
                        encoding(done, total)
                result.encode_seconds[variant.name] = perf_counter() - started
            level = GIVEN if variant.contexts else NO_MODEL
            for names in variant.sets:
                arm = Arm(View(level, copy.library, copy.searcher), names)
                ranked = arm.rank_all(gold.questions)
                values = metrics.per_question(gold.windows, ranked.rankings)
                name = ": ".join(filter(None, (variant.name, "+".join(names))))
                row = Row.measured(name, values, gold.kinds)
                over = None
                if names in base:
                    before, base_values = base[names]
                    over = ArmComparison(before, metrics.gaps(values - base_values))
                else:
                    base[names] = name, values
                result.rows.append(
                    replace(
                        row,
                        retrievers=names,
                        setting=f"{len(variant.contexts)}/{sum(len(some) for _video, some in documents)}",
                        contexts_from=level,
                        took_ms=ranked.percentiles(),
                        over=over,
                    )
                )
    return result
