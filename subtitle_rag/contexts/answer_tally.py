"""What a model's answers so far say about its contexts: whether they help search, and whether it is worth going on."""

from collections.abc import Mapping
from dataclasses import dataclass

from subtitle_rag.domain import AppError, ContextsWeak
from subtitle_rag.models import context_models, default_context_model

FIRST_WINDOWS = 20
"""Windows after which a model is judged: about two videos, minutes of its work where a library takes hours."""
LEAST_HELPFUL = 0.5
"""Share of windows with a helpful context below which a model is called weak. Of 137 contexts that a person wrote, and
which the checks were not made for, .74 pass; of small models' answers less than .2 do."""
UNUSABLE = 20
"""Windows in a row without a usable answer; then the model is given up, for a whole library takes hours."""


RETRIES = 10
"""Windows whose second answer is as useless as the first; then a run asks once, which halves a weak model's time."""


@dataclass(slots=True)
class AnswerTally:
    """Counts the windows of a model that got their last answer."""

    model: str
    windows: int
    """Windows with an answer, also of earlier runs."""
    helpful: int
    """Windows whose context is in no doubt: it repeats neither its window nor the context before."""
    unusable_in_row: int = 0
    """Windows of this run without a usable answer since the last one with it."""
    retries: int = 0
    """Second answers for a window in this run."""
    usable_retries: int = 0
    is_told: bool = False
    """Whether the user knows that the model is weak."""

    def __post_init__(self) -> None:
        self.is_told = is_weak(self.windows, self.helpful)

    def count(self, *, usable: bool, helpful: bool) -> ContextsWeak | None:
        """Count a window; return the weakness of the model when the count first shows it."""
        self.unusable_in_row = 0 if usable else self.unusable_in_row + 1
        self.windows += 1
        self.helpful += helpful
        if self.is_told or not is_weak(self.windows, self.helpful):
            return None
        self.is_told = True
        return ContextsWeak(self.model, self.windows, self.helpful, other_model(self.model))

    def count_retry(self, *, usable: bool) -> None:
        self.retries += 1
        self.usable_retries += usable

    @property
    def retries_help(self) -> bool:
        """Whether a second answer may be of use: so far one was, or too few were asked for."""
        return self.retries < RETRIES or self.usable_retries > 0

    @property
    def refusal(self) -> AppError | None:
        """Why the model is given up."""
        if self.unusable_in_row < UNUSABLE:
            return None
        alternative = other_model(self.model)
        return AppError("contexts_unusable", model=self.model, n=self.unusable_in_row, other=alternative)


def is_weak(windows: int, helpful: int) -> bool:
    """Tell whether a model's contexts help so few of its windows that another model is worth a try."""
    return windows >= FIRST_WINDOWS and helpful < LEAST_HELPFUL * windows


def weak_models(counts: Mapping[str, tuple[int, int]]) -> list[ContextsWeak]:
    """List the weak ones among models, given as model → windows answered and helpful ones."""
    return [
        ContextsWeak(model, windows, helpful, other_model(model))
        for model, (windows, helpful) in counts.items()
        if is_weak(windows, helpful)
    ]


def weakness_error(weak: ContextsWeak) -> AppError:
    """Return what to tell the user about a weak model."""
    return AppError("contexts_weak", model=weak.model, windows=weak.windows, helpful=weak.helpful, other=weak.other)


def other_model(model: str) -> str:
    """Return the name of another model that is offered for contexts: the default, if it is not `model` itself."""
    names = [default_context_model().name, *(offered.name for offered in context_models())]
    return next((name for name in names if name != model), model)
