"""What is believed of a Qdrant server's answers."""

import gzip
import math
from collections.abc import Callable
from typing import Any

import pytest
from qdrant_client import models

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.points import VectorSearch
from subtitle_rag.index import server_terms
from subtitle_rag.index.server_terms import (
    FOREIGN,
    check_page,
    check_records,
    read_hits,
    read_point,
)
from tests.campaign.hostile_http import Answer, HostileServer, plain
from tests.index.points import META, pid, server_index, sparse

SEARCH = VectorSearch("bm25", sparse({1: 1.0}), 2)


def record(number: int, **others: Any) -> models.Record:
    return models.Record(id=pid(number), **others)


def scored(number: int, score: float) -> models.ScoredPoint:
    return models.ScoredPoint(id=pid(number), version=0, score=score)


def test_points_that_nobody_asked_for_are_left_out() -> None:
    assert [each.id for each in check_records([record(1), record(2), record(1)], {pid(1)})] == [pid(1)]


@pytest.mark.parametrize(
    "read",
    [
        lambda: check_records([models.Record(id=5)]),
        lambda: check_records([models.Record(id="../x")]),
        lambda: check_page([record(4)], None, pid(5)),
        lambda: check_page([], pid(5), pid(5)),
        lambda: check_page([record(2), record(1)], None, None),
        lambda: check_page([record(2)], pid(2), None),
        lambda: check_page([record(2)], 7, None),
        lambda: read_hits(SEARCH, [[scored(1, math.nan)]]),
        lambda: read_point(record(1, payload={"x": math.nan})),
        lambda: read_point(record(1, vector=[1.0])),
        lambda: read_point(record(1, vector={"bm25": models.SparseVector(indices=[1], values=[math.inf])})),
    ],
)
def test_what_is_not_of_qdrant_is_not_believed(read: Callable[[], object]) -> None:
    with pytest.raises(FOREIGN):
        read()


def test_more_hits_than_were_wanted_are_cut() -> None:
    hits = read_hits(SEARCH, [[scored(number, float(number)) for number in range(9)]])
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
