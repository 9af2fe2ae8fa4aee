"""Measures how well word search finds queries as people type them, by kind, and prints a Markdown table.

    scripts/bench misheard [--words tests/data/typed_words.tsv] [--captions FOLDER] [--missed]

The file has queries, each with the caption line that it means, by kind: two words, names in the other alphabet,
letters, numerals, short forms, related words and misheard words. Each line becomes a video in the sample library. Names
of the kind `real` are searched in the captions of FOLDER, once without contexts and once with contexts of two windows
that write the name in both alphabets. The table has the share of queries with a right window first and among the first
five, with 95 % intervals; for dates, the share that is offered as the right filter. `--missed` lists the queries whose
first window is wrong.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._corpus import documents
from scripts.benchmarks._frame import Table, mean_texts
from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.values import Line, Video, Window, squeeze
from subtitle_rag.captions.windows import window_id
from subtitle_rag.evaluation import temp_library
from subtitle_rag.evaluation.metrics import GoldWindows, per_question
from subtitle_rag.evaluation.questions import Document
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.korean.periods import find_uploads
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from subtitle_rag.workflows import sample_library

WORDS = Path("tests/data/typed_words.tsv")
DATES_ON = date(2026, 3, 31)
"""Date on which the queries with dates are typed."""
SHOWN = ("hit@1", "hit@5")


class Case(NamedTuple):
    """A query, and the line of captions that it should find; for the kind `real`, the word in its lines."""

    kind: str
    query: str
    line: str
    wrong_line: str
    """A line that must not be found."""


def read_cases(path: Path) -> list[Case]:
    """Read a file of queries; a name's kind depends on what is typed."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    cases = [Case(*(*line.split("\t"), "")[:4]) for line in lines]
    typed = {True: "name, Latin → Hangul", False: "name, Hangul → Latin"}
    return [each._replace(kind=typed[each.query.isascii()]) if each.kind == "name" else each for each in cases]


def right_windows(ids: Iterable[str]) -> GoldWindows:
    return GoldWindows(1, {id: frozenset([0]) for id in ids})


def print_dates(table: Table, cases: list[Case]) -> None:
    """Print the share of the queries with a date whose days are recognized."""
    offers: list[list[str]] = []
    for case in cases:
        uploads = find_uploads(case.query, [match.span() for match in re.finditer(r"\S+", case.query)], DATES_ON)
        offers.append(["..".join(map(str, uploads.period))] if uploads else [])
    values = per_question([right_windows([case.line]) for case in cases], offers)
    table.row("date", len(cases), *mean_texts(values, SHOWN))


def lines_as_videos(cases: Iterable[Case]) -> Iterator[tuple[Video, tuple[Window, ...]]]:
    """Yield each line as a video of one window."""
    lines = dict.fromkeys(line for case in cases for line in (case.line, case.wrong_line) if line)
    for number, line in enumerate(lines):
        id = f"line{number:07d}"
        window = Window(window_id(id, 0), id, 0, 0, 60_000, line, (Line(0, 0),))
        yield Video(id, f"{number + 1}번째", "말", "말"), (window,)


def print_words(
    table: Table,
    title: str,
    searcher: Searcher,
    gold: list[tuple[Case, set[str]]],
    texts: Mapping[str, str],
    *,
    missed: bool,
) -> None:
    """Print the share of queries whose first window, or one of the first five, is right.

    Windows with the query's exact words are left out if others are meant, since they are always found.

    Args:
        table: where to print.
        title: title of the row.
        searcher: the search.
        gold: cases with the ids of their right windows.
        texts: texts by window.
        missed: whether to print the queries whose first window is wrong.
    """
    for kind in dict.fromkeys(case.kind for case, _ids in gold):
        of_kind = [(case, ids) for case, ids in gold if case.kind == kind]
        rankings: list[list[str]] = []
        for case, ids in of_kind:
            hits = searcher.rank(parse_query(case.query), depth=20, retrievers=("bm25",))
            ranking = [hit.window_id for hit in hits]
            if case.kind not in ("real", "guard"):
                ranking = [id for id in ranking if id in ids or squeeze(case.query) not in squeeze(texts.get(id, ""))]
            rankings.append(ranking)
            if missed and not ids.intersection(ranking[:1]):
                rank = next((at for at, id in enumerate(ranking, 1) if id in ids), "-")
                print(f"  {case.query}: {rank} {texts.get(ranking[0], '')[:60] if ranking else ''}", file=sys.stderr)
        values = per_question([right_windows(ids) for _case, ids in of_kind], rankings)
        table.row(kind + title, len(of_kind), *mean_texts(values, SHOWN))


def print_real(table: Table, cases: list[Case], captions: list[Document], analyzer: Analyzer, *, missed: bool) -> None:
    """Print the results for names in real captions, without contexts and with two that write both spellings.

    Args:
        table: where to print.
        cases: the cases.
        captions: documents to search.
        analyzer: for the morphemes.
        missed: whether to print the queries whose first window is wrong.
    """
    texts = {window.id: window.text for _video, some in captions for window in some}
    gold = [(case, {id for id, text in texts.items() if case.line in text or case.query in text}) for case in cases]
    contexts: dict[str, str] = {}
    for case, ids in gold:
        for id in sorted(ids)[:2]:
            contexts[id] = f"{contexts.get(id, '')} {case.line}({case.query})에 대해 이야기하는 장면이다."
    for title, of_windows in (("", None), (", with contexts", contexts)):
        with temp_library.create(captions, analyzer, of_windows) as copy:
            print_words(table, title, copy.searcher, gold, texts, missed=missed)


def sample_documents() -> list[Document]:
    with TemporaryDirectory() as folder, Runtime(config.load(home=Path(folder))) as runtime:
        sample_library.fill(runtime)
        return list(temp_library.documents(runtime.library))


def main() -> None:
    parser = _frame.parser(__doc__)
    parser.add_argument("--words", type=Path, default=WORDS, help="a file of queries")
    parser.add_argument("--captions", type=Path, help="a folder of captions with the names of kind real")
    parser.add_argument("--missed", action="store_true", help="name the queries that miss")
    options = parser.parse_args()
    analyzer, sample, cases = Analyzer(), sample_documents(), read_cases(options.words)
    by_words = [case for case in cases if case.kind not in ("real", "date")]
    windows = {window.text: window.id for _video, some in lines_as_videos(by_words) for window in some}
    lines = [(case, {windows[each.line] for each in by_words if each.query == case.query}) for case in by_words]
    texts = {window.id: window.text for _video, some in sample for window in some}
    texts |= {id: text for text, id in windows.items()}
    table = Table("kind", "queries", "any@1", "any@5")
    with temp_library.create([*sample, *lines_as_videos(by_words)], analyzer) as copy:
        print_words(table, "", copy.searcher, lines, texts, missed=options.missed)
    if dated := [case for case in cases if case.kind == "date"]:
        print_dates(table, dated)
    if options.captions:
        real = [case for case in cases if case.kind == "real"]
        print_real(table, real, list(documents([options.captions])), analyzer, missed=options.missed)
