"""Measures what becomes of search when contexts name what their video does not, by what is done with such contexts.

    scripts/bench contexts CAPTIONS... --questions FILE --contexts FILE [--share 0.2] [--seeds 1,2,3]

Questions and contexts are files as `eval run` reads them; captions are files or folders, of which the videos with
questions or contexts count. In a share of the contexts, drawn by each seed, the proper names are exchanged for those of
another video's contexts. Then contexts with doubts (`contexts.grounding`) are kept, lose the doubtful sentences, or are
left out. The same is done to the contexts as they are, as a control: good contexts are doubted too. Prints a Markdown
table: means with 95 % intervals, over all seeds, of the questions whose videos have contexts. `wrong@5` is the share of
exchanged names that put a window which does not say them among the best five.
"""

import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, gain_text, mean_texts, numbers
from subtitle_rag.contexts import context_file
from subtitle_rag.contexts.grounding import UNGROUNDED, doubts
from subtitle_rag.contexts.sentence_filters import split_sentences
from subtitle_rag.domain import UsageError, Video, Window, nfc
from subtitle_rag.evaluation import dataset, metrics, temp_library
from subtitle_rag.evaluation.questions import gold_set
from subtitle_rag.indexing import Indexer
from subtitle_rag.library.portable_names import all_windows, windows_by_name
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.index import EdgeIndex
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.search.query import Query, parse_query

FIGURES = ("hit@1", "hit@5", "mrr@10", "failure@20")
DEPTH = 5
"""Best windows among which an exchanged name must not put a window without it."""


@dataclass(frozen=True, slots=True)
class Speech:
    """What a context is held against: the captions of its video, and the head of the prompt."""

    transcript: str
    title: str

    def doubts(self, text: str) -> bool:
        found = doubts(text, transcript=self.transcript, title=self.title)
        return any(doubt.kind in UNGROUNDED for doubt in found)


def keep(text: str, _speech: Speech) -> str:
    return text


def drop_sentences(text: str, speech: Speech) -> str:
    return "".join(part for part in split_sentences(text) if not speech.doubts(part)).strip()


def leave_out(text: str, speech: Speech) -> str:
    return "" if speech.doubts(text) else text


RULES: Mapping[str, Callable[[str, Speech], str]] = {
    "kept": keep,
    "without the sentence": drop_sentences,
    "left out": leave_out,
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """Contexts by window, some with other names; `names` by window are the foreign ones."""

    texts: Mapping[str, str]
    names: Mapping[str, Sequence[str]]


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("captions", type=Path, nargs="+")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--contexts", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.2, help="of the contexts, whose names are exchanged")
    parser.add_argument("--seeds", type=numbers, default=(1, 2, 3), help="numbers with commas (1,2,3)")
    options = parser.parse_args()
    analyzer = Analyzer()
    with _library(options.captions, options.questions, options.contexts, analyzer) as library:
        measurement = _Measurement(library, analyzer, options.questions, options.contexts)
        measurement.show(options.share, options.seeds)


@contextmanager
def _library(captions: Iterable[Path], questions: Path, contexts: Path, analyzer: Analyzer) -> Iterator[Library]:
    """Take in the videos with questions or contexts."""
    wanted = {gold.video for question in dataset.load_questions(questions).questions for gold in question.gold}
    wanted |= {context.video for context in context_file.load(contexts)}
    files = [file for path in captions for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    with tempfile.TemporaryDirectory(prefix="measure-contexts-") as folder, ExitStack() as opened:
        library = opened.enter_context(closing(Library(Path(folder) / "library.db")))
        index = opened.enter_context(closing(EdgeIndex(Path(folder) / "index", {"analyzer": ANALYZER})))
        for _event in Indexer(library, index, analyzer).index([file for file in files if nfc(file.name) in wanted]):
            pass
        yield library


class _Measurement:
    def __init__(self, library: Library, analyzer: Analyzer, questions: Path, contexts: Path) -> None:
        self._documents = list(temp_library.documents(library))
        self._analyzer = temp_library.CachingAnalyzer(analyzer, temp_library.known_morphemes(library))
        windows = all_windows(library)
        listed = context_file.load(contexts)
        self._texts = context_file.assign(
            listed, windows_by_name(library, windows, {context.video for context in listed})
        )
        self._videos = {window.id: video for video, own in self._documents for window in own}
        self._speech = {video.id: _speech(video, own) for video, own in self._documents}
        described = {self._videos[id].id for id in self._texts}
        gold = gold_set(dataset.load_questions(questions), library, windows)
        of_window = {window.id: video.id for video, own in self._documents for window in own}
        pairs = [
            (question, right)
            for question, right in zip(gold.questions, gold.windows, strict=True)
            if any(of_window[id] in described for id in right.windows)
        ]
        self._questions = [question for question, _right in pairs]
        self._gold = [right for _question, right in pairs]

    def show(self, share: float, seeds: Sequence[int]) -> None:
        import numpy as np

        print(f"{len(self._questions)} questions, {len(self._texts)} contexts, seeds {', '.join(map(str, seeds))}\n")
        table = Table("contexts", "doubted", *FIGURES, "hit@1 − kept", "wrong@5")
        table.row("none", "–", *_cells(self._ranked({}, {})[0], None, []))
        cases = {"clean": [Exchange(self._texts, {})]}
        cases[f"{share:.0%} exchanged"] = [self._exchanged(share, seed) for seed in seeds]
        for name, exchanges in cases.items():
            kept = None
            for rule, treat in RULES.items():
                values, wrong, doubted = [], [], 0
                for exchange in exchanges:
                    texts = {id: treat(text, self._of(id)) for id, text in exchange.texts.items()}
                    doubted += sum(self._of(id).doubts(text) for id, text in exchange.texts.items())
                    figures, mistaken = self._ranked({id: text for id, text in texts.items() if text}, exchange.names)
                    values.append(figures)
                    wrong += mistaken
                pooled = np.mean(values, axis=0)
                kept = pooled if kept is None else kept
                table.row(f"{name}, {rule}", f"{doubted / len(exchanges):.0f}", *_cells(pooled, kept, wrong))

    def _of(self, window_id: str) -> Speech:
        return self._speech[self._videos[window_id].id]

    def _exchanged(self, share: float, seed: int) -> Exchange:
        """Exchange the names in a share of the contexts for those of another video's."""
        rng = random.Random(seed)
        names = {id: _names(self._analyzer.load(), text) for id, text in self._texts.items()}
        able = sorted(id for id, found in names.items() if found)
        texts = dict(self._texts)
        foreign: dict[str, list[str]] = {}
        for id in rng.sample(able, min(len(able), round(share * len(self._texts)))):
            spoken = re.sub(r"\s", "", self._of(id).transcript)
            others = sorted(
                {
                    name
                    for other, found in names.items()
                    if self._videos[other].id != self._videos[id].id
                    for name in found
                    if name not in spoken
                }
            )
            for name, substitute in zip(names[id], rng.sample(others, len(names[id])), strict=True):
                texts[id] = texts[id].replace(name, substitute)
                foreign.setdefault(id, []).append(substitute)
        return Exchange(texts, foreign)

    def _ranked(self, texts: Mapping[str, str], names: Mapping[str, Sequence[str]]) -> "tuple[Any, list[bool]]":
        """Return the figures of each question, and for each foreign name whether it finds the window."""
        with temp_library.create(self._documents, self._analyzer, texts) as made:
            rankings = [[hit.window_id for hit in made.searcher.rank(_query(q.query))] for q in self._questions]
            wrong = [
                id in [hit.window_id for hit in made.searcher.rank(_query(name))[:DEPTH]]
                for id, foreign in names.items()
                for name in foreign
            ]
        return metrics.per_question(self._gold, rankings), wrong


def _speech(video: Video, windows: Sequence[Window]) -> Speech:
    return Speech(" ".join(window.text for window in windows), f"{video.title} {video.channel}")


def _names(kiwi: Any, text: str) -> list[str]:
    """Return the proper names of a text, in Hangul or Latin, each once."""
    tokens = kiwi.tokenize(text)
    return list(dict.fromkeys(t.form for t in tokens if t.tag in ("NNP", "SL") and len(t.form) > 1))


def _query(text: str) -> Query:
    try:
        return parse_query(text)
    except UsageError:
        return Query(text, text)


def _cells(values: Any, kept: Any, wrong: Sequence[bool]) -> list[str]:
    is_other = kept is not None and kept is not values
    gain = gain_text(metrics.gaps(values - kept)["hit@1"]) if is_other else ""
    share = f"{sum(wrong) / len(wrong):.3f} of {len(wrong)}" if wrong else ""
    return [*mean_texts(values, FIGURES), gain, share]
