"""The arms of an evaluation: retrievers, the context in front of windows, and the reranker."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.i18n import _
from subtitle_rag.installation import extras
from subtitle_rag.installation.missing import missing
from subtitle_rag.library.store import Library
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind
from subtitle_rag.retrieval.fusion import Ranked
from subtitle_rag.retrieval.neural import NEURAL, Encoder, Reranker
from subtitle_rag.retrieval.query import Query, parse
from subtitle_rag.retrieval.reranking import UNMEASURED_DEPTH, RerankCache, reorder
from subtitle_rag.retrieval.scenes import OwnWindows, passages
from subtitle_rag.retrieval.search import LEXICAL, RETRIEVERS, Searcher
from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

NONE, NO_MODEL, MODEL, GIVEN = "none", "no-model", "model", "given"
"""In front of windows: nothing; titles, chapters and neighbours' keywords; a model's contexts as well; contexts of a
file in their place."""
_SUFFIX = {NONE: " bare", NO_MODEL: "", MODEL: " + model contexts", GIVEN: " + contexts"}
_BEFORE = {NO_MODEL: (NONE,), MODEL: (NO_MODEL, NONE), GIVEN: (NO_MODEL, NONE), NONE: ()}

NOT_READY = ("retriever_not_ready", "unknown_retriever")
"""Errors of a search that concern the arm; any other `UsageError` refuses the query."""

Retrievers = tuple[str, ...]
ProgressCallback = Callable[[int, int], None]
"""Gets the number of finished items, and the total."""


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """The arms to measure."""

    retrievers: tuple[Retrievers, ...] | None = None
    """None: each retriever alone, both neural ones, and all."""
    neural: bool = True
    rerank: bool = True

    @classmethod
    def parse(cls, arms: str | None, *, neural: bool = True, rerank: bool = True) -> "ArmChoice":
        """Read a text like `bm25,dense+sparse`; raises UsageError `unknown_retriever`."""
        if arms is None:
            return cls(None, neural, rerank)
        sets = [tuple(dict.fromkeys(name.strip() for name in arm.split("+"))) for arm in arms.split(",")]
        for name in (name for names in sets for name in names):
            if name not in RETRIEVERS:
                raise UsageError("unknown_retriever", name=name, ready=", ".join(RETRIEVERS))
        ordered = (tuple(sorted(names, key=RETRIEVERS.index)) for names in sets)
        return cls(tuple(dict.fromkeys(ordered)), neural, rerank)


@dataclass(frozen=True, slots=True)
class EvalModels:
    """The models of this machine; `absent`: `encoder` or `reranker` → the reason why it takes no part."""

    encoder: Encoder | None = None
    reranker: Reranker | None = None
    absent: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, runtime: Runtime, choice: ArmChoice) -> "EvalModels":
        """Return the models of the settings; the encoder is the one whose vectors the library is searched by."""
        if not choice.neural:
            return cls(absent=dict.fromkeys(("encoder", "reranker"), _("left out by --no-neural")))
        encoder = reranker = None
        absent = {}
        try:
            encoder = runtime.neural.encoder(runtime.library.vectors.active()) or runtime.neural.encoder()
            if encoder is None:
                absent["encoder"] = _missing(runtime, ENCODER)
        except AppError as error:
            logger.info("no encoder", exc_info=True)
            absent["encoder"] = error.message
        try:
            reranker = runtime.neural.reranker() if choice.rerank else None
            if reranker is None:
                absent["reranker"] = _missing(runtime, RERANKER) if choice.rerank else _("left out")
        except AppError as error:
            logger.info("no reranker", exc_info=True)
            absent["reranker"] = error.message
        return cls(encoder, reranker, absent)

    def retrievers(self, choice: ArmChoice) -> list[Retrievers]:
        """Return the retrievers of the arms, the fullest last.

        Raises:
            UsageError: `retriever_not_ready` for a chosen one that this machine cannot run.
        """
        neural = tuple(name for name in NEURAL if self.encoder and (name != "sparse" or self.encoder.has_sparse))
        if choice.retrievers is None:
            singles = [LEXICAL, *((name,) for name in reversed(neural))]
            return singles + ([neural] if len(neural) > 1 else []) + ([(*LEXICAL, *neural)] if neural else [])
        ready = (*LEXICAL, *neural)
        for name in (name for names in choice.retrievers for name in names):
            if name not in ready:
                raise UsageError("retriever_not_ready", name=name, ready=", ".join(ready))
        return sorted(choice.retrievers, key=len)


def _missing(runtime: Runtime, kind: Kind) -> str:
    name = runtime.models.configured(kind)
    if not name:
        return _("the config names none")
    if not extras.NEURAL.is_installed:
        return missing(extras.NEURAL).message
    return AppError("model_missing", name=name).message


@dataclass(frozen=True, slots=True)
class View:
    """A searchable library; `level`: the context in front of its windows, `setting`: its origin."""

    level: str
    library: Library
    searcher: Searcher
    setting: str = ""


@dataclass(slots=True)
class ArmResult:
    """The answers of one arm to all questions."""

    rankings: list[list[str]] = field(default_factory=list)
    """The ids of windows, best first; empty for a refused query."""
    texts: list[str] = field(default_factory=list)
    """The words of each query; empty for a refused query."""
    refused: list[str] = field(default_factory=list)
    """Ids of questions."""
    times_ms: list[float] = field(default_factory=list)

    def percentiles(self) -> dict[str, float] | None:
        """Return the median and the 95th percentile of the times; None without any."""
        import numpy as np

        if not self.times_ms:
            return None
        p50, p95 = np.percentile(self.times_ms, (50, 95))
        return {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of searching."""

    view: View
    retrievers: Retrievers
    reranker: Reranker | None = None

    @property
    def name(self) -> str:
        name = "+".join(self.retrievers) + _SUFFIX[self.view.level]
        return f"{name} + rerank" if self.reranker else name

    def rank(self, query: Query) -> list[str]:
        """Return the ids of the best windows, best first. The reranker orders as many as in the program."""
        ranked = self.view.searcher.rank(query, retrievers=self.retrievers)
        if self.reranker is not None and ranked:
            depth = self.reranker.depth or UNMEASURED_DEPTH
            texts = passages(OwnWindows(self.view.library), [hit.window_id for hit in ranked[:depth]])
            ranked = reranked(ranked, RerankCache().scores(self.reranker, query.text, texts, lambda: False) or {})
        return [hit.window_id for hit in ranked]

    def rank_all(
        self, questions: Sequence[Question], progress: ProgressCallback | None = None, before: int = 0, total: int = 0
    ) -> ArmResult:
        """Rank for every question; a refused query counts as not found. `before` items of `total` are finished.

        Raises:
            UsageError: `retriever_not_ready`, `unknown_retriever`.
            BusyError, AppError: from the library, the index and the models.
        """
        result = ArmResult()
        for finished, question in enumerate(questions, start=before + 1):
            started = time.perf_counter()
            ranking, text = [], ""
            try:
                query = parse(question.query)
                ranking, text = self.rank(query), query.text
                result.times_ms.append((time.perf_counter() - started) * 1000)
            except UsageError as error:
                if error.code in NOT_READY:
                    raise
                result.refused.append(question.id)
            result.rankings.append(ranking)
            result.texts.append(text)
            if progress:
                progress(finished, total)
        return result

    def previous(self, arms: Sequence["Arm"]) -> "Arm | None":
        """Return the arm without the last part of this one: the reranker, else the context, else a retriever."""
        level = self.view.level
        if self.reranker:
            lesser = [(level, self.retrievers)]
        else:
            fewer = {arm.retrievers for arm in arms if set(arm.retrievers) < set(self.retrievers)}
            lesser = [(before, self.retrievers) for before in _BEFORE[level]]
            lesser += [(level, names) for names in sorted(fewer, key=lambda names: (-len(names), names))]
        plain = {(arm.view.level, arm.retrievers): arm for arm in reversed(arms) if arm.reranker is None}
        return next((plain[key] for key in lesser if key in plain), None)


def reranked(ranked: Sequence[Ranked], scores: Mapping[str, float]) -> list[Ranked]:
    """Put the windows one by one in the reranker's order; those without a score behind."""
    return [group[0] for group in reorder([[hit] for hit in ranked], scores)]


def all_arms(views: Sequence[View], sets: Sequence[Retrievers], reranker: Reranker | None) -> list[Arm]:
    """Return all arms over these views; the reranker follows the fullest of the sets, except over bare windows."""
    arms = []
    for view in views:
        arms += [Arm(view, retrievers) for retrievers in sets]
        if reranker is not None and view.level != NONE:
            arms.append(Arm(view, sets[-1], reranker))
    return arms
