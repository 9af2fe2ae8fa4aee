"""The `bm25` retriever's numbers: how tracks are cut into windows, and how the words of windows are weighed."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from subtitle_rag.captions.parse import parse
from subtitle_rag.captions.windows import SHIPPED as SHIPPED_RULE
from subtitle_rag.captions.windows import WindowRule, windows
from subtitle_rag.domain import Video, Window
from subtitle_rag.errors import CaptionError
from subtitle_rag.evaluation import context_file, metrics, temp_library
from subtitle_rag.evaluation.arms import NO_MODEL, Arm, View
from subtitle_rag.evaluation.context_file import FileContext
from subtitle_rag.evaluation.coordinate_search import Axis, Setting
from subtitle_rag.evaluation.questions import Dataset, all_windows, gold_set, windows_by_name
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index_document import KEYWORDS, Bm25Params
from subtitle_rag.retrieval.morphemes import SHIPPED as SHIPPED_NUMBERS
from subtitle_rag.retrieval.morphemes import Bm25
from subtitle_rag.retrieval.search import LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.metrics import Values

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
            cues = parse(track.raw, track.format, path=state.video.title)
        except CaptionError:
            yield state.video, library.windows_of(state.video.id)
            continue
        yield state.video, windows(state.video.id, cues, [chapter.start_ms for chapter in state.video.chapters], rule)


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
