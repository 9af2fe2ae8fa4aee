"""The choice of evidence for a question: the best scenes, a whole transcript, or the map of a video."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from subtitle_rag.answers import answer_prompt, whole
from subtitle_rag.answers.answer_prompt import Language
from subtitle_rag.answers.context_builder import (
    LABELS,
    SCENES,
    SHARE,
    ContextBuilder,
    Cost,
    RankedContextBuilder,
    fitted,
    speech,
)
from subtitle_rag.contexts.context_prompt import estimate
from subtitle_rag.domain import Line, Video, Window, spoken
from subtitle_rag.errors import UsageError
from subtitle_rag.events import Evidence, EvidenceKind, EvidenceSource
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.query import Query
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.retrieval.search import Searcher


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The values of `num_ctx` to choose from, ascending, and the model's tokens per character."""

    windows: tuple[int, ...]
    tokens_per_char: float
    loaded: int = 0
    """The loaded model's `num_ctx`; another one loads it anew."""

    def cost(self, text: str) -> int:
        """Estimate a text's tokens on the safe side."""
        return estimate(text, self.tokens_per_char)

    def scene_tokens(self, num_ctx: int, language: Language, kind: EvidenceKind) -> int:
        """Return the tokens for scenes beside the rest of a request."""
        return answer_prompt.scene_tokens(num_ctx, language, kind, self.tokens_per_char)

    def num_ctx(self, text: str, available: Callable[[int], int]) -> int | None:
        """Return the smallest window whose `available` tokens hold the text, but no smaller than the loaded one."""
        needed = self.cost(text)
        smallest = next((window for window in self.windows if needed <= available(window)), None)
        return None if smallest is None else max(smallest, self.loaded)

    @property
    def largest(self) -> int:
        return max(self.windows[-1], self.loaded)


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """The evidence of one conversation, as the model reads it."""

    evidence: Evidence
    text: str
    language: Language
    num_ctx: int
    """0 without a model."""

    @property
    def system(self) -> str:
        return answer_prompt.system(self.text, self.evidence.kind, self.language)


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of a question."""

    limit: int | None = None
    """The number of scenes; None: `SCENES`, or all of a video for questions about the whole."""
    builder: ContextBuilder | None = None
    """None: ranked and reordered."""


class Gatherer:
    """Chooses the evidence for questions about one library."""

    def __init__(self, library: Library, searcher: Searcher) -> None:
        self._library = library
        self._searcher = searcher

    def gather(self, query: Query, budget: TokenBudget | None, options: AnswerOptions) -> EvidenceText:
        """Return the evidence. Without a `budget`, as there is no model, nothing is cut.

        Raises:
            UsageError: `unknown_video`, `unknown_channel`.
            AppError: from the library and the index.
        """
        language = answer_prompt.language(query.text)
        about_whole = options.limit is None and whole.is_about_whole(query.text)
        video = self._evident_video(query, about_whole=about_whole) if options.limit is None else None
        windows = self._library.windows_of(video.id) if video else []
        if video and windows:
            contexts = {id: context.text for id, context in self._library.contexts.of_video(video.id).items()}
            prefers_map = about_whole and (budget is None or 2 * len(contexts) >= len(windows))
            gathered = None if prefers_map or budget is None else _transcript(video, windows, language, budget)
            if gathered is None and about_whole:
                gathered = _map(video, windows, contexts, language, budget)
            if gathered is not None:
                return gathered
        gathered = self._search(query, language, budget, options)
        return replace(gathered, evidence=replace(gathered.evidence, nameless=about_whole and not windows))

    def _evident_video(self, query: Query, *, about_whole: bool) -> Video | None:
        """Return the one video that filters, library or question leave no choice about."""
        if query.phrases or query.excluded or query.channels or query.after or query.before:
            return None
        ids: set[str] = set()
        for name in query.videos:
            matches = self._library.find_videos(name)
            if not matches:
                raise UsageError("unknown_video", video=name)
            ids.update(matches)
        if not query.videos:
            videos = [state.video for state in self._library.videos() if state.windows]
            if about_whole and len(videos) > 1:
                videos = whole.named_in(query.text, videos)
            ids.update(video.id for video in videos)
        return self._library.video(ids.pop()) if len(ids) == 1 else None

    def _search(
        self, query: Query, language: Language, budget: TokenBudget | None, options: AnswerOptions
    ) -> EvidenceText:
        scenes = self._searcher.search(query, limit=options.limit or SCENES).scenes
        builder = options.builder or RankedContextBuilder(labels=LABELS[language])
        if budget is None:
            return EvidenceText(Evidence("search", _of_scenes(scenes)), builder.build(scenes), language, 0)

        def available(num_ctx: int) -> int:
            return min(int(SHARE * num_ctx), budget.scene_tokens(num_ctx, language, "search"))

        num_ctx = budget.num_ctx(builder.build(scenes), available) or budget.largest
        fitting = fitted(builder, scenes, available(num_ctx), budget.cost)
        evidence = Evidence("search", _of_scenes(fitting), left_out=len(scenes) - len(fitting))
        return EvidenceText(evidence, builder.build(fitting), language, num_ctx)


def _transcript(
    video: Video, windows: Sequence[Window], language: Language, budget: TokenBudget
) -> EvidenceText | None:
    """Return all speech if the model's window holds it."""
    text = whole.transcript(video, windows)
    num_ctx = budget.num_ctx(text, lambda window: budget.scene_tokens(window, language, "transcript"))
    if num_ctx is None:
        return None
    return EvidenceText(Evidence("transcript", _of_windows(video, windows, {})), text, language, num_ctx)


def _map(
    video: Video,
    windows: Sequence[Window],
    contexts: Mapping[str, str],
    language: Language,
    budget: TokenBudget | None,
) -> EvidenceText:
    cost: Cost = budget.cost if budget else len
    labels = LABELS[language]
    full, _short = whole.outline(video, windows, contexts, labels, 10**9, cost)
    evidence = Evidence("map", _of_windows(video, windows, contexts))
    if budget is None:
        return EvidenceText(evidence, full, language, 0)
    num_ctx = budget.num_ctx(full, lambda window: budget.scene_tokens(window, language, "map")) or budget.largest
    tokens = budget.scene_tokens(num_ctx, language, "map")
    text, short = whole.outline(video, windows, contexts, labels, tokens, cost)
    return EvidenceText(replace(evidence, shortened=short), text, language, num_ctx)


def _of_scenes(scenes: Sequence[Scene]) -> tuple[EvidenceSource, ...]:
    return tuple(
        EvidenceSource(
            number=number,
            scene=scene.id,
            video=scene.video,
            start_ms=scene.start_ms,
            end_ms=scene.end_ms,
            at_ms=scene.at_ms,
            lines=tuple(spoken(scene.text, scene.lines or (Line(0, scene.start_ms),))),
            text=text,
            context=scene.context,
        )
        for number, (scene, text) in enumerate(zip(scenes, speech(scenes), strict=True), start=1)
    )


def _of_windows(video: Video, windows: Sequence[Window], contexts: Mapping[str, str]) -> tuple[EvidenceSource, ...]:
    return tuple(
        EvidenceSource(
            number=number,
            scene=window.id,
            video=video,
            start_ms=window.start_ms,
            end_ms=window.end_ms,
            at_ms=window.start_ms,
            lines=tuple(window.spoken()),
            text=window.text,
            context=contexts.get(window.id),
        )
        for number, window in enumerate(windows, start=1)
    )
