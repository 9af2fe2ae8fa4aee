"""The background stages as the screens show them, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from subtitle_rag.domain.errors import AppError
from subtitle_rag.domain.progress import Progress

if TYPE_CHECKING:
    from subtitle_rag.pipeline import ContextOffer

StageName = Literal["contexts", "vectors", "listening", "offer"]
StageState = Literal["asking", "working", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""Contexts and a download are offered, or dismissed, before they start; "elsewhere": another process downloads."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage, and how far it is."""

    name: StageName
    state: StageState = "asking"
    progress: Progress | None = None
    error: AppError | None = None
    processed: int = 0
    """Windows, videos or models of this run."""
    failed: int = 0
    """Windows without an answer for their context."""
    offer: "ContextOffer | None" = None
    """What writing contexts takes, where the user has not said yet whether to."""

    @property
    def is_incomplete(self) -> bool:
        """Whether anything is left to do."""
        return self.progress is not None and self.progress.done < self.progress.total


Stages = Mapping[StageName, Stage]
"""The stages that have any progress."""


def in_order(stages: Stages) -> list[Stage]:
    """Return the stages in the order in which screens show them."""
    return [stages[name] for name in get_args(StageName) if name in stages]
