"""A stand-in of YouTube and a desk to work at, for each test."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.korean.morphemes import Analyzer
from tests.stand_ins.youtube import StandIn
from tests.support.place import Place
from tests.youtube.desk import Clock, Desk


@pytest.fixture
def desk(tmp_path: Path, youtube: StandIn, analyzer: Analyzer) -> Iterator[Desk]:
    place = Place.at(tmp_path / "library", analyzer)
    yield Desk(place, youtube)
    place.close()


@pytest.fixture
def clock(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = desk.stop = Clock()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + sum(made.waits))
    return made
