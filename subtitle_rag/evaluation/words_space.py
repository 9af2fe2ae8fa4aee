"""The first space of `eval sweep`: how captions are cut, and how the words of windows weigh."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from subtitle_rag.captions.parse import parse as parse_captions
from subtitle_rag.captions.windows import SHIPPED as SHIPPED_RULE
from subtitle_rag.captions.windows import WindowRule, windows
from subtitle_rag.domain import Morphemes, Video, Window
from subtitle_rag.errors import CaptionError, UsageError
from subtitle_rag.evaluation import context_file, gold, metrics, temp_library
from subtitle_rag.evaluation.context_file import FileContext
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.gold import GoldSet
from subtitle_rag.evaluation.questions import Question
from subtitle_rag.evaluation.sweep import Axis, Setting
from subtitle_rag.evaluation.temp_library import TempLibrary
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index_rules import BM25
from subtitle_rag.retrieval.lexical import LexicalQuery, QueryAnalyzer
from subtitle_rag.retrieval.material import KEYWORDS, Making, Material
from subtitle_rag.retrieval.morphemes import SHIPPED as SHIPPED_NUMBERS
from subtitle_rag.retrieval.morphemes import Bm25
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.search import LEXICAL
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    from subtitle_rag.evaluation.sweep import Values

SECOND = 1000
WINDOWS = Axis("window", (30, 45, 60, 90), SHIPPED_RULE.target_ms // SECOND, "s")
LEXICAL_AXES = (
    WINDOWS,
    Axis("keywords", (0, KEYWORDS, 10), KEYWORDS),
    Axis("bigrams", (0, 0.3, 0.5, 0.7), SHIPPED_NUMBERS.bigrams),
    Axis("k1", (0.5, 0.8, 1.2, 1.6), SHIPPED_NUMBERS.k1),
    Axis("b", (0.3, 0.5, 0.75, 0.9), SHIPPED_NUMBERS.b),
)


def rule_of(seconds: float) -> WindowRule:
    """The window rule with another target, its least and greatest length in proportion."""
    scale = seconds * SECOND / SHIPPED_RULE.target_ms
    return WindowRule(
        target_ms=round(seconds * SECOND),
        min_ms=round(SHIPPED_RULE.min_ms * scale),
        max_ms=round(SHIPPED_RULE.max_ms * scale),
        overlap_ms=SHIPPED_RULE.overlap_ms,
    )


def cut(library: Library, rule: WindowRule) -> Iterator[tuple[Video, list[Window]]]:
    """The library's videos, their tracks divided by a rule; a track that cannot be read keeps the windows it has."""
    for state in library.videos():
        track = library.track(state.video.id) if state.windows else None
        if track is None:
            continue
        try:
            cues = parse_captions(track.raw, track.format, path=state.video.title)
        except CaptionError:
            yield state.video, library.windows_of(state.video.id)
            continue
        borders = [chapter.start_ms for chapter in state.video.chapters]
        yield state.video, windows(state.video.id, cues, borders, rule)


@dataclass(slots=True)
class _Cut:
    """The library with windows of another rule, and what is right for each question there."""

    copy: TempLibrary
    asked: GoldSet
    materials: list[tuple[Material, list[Morphemes]]]
    queries: list[LexicalQuery | None]
    """None where the program refuses the query."""
    making: Making = field(default_factory=Making)


@dataclass(slots=True)
class Words:
    """The `bm25` retriever over the library's tracks. Contexts that a model has written are laid on the windows that
    they overlap most. No text is analysed twice; the copies are gone when `opened` closes."""

    runtime: Runtime
    dataset: Dataset
    opened: ExitStack
    name: str = "words"
    axes: Sequence[Axis] = LEXICAL_AXES
    _analyzer: temp_library.CachingAnalyzer = field(init=False)
    _contexts: list[FileContext] = field(init=False)
    _cuts: dict[float, _Cut] = field(default_factory=dict)

    def __post_init__(self) -> None:
        library = self.runtime.library
        self._analyzer = temp_library.CachingAnalyzer(self.runtime.analyzer, temp_library.known_morphemes(library))
        self._contexts = [
            FileContext(id, own[one.window_id].start_ms, own[one.window_id].end_ms, one.text)
            for id, own in ((id, {w.id: w for w in own}) for id, own in gold.all_windows(library).items())
            for one in library.contexts.of_video(id).values()
        ]

    def measure(self, setting: Setting) -> "Values":
        own = self._cuts.get(setting["window"]) or self._begun(setting["window"])
        numbers = Bm25(k1=setting["k1"], b=setting["b"], bigrams=setting["bigrams"])
        making = Making(numbers, int(setting["keywords"]))
        if own.making != making:
            for material, analyses in own.materials:
                own.copy.index.replace_vector(BM25, material.vectors(analyses, making=making))
            own.making = making
        rankings = [
            [one.window_id for one in own.copy.searcher.rank(parse(question.query), lexical, retrievers=LEXICAL)]
            if lexical
            else []
            for question, lexical in zip(own.asked.questions, own.queries, strict=True)
        ]
        return metrics.per_question(own.asked.judged, rankings)

    def _begun(self, seconds: float) -> _Cut:
        """Divide the tracks anew, and index them as the program would."""
        library = self.runtime.library
        documents = list(cut(library, rule_of(seconds)))
        own = {video.id: some for video, some in documents}
        laid = context_file.assign(self._contexts, partial(gold.windows_by_name, library, own))
        copy = self.opened.enter_context(temp_library.create(documents, self._analyzer, laid))
        materials = []
        for video, some in documents:
            contexts = {id: (one.key, one.text) for id, one in copy.library.contexts.of_video(video.id).items()}
            material = Material(video, some, contexts)
            materials.append((material, list(self._analyzer.morphemes(material.texts()))))
        asked = gold.gold_set(self.dataset, library, own)
        analyzer = QueryAnalyzer(copy.library, self._analyzer)
        queries = [analyzer.analyze(text) if text else None for text in map(plain, asked.questions)]
        made = self._cuts[seconds] = _Cut(copy, asked, materials, queries)
        return made


def plain(question: Question) -> str:
    """The words that are looked for; empty where the program refuses the query."""
    try:
        return parse(question.query).text
    except UsageError:
        return ""
