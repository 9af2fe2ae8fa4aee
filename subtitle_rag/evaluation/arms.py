"""The ways of searching that are measured: which retrievers, over what put in front of windows, reranked or not."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.installation import extras
from subtitle_rag.library.store import Library
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind
from subtitle_rag.retrieval.neural import NEURAL, Encoder, Reranker
from subtitle_rag.retrieval.search import LEXICAL, RETRIEVERS, Searcher
from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)

NONE, NO_MODEL, MODEL, GIVEN = "none", "no-model", "model", "given"
"""What stands in front of windows: nothing; titles, chapters and neighbours' keywords; contexts of a model as well;
contexts of a file in their place."""
_SUFFIX = {NONE: " bare", NO_MODEL: "", MODEL: " + model contexts", GIVEN: " + contexts"}
_BEFORE = {NO_MODEL: (NONE,), MODEL: (NO_MODEL, NONE), GIVEN: (NO_MODEL, NONE), NONE: ()}

Retrievers = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """Which arms are asked for."""

    retrievers: tuple[Retrievers, ...] | None = None
    """None: each retriever alone, both neural ones, and all."""
    neural: bool = True
    rerank: bool = True

    @classmethod
    def parse(cls, arms: str | None, *, neural: bool = True, rerank: bool = True) -> "ArmChoice":
        """Of a text like `bm25,dense+sparse`; raises UsageError `unknown_retriever`."""
        if arms is None:
            return cls(None, neural, rerank)
        sets = []
        for arm in arms.split(","):
            names = tuple(dict.fromkeys(name.strip() for name in arm.split("+")))
            for name in names:
                if name not in RETRIEVERS:
                    raise UsageError("unknown_retriever", name=name, ready=", ".join(RETRIEVERS))
            sets.append(tuple(sorted(names, key=RETRIEVERS.index)))
        return cls(tuple(dict.fromkeys(sets)), neural, rerank)


@dataclass(frozen=True, slots=True)
class EvalModels:
    """The models that are here; `absent`: which of `encoder` and `reranker` is not, and why."""

    encoder: Encoder | None = None
    reranker: Reranker | None = None
    absent: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, runtime: Runtime, wanted: ArmChoice) -> "EvalModels":
        """The models that the settings name; the encoder is the one whose vectors the library is searched by."""
        doors = cls()
        encoder = reranker = None
        if not wanted.neural:
            doors.absent.update(dict.fromkeys(("encoder", "reranker"), _("left out by --no-neural")))
            return doors
        try:
            encoder = runtime.neural.encoder(runtime.library.vectors.active()) or runtime.neural.encoder()
            if encoder is None:
                doors.absent["encoder"] = _missing(runtime, ENCODER)
        except AppError as error:
            logger.info("no encoder", exc_info=True)
            doors.absent["encoder"] = error.message
        try:
            reranker = runtime.neural.reranker() if wanted.rerank else None
            if reranker is None:
                doors.absent["reranker"] = _missing(runtime, RERANKER) if wanted.rerank else _("left out")
        except AppError as error:
            logger.info("no reranker", exc_info=True)
            doors.absent["reranker"] = error.message
        return cls(encoder, reranker, doors.absent)

    def sets(self, wanted: ArmChoice) -> list[Retrievers]:
        """The retrievers of the arms, the fullest last.

        Raises:
            UsageError: `retriever_not_ready`, where one was asked for by name that cannot be had.
        """
        neural = tuple(name for name in NEURAL if self.encoder and (name != "sparse" or self.encoder.has_sparse))
        if wanted.retrievers is None:
            alone = [LEXICAL, *((name,) for name in reversed(neural))]
            return alone + ([neural] if len(neural) > 1 else []) + ([(*LEXICAL, *neural)] if neural else [])
        ready = (*LEXICAL, *neural)
        for name in (name for own in wanted.retrievers for name in own):
            if name not in ready:
                raise UsageError("retriever_not_ready", name=name, ready=", ".join(ready))
        return sorted(wanted.retrievers, key=len)


def _missing(runtime: Runtime, kind: Kind) -> str:
    name = runtime.models.chosen(kind)
    if not name:
        return _("the config names none")
    if not extras.NEURAL.is_installed:
        return extras.missing(extras.NEURAL).message
    return AppError("model_missing", name=name).message


@dataclass(frozen=True, slots=True)
class View:
    """A library as it is searched; `level` says what stands in front of its windows, `setting` whose contexts."""

    level: str
    library: Library
    searcher: Searcher
    setting: str = ""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of searching."""

    view: View
    retrievers: Retrievers
    reranker: Reranker | None = None

    @property
    def name(self) -> str:
        own = "+".join(self.retrievers) + _SUFFIX[self.view.level]
        return f"{own} + rerank" if self.reranker else own

    def previous(self, others: Sequence["Arm"]) -> "Arm | None":
        """The arm that lacks only the last thing that this one has: the reranker, else what is in front of windows,
        else a retriever."""
        for level, retrievers, reranked in self._lesser(others):
            for other in others:
                if (other.view.level, other.retrievers, other.reranker is not None) == (level, retrievers, reranked):
                    return other
        return None

    def _lesser(self, others: Sequence["Arm"]) -> Iterator[tuple[str, Retrievers, bool]]:
        if self.reranker:
            yield self.view.level, self.retrievers, False
            return
        yield from ((level, self.retrievers, False) for level in _BEFORE[self.view.level])
        fewer = {one.retrievers for one in others if set(one.retrievers) < set(self.retrievers)}
        yield from ((self.view.level, own, False) for own in sorted(fewer, key=lambda own: (-len(own), own)))


def arms(views: Sequence[View], sets: Sequence[Retrievers], reranker: Reranker | None) -> list[Arm]:
    """All arms over these views; the reranker reads after the fullest of the sets, where anything is in front."""
    found = []
    for view in views:
        found += [Arm(view, retrievers) for retrievers in sets]
        if reranker is not None and view.level != NONE:
            found.append(Arm(view, sets[-1], reranker))
    return found
