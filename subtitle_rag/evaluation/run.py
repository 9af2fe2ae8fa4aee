"""`eval run`: every question through the program's own search and through the baselines, and what came of it."""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.captions.windows import RULE
from subtitle_rag.domain import Track, Video, Window, nfc
from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import baselines as baseline
from subtitle_rag.evaluation import given, metrics
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


@dataclass(frozen=True, slots=True)
class Arm:
    """One way in which the program searches; `setting` says what is not as in the library."""

    name: str
    searcher: Searcher
    setting: str = ""


@dataclass(slots=True)
class _Searched:
    """What the program's own search made of the questions."""

    rankings: list[list[str]]
    texts: list[str]
    """The words that were looked for; empty where the query was refused."""
    refused: list[str]
    took_ms: dict[str, float]


def run(
    runtime: Runtime,
    path: Path,
    *,
    contexts: Path | None = None,
    baselines: bool = True,
    progress: Progress | None = None,
) -> EvalReport:
    """Measure the search with the questions in `path`: over the library, or over the file's own documents.

    `contexts` is a file of contexts that stand in for a model's in a second row. Windows are ranked one by one, before
    neighbours merge, so that a long scene wins nothing.

    Raises:
        UsageError: `unreadable`, `bad_queries`; the latter also where the library has none of the videos asked for.
        BusyError, AppError: from the library and the index.
    """
    dataset = load(path)
    with ExitStack() as opened:
        library, searcher = runtime.library, runtime.searcher
        if dataset.documents:
            library, searcher = opened.enter_context(_temporary(dataset.documents, runtime))
        arms = [Arm("bm25", searcher)]
        if contexts is not None:
            own = _windows(library)
            laid = given.lay(given.load(contexts), lambda names: _by_name(library, own, names))
            copied = opened.enter_context(_temporary(_documents(library), runtime, laid))
            arms.append(Arm("bm25 + contexts", copied[1], contexts.name))
        return _measured(dataset, library, arms, baselines, progress)


Documents = Iterable[tuple[Video, Sequence[Window]]]


def _documents(library: Library) -> Iterator[tuple[Video, Sequence[Window]]]:
    for state in library.videos():
        if state.windows:
            yield state.video, library.windows_of(state.video.id)


@contextmanager
def _temporary(
    documents: Documents, runtime: Runtime, contexts: Mapping[str, str] | None = None
) -> Iterator[tuple[Library, Searcher]]:
    """A library of these documents, made by the same code as the user's and gone at the end; `contexts` by window."""
    from subtitle_rag.indexing import Indexer
    from subtitle_rag.retrieval.index_client import open_index
    from subtitle_rag.retrieval.lexical import QueryAnalyzer
    from subtitle_rag.retrieval.morphemes import ANALYZER

    with tempfile.TemporaryDirectory(prefix="subtitle-rag-eval-") as folder:
        library = Library(Path(folder) / "library.db")
        index = open_index(Path(folder) / "index", {"analyzer": ANALYZER}, hosted=False)
        try:
            for video, windows in documents:
                digest = hashlib.sha256("\n".join(window.text for window in windows).encode()).hexdigest()
                library.put_video(video, Track("ko", "file", "vtt", b"", digest, 0), windows, RULE)
            library.put_rule(RULE)
            given.put(library, contexts or {})
            for _made in Indexer(library, index, runtime.analyzer).rebuild():
                pass
            yield library, Searcher(library, index, QueryAnalyzer(library, runtime.analyzer))
        finally:
            index.close()
            library.close()


def _measured(
    dataset: Dataset, library: Library, arms: Sequence[Arm], baselines: bool, progress: Progress | None
) -> EvalReport:
    windows = _windows(library)
    named = _by_name(library, windows, {gold.video for question in dataset.questions for gold in question.gold})
    missing = sorted(name for name, own in named.items() if not own)
    asked = [q for q in dataset.questions if any(named[gold.video] for gold in q.gold)]
    if not asked:
        raise bad_queries(dataset.path, 1, _("the library has none of the videos that the questions are about"))
    judged = [_judged(question, named) for question in asked]
    kinds = [question.kind for question in asked]
    total = len(asked) * len(arms)
    found = [_search(arm.searcher, asked, _from(progress, at * len(asked), total)) for at, arm in enumerate(arms)]
    ours = metrics.per_question(judged, found[0].rankings)
    rows: list[Row] = []
    for arm, searched in zip(arms, found, strict=True):
        values, first = metrics.per_question(judged, searched.rankings), ours if rows else None
        took = searched.took_ms
        row = _row(arm.name, values, kinds, retrievers=RETRIEVERS, setting=arm.setting, first=first, took_ms=took)
        rows.append(replace(row, contexts=bool(arm.setting)))
    if baselines:
        pairs = [(window.id, window.text) for own in windows.values() for window in own]
        for one in baseline.BASELINES:
            ranked = baseline.rankings(one, pairs, found[0].texts, depth=DEPTH)
            values = metrics.per_question(judged, ranked)
            rows.append(_row(one.name, values, kinds, setting=baseline.SETTING, first=ours))
    counted = {question.id for question in asked}
    left_out = [question.id for question in dataset.questions if question.id not in counted]
    return EvalReport(len(asked), tuple(rows), tuple(missing), tuple(left_out), tuple(found[0].refused))


def _from(progress: Progress | None, done: int, total: int) -> Progress | None:
    """Progress that begins where the arms before have ended."""
    return (lambda more, _all: progress(done + more, total)) if progress else None


def _windows(library: Library) -> dict[str, list[Window]]:
    """The windows of every video that has some."""
    return {state.video.id: library.windows_of(state.video.id) for state in library.videos() if state.windows}


def _by_name(library: Library, windows: dict[str, list[Window]], names: Collection[str]) -> dict[str, list[Window]]:
    """The windows of each of these videos; none where the library has none.

    A name is a video's id, its caption file's name, or another caption file's that carries the id as yt-dlp writes
    it. One name may stand for several videos: files that are called the same in different folders.
    """
    files: dict[str, list[str]] = {}
    for state in library.videos():
        if state.video.source:
            files.setdefault(nfc(os.path.basename(state.video.source)), []).append(state.video.id)  # noqa: PTH119
    named = {}
    for name in names:
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
