"""Encoders that make one kind of vectors: made, kept by a rebuild, searched, and compared by `eval`."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.config.settings import QdrantSettings
from subtitle_rag.domain import UsageError, VectorsReport
from subtitle_rag.encoding import EncodingRun
from subtitle_rag.evaluation.arm_run import EvalModels
from subtitle_rag.evaluation.arms import ArmChoice
from subtitle_rag.indexing import Indexer
from subtitle_rag.library.app_state import put_index_address
from subtitle_rag.library.store import Library
from subtitle_rag.migrating import Migrated, Migration, same
from subtitle_rag.models import ENCODER, ModelFiles, local
from subtitle_rag.retrieval.index.index_edge import EdgeIndex
from subtitle_rag.retrieval.index.interface import Index
from subtitle_rag.retrieval.korean.lexical import QueryAnalyzer
from subtitle_rag.retrieval.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.retrieval.named_vectors import multivector_name, vector_names
from subtitle_rag.retrieval.neural.encoder import PASSAGE_TOKENS
from subtitle_rag.retrieval.neural.sentence_encoder import SentenceEncoder
from subtitle_rag.retrieval.search.query import parse_query
from subtitle_rag.retrieval.search.searcher import Searcher
from tests.encoding.desk import PLAN, Desk, Here
from tests.encoding.test_rebuild import rebuild
from tests.retrieval.points import server_index
from tests.stand_ins.qdrant import qdrant_server
from tests.support.invented import caption_folder


def opened(folder: Path, options: str = "") -> SentenceEncoder:
    shape = local.shape(folder)
    assert shape is not None
    files = ModelFiles("", folder, "", ENCODER, False, shape.dimensions, PASSAGE_TOKENS, shape.vectors)
    return SentenceEncoder(files, f"{folder.name}@00000000{options}", PLAN)


@pytest.mark.parametrize("kind", ["dense", "sparse", "late"])
def test_an_encoder_of_one_kind_works_throughout(
    desk: Desk, sentence_folders: dict[str, Path], analyzer: Analyzer, kind: str
) -> None:
    encoder = opened(sentence_folders[kind], "/tokens" if kind == "late" else "")
    dense, sparse = vector_names(encoder.id)
    name = {"dense": dense, "sparse": sparse, "late": multivector_name(encoder.id)}[kind]

    _events, report = desk.run(encoder)
    before = desk.holding(encoder)
    rebuild(desk)
    searcher = Searcher(desk.library, desk.index, QueryAnalyzer(desk.library, analyzer), Here(encoder))
    query = parse_query(desk.library.windows(desk.windows()[:1])[desk.windows()[0]].text)
    arms = EvalModels(encoder, None, {}).retrievers(ArmChoice())

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
    if kind == "late":  # it orders what words have found
        assert arms == [("bm25",), ("bm25", "late")]
        assert searcher.search(query, retrievers=["bm25", "late"]).scenes
    else:
        assert arms == [("bm25",), (kind,), ("bm25", kind)]
        assert searcher.search(query, retrievers=[kind]).scenes
    for other in {"dense", "sparse"} - {kind}:
        with pytest.raises(UsageError, match=other):
            searcher.search(query, retrievers=[other])


@pytest.mark.parametrize("kind", ["dense", "sparse", "late"])
def test_vectors_of_one_kind_are_made_and_searched_on_a_server_and_move_from_it(
    sentence_folders: dict[str, Path], analyzer: Analyzer, tmp_path: Path, kind: str
) -> None:
    encoder = opened(sentence_folders[kind], "/tokens" if kind == "late" else "")
    retrievers = ["bm25", "late"] if kind == "late" else [kind]

    def found(library: Library, index: Index) -> list[tuple[str, Any]]:
        searcher = Searcher(library, index, QueryAnalyzer(library, analyzer), Here(encoder))
        ranked = searcher.rank(parse_query("국수를 먹었어요"), retrievers=retrievers)
        return [(each.window_id, pytest.approx(each.score, abs=5e-3)) for each in ranked]

    with ExitStack() as stack:
        url = stack.enter_context(qdrant_server()).base
        server = server_index(QdrantSettings(url=url), {"analyzer": ANALYZER})
        library = stack.enter_context(closing(Library(tmp_path / "library.db")))
        list(Indexer(library, server, analyzer).index([caption_folder(tmp_path / "captions", 2, minutes=2)]))
        put_index_address(library, server.place)
        report = list(EncodingRun(library, server, encoder, Here(encoder), pause=0.0).run())[-1]
        embedded = stack.enter_context(closing(EdgeIndex(tmp_path / "index", {"analyzer": ANALYZER})))
        on_server = found(library, server)
        moved = list(Migration(library, server, embedded).run())[-1]

        assert isinstance(report, VectorsReport)
        assert isinstance(moved, Migrated)
        assert (report.made, report.left) == (moved.windows, 0)
        assert server.vectors() == embedded.vectors()
        assert len(server.vectors()) == 2
        assert on_server == found(library, embedded)
        assert on_server
