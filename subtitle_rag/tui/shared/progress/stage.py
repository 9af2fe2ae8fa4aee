"""Background stages as shown on screens, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.progress import Progress

if TYPE_CHECKING:
    from subtitle_rag.workflows.pipeline import ContextOffer

StageName = Literal["contexts", "vectors", "listening", "offer"]
StageState = Literal["asking", "working", "paused", "failed", "done", "offered", "dismissed", "elsewhere"]
"""Contexts and a download are offered, or dismissed, before they start; "elsewhere": another process downloads."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage and its progress."""

    name: StageName
    state: StageState = "asking"
    progress: Progress | None = None
    error: AppError | None = None
    processed: int = 0
    """Windows, videos or models of this run."""
    failed: int = 0
    """Windows that got no context."""
    offer: "ContextOffer | None" = None
    """Cost of writing contexts, until the user has decided."""

    @property
    def is_incomplete(self) -> bool:
        """Whether anything is left to do."""
        return self.progress is not None and self.progress.done < self.progress.total


Stages = Mapping[StageName, Stage]
"""The stages with any progress."""


def in_order(stages: Stages) -> list[Stage]:
    """Return the stages in the order of the screens."""
    return [stages[name] for name in get_args(StageName) if name in stages]
