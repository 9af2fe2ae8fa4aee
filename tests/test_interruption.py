"""kill -9 at random moments of indexing, of the indexer and now and then of the index's host; then going on.

What was interrupted and went on equals what was never interrupted: the same bytes in SQLite, the same answers.
`SUBTITLE_RAG_KILLS` sets the number of moments (3).
"""

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import parse_query
from tests.support.invented import caption_folder, dump, end_hosts
from tests.support.processes import kill_host, kill_when, needs_sigkill, start

KILLS = int(os.environ.get("SUBTITLE_RAG_KILLS") or 3)
QUERIES = (
    "국수를 먹었어요",
    "할머니 김밥",
    "바다 자전거",
    "청귤 간장",
    "고양이 사진",
    "python 와이파이",
    "골목 시장 친구",
    "천천히 걸었어요",
    "매워요",
    "영상 7",
)

pytestmark = [
    pytest.mark.campaign(part="kills"),
    pytest.mark.hosts,
    needs_sigkill,
]


@dataclass(frozen=True)
class Uninterrupted:
    """What a run that nobody interrupts comes to, and how long it takes."""

    captions: Path
    rows: dict[str, list[tuple[Any, ...]]]
    results: list[tuple[str, Any]]
    seconds: float


@pytest.fixture(autouse=True)
def short_lived_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    folder = tmp_path_factory.mktemp("uninterrupted")
    captions = caption_folder(folder / "captions", 40, minutes=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.5")
        started = time.monotonic()
        assert start(folder / "home", "index", captions).wait() == 0
        seconds = time.monotonic() - started
        found = results(folder / "home")
        end_hosts([data(folder / "home") / "index"])
    rows = dump(data(folder / "home") / "library.db")
    assert len(rows["video"]) == 40
    assert len(found) > 100
    return Uninterrupted(captions, rows, found, seconds)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    end_hosts([data(tmp_path / "home") / "index"])


def data(home: Path) -> Path:
    return config.Paths.under(home).data


def results(home: Path) -> list[tuple[str, Any]]:
    """The windows of all queries with their scores, in order."""
    with Runtime(config.load(home)) as runtime:
        ranked = [runtime.searcher.rank(parse_query(query)) for query in QUERIES]
    return [(entry.window_id, pytest.approx(entry.score, rel=1e-6)) for found in ranked for entry in found]


def kill_at(home: Path, captions: Path, moment: float, *, host_too: bool) -> bool:
    """Whether the indexer was still at work when it was killed."""
    ends = time.monotonic() + moment
    host = data(home) / "index" if host_too else None
    process = start(home, "index", captions)
    return kill_when(process, lambda: time.monotonic() >= ends, also=lambda: kill_host(host))


@pytest.mark.parametrize("number", range(KILLS))
def test_an_indexer_killed_at_any_moment_goes_on(home: Path, uninterrupted: Uninterrupted, number: int) -> None:
    rng = random.Random(number)
    moment = uninterrupted.seconds * (number + rng.random()) / KILLS
    kill_at(home, uninterrupted.captions, moment, host_too=rng.random() < 0.4)
    assert start(home, "index", uninterrupted.captions).wait() == 0
    assert dump(data(home) / "library.db") == uninterrupted.rows
    assert results(home) == uninterrupted.results


def test_an_indexer_killed_again_and_again_gets_there(home: Path, uninterrupted: Uninterrupted) -> None:
    rng = random.Random(KILLS)
    killed = 0
    for share in (0.1, 0.2, 0.35, 0.5):  # early first: a run may be faster than the one that was timed
        moment = uninterrupted.seconds * share
        killed += kill_at(home, uninterrupted.captions, moment, host_too=rng.random() < 0.5)
    assert killed
    assert start(home, "index", uninterrupted.captions).wait() == 0
    assert dump(data(home) / "library.db") == uninterrupted.rows
    assert results(home) == uninterrupted.results
