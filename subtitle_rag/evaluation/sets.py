"""Which form a set of questions has: a file of questions or of KorQuAD, or a folder of BEIR's or TREC's form."""

from pathlib import Path

from subtitle_rag.errors import UsageError
from subtitle_rag.evaluation import beir, dataset, trec
from subtitle_rag.evaluation.dataset import Dataset
from subtitle_rag.i18n import _


def load(path: Path) -> Dataset:
    """Read a set of questions: a file (see `dataset`), a folder, or one of the tables in a BEIR folder's `qrels`.

    Raises:
        UsageError: `unreadable`; `bad_queries` with the line and what is wrong in it.
    """
    if path.parent.name == "qrels" and path.is_file() and beir.lies_in(path.parents[1]):
        return beir.read(path.parents[1], path)
    if not path.is_dir():
        return dataset.load(path)
    if beir.lies_in(path):
        return beir.read(path)
    if trec.lies_in(path):
        return trec.read(path)
    reason = _(
        "the folder holds neither corpus.jsonl, queries.jsonl and qrels/*.tsv (BEIR)"
        " nor queries.tsv, qrels and collection.tsv (TREC)"
    )
    raise UsageError("unreadable", path=str(path), reason=reason)
