"""Encoders that make one kind of vectors: made, kept by a rebuild, searched, and compared by `eval`."""

from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.evaluation.arm_models import EvalModels
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.models import local
from subtitle_rag.models.manifest import ENCODER
from subtitle_rag.models.model_store import ModelFiles
from subtitle_rag.models.neural.encoder import PASSAGE_TOKENS
from subtitle_rag.models.neural.sentence_encoder import SentenceEncoder
from subtitle_rag.search.query import parse_query
from subtitle_rag.search.searcher import Searcher
from tests.index.encoding.desk import Desk
from tests.index.encoding.test_rebuild import rebuild
from tests.support.models_here import EXACT, Here
from tests.support.same_vectors import same


def opened(folder: Path, options: str = "") -> SentenceEncoder:
    shape = local.shape(folder)
    assert shape is not None
    files = ModelFiles("", folder, "", ENCODER, False, shape.dimensions, PASSAGE_TOKENS, shape.vectors)
    return SentenceEncoder(files, f"{folder.name}@00000000{options}", EXACT)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_encoder_of_one_kind_works_throughout(
    desk: Desk, sentence_folders: dict[str, Path], analyzer: Analyzer, kind: str
) -> None:
    encoder = opened(sentence_folders[kind])
    dense, sparse = vector_names(encoder.id)
    name = {"dense": dense, "sparse": sparse}[kind]

    _events, report = desk.run(encoder)
    before = desk.holding(encoder)
    rebuild(desk)
    searcher = Searcher(desk.library, desk.index, QueryAnalyzer(desk.library, analyzer), Here([encoder]))
    query = parse_query(desk.library.windows(desk.windows()[:1])[desk.windows()[0]].text)
    arms = EvalModels(encoder, None, {}).retrievers()

    assert report.blocked is None
    assert report.made == len(desk.windows())
    assert all(own.keys() == {name} for own in before.values())
    after = desk.holding(encoder)
    assert after.keys() == before.keys()
    assert all(same(own[name], after[id].get(name)) for id, own in before.items())  # up to half precision
    assert set(desk.index.vectors()) == {"bm25", name}
    assert desk.run(encoder)[1].made == 0
    assert not searcher.search(query).missing
    assert searcher.search(query).scenes
    assert arms == [("bm25",), (kind,), ("bm25", kind)]
    assert searcher.search(query, retrievers=[kind]).scenes
    for other in {"dense", "sparse"} - {kind}:
        with pytest.raises(UsageError, match=other):
            searcher.search(query, retrievers=[other])
