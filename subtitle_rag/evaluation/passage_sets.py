"""Read sets of passages with relevance judgements: folders of BEIR's and of TREC's form.

BEIR (Thakur et al. 2021, arXiv:2104.08663): `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`. TREC, with the names
of MS MARCO's and Pyserini's files: topics `queries*.tsv` or `topics*.tsv` (id, text), judgements `qrels*`, and passages
`collection.tsv` (id, text; or id, title, text) or `collection.jsonl` (`id`, `contents`, `title`).

Every passage is a video of one window. It is not cut, because published figures rank whole passages. `ir_datasets`
would read the lines, but names neither file nor line of a mistake, and needs five more packages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from subtitle_rag.captions.windows import window_id
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
_TOPICS = ("queries*.tsv", "topics*.tsv")
_COLLECTIONS = ("collection.tsv", "collection.jsonl")
_IDS = ("id", "_id", "docno", "docid")
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
    files = [
        [file for pattern in patterns for file in sorted(path.glob(pattern)) if file.is_file()]
        for patterns in (_TOPICS, ("qrels*",), _COLLECTIONS)
    ]
    if not path.is_dir() or not all(files):
        return None
    for several in files:
        if len(several) > 1:
            names = ", ".join(file.name for file in several)
            reason = _("one of these files must be in a folder of its own: {names}").format(names=names)
            raise bad_queries(path, 1, reason)
    (topics,), (judgements,), (collection,) = files
    queries = {id: text for id, (_title, text) in _by_id(topics, _table(topics, (2,))).items()}
    rows = _table(collection, (2, 3)) if collection.suffix == ".tsv" else _trec_objects(collection)
    return _dataset(judgements, path.name, path.name, queries, collection, rows)


def _beir_tables(folder: Path) -> dict[str, Path]:
    """The tables of judgements by name; none where the folder is not of BEIR's form."""
    if not all((folder / name).is_file() for name in ("corpus.jsonl", "queries.jsonl")):
        return {}
    return {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}


def _beir(folder: Path, table: Path) -> Dataset:
    queries = _by_id(folder / "queries.jsonl", _beir_queries(folder / "queries.jsonl"))
    texts = {id: text for id, (_title, text) in queries.items()}
    corpus = folder / "corpus.jsonl"
    return _dataset(table, folder.name, table.stem, texts, corpus, _beir_corpus(corpus))


def _beir_queries(path: Path) -> Iterator[tuple[int, str, Passage]]:
    for number, entry in objects(path):
        with refusing(path, number):
            row = number, string(entry, "_id"), ("", string(entry, "text"))
        yield row


def _beir_corpus(path: Path) -> Iterator[tuple[int, str, Passage]]:
    for number, entry in objects(path):
        title, text = entry.get("title") or "", entry.get("text") or ""
        with refusing(path, number):
            id = string(entry, "_id")
            if not isinstance(title, str) or not isinstance(text, str):
                raise ValueError(_("title and text must be texts"))
        yield number, id, (title, text)


def _trec_objects(path: Path) -> Iterator[tuple[int, str, Passage]]:
    for number, entry in objects(path):
        title = entry.get("title")
        with refusing(path, number):
            id = string(entry, next((name for name in _IDS if name in entry), "id"))
            text = string(entry, next((name for name in _TEXTS if name in entry), "contents"))
        yield number, id, (title if isinstance(title, str) else "", text)


def _table(path: Path, widths: tuple[int, ...]) -> Iterator[tuple[int, str, Passage]]:
    """Rows of id and text, or of id, title and text."""
    for number, cells in _rows(path):
        if len(cells) not in widths or not cells[0] or (widths == (2,) and not cells[1]):
            raise bad_queries(path, number, _("it must be an id, a tab and a text"))
        yield number, cells[0], (cells[1] if len(cells) == 3 else "", cells[-1])


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines of a table, cut at tabs, or at any space where a line has no tab."""
    for number, line in numbered_lines(path):
        yield number, line.strip("\r").split("\t") if "\t" in line else line.split()


def _by_id(path: Path, rows: Iterable[tuple[int, str, Passage]]) -> dict[str, Passage]:
    passages: dict[str, Passage] = {}
    for number, id, passage in rows:
        with refusing(path, number):
            unique(id, passages)
        passages[id] = passage
    return passages


def _qrels(path: Path, queries: Mapping[str, str]) -> Qrels:
    """The judgements of a table `query-id corpus-id score` (BEIR, with a first line of names) or
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


def _dataset(
    table: Path,
    name: str,
    kind: str,
    queries: Mapping[str, str],
    corpus: Path,
    rows: Iterable[tuple[int, str, Passage]],
) -> Dataset:
    """The set as questions and documents. A grade of 0 or less is no answer; a query without an answer is left out."""
    qrels = _qrels(table, queries)
    questions = []
    for id, text in queries.items():
        gold = tuple(Gold(passage, 0, LENGTH_MS, grade) for passage, grade in qrels.get(id, {}).items() if grade > 0)
        if gold:
            questions.append(Question(id, text, kind, gold))
    if not questions:
        raise bad_queries(table, 1, _("it holds no judgement above 0"))
    passages = _by_id(corpus, rows)
    documents = tuple(_document(id, name, *passage) for id, passage in passages.items() if any(passage))
    if not documents:
        raise bad_queries(table, 1, _("it holds no passages"))
    return Dataset(table, tuple(questions), documents)


def _document(id: str, name: str, title: str, text: str) -> tuple[Video, tuple[Window, ...]]:
    id, content = nfc(id), re.sub(r"\s+", " ", nfc(text or title)).strip()
    window = Window(window_id(id, 0), id, 0, 0, LENGTH_MS, content, (Line(0, 0),))
    return Video(id, nfc(title), name, name), (window,)
