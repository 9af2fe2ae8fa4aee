"""A folder in TREC's form: topics, judgements and a collection of passages.

Topics are `queries*.tsv` or `topics*.tsv` (id, tab, text), judgements `qrels*` (topic, iteration, passage, grade),
passages `collection.tsv` (id, text; or id, title, text) or `collection.jsonl` (`id`, `contents`, `title`). MS MARCO's
and Pyserini's files are so named.
"""

from collections.abc import Iterator
from pathlib import Path

from subtitle_rag.evaluation import dataset, passages
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.passages import Passage
from subtitle_rag.evaluation.questions import bad_queries
from subtitle_rag.i18n import _

_IDS = ("id", "_id", "docno", "docid")
_TEXTS = ("contents", "text", "body")


def lies_in(folder: Path) -> bool:
    """Whether the folder is laid out so."""
    return bool(_topics(folder) and _judgements(folder) and _collections(folder))


def read(folder: Path) -> Dataset:
    """The judged topics and the collection.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    topics, judgements, collection = (
        _only(folder, found) for found in (_topics(folder), _judgements(folder), _collections(folder))
    )
    queries = dict(_pairs(topics))
    judged = passages.qrels(judgements, queries)
    own = _table(collection) if collection.suffix == ".tsv" else _objects(collection)
    return passages.dataset(judgements, folder.name, _once(collection, own), queries, judged, folder.name)


def _only(folder: Path, found: list[Path]) -> Path:
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise bad_queries(
            folder, 1, _("one of these files must be in a folder of its own: {names}").format(names=names)
        )
    return found[0]


def _topics(folder: Path) -> list[Path]:
    return sorted(path for name in ("queries*.tsv", "topics*.tsv") for path in folder.glob(name))


def _judgements(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("qrels*") if path.is_file())


def _collections(folder: Path) -> list[Path]:
    return [path for name in ("collection.tsv", "collection.jsonl") if (path := folder / name).is_file()]


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for number, cells in passages.rows(path):
        if len(cells) != 2 or not all(cells):
            raise bad_queries(path, number, _("it must be an id, a tab and a text"))
        if cells[0] in seen:
            raise bad_queries(path, number, _("the id {id} is there twice").format(id=cells[0]))
        seen.add(cells[0])
        yield cells[0], cells[1]


def _table(path: Path) -> Iterator[tuple[int, Passage]]:
    for number, cells in passages.rows(path):
        if len(cells) not in (2, 3) or not cells[0]:
            raise bad_queries(path, number, _("it must be an id, a tab and a text"))
        yield number, Passage(cells[0], cells[1] if len(cells) == 3 else "", cells[-1])


def _objects(path: Path) -> Iterator[tuple[int, Passage]]:
    for number, entry in dataset.objects(path):
        try:
            id = dataset.string(entry, next((name for name in _IDS if name in entry), "id"))
            text = dataset.string(entry, next((name for name in _TEXTS if name in entry), "contents"))
        except ValueError as error:
            raise bad_queries(path, number, str(error)) from error
        title = entry.get("title")
        yield number, Passage(id, title if isinstance(title, str) else "", text)


def _once(path: Path, numbered: Iterator[tuple[int, Passage]]) -> Iterator[Passage]:
    seen: set[str] = set()
    for number, passage in numbered:
        if passage.id in seen:
            raise bad_queries(path, number, _("the id {id} is there twice").format(id=passage.id))
        seen.add(passage.id)
        yield passage
