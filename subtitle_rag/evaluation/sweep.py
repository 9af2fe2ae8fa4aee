"""`eval sweep`: choose the search's numbers with half of the questions, and measure them with the other half."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from subtitle_rag.evaluation.arms import ArmChoice, EvalModels
from subtitle_rag.evaluation.coordinate_search import OBJECTIVE, CoordinateSearch, Trial
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.fusion_space import FUSION_VALUES, FusionSpace
from subtitle_rag.evaluation.json_lines import bad_queries
from subtitle_rag.evaluation.lexical_space import LexicalSpace
from subtitle_rag.evaluation.questions import all_windows, gold_set, halves
from subtitle_rag.i18n import _
from subtitle_rag.installation.extras import EVAL
from subtitle_rag.installation.missing import require
from subtitle_rag.runtime import Runtime


class Sweep:
    """A sweep of `runtime`'s library with the questions of `path`; `only`: the axes to vary, none for all.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also for a set with its own documents, and for too few
            questions for two halves.
        AppError: `eval_missing`.
    """

    def __init__(
        self, runtime: Runtime, path: Path, seed: int, *, neural: bool = True, only: tuple[str, ...] = ()
    ) -> None:
        require(EVAL)
        self.seed = seed
        self.left_out: dict[str, str] = {}
        """Axis → the reason why it was not varied."""
        self._runtime, self._neural, self._only = runtime, neural, only
        self._dataset = load_set(path)
        if self._dataset.documents:
            raise bad_queries(path, 1, _("its questions are about documents of its own, not about scenes"))
        self._questions = gold_set(self._dataset, runtime.library, all_windows(runtime.library))
        self.train, self.test = halves(self._questions.questions, seed)
        if not self.train or not self.test:
            raise bad_queries(path, 1, _("all its questions are tied by their videos: there are no two halves"))
        self._searches: list[CoordinateSearch] = []

    @property
    def total(self) -> int:
        """The number of settings in a first pass."""
        return sum(len(axis.values) for search in self._searches for axis in search.axes)

    @property
    def searches(self) -> list[CoordinateSearch]:
        """The searches with results."""
        return [search for search in self._searches if search.measured]

    def run(self) -> Iterator[Trial]:
        """Search every space; errors of searching pass through."""
        spaces = LexicalSpace(self._runtime, self._dataset), self._fusion_space()
        searches = [CoordinateSearch(space, self.train, self.test, self._only) for space in spaces]
        self._searches = [search for search in searches if search.axes]
        for search in self._searches:
            yield from search.run()

    def _fusion_space(self) -> FusionSpace:
        models = EvalModels.of(self._runtime, ArmChoice(neural=self._neural))
        space = FusionSpace(self._runtime, self._questions, models.reranker, neural=self._neural)
        if reason := models.absent.get("reranker"):
            self.left_out["rerank"] = reason
            self.left_out["overlap"] = _("only the reranker could read it: {reason}").format(reason=reason)
        for name in FUSION_VALUES:
            if name not in {axis.name for axis in space.axes}:
                self.left_out[name] = models.absent.get("encoder") or _("the library has no such vectors")
        if self._only:
            self.left_out = {name: reason for name, reason in self.left_out.items() if name in self._only}
        return space

    def to_json(self) -> dict[str, Any]:
        return {
            "queries": {"train": len(self.train), "test": len(self.test)},
            "seed": self.seed,
            "objective": OBJECTIVE,
            "spaces": [search.to_json() for search in self.searches],
            "left_out": self.left_out,
        }
