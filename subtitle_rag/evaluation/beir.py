"""A folder as BEIR has it: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`.

Thakur et al. 2021, "BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models",
arXiv:2104.08663.
"""

from collections.abc import Iterator
from pathlib import Path

from subtitle_rag.evaluation import dataset, passages
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.evaluation.passages import Passage
from subtitle_rag.evaluation.questions import bad_queries
from subtitle_rag.i18n import _

SPLITS = ("test", "dev", "validation", "train")
"""The first of these that is there is measured, unless a table of judgements is named."""


def lies_in(folder: Path) -> bool:
    """Whether the folder is laid out so."""
    return all((folder / name).is_file() for name in ("corpus.jsonl", "queries.jsonl")) and bool(_tables(folder))


def read(folder: Path, table: Path | None = None) -> Dataset:
    """The questions that `table` judges, by default those of the first of `SPLITS`, and the corpus.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    table = table or _chosen(folder)
    queries: dict[str, str] = {}
    source = folder / "queries.jsonl"
    for number, entry in dataset.objects(source):
        try:
            id, text = dataset.string(entry, "_id"), dataset.string(entry, "text")
            if id in queries:
                raise ValueError(_("the id {id} is there twice").format(id=id))
        except ValueError as error:
            raise bad_queries(source, number, str(error)) from error
        queries[id] = text
    judged = passages.qrels(table, queries)
    return passages.dataset(table, folder.name, _corpus(folder / "corpus.jsonl"), queries, judged, table.stem)


def _corpus(path: Path) -> Iterator[Passage]:
    seen: set[str] = set()
    for number, entry in dataset.objects(path):
        try:
            id, title, text = dataset.string(entry, "_id"), entry.get("title") or "", entry.get("text") or ""
            if not isinstance(title, str) or not isinstance(text, str):
                raise ValueError(_("title and text must be texts"))
            if id in seen:
                raise ValueError(_("the id {id} is there twice").format(id=id))
        except ValueError as error:
            raise bad_queries(path, number, str(error)) from error
        seen.add(id)
        yield Passage(id, title, text)


def _tables(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}


def _chosen(folder: Path) -> Path:
    tables = _tables(folder)
    return next((tables[name] for name in SPLITS if name in tables), next(iter(tables.values())))
