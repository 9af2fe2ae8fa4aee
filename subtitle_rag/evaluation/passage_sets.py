"""Read sets of passages with relevance judgements: folders of BEIR's and of TREC's form.

BEIR (Thakur et al. 2021, arXiv:2104.08663): `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`. TREC, with the names
of MS MARCO's and Pyserini's files: topics `queries*.tsv` or `topics*.tsv` (id, text), judgements `qrels*`, and passages
`collection.tsv` (id, text; or id, title, text) or `collection.jsonl` (`id`, `contents`, `title`).

Every passage is a video of one window. It is not cut, because published figures rank whole passages. `ir_datasets`
would read the lines, but names neither file nor line of a mistake, and needs five more packages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from subtitle_rag.captions import window_id
from subtitle_rag.domain import Line, Video, Window, nfc
from subtitle_rag.evaluation.json_lines import bad_queries, numbered_lines, objects, refusing, string, unique
from subtitle_rag.evaluation.questions import Dataset, Gold, Question
from subtitle_rag.i18n import _

SPLITS = ("test", "dev", "validation", "train")
"""BEIR's tables in the order of preference, unless one is named."""
LENGTH_MS = 60_000
"""Invented length of a passage."""

_COLUMNS = {3: (0, 1, 2), 4: (0, 2, 3)}
"""Of query, passage and grade: in BEIR's tables, and in TREC's."""
_TREC = (("queries*.tsv", "topics*.tsv"), ("qrels*",), ("collection.tsv", "collection.jsonl"))
"""Names of topics, judgements and passages."""
_IDS = ("_id", "id", "docno", "docid")
_TEXTS = ("contents", "text", "body")

Passage = tuple[str, str]
"""Title and text."""
Qrels = dict[str, dict[str, int]]
"""Query id → passage id → grade."""


def read(path: Path) -> Dataset | None:
    """Read the folder, or the folder of the named BEIR table; None for anything else.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and the reason.
    """
    if path.parent.name == "qrels" and path.is_file() and _beir_tables(path.parents[1]):
        return _beir(path.parents[1], path)
    if tables := _beir_tables(path):
        return _beir(path, tables[next((split for split in SPLITS if split in tables), next(iter(tables)))])
    files = [[file for glob in globs for file in sorted(path.glob(glob)) if file.is_file()] for globs in _TREC]
    if not path.is_dir() or not all(files):
        return None
    for candidates in files:
        if len(candidates) > 1:
            names = ", ".join(file.name for file in candidates)
            reason = _("one of these files must be in a folder of its own: {names}").format(names=names)
            raise bad_queries(path, 1, reason)
    (topics,), (judgements,), (collection,) = files
    return _dataset(judgements, path.name, path.name, topics, collection)


def _beir_tables(folder: Path) -> dict[str, Path]:
    """Return the tables of judgements by name; none for a folder of another form."""
    if not all((folder / name).is_file() for name in ("corpus.jsonl", "queries.jsonl")):
        return {}
    return {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}


def _beir(folder: Path, table: Path) -> Dataset:
    return _dataset(table, folder.name, table.stem, folder / "queries.jsonl", folder / "corpus.jsonl")


def _passages(path: Path, *, topics: bool = False) -> dict[str, Passage]:
    """Read JSON objects or a table, by id; topics have a text and no title."""
    passages: dict[str, Passage] = {}
    rows: Iterable[tuple[int, Any]] = objects(path) if path.suffix == ".jsonl" else _rows(path)
    for number, row in rows:
        with refusing(path, number):
            id, passage = _cells(row, topics) if isinstance(row, list) else _fields(row, topics)
            unique(id, passages)
        passages[id] = passage
    return passages


def _fields(entry: Mapping[str, Any], topics: bool) -> tuple[str, Passage]:
    id = string(entry, next((name for name in _IDS if name in entry), "id"))
    name = next((name for name in _TEXTS if name in entry), "text")
    title, text = entry.get("title") or "", entry.get(name) or ""
    if topics or "_id" not in entry:  # BEIR has passages without a text
        text = string(entry, name)
    if not isinstance(title, str) or not isinstance(text, str):
        raise ValueError(_("title and text must be texts"))
    return id, (title, text)


def _cells(cells: Sequence[str], topics: bool) -> tuple[str, Passage]:
    """Return id and text, or id, title and text."""
    if len(cells) not in ((2,) if topics else (2, 3)) or not cells[0] or (topics and not cells[1]):
        raise ValueError(_("it must be an id, a tab and a text"))
    return cells[0], (cells[1] if len(cells) == 3 else "", cells[-1])


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a table, cut at tabs, or at any space in a line without a tab."""
    for number, line in numbered_lines(path):
        yield number, line.strip("\r").split("\t") if "\t" in line else line.split()


def _qrels(path: Path, queries: Mapping[str, str]) -> Qrels:
    """Read the judgements of a table `query-id corpus-id score` (BEIR, with a first line of names) or
    `query-id iteration passage-id grade` (TREC)."""
    qrels: Qrels = {}
    for number, cells in _rows(path):
        with refusing(path, number):
            if len(cells) not in _COLUMNS:
                raise ValueError(_("it must have 3 columns (BEIR) or 4 (TREC), not {n}").format(n=len(cells)))
            query, passage, grade = (cells[at].strip() for at in _COLUMNS[len(cells)])
            is_number = re.fullmatch(r"[+-]?\d{1,9}", grade) is not None
            if number == 1 and not is_number and query not in queries:
                continue  # the columns' names
            if not is_number:
                raise ValueError(_("the grade {grade} is not a whole number").format(grade=grade))
            if query not in queries:
                raise ValueError(_("no query has the id {id}").format(id=query))
            if passage in qrels.setdefault(query, {}):
                raise ValueError(_("{passage} is judged twice for {query}").format(passage=passage, query=query))
        qrels[query][nfc(passage)] = int(grade)
    return qrels


def _dataset(table: Path, name: str, kind: str, topics: Path, collection: Path) -> Dataset:
    """Return questions and documents. A grade of 0 or less is no answer; a query without an answer is left out."""
    queries = {id: text for id, (_title, text) in _passages(topics, topics=True).items()}
    qrels = _qrels(table, queries)
    questions = []
    for id, text in queries.items():
        gold = tuple(Gold(passage, 0, LENGTH_MS, grade) for passage, grade in qrels.get(id, {}).items() if grade > 0)
        if gold:
            questions.append(Question(id, text, kind, gold))
    if not questions:
        raise bad_queries(table, 1, _("it holds no judgement above 0"))
    documents = tuple(_document(id, name, *passage) for id, passage in _passages(collection).items() if any(passage))
    if not documents:
        raise bad_queries(table, 1, _("it holds no passages"))
    return Dataset(table, tuple(questions), documents)


def _document(id: str, name: str, title: str, text: str) -> tuple[Video, tuple[Window, ...]]:
    id, content = nfc(id), re.sub(r"\s+", " ", nfc(text or title)).strip()
    window = Window(window_id(id, 0), id, 0, 0, LENGTH_MS, content, (Line(0, 0),))
    return Video(id, nfc(title), name, name), (window,)
