"""Each process of the program looks for garbage rarely, from before its first object of its own."""

import gc
import runpy
import sys
from collections.abc import Iterator

import pytest

from subtitle_rag import __main__
from subtitle_rag.base import garbage
from subtitle_rag.base.hosting import server
from subtitle_rag.cli import main as cli


@pytest.fixture
def thresholds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The thresholds that a command, or a host, begins with."""
    begun: list[int] = []
    before = gc.get_threshold()

    def begin(*_arguments: object) -> int:
        begun.append(gc.get_threshold()[0])
        return 0

    monkeypatch.setattr(cli, "main", begin)
    monkeypatch.setattr(server, "serve", begin)
    yield begun
    gc.set_threshold(*before)


def test_a_command_does(thresholds: list[int]) -> None:
    __main__.main()
    assert thresholds == [garbage.OBJECTS]


def test_a_host_does(thresholds: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["hosting", "subtitle_rag.index.index_host", "{}"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("subtitle_rag.base.hosting", run_name="__main__")
    assert ended.value.code == 0
    assert thresholds == [garbage.OBJECTS]
