"""The steps of the seed article, each with its published figure, and with the arm that measures it.

Anthropic 2024, "Introducing Contextual Retrieval": the first 20 chunks miss 5.7 % with embeddings alone, 3.7 % with
contextual embeddings (−35 %), 2.9 % with contextual BM25 as well (−49 %) and 1.9 % with reranking (−67 %).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subtitle_rag.base.i18n import N_, _
from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.arm_run import MeasuredArm
from subtitle_rag.evaluation.arms import CONTEXTS, DENSE, HYBRID, NO_MODEL, NONE, Arm, Retrievers
from subtitle_rag.evaluation.metrics import FAILURE, Mean, Values
from subtitle_rag.search.parts import LEXICAL

PublishedFigure = tuple[float, float | None]
"""A failure@20 (0–1), and its change against embeddings alone."""
PUBLISHED_SOURCE = "Anthropic 2024, Introducing Contextual Retrieval"
_BEST = (*CONTEXTS, NO_MODEL)


@dataclass(frozen=True, slots=True)
class LadderStep:
    """A step of one of two ladders, `embeddings` and `words`, and the arm that may measure it."""

    name: str
    ladder: str
    levels: tuple[str, ...]
    """Contexts of the arm, in order of preference."""
    retrievers: Retrievers | None
    """None: the most retrievers of the hybrid arms."""
    rerank: bool = False
    published: PublishedFigure | None = None
    """The article's figure of the step, whatever arm measures it."""

    def arm_of(self, arms: Sequence[Arm]) -> Arm | None:
        """Return the arm that measures this step."""
        fitting = [
            (self.levels.index(arm.contexts), -len(arm.retrievers), at)
            for at, arm in enumerate(arms)
            if arm.contexts in self.levels and bool(arm.rerank) == self.rerank
            if arm.retrievers == self.retrievers or (self.retrievers is None and arm.is_hybrid)
        ]
        return arms[min(fitting)[-1]] if fitting else None

    def reason(self, absent: Mapping[str, str]) -> str:
        """Return why no arm measures this step; `absent` has the reasons why models take no part."""
        if self.ladder == "embeddings" and "encoder" in absent:
            return absent["encoder"]
        if self.rerank and "reranker" in absent:
            return absent["reranker"]
        if self.levels == CONTEXTS:
            return _("there are no contexts: subtitle-rag contexts write, or --contexts FILE")
        return _("not among the retrievers to measure")


LADDER = (
    LadderStep(N_("embeddings of the text alone"), "embeddings", (NONE,), DENSE, published=(0.057, None)),
    LadderStep(N_("contextual embeddings"), "embeddings", _BEST, DENSE, published=(0.037, -0.35)),
    LadderStep(N_("+ contextual BM25"), "embeddings", _BEST, None, published=(0.029, -0.49)),
    LadderStep(N_("+ the best piece of a window"), "embeddings", _BEST, (*HYBRID, PIECES)),
    LadderStep(N_("+ reranking"), "embeddings", _BEST, None, rerank=True, published=(0.019, -0.67)),
    LadderStep(N_("BM25 of the text alone"), "words", (NONE,), LEXICAL),
    LadderStep(N_("+ title, chapter and neighbours' keywords"), "words", (NO_MODEL,), LEXICAL),
    LadderStep(N_("contextual BM25"), "words", CONTEXTS, LEXICAL),
    LadderStep(N_("contextual BM25 + reranking"), "words", _BEST, LEXICAL, rerank=True),
)


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """A step's failure (0–1) and its change against the ladder's first step, with its 95 % interval."""

    step: LadderStep
    arm: Arm | None
    """None: no arm measured it, for `reason`."""
    failure: float | None = None
    change: Mean | None = None
    reason: str = ""

    @property
    def published(self) -> PublishedFigure | None:
        """The article's figure; None if the arm searched in another way than the article."""
        step, arm = self.step, self.arm
        is_like = arm is None or (
            arm.has_contexts == (step.levels != (NONE,)) and arm.retrievers == (step.retrievers or HYBRID)
        )
        return step.published if is_like else None

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step.name,
            "ladder": self.step.ladder,
            "arm": self.arm.name if self.arm else None,
            "failure@20": self.failure,
            "change": self.change.to_json() if self.change else None,
            "published": list(self.published) if self.published else None,
            "reason": self.reason,
        }


def measured_steps(measured: Sequence[MeasuredArm], absent: Mapping[str, str]) -> tuple[MeasuredStep, ...]:
    """Measure the steps by the arms that take them."""
    by_arm = {each.arm: each for each in measured}
    steps = []
    first: dict[str, Values] = {}
    for step in LADDER:
        arm = step.arm_of([*by_arm])
        if arm is None:
            steps.append(MeasuredStep(step, None, reason=step.reason(absent)))
            continue
        failures = by_arm[arm].values[:, metrics.METRICS.index(FAILURE)]
        change = metrics.relative_change(first[step.ladder], failures) if step.ladder in first else None
        if step.levels == (NONE,):
            first[step.ladder] = failures
        steps.append(MeasuredStep(step, arm, float(failures.mean()), change))
    return tuple(steps)
