"""Read sets that bring their own documents: KorQuAD 1.0, and folders of BEIR's and of TREC's form.

KorQuAD (Lim, Kim & Lee 2019, arXiv:1909.07005) has the layout of SQuAD 1.1: `data[].paragraphs[].qas[].answers[0]` with
`answer_start` in characters of `context`. Every article is a video, its paragraphs are cut into windows of invented
times.

BEIR (Thakur et al. 2021, arXiv:2104.08663): `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`. TREC, with the names
of MS MARCO's and Pyserini's files: topics `queries*.tsv` or `topics*.tsv` (id, text), judgements `qrels*`, and passages
`collection.tsv` (id, text; or id, title, text) or `collection.jsonl` (`id`, `contents`, `title`). Every passage is a
video of one window. It is not cut, because published figures rank whole passages. `ir_datasets` would read the lines,
but it accepts repeated ids, texts that are none and empty files, refuses the first line of BEIR's tables, and names no
file.
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

WINDOW_CHARS = 300
"""The size at which the published comparisons cut."""
REACH = 80
"""Characters on either side of an even cut in which a better place is looked for."""
LENGTH_MS = 60_000
"""Invented length of a window."""
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_SPACE = re.compile(r"\s+")


def read_korquad(path: Path, file: Mapping[str, Any]) -> Dataset:
    """Read the questions of a KorQuAD file, and its articles as videos with windows.

    Raises:
        UsageError: `bad_queries` for a file of another layout.
    """
    questions: list[Question] = []
    documents: list[tuple[Video, tuple[Window, ...]]] = []
    position = "data"
    try:
        for number, article in enumerate(file["data"]):
            position = f"data[{number}]"
            video = Video(f"korquad-{number:04d}", str(article["title"]), "korquad", "KorQuAD 1.0")
            windows: list[Window] = []
            for paragraph in article["paragraphs"]:
                placed = _windows(video.id, str(paragraph["context"]), len(windows))
                questions += _questions(video.id, paragraph["qas"], placed)
                windows += [window for window, _offset in placed]
            documents.append((video, tuple(windows)))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        reason = _("{place} is not laid out as in KorQuAD 1.0").format(place=position)
        raise bad_queries(path, 1, reason) from error
    if not questions:
        raise bad_queries(path, 1, _("it holds no questions"))
    return Dataset(path, tuple(questions), tuple(documents))


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Cut `text` into parts of about `WINDOW_CHARS`, each with its offset: after a sentence that ends near an even
    cut, else at a space, else in the middle of a word."""
    count = max(1, round(len(text) / WINDOW_CHARS))
    begin = 0
    for number in range(1, count + 1):
        end, after = _cut(text, round(len(text) * number / count)) if number < count else (len(text), len(text))
        if begin < end:
            yield begin, text[begin:end]
        begin = max(begin, after)


def _cut(text: str, target: int) -> tuple[int, int]:
    """Return the end of the part that should end at `target`, and the start of the next one."""
    for border in (_SENTENCE, _SPACE):
        near = [match.span() for match in border.finditer(text, max(0, target - REACH), target + REACH)]
        if near:
            return min(near, key=lambda span: abs(span[0] - target))
    return target, target


def _windows(video_id: str, context: str, first: int) -> list[tuple[Window, int]]:
    """Return a paragraph's windows, the first one being the video's window number `first`, with their offsets in it."""
    result = []
    for ordinal, (offset, text) in enumerate(pieces(context), start=first):
        start = ordinal * LENGTH_MS
        window = Window(
            id=window_id(video_id, start),
            video_id=video_id,
            ordinal=ordinal,
            start_ms=start,
            end_ms=start + LENGTH_MS,
            text=_SPACE.sub(" ", text),
            lines=(Line(0, start),),
        )
        result.append((window, offset))
    return result


def _questions(video_id: str, entries: Any, windows: list[tuple[Window, int]]) -> Iterator[Question]:
    """Yield the questions of a paragraph; gold is the window, or the neighbouring windows, that hold the answer."""
    for entry in entries:
        answer = entry["answers"][0]
        begin = int(answer["answer_start"])
        end = begin + len(answer["text"])
        holding = [
            window
            for (window, offset), after in zip(windows, [*(at for _window, at in windows[1:]), None], strict=True)
            if offset < end and (after is None or begin < after)
        ]
        gold = Gold(video_id, holding[0].start_ms, holding[-1].end_ms)
        yield Question(str(entry["id"]), str(entry["question"]), "korquad", (gold,))


SPLITS = ("test", "dev", "validation", "train")
"""BEIR's tables in the order of preference, unless one is named."""

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


def read_passages(path: Path) -> Dataset | None:
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
    id, content = nfc(id), _SPACE.sub(" ", nfc(text or title)).strip()
    window = Window(window_id(id, 0), id, 0, 0, LENGTH_MS, content, (Line(0, 0),))
    return Video(id, nfc(title), name, name), (window,)
