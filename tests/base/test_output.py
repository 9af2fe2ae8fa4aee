"""The only writer of stdout, where a system has no Hangul, no console, or another word for a reader that has left."""

import errno
import io
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from subtitle_rag.base import event_json, i18n, output
from subtitle_rag.base.domain.events import ContextEvent, IndexEvent, VectorEvent
from subtitle_rag.cli import main as cli

LACKING = ("cp949", "cp1252", "ascii")
"""Encodings of pipes and files on Windows in Korean and in English, and of a Unix without a locale."""


def encoded(monkeypatch: pytest.MonkeyPatch, encoding: str) -> tuple[io.BytesIO, io.BytesIO]:
    """The bytes of stdout and stderr, which have this encoding."""
    raw = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw[0], encoding=encoding))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(raw[1], encoding=encoding))
    output.prepare()
    return raw


@pytest.mark.parametrize("encoding", LACKING)
def test_no_sentence_of_help_fails_in_an_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = encoded(monkeypatch, encoding)
    for arguments in ([], *([verb] for verb in cli.VERBS)):
        assert cli.run(["--language", "ko", *arguments, "--help"]) == 0
    assert cli.run(["--language", "ko", "꽃게"]) == 2
    i18n.activate("en")
    output.flush()
    sys.stderr.flush()
    assert len(out.getvalue()) > 10_000
    told = err.getvalue().decode(encoding)
    assert ("꽃게" if encoding == "cp949" else r"\uaf43\uac8c") in told


@pytest.mark.parametrize("encoding", LACKING)
def test_no_character_of_a_title_fails_in_an_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = encoded(monkeypatch, encoding)
    output.data("뷁 🍜 – é \ud800")
    output.say("뷁 🍜 – é \ud800")
    output.json_line({"title": "뷁 🍜 – é"})
    output.flush()
    sys.stderr.flush()
    assert rb"\U0001f35c" in out.getvalue()
    assert rb"\ud83c\udf5c" in out.getvalue()  # as JSON writes it
    assert rb"\U0001f35c" in err.getvalue()


def test_bytes_that_are_no_text_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xb2\n"), encoding="utf-8"))
    output.prepare()
    assert sys.stdin.readline() == "\\xff\\xb2\n"


WITHOUT_STREAMS = """
import sys
from subtitle_rag.cli.main import main
errors = sys.stderr
sys.stdin = sys.stdout = sys.stderr = None
try:
    main(sys.argv[1:])
except SystemExit:
    raise
except BaseException as error:
    errors.write(repr(error))
"""


def test_a_process_without_streams_ends_as_ever(isolated_home: Path) -> None:
    for arguments, code in ((["list"], 0), (["nothing"], 2)):
        command = [sys.executable, "-c", WITHOUT_STREAMS, *arguments]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
        assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", "")


class Left(io.StringIO):
    """stdout when its reader has left, as Windows says it."""

    def flush(self) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")


def test_a_reader_that_left_is_a_broken_pipe_on_windows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Left())
    for write in (output.flush, lambda: output.piece("a"), lambda: output.json_line({}), lambda: output.say("a")):
        with pytest.raises(OSError, match="Invalid argument"):
            write()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "platform", "win32")
            with pytest.raises(BrokenPipeError):
                write()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_console_that_draws_no_escapes_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert output.marked("치킨 소스", [(0, 2)]) == "\x1b[1;4m치킨\x1b[0m 소스"
    assert output.marked("통닭 치킨", [(3, 5)], [(0, 2)]) == "\x1b[4m통닭\x1b[0m \x1b[1;4m치킨\x1b[0m"
    monkeypatch.setattr(output, "draws_escapes", lambda: False)
    assert output.marked("치킨 소스", [(0, 2)]) == "치킨 소스"
    monkeypatch.setattr(output, "draws_escapes", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.marked("치킨 소스", [(0, 2)]) == "치킨 소스"


def test_the_names_of_events_are_an_api() -> None:
    kinds = (*get_args(IndexEvent), *get_args(ContextEvent), *get_args(VectorEvent))
    names = "context_written contexts_due fetch_estimate file_notice found list_cut_short listed overview_written"
    names += " progress report resting summary_written video_done video_failed windows_indexed"
    assert sorted({event_json.event_name(kind) for kind in kinds}) == names.split()
