"""What each step of contextual retrieval brings, beside what was published.

Anthropic 2024, "Introducing Contextual Retrieval": of the first 20 chunks, 5.7 % of what should have been there was
not with embeddings alone, 3.7 % with contextual embeddings (−35 %), 2.9 % with contextual BM25 as well (−49 %), and
1.9 % with reranking (−67 %); means over code, fiction and papers, in English.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arms import GIVEN, MODEL, NO_MODEL, NONE, Arm, EvalModels
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.search import LEXICAL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SOURCE = "Anthropic 2024, Introducing Contextual Retrieval"
_BEST = (GIVEN, MODEL, NO_MODEL)
_DENSE = ("dense",)


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what it adds, the share that fails there and the change against its ladder's first step (both 0–1)."""

    name: str
    first: str
    """Which of the two ladders' first step it is compared with: `embeddings` or `words`."""
    arm: str | None
    """The arm that was measured; None where none could be, for `reason`."""
    failure: float | None = None
    change: tuple[float, float, float] | None = None
    """With its 95 % interval."""
    published: tuple[float, float | None] | None = None
    """Failure and change of the published experiment."""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.name,
            "ladder": self.first,
            "arm": self.arm,
            "failure@20": self.failure,
            "change": list(self.change) if self.change else None,
            "published": list(self.published) if self.published else None,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    name: str
    first: str
    levels: tuple[str, ...]
    """The first of these that was measured is the step's."""
    retrievers: tuple[str, ...] | None
    """None: words and sense together, the fullest that was measured."""
    rerank: bool = False
    published: tuple[float, float | None] | None = None


_PLANS = (
    _Plan(N_("embeddings of the text alone"), "embeddings", (NONE,), _DENSE, published=(0.057, None)),
    _Plan(N_("contextual embeddings"), "embeddings", _BEST, _DENSE, published=(0.037, -0.35)),
    _Plan(N_("+ contextual BM25"), "embeddings", _BEST, None, published=(0.029, -0.49)),
    _Plan(N_("+ reranking"), "embeddings", _BEST, None, rerank=True, published=(0.019, -0.67)),
    _Plan(N_("BM25 of the text alone"), "words", (NONE,), LEXICAL),
    _Plan(N_("+ title, chapter and neighbours' keywords"), "words", (NO_MODEL,), LEXICAL),
    _Plan(N_("contextual BM25"), "words", (GIVEN, MODEL), LEXICAL),
    _Plan(N_("contextual BM25 + reranking"), "words", _BEST, LEXICAL, rerank=True),
)


def climbed(arms: Sequence[Arm], failures: "Sequence[NDArray[np.float64]]", doors: EvalModels) -> tuple[Step, ...]:
    """The steps of both ladders; `failures` are each arm's, question by question."""
    steps = []
    begun: dict[str, NDArray[np.float64]] = {}
    for plan in _PLANS:
        at = _found(plan, arms)
        if at is None:
            steps.append(Step(plan.name, plan.first, None, published=plan.published, reason=_reason(plan, doors)))
            continue
        own = failures[at]
        change = metrics.relative_change(begun[plan.first], own) if plan.first in begun else None
        if plan.levels == (NONE,):
            begun[plan.first] = own
        steps.append(Step(plan.name, plan.first, arms[at].name, float(own.mean()), change, plan.published))
    return tuple(steps)


def _found(plan: _Plan, arms: Sequence[Arm]) -> int | None:
    for level in plan.levels:
        fitting = [
            at
            for at, arm in enumerate(arms)
            if arm.view.level == level and (arm.reranker is not None) == plan.rerank and _asks(plan, arm)
        ]
        if fitting:
            return max(fitting, key=lambda at: len(arms[at].retrievers))
    return None


def _asks(plan: _Plan, arm: Arm) -> bool:
    if plan.retrievers is not None:
        return arm.retrievers == plan.retrievers
    return {"bm25", "dense"} <= set(arm.retrievers)


def _reason(plan: _Plan, doors: EvalModels) -> str:
    if plan.first == "embeddings" and "encoder" in doors.absent:
        return doors.absent["encoder"]
    if plan.rerank and "reranker" in doors.absent:
        return doors.absent["reranker"]
    if plan.levels == (GIVEN, MODEL):
        return _("there are no contexts: subtitle-rag contexts write, or --contexts FILE")
    return _("not among the arms that were asked for")
