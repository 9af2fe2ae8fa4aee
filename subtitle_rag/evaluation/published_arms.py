"""The arms of the seed article over a library: without contexts, with them, all retrievers, then the reranker."""

import hashlib
import json
from contextlib import ExitStack
from dataclasses import dataclass

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.evaluation.arm_run import ArmRun
from subtitle_rag.evaluation.arms import DENSE, Arm, Retrievers
from subtitle_rag.evaluation.records import hash_parts
from subtitle_rag.evaluation.temp_library import LibraryView, LibraryViews
from subtitle_rag.i18n import _
from subtitle_rag.retrieval.search.parts import LEXICAL
from subtitle_rag.retrieval.search.reranking import FULL_DEPTH
from subtitle_rag.runtime import Runtime

WITHOUT, WITH_CONTEXTS, HYBRID, RERANK = "none", "contexts", "hybrid", "rerank"
ARMS = (WITHOUT, WITH_CONTEXTS, HYBRID, RERANK)


@dataclass(frozen=True, slots=True)
class ArmsRequest:
    """The arms to judge."""

    names: tuple[str, ...]
    scenes: int = 5
    """The scenes of each search: an answer is made of them, and they are judged."""
    retrievers: Retrievers | None = None
    """Retrievers of the first two arms; None: dense vectors, else words."""
    skip_missing: bool = False
    """Leave out an arm without its models or contexts, instead of ending."""


def parse_arms(text: str) -> tuple[str, ...]:
    """Read a text like `none,contexts`, in the order of `ARMS`; raises UsageError `unknown_arm`."""
    names = {name.strip() for name in text.split(",")}
    for name in sorted(names - {*ARMS}):
        raise UsageError("unknown_arm", name=name, known=", ".join(ARMS))
    return tuple(name for name in ARMS if name in names)


def open_arms(
    runtime: Runtime, request: ArmsRequest, models: EvalModels, opened: ExitStack
) -> tuple[list[ArmRun], dict[str, str]]:
    """Open the arms over the library and copies of it, which are gone when `opened` closes.

    Return those that the library allows, and for each that is left out the reason why it takes no part.

    Raises:
        UsageError: `arm_not_ready` for an arm without its models or contexts; `retriever_not_ready`.
        BusyError, AppError: from the library, the index and the models.
    """
    videos = [state.video.id for state in runtime.library.videos() if state.windows]
    has_contexts = any(runtime.library.contexts.of_video(id) for id in videos)
    sets, left_out = _retrievers(request, models, has_contexts=has_contexts)
    neural = any(name not in LEXICAL for names in sets.values() for name in names)
    views = LibraryViews(runtime, models, opened, neural)
    by_arm = {WITHOUT: views.without_contexts()} if WITHOUT in sets else {}
    if {*sets} - {WITHOUT}:
        by_arm |= dict.fromkeys(ARMS[1:], views.as_it_is())
    fingerprints = {view.level: _fingerprint(view) for view in by_arm.values()}
    arms = []
    for name, retrievers in sets.items():
        view, depth = by_arm[name], FULL_DEPTH if name == RERANK else 0
        encoder = models.encoder.id if models.encoder and retrievers != LEXICAL else ""
        reranker = models.reranker.id if models.reranker and depth else ""
        fusion = runtime.settings.search.fusion
        signature = hash_parts([fingerprints[view.level], list(retrievers), encoder, reranker, depth, fusion])
        arms.append(ArmRun(Arm(name, view.level, retrievers, depth), view, models.reranker, signature))
    return arms, left_out


def _retrievers(
    request: ArmsRequest, models: EvalModels, *, has_contexts: bool
) -> tuple[dict[str, Retrievers], dict[str, str]]:
    """Return the retrievers of each arm, and the arms that are left out, with the reasons.

    Raises:
        UsageError: `arm_not_ready` if an arm is not to be left out, or if no other is there.
    """
    every = models.retrievers()
    first = request.retrievers or (DENSE if DENSE in every else LEXICAL)
    if request.retrievers:
        models.retrievers((request.retrievers,))
    fullest = every[-1]
    reasons: dict[str, str] = {}
    if not has_contexts:
        reasons[WITH_CONTEXTS] = _("the library has no contexts: subtitle-rag contexts write")
    if len(fullest) < 2:
        reasons[HYBRID] = models.absent.get("encoder", "")
    if models.reranker is None:
        reasons[RERANK] = models.absent.get("reranker", "")
    left_out = {name: reasons[name].rstrip(".") for name in request.names if name in reasons}
    sets = {name: first if name in ARMS[:2] else fullest for name in request.names if name not in left_out}
    for name, reason in left_out.items():
        if not request.skip_missing or not sets:
            raise UsageError("arm_not_ready", name=name, reason=reason)
    return sets, left_out


def _fingerprint(view: LibraryView) -> str:
    """Return a hash of all that a search of this library depends on."""
    digest = hashlib.sha256()
    for state in view.library.videos():
        video, contexts = state.video, view.library.contexts.of_video(state.video.id)
        digest.update(json.dumps([video.id, video.title, [chapter.title for chapter in video.chapters]]).encode())
        for window in view.library.windows_of(video.id):
            context = contexts[window.id].text if window.id in contexts else ""
            digest.update(json.dumps([window.id, window.text, context]).encode())
    return digest.hexdigest()
