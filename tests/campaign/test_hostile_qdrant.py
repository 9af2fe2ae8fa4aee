"""The index on a Qdrant server that lies, stalls, floods and sends its visitors elsewhere."""

import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.vectors.points import DenseVector, Filter, VectorSearch
from subtitle_rag.index.index_rules import check_id, check_points
from subtitle_rag.index.index_server import ServerIndex
from tests.campaign.figures import SEED, Figures, Say, count, say
from tests.campaign.hostile_http import Answer, Attacked, HostileServer, Query, plain
from tests.index.points import META, dense, pid, point, server_index, sparse
from tests.stand_ins.qdrant import StandIn

__all__ = ["say"]
pytestmark = pytest.mark.campaign(part="hostile")

COUNT = count("SUBTITLE_RAG_ATTACKS", 150)
MAX_S = 15.0
MAX_BYTES = 100 << 20
DENSE = "dense-tiny"
POINTS = 12
OURS = {pid(number) for number in range(POINTS)}


def honest(server: StandIn, query: Query) -> Answer:
    path = query.path.partition("?")[0]
    status, sent = server.serve(query.method, path, query.headers, json.loads(query.body or b"{}"))
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return Answer(status, {"Content-Type": "application/json"}, body)


@pytest.fixture
def hostile() -> Iterator[tuple[Attacked, HostileServer]]:
    hostile = Attacked(partial(honest, StandIn()))
    with HostileServer(hostile.respond) as server:
        index = server_index(QdrantSettings(url=server.base), META)
        index.add_vector(DENSE, 2)
        index.insert([point(number, {1: 1.0, 2: float(number)}, video=f"v{number % 3}") for number in range(POINTS)])
        index.replace_vector(DENSE, {pid(number): dense(1.0, number) for number in range(POINTS)})
        index.close()
        yield hostile, server


def searched(index: ServerIndex) -> None:
    for query, name in ((sparse({1: 1.0, 2: 1.0}), "bm25"), (dense(1.0, 0.5), DENSE)):
        whole = VectorSearch(name, query, 5)
        for hits in index.search_all([whole, VectorSearch(name, query, 3, Filter(videos=("v1",)))]):
            assert len(hits) <= 5, "more hits than were wanted"
            for hit in hits:
                check_id(hit.id)
                assert math.isfinite(hit.score), "a score that is no number"


def points_read(index: ServerIndex) -> None:
    page = index.points(limit=5)
    page += index.points(page[-1].id, limit=50) if page else []
    check_points(page)
    assert [each.id for each in page] == sorted({each.id for each in page}), "not in order"


def got(index: ServerIndex) -> None:
    ids = [pid(1), pid(2), pid(99)]
    points = index.get(ids)
    check_points(points)
    assert {each.id for each in points} <= set(ids), "points that nobody asked for"


def counted(index: ServerIndex) -> None:
    assert 0 <= index.count() < 1 << 53
    for id in index.ids("v1"):
        check_id(id)


def written(index: ServerIndex) -> None:
    index.insert([point(3, video="v0")])
    index.replace_vector(DENSE, {pid(3): dense(1.0, 3.0)})


CALLS: tuple[Callable[[ServerIndex], Any], ...] = (
    searched,
    searched,
    points_read,
    got,
    counted,
    written,
    lambda index: index.vectors(),
)


def test_a_hostile_qdrant_is_understood_or_refused(
    hostile: tuple[Attacked, HostileServer], say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subtitle_rag.index.server_terms.TIMEOUT_S", 1)
    figures = Figures("hostile qdrant", foreign=0)
    qdrant, server = hostile
    with HostileServer(lambda _query: plain(Answer(200, {}, b"{}"))) as foreign:
        qdrant.foreign = foreign.base
        for number in range(COUNT):
            chance = random.Random(f"{SEED} qdrant {number}")
            label, call = f"{number} {qdrant.aim(chance, [0, 1, 2, 3, 3, 3, 4])}", chance.choice(CALLS)
            server.sent = 0

            def called(call: Callable[[ServerIndex], Any] = call) -> str:
                with closing(server_index(QdrantSettings(url=server.base), META)) as index:
                    call(index)
                return "understood"

            figures.attempt(label, MAX_S, called)
            if server.sent > MAX_BYTES:
                figures.wrong.append(f"{label}: {server.sent} bytes")
        qdrant.name = ""
        figures.foreign = len(foreign.queries)
        index = server_index(QdrantSettings(url=server.base), META)
        assert set().union(*(index.ids(f"v{video}") for video in range(3))) >= OURS  # nothing is lost
        assert all(isinstance(each.vectors[DENSE], DenseVector) for each in index.get([pid(3)]))
        index.close()
    figures.check(say, "refused", "understood")
