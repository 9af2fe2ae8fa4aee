"""stdout and stderr on one terminal, or in one file: the lines of both stand in the order in which they are written."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from subtitle_rag.cli import main as cli
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.stand_ins.qdrant import StandIn
from tests.support.served import Machine, videos

pytestmark = [pytest.mark.hosts, pytest.mark.campaign(part="hosts")]

VERBS: dict[str, tuple[str, ...]] = {
    "config": ("config",),
    "search": ("search", "국수를", "먹었어요"),
    "search of nothing": ("search", "뷁뷁뷁"),
    "list": ("list",),
    "status": ("status",),
    "demo": ("demo",),
}
"""Verbs that write to both streams, or do so with other contents of the library."""


class Stream(StringIO):
    """One of the two streams; notes each line with its name in a list that both share."""

    def __init__(self, name: str, lines: list[tuple[str, str]]) -> None:
        super().__init__()
        self._name, self._lines = name, lines

    def write(self, text: str) -> int:
        self._lines += [(self._name, line) for line in text.split("\n") if line.strip()]
        return len(text)


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with StandIn() as running:
        yield running


@pytest.fixture
def machine(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    analyzer: Analyzer,
    server: StandIn,
) -> Iterator[Machine]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "5")
    monkeypatch.setattr(Runtime, "analyzer", analyzer)
    made = Machine(tmp_path / "home", capsys)
    made.use("")
    made("index", videos(tmp_path / "captions", 0, 1))
    yield made
    made.end()


def written(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of both streams in the order of the code."""
    lines: list[tuple[str, str]] = []
    with redirect_stdout(Stream("out", lines)), redirect_stderr(Stream("err", lines)):
        cli.run(list(arguments))
    return lines


def on_a_terminal(arguments: Sequence[str]) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "subtitle_rag", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    screen = b""
    while True:  # a host that the verb has started may keep the terminal open
        is_over = process.poll() is not None
        if select.select([ours], [], [], 0.05)[0]:
            try:
                screen += os.read(ours, 4096)
            except OSError:  # Linux says so when the last writer has left
                break
        elif is_over:
            break
    process.wait()
    os.close(ours)
    return screen.decode()


def in_one_file(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "subtitle_rag", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode()


def places(text: str, lines: Sequence[tuple[str, str]]) -> list[int]:
    """Where each line stands behind the line before it; ValueError names the first that does not."""
    found, at = [], 0
    for _stream, line in lines:
        at = text.index(line[:40].rstrip(), at)
        found.append(at)
        at += 1
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_both_streams_stand_in_one_order(machine: Machine, server: StandIn, verb: str) -> None:
    arguments = ["--home", str(machine.home), *(part.format(server=server.base) for part in VERBS[verb])]
    lines = written(arguments)
    assert lines
    for (stream, line), following in zip(lines, [*lines[1:], ("", "")], strict=True):
        assert not (stream == "err" and line.rstrip().endswith(":")) or following[0] == "out", line
    for text in (on_a_terminal(arguments), in_one_file(arguments)):
        assert places(text, lines)
