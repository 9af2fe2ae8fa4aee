"""Arms of an evaluation, as values: text in front of windows, retrievers, reranker."""

from collections.abc import Sequence
from dataclasses import dataclass

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.base.vectors.named_vectors import PIECES
from subtitle_rag.search.parts import LEXICAL, RETRIEVERS

NONE, NO_MODEL, MODEL, GIVEN = "none", "no-model", "model", "given"
"""Text in front of windows: none; titles, chapters and keywords; also a model's contexts; or a file's contexts."""
CONTEXTS = (GIVEN, MODEL)
_SUFFIX = {NONE: " bare", NO_MODEL: "", MODEL: " + model contexts", GIVEN: " + contexts"}
_BEFORE = {NO_MODEL: (NONE,), MODEL: (NO_MODEL, NONE), GIVEN: (NO_MODEL, NONE), NONE: ()}

Retrievers = tuple[str, ...]
RANKS = "rrf"
"""In a set of retrievers: fuse ranks instead of scores (Reciprocal Rank Fusion)."""
PARTS = (*RETRIEVERS, RANKS, PIECES)
DENSE = ("dense",)
HYBRID = (*LEXICAL, *DENSE)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of searching."""

    name: str
    contexts: str
    """Text in front of windows: `NONE` … `GIVEN`."""
    retrievers: Retrievers
    rerank: int = 0
    """Number of windows that the reranker reads per question; 0 without one."""

    @classmethod
    def of(cls, contexts: str, retrievers: Retrievers, rerank: int = 0) -> "Arm":
        """Return an arm named after its parts: `bm25+dense + contexts + rerank 150`."""
        name = "+".join(retrievers) + _SUFFIX[contexts]
        return cls(f"{name} + rerank {rerank}" if rerank else name, contexts, retrievers, rerank)

    @property
    def has_contexts(self) -> bool:
        """Whether written contexts are in front of windows."""
        return self.contexts in CONTEXTS

    @property
    def by_ranks(self) -> bool:
        """Whether ranks are fused instead of scores."""
        return RANKS in self.retrievers

    @property
    def is_hybrid(self) -> bool:
        """Whether words and vectors are fused by scores, and only a reranker may reorder the windows."""
        names = {*self.retrievers}
        return {*HYBRID} <= names and (bool(self.rerank) or names.isdisjoint((RANKS, PIECES)))

    def previous(self, arms: Sequence["Arm"]) -> "Arm | None":
        """Return the arm that lacks the last part of this one: the reranker, else the context, else a retriever."""
        if self.rerank:
            lesser = [(self.contexts, self.retrievers)]
        else:
            fewer = {arm.retrievers for arm in arms if set(arm.retrievers) < set(self.retrievers)}
            lesser = [(before, self.retrievers) for before in _BEFORE[self.contexts]]
            lesser += [(self.contexts, names) for names in sorted(fewer, key=lambda names: (-len(names), names))]
        plain = {(arm.contexts, arm.retrievers): arm for arm in reversed(arms) if not arm.rerank}
        return next((plain[key] for key in lesser if key in plain), None)


def parse_retrievers(text: str) -> Retrievers:
    """Read a text like `bm25+dense`, in the order of `PARTS`.

    Raises:
        UsageError: `retriever_not_ready`.
    """
    names = {name.strip() for name in text.split("+")}
    for name in sorted(names - {*PARTS}):
        raise UsageError("retriever_not_ready", name=name, reason=_("it is unknown"), ready=", ".join(PARTS))
    if names == {RANKS}:
        raise UsageError("retriever_not_ready", name=RANKS, reason=_("it is unknown"), ready=", ".join(RETRIEVERS))
    if PIECES in names and "dense" not in names:
        raise UsageError(
            "retriever_not_ready", name=PIECES, reason=_("it needs dense beside it"), ready=", ".join(PARTS)
        )
    return tuple(name for name in PARTS if name in names)


def parse_sets(text: str | None) -> tuple[Retrievers, ...] | None:
    """Read a text like `bm25,dense+sparse`; None for None. Raises as `parse_retrievers`."""
    return tuple(dict.fromkeys(map(parse_retrievers, text.split(",")))) if text is not None else None


def all_arms(levels: Sequence[str], sets: Sequence[Retrievers], depth: int) -> list[Arm]:
    """Return all arms over these contexts; a reranker of `depth` follows the fullest set, except over bare windows."""
    fullest = next((names for names in reversed(sets) if RANKS not in names), sets[-1])
    arms = []
    for level in levels:
        arms += [Arm.of(level, retrievers) for retrievers in sets]
        if depth and level != NONE:
            arms.append(Arm.of(level, fullest, depth))
    return arms
