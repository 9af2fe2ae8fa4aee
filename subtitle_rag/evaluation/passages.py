"""What sets of passages with relevance judgements have in common (BEIR, TREC): every passage a video of one window.

A passage is not cut, so that figures stand beside published ones, which rank whole passages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.captions.windows import window_id
from subtitle_rag.domain import Line, Video, Window, nfc
from subtitle_rag.evaluation.dataset import Dataset, read_text
from subtitle_rag.evaluation.questions import Gold, Question, bad_queries
from subtitle_rag.i18n import _

LENGTH_MS = 60_000
"""Invented length of a passage."""

_SPACE = re.compile(r"\s+")
_COLUMNS = {3: (0, 1, 2), 4: (0, 2, 3)}
"""Of query, passage and grade: in BEIR's tables, and in TREC's."""

Qrels = dict[str, dict[str, int]]
"""Query id → passage id → grade."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be found."""

    id: str
    title: str
    text: str


def rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table with their numbers, cut at tabs, or at any space where a line has no tab."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.strip("\r").split("\t") if "\t" in line else line.split()


def qrels(path: Path, queries: Mapping[str, str]) -> Qrels:
    """The judgements of a table `query-id corpus-id score` (BEIR, with a first line of names) or
    `query-id iteration passage-id grade` (TREC).

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    found: Qrels = {}
    for number, cells in rows(path):
        try:
            query, passage, grade = (cells[at].strip() for at in _COLUMNS[len(cells)])
            if number == 1 and not _whole(grade) and query not in queries:
                continue  # the columns' names
            if not _whole(grade):
                raise ValueError(_("the grade {grade} is not a whole number").format(grade=grade))
            if query not in queries:
                raise ValueError(_("no query has the id {id}").format(id=query))
            if passage in found.setdefault(query, {}):
                raise ValueError(_("{passage} is judged twice for {query}").format(passage=passage, query=query))
        except KeyError as error:
            reason = _("it must have 3 columns (BEIR) or 4 (TREC), not {n}").format(n=len(cells))
            raise bad_queries(path, number, reason) from error
        except ValueError as error:
            raise bad_queries(path, number, str(error)) from error
        found[query][nfc(passage)] = int(grade)
    return found


def _whole(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d{1,9}", text) is not None


def dataset(
    path: Path, name: str, passages: Iterable[Passage], queries: Mapping[str, str], judged: Qrels, kind: str
) -> Dataset:
    """The set as questions and documents. A grade of 0 or less is no answer; a query without an answer is left out.

    Raises:
        UsageError: `bad_queries`, where no query has an answer or there are no passages.
    """
    questions = []
    for id, text in queries.items():
        gold = tuple(Gold(passage, 0, LENGTH_MS, grade) for passage, grade in judged.get(id, {}).items() if grade > 0)
        if gold:
            questions.append(Question(id, text, kind, gold))
    if not questions:
        raise bad_queries(path, 1, _("it holds no judgement above 0"))
    documents = tuple(_document(passage, name) for passage in passages if passage.text or passage.title)
    if not documents:
        raise bad_queries(path, 1, _("it holds no passages"))
    return Dataset(path, tuple(questions), documents)


def _document(passage: Passage, name: str) -> tuple[Video, tuple[Window, ...]]:
    id = nfc(passage.id)
    text = _SPACE.sub(" ", nfc(passage.text or passage.title)).strip()
    window = Window(window_id(id, 0), id, 0, 0, LENGTH_MS, text, (Line(0, 0),))
    return Video(id, nfc(passage.title), name, name), (window,)
