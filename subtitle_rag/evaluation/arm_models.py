"""Models of this machine, and the retrievers that an evaluation can measure with them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.installation.package_installer import missing_extra
from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.evaluation.arms import RANKS, Retrievers
from subtitle_rag.models.manifest import ENCODER, RERANKER, Kind
from subtitle_rag.models.neural.protocols import PATIENCE_S, Encoder, Reranker
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.parts import LEXICAL, NEURAL

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EvalModels:
    """The models of this machine; `absent`: `encoder` or `reranker` → why it is missing."""

    encoder: Encoder | None = None
    reranker: Reranker | None = None
    absent: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, runtime: Runtime, *, neural: bool = True, rerank: bool = True) -> "EvalModels":
        """Return the models in the settings; the encoder is the one whose vectors are searched."""
        if not neural:
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
            reranker = runtime.neural.reranker() if rerank else None
            if reranker is None:
                absent["reranker"] = _missing(runtime, RERANKER) if rerank else _("left out")
        except AppError as error:
            logger.info("no reranker", exc_info=True)
            absent["reranker"] = error.message
        return cls(encoder, reranker, absent)

    def rerank_seconds(self, pairs: int) -> float | None:
        """Return the approximate time to rerank this many pairs; None without a measured speed."""
        speed = self.reranker.depth if self.reranker is not None else None
        return pairs * PATIENCE_S / speed if speed else None

    def retrievers(self, sets: Sequence[Retrievers] | None = None) -> list[Retrievers]:
        """Return the retrievers of the arms, the fullest last.

        Without `sets`: each alone, both neural ones, all, and these with pieces.

        Raises:
            UsageError: `retriever_not_ready` for a chosen one that this machine cannot run.
        """
        parts = self._made()
        neural = tuple(name for name in NEURAL if name in parts)
        orders = (PIECES,) if PIECES in parts else ()
        if sets is None:
            singles = [LEXICAL, *((name,) for name in reversed(neural))]
            every = singles + ([neural] if len(neural) > 1 else []) + ([(*LEXICAL, *neural)] if neural else [])
            return every + [(*LEXICAL, *neural, name) for name in orders]
        ready = (*LEXICAL, *neural, RANKS, *orders)
        for name in (name for names in sets for name in names):
            if name not in ready:
                raise UsageError(
                    "retriever_not_ready",
                    name=name,
                    reason=_("no model has made vectors for it"),
                    ready=", ".join(ready),
                )
        return sorted(sets, key=len)

    def _made(self) -> set[str]:
        """Return the vector parts of a search that this machine can compute."""
        makes: dict[str, object] = {}
        if (encoder := self.encoder) is not None:
            makes |= {"dense": encoder.dimensions, "sparse": encoder.has_sparse}
            makes[PIECES] = encoder.has_pieces
        return {name for name, is_made in makes.items() if is_made}


def _missing(runtime: Runtime, kind: Kind) -> str:
    name = runtime.models.configured(kind)
    if not name:
        return _("the config names none")
    extra = runtime.models.required_extra(name)
    if extra and not extra.is_installed:
        return missing_extra(extra).message
    return AppError("model_missing", name=name).message
