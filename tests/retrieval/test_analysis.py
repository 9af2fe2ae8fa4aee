"""Morphemes from a process of their own: the same as at home, in order, however that process ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from subtitle_rag.retrieval import analysis
from subtitle_rag.retrieval.analysis import ApartAnalyzer
from subtitle_rag.retrieval.morphemes import Analyzer

TEXTS = [f"꽃게를 {number}마리 먹었어요" for number in range(70)]
SOON_S = 20.0


@pytest.fixture
def apart() -> Iterator[ApartAnalyzer]:
    made = ApartAnalyzer()
    yield made
    made.close()


def children() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.pid]


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_texts_are_analysed_as_at_home_and_in_their_order(apart: ApartAnalyzer, analyzer: Analyzer) -> None:
    apart.load_soon()
    assert list(apart.morphemes(TEXTS)) == list(analyzer.morphemes(TEXTS))
    assert list(apart.morphemes([])) == []


@pytest.mark.campaign(part="hosts")
def test_a_process_that_dies_is_begun_anew(apart: ApartAnalyzer, analyzer: Analyzer) -> None:
    found = apart.morphemes(TEXTS)
    first = next(found)
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    assert [first, *found] == list(analyzer.morphemes(TEXTS))
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not children())
    assert list(apart.morphemes(TEXTS[:3])) == list(analyzer.morphemes(TEXTS[:3]))


@pytest.mark.campaign(part="hosts")
def test_it_ends_when_it_has_nothing_to_do(apart: ApartAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "IDLE_S", 0.1)
    found = apart.morphemes(TEXTS)
    next(found)
    time.sleep(0.3)
    assert children(), "somebody is waiting for the rest"
    assert len(list(found)) == len(TEXTS) - 1
    until(lambda: not children())
    assert len(list(apart.morphemes(TEXTS[:2]))) == 2


@pytest.mark.campaign(part="hosts")
def test_it_ends_with_its_parent() -> None:
    code = """
import multiprocessing, time
from subtitle_rag.retrieval.analysis import ApartAnalyzer
if __name__ == "__main__":
    list(ApartAnalyzer().morphemes(["꽃게"]))
    print(multiprocessing.active_children()[0].pid, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not _alive(pid))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
