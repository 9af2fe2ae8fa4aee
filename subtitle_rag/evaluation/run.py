"""`eval run`: every question through the program's own search and through the baselines, and what came of it."""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.domain import Track, Window, nfc
from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import baselines as baseline
from subtitle_rag.evaluation import metrics
from subtitle_rag.evaluation.dataset import Dataset, load
from subtitle_rag.evaluation.metrics import Judged
from subtitle_rag.evaluation.questions import Question, answers, bad_queries
from subtitle_rag.evaluation.report import EvalReport, Figures, Gap, Row
from subtitle_rag.i18n import _
from subtitle_rag.library.store import Library
from subtitle_rag.retrieval.query import parse
from subtitle_rag.retrieval.search import DEPTH, RETRIEVERS, Searcher
from subtitle_rag.runtime import Runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BRACKETED_ID = re.compile(r"\[([A-Za-z0-9_-]{11})\]")

Progress = Callable[[int, int], None]
"""Called with the questions that were searched and their total."""


@dataclass(slots=True)
class _Searched:
    """What the program's own search made of the questions."""

    rankings: list[list[str]]
    texts: list[str]
    """The words that were looked for; empty where the query was refused."""
    refused: list[str]
    took_ms: dict[str, float]


def run(runtime: Runtime, path: Path, *, baselines: bool = True, progress: Progress | None = None) -> EvalReport:
    """Measure the search with the questions in `path`: over the library, or over the file's own documents.

    Windows are ranked one by one, before neighbours merge, so that a long scene wins nothing.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also where the library has none of the videos asked for.
        BusyError, AppError: from the library and the index.
    """
    dataset = load(path)
    if not dataset.documents:
        return _measured(dataset, runtime.library, runtime.searcher, baselines, progress)
    with _temporary(dataset, runtime) as (library, searcher):
        return _measured(dataset, library, searcher, baselines, progress)


@contextmanager
def _temporary(dataset: Dataset, runtime: Runtime) -> Iterator[tuple[Library, Searcher]]:
    """A library of the dataset's own documents, made by the same code as the user's and gone at the end."""
    from subtitle_rag.evaluation.korquad import RULE
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.retrieval.index_client import open_index
    from subtitle_rag.retrieval.lexical import QueryAnalyzer
    from subtitle_rag.retrieval.morphemes import ANALYZER

    with tempfile.TemporaryDirectory(prefix="subtitle-rag-eval-") as folder:
        library = Library(Path(folder) / "library.db")
        index = open_index(Path(folder) / "index", {"analyzer": ANALYZER}, hosted=False)
        try:
            for video, windows in dataset.documents:
                digest = hashlib.sha256("\n".join(window.text for window in windows).encode()).hexdigest()
                library.put_video(video, Track("ko", "file", "vtt", b"", digest, 0), windows, RULE)
            for _made in Indexer(library, index, runtime.analyzer).rebuild():
                pass
            yield library, Searcher(library, index, QueryAnalyzer(library, runtime.analyzer))
        finally:
            index.close()
            library.close()


def _measured(
    dataset: Dataset, library: Library, searcher: Searcher, baselines: bool, progress: Progress | None
) -> EvalReport:
    windows = _windows(library)
    named = _by_name(library, windows, dataset.questions)
    missing = sorted(name for name, own in named.items() if not own)
    asked = [q for q in dataset.questions if any(named[gold.video] for gold in q.gold)]
    if not asked:
        raise bad_queries(dataset.path, 1, _("the library has none of the videos that the questions are about"))
    judged = [_judged(question, named) for question in asked]
    searched = _search(searcher, asked, progress)
    ours = metrics.per_question(judged, searched.rankings)
    kinds = [question.kind for question in asked]
    rows = [_row("bm25", ours, kinds, retrievers=RETRIEVERS, took_ms=searched.took_ms)]
    if baselines:
        pairs = [(window.id, window.text) for own in windows.values() for window in own]
        for one in baseline.BASELINES:
            found = baseline.rankings(one, pairs, searched.texts, depth=DEPTH)
            values = metrics.per_question(judged, found)
            rows.append(_row(one.name, values, kinds, setting=baseline.SETTING, first=ours))
    counted = {question.id for question in asked}
    left_out = [question.id for question in dataset.questions if question.id not in counted]
    return EvalReport(len(asked), tuple(rows), tuple(missing), tuple(left_out), tuple(searched.refused))


def _windows(library: Library) -> dict[str, list[Window]]:
    """The windows of every video that has some."""
    return {state.video.id: library.windows_of(state.video.id) for state in library.videos() if state.windows}


def _by_name(
    library: Library, windows: dict[str, list[Window]], questions: Sequence[Question]
) -> dict[str, list[Window]]:
    """The windows of each video named in gold, by its name there; none where the library has none.

    A name is a video's id, its caption file's name, or another caption file's that carries the id as yt-dlp writes
    it. One name may stand for several videos: files that are called the same in different folders.
    """
    files: dict[str, list[str]] = {}
    for state in library.videos():
        if state.video.source:
            files.setdefault(nfc(os.path.basename(state.video.source)), []).append(state.video.id)  # noqa: PTH119
    named = {}
    for name in {gold.video for question in questions for gold in question.gold}:
        ids = {name, *files.get(name, ()), *_BRACKETED_ID.findall(name)}
        named[name] = [window for id in sorted(ids) for window in windows.get(id, ())]
    return named


def _judged(question: Question, named: dict[str, list[Window]]) -> Judged:
    ranges = sum(bool(named[gold.video]) for gold in question.gold)
    return Judged(ranges, answers(question, named))


def _search(searcher: Searcher, questions: Sequence[Question], progress: Progress | None) -> _Searched:
    import numpy as np

    result = _Searched([], [], [], {})
    times: list[float] = []
    for done, question in enumerate(questions, start=1):
        started = time.perf_counter()
        try:
            query = parse(question.query)
            ranking = [ranked.window_id for ranked in searcher.rank(query)]
        except UsageError:
            result.refused.append(question.id)
            result.rankings.append([])
            result.texts.append("")
        else:
            times.append((time.perf_counter() - started) * 1000)
            result.rankings.append(ranking)
            result.texts.append(query.text)
        if progress:
            progress(done, len(questions))
    if times:
        p50, p95 = np.percentile(times, (50, 95))
        result.took_ms = {"p50": round(float(p50), 1), "p95": round(float(p95), 1)}
    return result


def _row(
    name: str,
    values: "NDArray[np.float64]",
    kinds: Sequence[str],
    *,
    retrievers: tuple[str, ...] = (),
    setting: str = "",
    first: "NDArray[np.float64] | None" = None,
    took_ms: dict[str, float] | None = None,
) -> Row:
    import numpy as np

    of_kind = np.array(kinds)
    gaps = None
    if first is not None:
        ahead = metrics.intervals(first - values)
        gaps = {metric: Gap(value, ahead[metric]) for metric, value in metrics.means(first - values).items()}
    return Row(
        name=name,
        retrievers=retrievers,
        figures=Figures(len(values), metrics.means(values)),
        by_kind={
            kind: Figures(int((of_kind == kind).sum()), metrics.means(values[of_kind == kind]))
            for kind in dict.fromkeys(kinds)
        },
        ci95=metrics.intervals(values),
        setting=setting,
        gaps=gaps,
        took_ms=took_ms,
    )
