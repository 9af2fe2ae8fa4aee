"""The arms of the seed article over a library: before contexts, with contexts, then all retrievers, then the reranker.

An arm is searched as a library is, so that an answer can be made of its scenes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation.arms import NOT_READY, Arm, ArmChoice, EvalModels, Retrievers, View
from subtitle_rag.evaluation.temp_library import Views
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.korean.lexical import LexicalQuery
from subtitle_rag.retrieval.search import SearchResult
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.retrieval.search.query import Query, parse_query
from subtitle_rag.retrieval.search.reranking import RerankBudget
from subtitle_rag.retrieval.values import Filter
from subtitle_rag.runtime import Runtime

WITHOUT, CONTEXTS, HYBRID, RERANK = "none", "contexts", "hybrid", "rerank"
ARMS = (WITHOUT, CONTEXTS, HYBRID, RERANK)
DEPTHS = (5, 10, 20)
"""Windows of the retrieval failures."""
PUBLISHED = {WITHOUT: 0.057, CONTEXTS: 0.037, HYBRID: 0.029, RERANK: 0.019}
"""failure@20 of Anthropic 2024, "Introducing Contextual Retrieval"."""


def parse_arms(text: str) -> tuple[str, ...]:
    """Read a text like `none,contexts`, in the order of `ARMS`; raises UsageError `unknown_arm`."""
    names = {name.strip() for name in text.split(",")}
    for name in sorted(names - {*ARMS}):
        raise UsageError("unknown_arm", name=name, known=", ".join(ARMS))
    return tuple(name for name in ARMS if name in names)


def known_retrievers(text: str) -> Retrievers:
    """Read a text like `bm25,dense`, in the order of `SEARCH_PARTS`.

    Raises:
        UsageError: `unknown_retriever`, `late_alone`.
    """
    choice = ArmChoice.parse(text.replace(",", "+")).retrievers
    assert choice is not None
    return choice[0]


@dataclass(frozen=True, slots=True)
class ArmsRequest:
    """The arms to judge."""

    names: tuple[str, ...]
    scenes: int = 5
    """The scenes of each search: an answer is made of them, and they are judged."""
    retrievers: Retrievers | None = None
    """Those of the first two arms; None: dense vectors, else words."""
    skip_missing: bool = False
    """Leave out an arm without its models or contexts, instead of ending."""


@dataclass(slots=True)
class PublishedArm:
    """One of the arms, with the result of its last search."""

    name: str
    arm: Arm
    signature: str
    """A hash of all that the scenes depend on."""
    _last: tuple[str, SearchResult, list[str]] | None = field(default=None, repr=False)

    def analyze(self, text: str) -> LexicalQuery:
        return self.arm.view.searcher.analyze(text)

    def where(self, query: Query) -> Filter:
        return self.arm.view.searcher.where(query)

    def search(
        self,
        query: Query,
        *,
        limit: int,
        retrievers: Sequence[str] | None = None,  # noqa: ARG002
        rerank: bool = True,  # noqa: ARG002
        budget: RerankBudget | None = None,  # noqa: ARG002
    ) -> SearchResult:
        """Return the best scenes. An arm has its own retrievers, and its reranker reads all windows."""
        if self._last is None or self._last[0] != query.raw:
            ranking = self.arm.rank(query)
            best = tuple(scene for scene, _windows in self.arm.scenes(ranking, limit))
            result = SearchResult(query, self.arm.retrievers, best, {}, lexical=ranking.fused.lexical)
            self._last = query.raw, result, ranking.ids[: DEPTHS[-1]]
        return self._last[1]

    def search_text(self, text: str, limit: int) -> tuple[SearchResult, list[str]] | None:
        """Return the best scenes, and the ids of the best windows; None for a refused query."""
        try:
            result = self.search(parse_query(text), limit=limit)
        except UsageError as error:
            if error.code in NOT_READY:
                raise
            return None
        assert self._last is not None
        return result, self._last[2]


@dataclass(frozen=True, slots=True)
class PublishedArms:
    """The arms that a library allows."""

    arms: list[PublishedArm]
    left_out: dict[str, str]
    """Arm → the reason why it takes no part."""
    models: EvalModels

    @classmethod
    def open(cls, runtime: Runtime, request: ArmsRequest, opened: ExitStack) -> "PublishedArms":
        """Open the arms over the library and copies of it, which are gone when `opened` closes.

        Raises:
            UsageError: `arm_not_ready` for an arm without its models or contexts; `retriever_not_ready`.
            BusyError, AppError: from the library, the index and the models.
        """
        models = EvalModels.of(runtime, ArmChoice(rerank=RERANK in request.names))
        videos = [state.video.id for state in runtime.library.videos() if state.windows]
        has_contexts = any(runtime.library.contexts.of_video(id) for id in videos)
        sets, left_out = _retrievers(request, models, has_contexts=has_contexts)
        neural = any(name not in LEXICAL for names in sets.values() for name in names)
        views = Views(runtime, models, opened, neural)
        return cls(_opened_arms(views, sets, models, runtime.settings.search.fusion), left_out, models)


def _retrievers(
    request: ArmsRequest, models: EvalModels, *, has_contexts: bool
) -> tuple[dict[str, Retrievers], dict[str, str]]:
    """Return the retrievers of each arm, and the arms that are left out, with the reasons.

    Raises:
        UsageError: `arm_not_ready` if an arm is not to be left out, or if no other is there.
    """
    every = models.retrievers(ArmChoice())
    dense = ("dense",)
    first = request.retrievers or (dense if dense in every else LEXICAL)
    if request.retrievers:
        models.retrievers(ArmChoice((request.retrievers,)))
    fullest = every[-1]
    reasons: dict[str, str] = {}
    if not has_contexts:
        reasons[CONTEXTS] = _("the library has no contexts: subtitle-rag contexts write")
    if len(fullest) < 2:
        reasons[HYBRID] = models.absent.get("encoder", "")
    if models.reranker is None:
        reasons[RERANK] = models.absent.get("reranker", "")
    left_out = {name: reasons[name].rstrip(".") for name in request.names if name in reasons}
    sets = {name: first if name in (WITHOUT, CONTEXTS) else fullest for name in request.names if name not in left_out}
    for name, reason in left_out.items():
        if not request.skip_missing or not sets:
            raise UsageError("arm_not_ready", name=name, reason=reason)
    return sets, left_out


def _opened_arms(views: Views, sets: Mapping[str, Retrievers], models: EvalModels, fusion: str) -> list[PublishedArm]:
    without = views.without_contexts() if WITHOUT in sets else None
    as_it_is = views.as_it_is() if {*sets} - {WITHOUT} else None
    signatures: dict[str, str] = {}
    listed = []
    for name, retrievers in sets.items():
        view = without if name == WITHOUT else as_it_is
        assert view is not None
        if view.level not in signatures:
            signatures[view.level] = _fingerprint(view)
        arm = Arm(view, retrievers, models.reranker if name == RERANK else None)
        parts = [
            signatures[view.level],
            list(retrievers),
            models.encoder.id if models.encoder and retrievers != LEXICAL else "",
            arm.reranker.id if arm.reranker else "",
            arm.depth,
            fusion,
        ]
        listed.append(PublishedArm(name, arm, hash_parts(parts)))
    return listed


def _fingerprint(view: View) -> str:
    """Return a hash of all that a search of this library depends on."""
    digest = hashlib.sha256()
    for state in view.library.videos():
        video, contexts = state.video, view.library.contexts.of_video(state.video.id)
        digest.update(json.dumps([video.id, video.title, [chapter.title for chapter in video.chapters]]).encode())
        for window in view.library.windows_of(video.id):
            context = contexts[window.id].text if window.id in contexts else ""
            digest.update(json.dumps([window.id, window.text, context]).encode())
    return digest.hexdigest()


def hash_parts(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:16]
