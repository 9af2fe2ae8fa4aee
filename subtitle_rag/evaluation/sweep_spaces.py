"""The numbers of the search that a sweep varies, and the figures of any setting of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from subtitle_rag.captions import SHIPPED_RULE, WindowRule, cut_windows, parse_captions
from subtitle_rag.domain import CaptionError, UsageError, Video, Window
from subtitle_rag.evaluation import context_file, temp_library
from subtitle_rag.evaluation.arms import NO_MODEL, NOT_READY, Arm, View, reranked
from subtitle_rag.evaluation.metrics import Values
from subtitle_rag.evaluation.questions import Dataset, GoldSet, Question, all_windows, gold_set
from subtitle_rag.library import Library
from subtitle_rag.retrieval import (
    DEFAULT_PARAMS,
    DEFAULT_PARTS,
    HIERARCHY,
    LEVEL_PARTS,
    LEXICAL,
    NEURAL,
    UNMEASURED_DEPTH,
    Bm25Params,
    Candidates,
    OwnWindows,
    Ranked,
    RerankCache,
    Reranker,
    fuse_scores,
    lift,
    parse_query,
    passage,
    shares,
)
from subtitle_rag.runtime import Runtime

Setting = Mapping[str, float]
"""Name of a number → its value."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A number to vary; `shipped` is one of its `values`."""

    name: str
    values: tuple[float, ...]
    shipped: float
    unit: str = ""


class SearchSpace(Protocol):
    """Axes, and the figures of any setting of them."""

    name: str
    axes: Sequence[Axis]

    def measure(self, setting: Setting) -> Values:
        """A row of `METRICS` for every question of both halves; called once for each setting."""


SECOND = 1000
LEXICAL_AXES = (
    Axis("window", (30, 45, 60, 90), SHIPPED_RULE.target_ms // SECOND, "s"),
    Axis("keywords", (0, DEFAULT_PARAMS.keywords, 10), DEFAULT_PARAMS.keywords),
    Axis("bigrams", (0, 0.3, 0.5, 0.7), DEFAULT_PARAMS.bigrams),
    Axis("k1", (0.5, 0.8, 1.2, 1.6), DEFAULT_PARAMS.k1),
    Axis("b", (0.3, 0.5, 0.75, 0.9), DEFAULT_PARAMS.b),
)


def rule_for(seconds: float) -> WindowRule:
    """Return the window rule with another target, its least and greatest length in proportion."""
    scale = seconds * SECOND / SHIPPED_RULE.target_ms
    least, greatest = round(SHIPPED_RULE.min_ms * scale), round(SHIPPED_RULE.max_ms * scale)
    return replace(SHIPPED_RULE, target_ms=round(seconds * SECOND), min_ms=least, max_ms=greatest)


def cut_tracks(library: Library, rule: WindowRule) -> Iterator[tuple[Video, list[Window]]]:
    """Yield the library's videos with the windows of a rule; an unreadable track keeps its windows."""
    for state in library.videos():
        track = library.track(state.video.id) if state.windows else None
        if track is None:
            continue
        try:
            cues = parse_captions(track.raw, track.format, path=state.video.title, language=track.language)
        except CaptionError:
            yield state.video, library.windows_of(state.video.id)
            continue
        yield (
            state.video,
            cut_windows(state.video.id, cues, [chapter.start_ms for chapter in state.video.chapters], rule),
        )


class LexicalSpace:
    """The `bm25` retriever over copies of the library, one for each setting; no text is analysed twice.

    A model's contexts go to the windows that they overlap most.
    """

    name = "words"
    axes: Sequence[Axis] = LEXICAL_AXES

    def __init__(self, runtime: Runtime, dataset: Dataset) -> None:
        self._library, self._dataset = runtime.library, dataset
        self._analyzer = temp_library.CachingAnalyzer(runtime.analyzer, temp_library.known_morphemes(runtime.library))
        windows = {window.id: window for some in all_windows(runtime.library).values() for window in some}
        self._contexts = [
            context_file.FileContext(windows[id].video_id, windows[id].start_ms, windows[id].end_ms, text)
            for id, text in runtime.library.contexts.texts().items()
        ]
        self._documents: dict[float, list[tuple[Video, list[Window]]]] = {}

    def measure(self, setting: Setting) -> Values:
        """Index a copy of the library by this setting, and search it."""
        seconds = setting["window"]
        if seconds not in self._documents:
            self._documents[seconds] = list(cut_tracks(self._library, rule_for(seconds)))
        documents = self._documents[seconds]
        by_video = {video.id: some for video, some in documents}
        contexts = context_file.assign(self._contexts, by_video)
        questions = gold_set(self._dataset, self._library, by_video)
        making = Bm25Params(setting["k1"], setting["b"], setting["bigrams"], keywords=int(setting["keywords"]))
        # replacing the vectors of one index takes about twice as long as another index
        with temp_library.create(documents, self._analyzer, contexts, making=making) as copy:
            arm = Arm(View(NO_MODEL, copy.library, copy.searcher), LEXICAL)
            rankings = arm.rank_all(questions.questions).rankings
        return questions.measure(rankings)


FUSION_VALUES = {"dense": (0.3, 0.6, 1.0, 1.5, 2.5), "sparse": (0.0, 0.08, 0.15, 0.3, 0.6)}
LEVEL_VALUES = {"section": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5), "video": (0.0, 0.1, 0.2, 0.4)}
DEPTHS = (0, 5, 10, 20, 50)
OVERLAPS = (0, 6, 12, 24)


@dataclass(slots=True)
class _QuestionHits:
    """A query's words and its candidates; both empty for a refused query."""

    text: str = ""
    candidates: Candidates = field(default_factory=Candidates)
    scores: RerankCache = field(default_factory=RerankCache)
    """Remembers the passages that the reranker has read."""


class FusionSpace:
    """Fusion of the retrievers' lists, sections, videos and the reranker, over the library as it is.

    No query is asked and no passage read twice. Without a `reranker` its axes are missing, as those of sections and
    videos where the settings leave these out of the index.
    """

    name = "lists"

    def __init__(self, runtime: Runtime, questions: GoldSet, reranker: Reranker | None, *, neural: bool = True) -> None:
        self._runtime, self._questions, self._reranker = runtime, questions, reranker
        ready = runtime.searcher.ready() if neural else LEXICAL
        axes = [Axis(name, values, DEFAULT_PARTS[name]) for name, values in FUSION_VALUES.items() if name in ready]
        if HIERARCHY in runtime.searcher.ready():
            axes += [Axis(level, values, LEVEL_PARTS[level]) for level, values in LEVEL_VALUES.items()]
        if reranker is not None:
            depth = reranker.depth or UNMEASURED_DEPTH
            axes.append(Axis("rerank", tuple(sorted({*DEPTHS, depth})), depth))
            axes.append(Axis("overlap", OVERLAPS, 0, "s"))
        self.axes: Sequence[Axis] = axes
        self._hits: list[_QuestionHits] = []
        self._windows: defaultdict[float, dict[tuple[str, int], Window]] = defaultdict(dict)

    def measure(self, setting: Setting) -> Values:
        """Fuse and rerank the hits anew."""
        self._hits = self._hits or [self._search(question) for question in self._questions.questions]
        parts = {name: setting.get(name, part) for name, part in DEFAULT_PARTS.items()}
        rankings = []
        for hits in self._hits:
            found = hits.candidates
            ranked = fuse_scores(found, shares(found, parts)) if found.lists else []
            ranked = lift(ranked, found.above, {level: setting.get(level, 0.0) for level in LEVEL_VALUES})
            depth = int(setting.get("rerank", 0))
            if self._reranker is not None and depth and ranked:
                passages = self._passages(ranked[:depth], setting["overlap"])
                scores = hits.scores.scores(self._reranker, hits.text, passages)
                ranked = reranked(ranked, scores)
            rankings.append([hit.window_id for hit in ranked])
        return self._questions.measure(rankings)

    def _search(self, question: Question) -> _QuestionHits:
        axes = {axis.name for axis in self.axes}
        names = (*LEXICAL, *(name for name in NEURAL if name in axes), *((HIERARCHY,) if "section" in axes else ()))
        try:
            query = parse_query(question.query)
            return _QuestionHits(query.text, self._runtime.searcher.candidates(query, retrievers=names))
        except UsageError as error:
            if error.code in NOT_READY:
                raise
            return _QuestionHits()

    def _passages(self, ranked: Sequence[Ranked], overlap: float) -> dict[str, str]:
        """Return the passages that the reranker reads, each with so many seconds of speech on either side."""
        library = OwnWindows(self._runtime.library)
        ids = [hit.window_id for hit in ranked]
        windows, contexts = library.windows(ids), library.contexts(ids)
        passages = {}
        for hit in ranked:
            if hit.window_id in windows:
                text = windows[hit.window_id].text
                wide = self._wide_windows(overlap).get((hit.video_id, hit.ordinal)) if overlap else None
                if wide is not None and wide.text == text:
                    text = " ".join(filter(None, (wide.overlap_before, text, wide.overlap_after)))
                passages[hit.window_id] = passage(contexts.get(hit.window_id), text)
        return passages

    def _wide_windows(self, seconds: float) -> dict[tuple[str, int], Window]:
        """Return the windows with so much overlap, by video and position in it."""
        if not self._windows[seconds]:
            wide_rule = replace(SHIPPED_RULE, overlap_ms=round(seconds * SECOND))
            for video, windows in cut_tracks(self._runtime.library, wide_rule):
                self._windows[seconds] |= {(video.id, window.ordinal): window for window in windows}
        return self._windows[seconds]
