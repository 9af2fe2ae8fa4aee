"""Progress on stderr: a line with a bar on a terminal, nothing elsewhere."""

import io
import re
import sys

import pytest
from rich.cells import cell_len

from subtitle_rag.base.domain.events import VectorsReport
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.cli.progress_bar import follow, notes, progress_bar


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_stderr(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO, width: int = 80) -> io.StringIO:
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    return stderr


@pytest.mark.parametrize("width", [60, 120])
def test_a_line_loses_whole_parts_and_no_digits(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    stderr = on_stderr(monkeypatch, Terminal(), width)
    progress = Progress("contexts", 1_234, 9_412, "국수 이야기 제1,234화", "overview 7/24", rate=2.5, left_s=3_000.0)
    report = VectorsReport("e5@0")
    assert follow(VectorsReport, [progress, report], prelude="It begins.") is report
    lines = [line.strip() for line in re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stderr.getvalue()))]
    assert "It begins." in lines
    label = max((line for line in lines if "9,412" in line), key=len)
    assert cell_len(label) <= width
    assert label.startswith("Contexts 1,234/9,412  overview 7/24 ")
    assert ("제1,234화" in label) is (width == 120)


def test_a_bar_moves_before_the_first_progress_and_gives_its_line_to_that(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = on_stderr(monkeypatch, Terminal())
    with progress_bar() as show:
        start = stderr.getvalue()
        show(Progress("windows", 1, 2))
    assert "━" in start
    assert "Windows 1/2" in stderr.getvalue()
    assert "\x1b[1A" not in stderr.getvalue().rpartition("Windows 1/2")[0], "a second line"


def test_elsewhere_nothing_is_drawn_and_other_events_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = on_stderr(monkeypatch, io.StringIO())
    told: list[object] = []
    follow(VectorsReport, [Progress("vectors", 1, 2), "a fact", VectorsReport("e5@0")], told.append)
    assert (told, stderr.getvalue()) == (["a fact"], "")


def test_notes_are_told_on_a_terminal_until_they_end_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for stderr in (Terminal(), io.StringIO()):
        on_stderr(monkeypatch, stderr)
        with notes(lambda: ["자막 12,400토큰을 읽는 중", "1:12/약 8:20"]):
            pass
        assert ("자막 12,400토큰을 읽는 중  1:12/약 8:20" in stderr.getvalue()) is stderr.isatty()
