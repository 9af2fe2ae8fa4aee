"""Copies of a library for the length of a measurement."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from subtitle_rag.base.domain.values import Line, Video, Window
from subtitle_rag.base.vectors.named_vectors import vector_names
from subtitle_rag.base.vectors.points import DenseVector, VectorSearch
from subtitle_rag.captions.windows import window_id
from subtitle_rag.evaluation import temp_library
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.models.neural.calibration import korean_pairs
from subtitle_rag.models.neural.protocols import Encoded

if TYPE_CHECKING:
    from subtitle_rag.index.interface import Index

VIDEO = Video("invented001", "시장 구경", "c", "채널")


class NotingEncoder:
    """`Models` and its encoder in one; notes what it reads, without the pairs of calibration."""

    id, dimensions = "noting@00000000", 4
    has_sparse = is_light = has_pieces = must_wait = False

    def __init__(self) -> None:
        self.passages_read: list[str] = []
        self._pairs = {pair.caption for pair in korean_pairs()}

    def encoder(self, id: str | None = None) -> "NotingEncoder | None":
        return self if id in (None, self.id) else None

    def reranker(self) -> None:
        return None

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        self.passages_read += [text for text in texts if text not in self._pairs]
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Encoded:
        return Encoded(DenseVector((1.0, float(len(text)), 0.5, 0.0)), None)


def windows(*texts: str) -> list[Window]:
    return [
        Window(window_id(VIDEO.id, start), VIDEO.id, at, start, start + 50_000, text, (Line(0, start),))
        for at, (start, text) in enumerate(zip(range(0, 600_000, 60_000), texts, strict=False))
    ]


def test_a_copy_has_the_vectors_of_the_same_passages_and_makes_those_of_others(analyzer: Analyzer) -> None:
    some = windows("메밀국수를 먹었어요", "왜가리를 봤어요")
    encoder = NotingEncoder()
    with temp_library.create([(VIDEO, some)], analyzer, models=encoder, encoder=encoder) as library:
        encoder.passages_read.clear()
        earlier = library.library, cast("Index", library.searcher._index)
        contexts = {some[1].id: "강가에서 본 새 이야기"}
        with temp_library.create(
            [(VIDEO, some)], analyzer, contexts, models=encoder, encoder=encoder, earlier=earlier
        ) as copy:
            assert encoder.passages_read == ["시장 구경\n강가에서 본 새 이야기\n왜가리를 봤어요"]
            assert not copy.library.vectors.counts(encoder.id).due
            name, _sparse = vector_names(encoder.id)
            query = encoder.query("본 새").dense
            assert query is not None
            (found,) = copy.searcher._index.search_all([VectorSearch(name, query, 10)])
            assert {hit.id for hit in found} == {window.id for window in some}
