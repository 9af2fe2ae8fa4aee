"""Put each step of contextual retrieval beside the published one.

Anthropic 2024, "Introducing Contextual Retrieval": the first 20 chunks miss 5.7 % with embeddings alone, 3.7 % with
contextual embeddings (−35 %), 2.9 % with contextual BM25 as well (−49 %) and 1.9 % with reranking (−67 %).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NO_MODEL, NONE, Arm, EvalModels
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.search import LEXICAL

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

SOURCE = "Anthropic 2024, Introducing Contextual Retrieval"
_BEST = (GIVEN, MODEL, NO_MODEL)
_DENSE = ("dense",)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one of two ladders, `embeddings` and `words`, and the arm that may measure it."""

    name: str
    ladder: str
    levels: tuple[str, ...]
    """In the order of preference."""
    retrievers: tuple[str, ...] | None
    """None: the most retrievers of those with words and sense together."""
    rerank: bool = False
    published: tuple[float, float | None] | None = None
    """Failure and change."""


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """A step's failure (0–1) and its change against the ladder's first step, with its 95 % interval."""

    step: Step
    arm: str | None
    """None: no arm measured it, for `reason`."""
    failure: float | None = None
    change: tuple[float, float, float] | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step.name,
            "ladder": self.step.ladder,
            "arm": self.arm,
            "failure@20": self.failure,
            "change": list(self.change) if self.change else None,
            "published": list(self.step.published) if self.step.published else None,
            "reason": self.reason,
        }


STEPS = (
    Step(N_("embeddings of the text alone"), "embeddings", (NONE,), _DENSE, published=(0.057, None)),
    Step(N_("contextual embeddings"), "embeddings", _BEST, _DENSE, published=(0.037, -0.35)),
    Step(N_("+ contextual BM25"), "embeddings", _BEST, None, published=(0.029, -0.49)),
    Step(N_("+ reranking"), "embeddings", _BEST, None, rerank=True, published=(0.019, -0.67)),
    Step(N_("BM25 of the text alone"), "words", (NONE,), LEXICAL),
    Step(N_("+ title, chapter and neighbours' keywords"), "words", (NO_MODEL,), LEXICAL),
    Step(N_("contextual BM25"), "words", (GIVEN, MODEL), LEXICAL),
    Step(N_("contextual BM25 + reranking"), "words", _BEST, LEXICAL, rerank=True),
)


def compare(arms: Sequence[Arm], failures: "Sequence[Values]", models: EvalModels) -> tuple[MeasuredStep, ...]:
    """Measure the steps; `failures` has each arm's, question by question."""
    steps = []
    first: dict[str, Values] = {}
    for step in STEPS:
        at = _arm_of(step, arms)
        if at is None:
            steps.append(MeasuredStep(step, None, reason=_reason(step, models)))
            continue
        change = metrics.relative_change(first[step.ladder], failures[at]) if step.ladder in first else None
        if step.levels == (NONE,):
            first[step.ladder] = failures[at]
        steps.append(MeasuredStep(step, arms[at].name, float(failures[at].mean()), change))
    return tuple(steps)


def _arm_of(step: Step, arms: Sequence[Arm]) -> int | None:
    fitting = [
        (step.levels.index(arm.view.level), -len(arm.retrievers), at)
        for at, arm in enumerate(arms)
        if arm.view.level in step.levels and (arm.reranker is not None) == step.rerank
        if arm.retrievers == step.retrievers or (step.retrievers is None and {"bm25", "dense"} <= {*arm.retrievers})
    ]
    return min(fitting)[-1] if fitting else None


def _reason(step: Step, models: EvalModels) -> str:
    if step.ladder == "embeddings" and "encoder" in models.absent:
        return models.absent["encoder"]
    if step.rerank and "reranker" in models.absent:
        return models.absent["reranker"]
    if step.levels == (GIVEN, MODEL):
        return _("there are no contexts: subtitle-rag contexts write, or --contexts FILE")
    return _("not among the retrievers to measure")
