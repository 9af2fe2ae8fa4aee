"""What is believed of a Qdrant server's answers."""

import gzip
import math
from collections.abc import Callable
from typing import Any

import pytest

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.points import VectorSearch
from subtitle_rag.index import server_terms
from subtitle_rag.index.server_terms import (
    FOREIGN,
    read_count,
    read_hits,
    read_page,
    read_point,
    read_records,
)
from tests.campaign.hostile_http import Answer, HostileServer, plain
from tests.index.points import META, pid, server_index, sparse

SEARCH = VectorSearch("bm25", sparse({1: 1.0}), 2)


def record(number: int, **others: Any) -> dict[str, Any]:
    return {"id": pid(number), **others}


def test_points_that_nobody_asked_for_are_left_out() -> None:
    assert [each["id"] for each in read_records([record(1), record(2), record(1)], {pid(1)})] == [pid(1)]


@pytest.mark.parametrize(
    ("read", "answer"),
    [
        (read_records, None),
        (read_records, {"points": []}),
        (read_records, [{"id": 5}]),
        (read_records, [{"id": "../x"}]),
        (read_records, [record(1, payload="x")]),
        (read_count, {"count": -1}),
        (read_count, {"count": "many"}),
        (read_count, {"count": True}),
        (read_count, []),
        (lambda value: read_page(value, pid(5)), {"points": [record(4)]}),
        (lambda value: read_page(value, pid(5)), {"points": [], "next_page_offset": pid(5)}),
        (lambda value: read_page(value, None), {"points": [record(2), record(1)]}),
        (lambda value: read_page(value, None), {"points": [record(2)], "next_page_offset": pid(2)}),
        (lambda value: read_hits(SEARCH, [value]), [record(1, score=math.nan)]),
        (lambda value: read_hits(SEARCH, [value]), [record(1, score="9")]),
        (lambda value: read_hits(SEARCH, [value]), [record(1)]),
        (read_point, {"id": pid(1), "payload": {"x": math.nan}, "vector": {}}),
        (read_point, {"id": pid(1), "payload": {}, "vector": {"bm25": {"indices": [1], "values": [math.inf]}}}),
    ],
)
def test_what_is_not_of_qdrant_is_not_believed(read: Callable[[Any], object], answer: Any) -> None:
    with pytest.raises(FOREIGN):
        read(answer)


def test_more_hits_than_were_wanted_are_cut() -> None:
    hits = read_hits(SEARCH, [[record(number, score=float(number)) for number in range(9)]])
    assert [hit.id for hit in hits] == [pid(8), pid(7)]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(302, {"Location": "{foreign}/"}, b""), "qdrant_failed"),
        (Answer(200, {}, b"[" * 100_000), "qdrant_failed"),
        (Answer(200, {}, b" " * 2_000), "qdrant_unreachable"),
        (Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 9_000)), "qdrant_unreachable"),
    ],
    ids=["elsewhere", "deep", "large", "compressed"],
)
def test_an_answer_has_bounds(answer: Answer, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_terms, "MAX_BYTES", 200_000 if code == "qdrant_failed" else 1_000)
    with HostileServer(lambda _query: plain(Answer(200, {}, b"{}"))) as foreign:
        headers = {name: value.format(foreign=foreign.base) for name, value in answer.headers.items()}
        with (
            HostileServer(lambda _query: plain(Answer(answer.status, headers, answer.body))) as server,
            pytest.raises(AppError) as refused,
        ):
            server_index(QdrantSettings(url=server.base), META)
        assert refused.value.code == code
        assert foreign.queries == []
