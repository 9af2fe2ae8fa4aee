"""`eval sweep`: choose the search's numbers with half of the questions, and measure them with the other half.

One number varies while the others stay. The value with the best MRR@10 on the train half wins; a tie keeps the current
value. The search ends after two passes, or after one without a change. Only the test half measures the choice.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from subtitle_rag.captions import SHIPPED_RULE, WindowRule, cut_windows, parse_captions
from subtitle_rag.domain import CaptionError, UsageError, Video, Window
from subtitle_rag.evaluation import context_file, metrics, temp_library
from subtitle_rag.evaluation.arms import NO_MODEL, NOT_READY, Arm, ArmChoice, EvalModels, View, reranked
from subtitle_rag.evaluation.context_file import FileContext
from subtitle_rag.evaluation.dataset import load_set
from subtitle_rag.evaluation.json_lines import bad_queries
from subtitle_rag.evaluation.metrics import FAILURE, Interval
from subtitle_rag.evaluation.questions import Dataset, GoldSet, Question, all_windows, gold_set, halves, windows_by_name
from subtitle_rag.evaluation.report import gap_text, header, interval_text, line
from subtitle_rag.i18n import N_, _
from subtitle_rag.installation import EVAL, require
from subtitle_rag.library import Library
from subtitle_rag.retrieval import (
    DEFAULT_PARTS,
    HIERARCHY,
    KEYWORDS,
    LEVEL_PARTS,
    LEXICAL,
    NEURAL,
    SHIPPED_NUMBERS,
    UNMEASURED_DEPTH,
    Bm25,
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

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values


OBJECTIVE = "mrr@10"
PASSES = 2

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

    def measure(self, setting: Setting) -> "Values":
        """A row of `METRICS` for every question of both halves; called once for each setting."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The objective on the train half for one value of an axis, with the 95 % interval of its mean."""

    axis: str
    value: float
    train: float
    interval: Interval


@dataclass(slots=True)
class CoordinateSearch:
    """A search through one space. Its results may be read at any time after the first trial."""

    space: SearchSpace
    train: Sequence[int]
    test: Sequence[int]
    only: Sequence[str] = ()
    """The axes to vary while the others stay as shipped; none: all."""
    trials: list[Trial] = field(default_factory=list)
    complete: bool = False
    shipped: dict[str, float] = field(init=False)
    best: dict[str, float] = field(init=False)
    measured: "dict[tuple[float, ...], Values]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = self.shipped = {axis.name: axis.shipped for axis in self.space.axes}

    @property
    def axes(self) -> list[Axis]:
        """The axes to vary."""
        return [axis for axis in self.space.axes if not self.only or axis.name in self.only]

    @property
    def changed(self) -> dict[str, float]:
        """The numbers that left their shipped value."""
        return {axis.name: self.best[axis.name] for axis in self.axes if self.best[axis.name] != axis.shipped}

    def run(self) -> Iterator[Trial]:
        """Search the space, and yield each new trial; errors of `SearchSpace.measure` pass through."""
        for _pass in range(PASSES):
            before = self.best
            for axis in self.axes:
                yield from self._vary(axis)
            if self.best == before:
                break
        self.complete = True

    def _vary(self, axis: Axis) -> Iterator[Trial]:
        start = self.best
        top = metrics.means(self._values(start, self.train))[OBJECTIVE]
        for value in axis.values:
            setting = {**start, axis.name: value}
            is_new = tuple(setting.values()) not in self.measured
            values = self._values(setting, self.train)
            score = metrics.means(values)[OBJECTIVE]
            if is_new or not any((trial.axis, trial.value) == (axis.name, value) for trial in self.trials):
                self.trials.append(Trial(axis.name, value, score, metrics.intervals(values)[OBJECTIVE]))
                yield self.trials[-1]
            if score > top:
                top, self.best = score, setting

    def _values(self, setting: Setting, half: Sequence[int]) -> "Values":
        key = tuple(setting.values())  # every setting has the axes in the same order
        if key not in self.measured:
            self.measured[key] = self.space.measure(setting)
        return self.measured[key][list(half)]

    def test_means(self, setting: Setting) -> dict[str, float]:
        """Return the mean of each metric on the test half."""
        return metrics.means(self._values(setting, self.test))

    def test_gaps(self) -> dict[str, metrics.Gap]:
        """Return the gain of the best numbers over the shipped ones on the test half."""
        return metrics.gaps(self._values(self.best, self.test) - self._values(self.shipped, self.test))

    def to_json(self) -> dict[str, Any]:
        gaps = self.test_gaps()
        return {
            "space": self.space.name,
            "whole": self.complete,
            "axes": [
                {
                    "name": axis.name,
                    "unit": axis.unit,
                    "shipped": axis.shipped,
                    "found": self.best[axis.name],
                    "tried": [
                        {"value": trial.value, OBJECTIVE: trial.train, "ci95": list(trial.interval)}
                        for trial in self.trials
                        if trial.axis == axis.name
                    ],
                }
                for axis in self.axes
            ],
            "test": {
                "shipped": self.test_means(self.shipped),
                "found": self.test_means(self.best),
                "found_minus_shipped": {name: gap.to_json() for name, gap in gaps.items()},
                "real": [name for name, gap in gaps.items() if gap.is_real],
            },
        }


SECOND = 1000
LEXICAL_AXES = (
    Axis("window", (30, 45, 60, 90), SHIPPED_RULE.target_ms // SECOND, "s"),
    Axis("keywords", (0, KEYWORDS, 10), KEYWORDS),
    Axis("bigrams", (0, 0.3, 0.5, 0.7), SHIPPED_NUMBERS.bigrams),
    Axis("k1", (0.5, 0.8, 1.2, 1.6), SHIPPED_NUMBERS.k1),
    Axis("b", (0.3, 0.5, 0.75, 0.9), SHIPPED_NUMBERS.b),
)


def rule_for(seconds: float) -> WindowRule:
    """Return the window rule with another target, its least and greatest length in proportion."""
    scale = seconds * SECOND / SHIPPED_RULE.target_ms
    return WindowRule(
        target_ms=round(seconds * SECOND),
        min_ms=round(SHIPPED_RULE.min_ms * scale),
        max_ms=round(SHIPPED_RULE.max_ms * scale),
        overlap_ms=SHIPPED_RULE.overlap_ms,
    )


def cut_tracks(library: Library, rule: WindowRule) -> Iterator[tuple[Video, list[Window]]]:
    """Yield the library's videos with the windows of a rule; an unreadable track keeps its windows."""
    for state in library.videos():
        track = library.track(state.video.id) if state.windows else None
        if track is None:
            continue
        try:
            cues = parse_captions(track.raw, track.format, path=state.video.title)
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
        self._contexts = [
            FileContext(id, by_id[context.window_id].start_ms, by_id[context.window_id].end_ms, context.text)
            for id, some in all_windows(runtime.library).items()
            for by_id in [{window.id: window for window in some}]
            for context in runtime.library.contexts.of_video(id).values()
        ]
        self._documents: dict[float, list[tuple[Video, list[Window]]]] = {}

    def measure(self, setting: Setting) -> "Values":
        """Index a copy of the library by this setting, and search it."""
        seconds = setting["window"]
        if seconds not in self._documents:
            self._documents[seconds] = list(cut_tracks(self._library, rule_for(seconds)))
        documents = self._documents[seconds]
        by_video = {video.id: some for video, some in documents}
        contexts = context_file.assign(self._contexts, partial(windows_by_name, self._library, by_video))
        questions = gold_set(self._dataset, self._library, by_video)
        numbers = Bm25(k1=setting["k1"], b=setting["b"], bigrams=setting["bigrams"])
        making = Bm25Params(numbers, int(setting["keywords"]))
        # replacing the vectors of one index takes about twice as long as another index
        with temp_library.create(documents, self._analyzer, contexts, making=making) as copy:
            arm = Arm(View(NO_MODEL, copy.library, copy.searcher), LEXICAL)
            rankings = arm.rank_all(questions.questions).rankings
        return metrics.per_question(questions.windows, rankings)


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

    def measure(self, setting: Setting) -> "Values":
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
                scores = hits.scores.scores(self._reranker, hits.text, passages, lambda: False) or {}
                ranked = reranked(ranked, scores)
            rankings.append([hit.window_id for hit in ranked])
        return metrics.per_question(self._questions.windows, rankings)

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
            rule = WindowRule(SHIPPED_RULE.target_ms, SHIPPED_RULE.min_ms, SHIPPED_RULE.max_ms, round(seconds * SECOND))
            for video, windows in cut_tracks(self._runtime.library, rule):
                self._windows[seconds] |= {(video.id, window.ordinal): window for window in windows}
        return self._windows[seconds]


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


METRICS_SHOWN = ("hit@1", "hit@5", "hit@20", FAILURE, OBJECTIVE, "ndcg@10")
AXES = {
    "window": N_("window, s"),
    "keywords": N_("keywords of a neighbour"),
    "bigrams": N_("weight of bigrams"),
    "k1": "k1",
    "b": "b",
    "dense": N_("weight of dense"),
    "sparse": N_("weight of sparse"),
    "section": N_("part of the section's score"),
    "video": N_("part of the video's score"),
    "rerank": N_("windows reranked"),
    "overlap": N_("overlap reranked, s"),
}
"""Titles of the axes."""


def render(sweep: Sweep) -> str:
    """Return the trials on the train half, then the comparison on the test half."""
    intro = _("{train} questions to choose by {objective}, {test} to measure (seed {seed}); % with 95 % intervals.")
    lines = [intro.format(train=len(sweep.train), test=len(sweep.test), objective=OBJECTIVE, seed=sweep.seed)]
    for search in sweep.searches:
        lines += ["", *_trial_table(search), "", *_test_table(search)]
        if not search.complete:
            lines += ["", _("It was stopped before the end.")]
    if any("window" in search.changed for search in sweep.searches):
        note = _(
            "A longer window is right by chance more often, and shows a scene less exactly. Choose "
            "longer windows only if the gain is worth it."
        )
        lines += ["", note]
    for name, reason in sorted(sweep.left_out.items()):
        lines += ["", _("Left out – {name}: {reason}").format(name=_(AXES[name]), reason=reason)]
    return "\n".join(lines) + "\n"


def _trial_table(search: CoordinateSearch) -> Iterator[str]:
    yield from header([_("number"), _("values, on the train half"), _("shipped"), _("found")], text_columns=2)
    for axis in search.axes:
        last = {trial.value: trial for trial in search.trials if trial.axis == axis.name}  # the second pass counts
        values = ", ".join(
            f"{value:g}: {100 * trial.train:.1f} {interval_text(trial.interval)}"
            for value, trial in sorted(last.items())
        )
        yield line([_(AXES[axis.name]), values, f"{axis.shipped:g}", f"{search.best[axis.name]:g}"])


def _test_table(search: CoordinateSearch) -> Iterator[str]:
    yield from header([_("measured on the test half"), *METRICS_SHOWN], text_columns=1)
    for name, setting in ((_("shipped"), search.shipped), (_("found"), search.best)):
        means = search.test_means(setting)
        yield line([name, *(f"{100 * means[metric]:.1f}" for metric in METRICS_SHOWN)])
    gaps = search.test_gaps()
    yield line([_("difference"), *(gap_text(gaps[metric]) for metric in METRICS_SHOWN)])
