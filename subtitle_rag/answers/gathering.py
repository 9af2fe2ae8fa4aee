"""Selection of evidence for a question: the best scenes, all captions of some videos, or a video's outline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from subtitle_rag.answers import answer_prompt, whole
from subtitle_rag.answers.answer_prompt import AnswerPrompt, Language
from subtitle_rag.answers.compared_sides import ComparedSide, compared_sides, interleaved, shares_scene, text_of
from subtitle_rag.answers.context_builder import (
    LABELS,
    SCENES,
    SHARE,
    ContextBuilder,
    Cost,
    RankedContextBuilder,
    SimpleContextBuilder,
    fitted,
    form_of,
    lines_of,
    quoted,
    speech,
)
from subtitle_rag.answers.token_budget import AUTOMATIC_TOKENS, TokenBudget
from subtitle_rag.base.domain.answer_values import Evidence, EvidenceKind, EvidenceSource, WordCount
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Video, Window
from subtitle_rag.korean.morphemes import SentenceAnalyzer
from subtitle_rag.library.resolve import video_ids
from subtitle_rag.library.store import Library
from subtitle_rag.search.query import Query
from subtitle_rag.search.reranking import IN_ANSWER
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import Searcher, SearchResult

MOST_COUNTS = 8
"""Maximum words of a question to count for the model."""


@dataclass(frozen=True, slots=True)
class EvidenceText:
    """The evidence of one conversation, in the form for the model."""

    evidence: Evidence
    text: str
    language: Language
    num_ctx: int
    """0 without a model."""
    scenes: tuple[Scene, ...] = ()
    """The found scenes, in the order of their numbers."""

    def system(self, prompt: AnswerPrompt) -> str:
        """Return the system message of a request."""
        return answer_prompt.system(self.text, self.evidence.kind, self.language, prompt)


BuilderName = Literal["ranked", "ordered", "simple"]
"""Form of the scenes' text: best at both ends, best first, or only speech."""


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of a question."""

    limit: int | None = None
    """Number of scenes; None: the gatherer's, or all of a video for a question about the whole."""
    builder: BuilderName = "ranked"
    whole: bool | None = None
    """Whether to read all captions instead of the best scenes; None: if they are short enough."""

    retrievers: tuple[str, ...] | None = None
    """None: all available ones."""

    @property
    def may_read_whole(self) -> bool:
        return self.limit is None and self.whole is not False


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Chooses the evidence for questions about one library."""

    library: Library
    searcher: Searcher
    analyzer: SentenceAnalyzer
    scenes: int = SCENES
    """Number of scenes for a question without its own limit."""
    prompt: AnswerPrompt = answer_prompt.BUILT_IN

    def gather(self, query: Query, budget: TokenBudget | None, options: AnswerOptions) -> EvidenceText:
        """Return the evidence. Without a `budget` (there is no model), nothing is cut.

        Raises:
            UsageError: `empty_query` for only filters, `unknown`; `whole_too_long` and `whole_of_words` if all captions
                are requested.
            AppError: from the library and the index.
        """
        if not query.text:
            raise UsageError("empty_query")
        language = answer_prompt.language(query.text)
        about_whole = options.may_read_whole and whole.is_about_whole(query.text)
        video = self._evident_video(query, about_whole=about_whole) if options.may_read_whole else None
        windows = self.library.windows_of(video.id) if video else []
        if video and windows:
            contexts = {id: context.text for id, context in self.library.contexts.of_video(video.id).items()}
            prefers_map = about_whole and (budget is None or 2 * len(contexts) >= len(windows))
            asks_map = prefers_map and not options.whole
            gathered = None if asks_map else _captions({video: windows}, language, budget, options)
            if gathered is None and about_whole:
                gathered = _map(video, windows, contexts, language, budget)
            if gathered is not None:
                return gathered
        elif options.may_read_whole:
            gathered = _captions(self._videos(query, options), language, budget, options)
            if gathered is not None:
                return gathered
        gathered = self._search(query, language, budget, options)
        return replace(gathered, evidence=replace(gathered.evidence, nameless=about_whole and not windows))

    def names_of(self, sources: Sequence[EvidenceSource]) -> list[str]:
        """Return the texts with the names in some scenes' videos: glossaries, chapters and descriptions."""
        videos = {source.video.id: source.video for source in sources}
        glossaries = {video.channel_id: self.library.contexts.glossary(video.channel_id) for video in videos.values()}
        chapters = [chapter.title for video in videos.values() for chapter in video.chapters]
        descriptions = [self.library.details(id).description for id in videos]
        return [*(name for names in glossaries.values() for name in names), *chapters, *descriptions]

    def _evident_video(self, query: Query, *, about_whole: bool) -> Video | None:
        """Return the only video that filters, library or question allow, or None."""
        if query.phrases or query.excluded or query.channels or query.after or query.before:
            return None
        ids = set(video_ids(self.library, query.videos))
        if not query.videos:
            videos = [state.video for state in self.library.videos() if state.windows]
            if about_whole and len(videos) > 1:
                videos = whole.named_in(query.text, videos)
            ids.update(video.id for video in videos)
        return self.library.video(ids.pop()) if len(ids) == 1 else None

    def _videos(self, query: Query, options: AnswerOptions) -> dict[Video, list[Window]]:
        """Return the videos that pass the filters, by channel and time, with their windows.

        Empty for a question that restricts windows by their words.
        """
        if query.phrases or query.excluded:
            if options.whole:
                raise UsageError("whole_of_words")
            return {}
        where = self.searcher.where(query)
        if where.only is not None and not where.only:
            return {}
        videos = [state.video for state in self.library.videos() if state.windows and where.has_video(state.video)]
        videos.sort(key=lambda video: (video.channel, video.channel_id, video.published or date.min, video.id))
        return {video: self.library.windows_of(video.id) for video in videos}

    def counts(self, query: Query) -> tuple[WordCount, ...]:
        """Count how often captions have the question's words, within its filters. Raises like `gather`."""
        return self.searcher.word_counts(query)[:MOST_COUNTS]

    def request(self, query: Query, options: AnswerOptions) -> tuple[EvidenceText, list[dict[str, str]]]:
        """Return evidence and request for a first question, for a model with unlimited context.

        Raises like `gather`.
        """
        evidence = self.gather(query, None, options)
        return evidence, answer_prompt.messages(
            evidence.system(self.prompt), (), answer_prompt.question_text(query.text, self.counts(query))
        )

    def _search(
        self, query: Query, language: Language, budget: TokenBudget | None, options: AnswerOptions
    ) -> EvidenceText:
        limit = options.limit or self.scenes
        builder = _builder(query, language, options)
        sides = compared_sides(query, self.analyzer)
        scenes_by_side = [self._scenes_of(side, limit, options) for side in sides]
        scenes = (
            interleaved(scenes_by_side, limit) if any(scenes_by_side) else self.search(query, limit, options).scenes
        )
        gathered = _scene_evidence(scenes, builder, language, budget)
        missing = tuple(
            side.name
            for side, of_side in zip(sides, scenes_by_side, strict=True)
            if not shares_scene(of_side, gathered.scenes)
        )
        notes = [LABELS[language].missing.format(name=quoted(name)) for name in missing]
        text = "\n\n".join((gathered.text, *notes))
        return replace(gathered, text=text, evidence=replace(gathered.evidence, missing_sides=missing))

    def _scenes_of(self, side: ComparedSide, limit: int, options: AnswerOptions) -> list[Scene]:
        """Return the best scenes that name one side of a comparison."""
        scenes = self.search(side.query, limit, options).scenes
        analyses = self.analyzer.morphemes([text_of(scene) for scene in scenes])
        return [scene for scene, analysis in zip(scenes, analyses, strict=True) if side.is_named_in(scene, analysis)]

    def search(self, query: Query, limit: int, options: AnswerOptions) -> SearchResult:
        """Search for the best scenes. Raises like `gather`."""
        return self.searcher.search(
            query, limit=limit, retrievers=options.retrievers, budget=IN_ANSWER, is_question=True
        )


def _builder(query: Query, language: Language, options: AnswerOptions) -> ContextBuilder:
    if options.builder == "simple":
        return SimpleContextBuilder()
    is_analysis = form_of(query.text) == "analysis"
    return RankedContextBuilder(options.builder == "ranked", LABELS[language], include_source=is_analysis)


def _scene_evidence(
    scenes: Sequence[Scene], builder: ContextBuilder, language: Language, budget: TokenBudget | None
) -> EvidenceText:
    """Return as many scenes as fit, as evidence."""
    if budget is None:
        evidence = Evidence("search", _of_scenes(scenes))
        return EvidenceText(evidence, builder.build(scenes), language, 0, scenes=tuple(scenes))
    num_ctx, tokens = budget.fit(builder.build(scenes), language, "search", SHARE)
    fitting = fitted(builder, scenes, tokens, budget.cost)
    evidence = Evidence("search", _of_scenes(fitting), left_out=len(scenes) - len(fitting))
    return EvidenceText(evidence, builder.build(fitting), language, num_ctx, scenes=tuple(fitting))


def _captions(
    videos: Mapping[Video, Sequence[Window]], language: Language, budget: TokenBudget | None, options: AnswerOptions
) -> EvidenceText | None:
    """Return all speech of some videos; None if it is too long, or there is no model.

    Raises:
        UsageError: `whole_too_long` if the options request it.
    """
    if not videos or budget is None:
        return None
    kind: EvidenceKind = "transcript" if len(videos) == 1 else "library"
    text = whole.transcripts(videos)
    tokens = budget.cost(text)
    num_ctx = budget.whole_num_ctx(text, language, kind)
    if num_ctx is None and options.whole:
        raise UsageError("whole_too_long", tokens=tokens, most=budget.most_tokens, videos=len(videos))
    if num_ctx is None or (options.whole is None and tokens > AUTOMATIC_TOKENS):
        return None
    sources = _of_windows(videos, {})
    evidence = Evidence(kind, sources, tokens=tokens, cache_bytes=num_ctx * budget.cache_bytes)
    return EvidenceText(evidence, text, language, num_ctx)


def _map(
    video: Video, windows: Sequence[Window], contexts: Mapping[str, str], language: Language, budget: TokenBudget | None
) -> EvidenceText:
    cost: Cost = budget.cost if budget else len
    labels = LABELS[language]
    full, _short = whole.outline(video, windows, contexts, labels, 10**9, cost)
    evidence = Evidence("map", _of_windows({video: windows}, contexts))
    if budget is None:
        return EvidenceText(evidence, full, language, 0)
    num_ctx, tokens = budget.fit(full, language, "map")
    text, short = whole.outline(video, windows, contexts, labels, tokens, cost)
    return EvidenceText(replace(evidence, shortened=short), text, language, num_ctx)


def _of_scenes(scenes: Sequence[Scene]) -> tuple[EvidenceSource, ...]:
    return tuple(
        EvidenceSource(n, s.id, s.video, s.start_ms, s.end_ms, s.at_ms, tuple(lines_of(s)), text, s.context)
        for n, (s, text) in enumerate(zip(scenes, speech(scenes), strict=True), start=1)
    )


def _of_windows(videos: Mapping[Video, Sequence[Window]], contexts: Mapping[str, str]) -> tuple[EvidenceSource, ...]:
    pairs = ((video, window) for video, windows in videos.items() for window in windows)
    return tuple(
        EvidenceSource(
            number=number,
            scene=window.id,
            video=video,
            start_ms=window.start_ms,
            end_ms=window.end_ms,
            at_ms=window.start_ms,
            lines=tuple(window.dialogue()),
            text=window.text,
            context=contexts.get(window.id),
        )
        for number, (video, window) in enumerate(pairs, start=1)
    )
