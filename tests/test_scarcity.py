"""Want of descriptors, threads and memory is told as what passes; nothing is removed, and nothing is read for ever."""

import errno
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.captions import files
from subtitle_rag.korean import morphemes
from subtitle_rag.library import connection
from subtitle_rag.library.connection import translate_sqlite_errors, unwritable
from tests.support.commandline import ran
from tests.support.invented import caption_folder, dump, end_hosts

PROGRAM = [sys.executable, "-m", "subtitle_rag"]
QUIET = '[llm]\nhosts = []\n[models]\nencoder = ""\nreranker = ""\n'
LEAST_FILES = (6, 8, 10, 12, 14)
"""Too few for a search; 16 are enough."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN])
def test_a_file_that_the_system_refuses_is_no_fault_of_the_folder(number: int, tmp_path: Path) -> None:
    error = unwritable(tmp_path, OSError(number, os.strerror(number)))
    assert (type(error), error.code) == (BusyError, "system_limit")
    assert "ulimit" in error.hint


@pytest.mark.parametrize("refused", ["stat", "scandir", "open"])
def test_captions_that_the_system_does_not_open_are_no_fault_of_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    folder = caption_folder(tmp_path / "captions", 1, minutes=1)

    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    (group,) = files.discover([folder])
    assert isinstance(group, files.CaptionGroup)
    if refused == "scandir":
        monkeypatch.setattr(os, "scandir", refuse)
    elif refused == "open":
        monkeypatch.setattr(Path, "open", refuse)
    else:
        monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(BusyError) as caught:
        list(files.discover([folder])) if refused != "open" else files.read(group.candidates[0])
    assert caught.value.code == "system_limit"


def test_sqlite_that_cannot_open_for_want_of_descriptors_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        sqlite3.connect(tmp_path / "nothing" / "library.db").execute("SELECT 1")

    with pytest.raises(BusyError) as caught, translate_sqlite_errors(tmp_path / "library.db"):
        fail()
    assert caught.value.code == "library_readonly"
    monkeypatch.setattr(connection, "_descriptor_error", lambda: OSError(errno.EMFILE, "Too many open files"))
    with pytest.raises(BusyError) as caught, translate_sqlite_errors(tmp_path / "library.db"):
        fail()
    assert caught.value.code == "system_limit"


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "Too many open files"), MemoryError(), RuntimeError("can't start new thread")]
)
def test_what_no_door_has_translated_is_busy_too(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("subtitle_rag.runtime.Runtime.__init__", fail)
    result = ran(capsys, "status", "--json")
    assert (result.code, result.failure) == (3, "system_limit")


def test_kiwi_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "_kiwipiepy.abi3.so: failed to map segment from shared object"
    monkeypatch.setattr("kiwipiepy.Kiwi", lambda **_options: (_ for _ in ()).throw(ImportError(text)))
    with pytest.raises(BusyError) as caught:
        morphemes._new_kiwi()
    assert (caught.value.code, caught.value.details["reason"]) == ("system_limit", text)


@pytest.mark.parametrize("number", [str(10**23), str(2**63), "-1"])
def test_the_number_of_no_answer_is_refused_in_words(capsys: pytest.CaptureFixture[str], number: str) -> None:
    result = ran(capsys, "ask", "--forget", number, "--json")
    assert result.code == 2
    assert result.failure


@posix
def test_questions_without_an_end_are_not_read_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    result = ran(capsys, "eval", "run", "/dev/zero", "--json")
    assert result.code == 2
    assert result.failure
    assert time.monotonic() - began < 10


def limited(home: Path, which: str, limit: int, *arguments: object) -> "subprocess.CompletedProcess[str]":
    import resource

    def limit_it() -> None:
        resource.setrlimit(getattr(resource, which), (limit, limit))

    command = [*PROGRAM, "--home", str(home), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit_it)


@posix
@pytest.mark.hosts
@pytest.mark.campaign(part="hosts")
@pytest.mark.parametrize(
    ("which", "limits"),
    [("RLIMIT_NOFILE", LEAST_FILES), ("RLIMIT_AS", (300 << 20,))],
    ids=["files", "memory"],
)
def test_limits_of_the_system_are_busy_and_cost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, limits: tuple[int, ...]
) -> None:
    if which == "RLIMIT_AS" and sys.platform == "darwin":
        return
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.2")
    home, captions = tmp_path / "home", caption_folder(tmp_path / "captions", 3, minutes=2)
    home.mkdir()
    (home / "config.toml").write_text(QUIET, encoding="utf-8")
    assert subprocess.run([*PROGRAM, "--home", home, "index", captions], check=False).returncode == 0
    index = home / "data" / "index"
    before = dump(home / "data" / "library.db")
    for limit in limits:
        end_hosts([index])
        for arguments in (("search", "국수"), ("index", captions)):
            ended = limited(home, which, limit, *arguments)
            assert ended.returncode in (0, 3), f"{limit}: {ended.stderr}"
            assert "rebuild" not in ended.stderr
            assert "Make the folder writable" not in ended.stderr
            for pid in re.findall(r"process (\d+) has been opening", ended.stderr):  # it ends itself in two minutes
                os.kill(int(pid), signal.SIGKILL)
    end_hosts([index])
    assert dump(home / "data" / "library.db") == before
    found = subprocess.run([*PROGRAM, "--home", home, "search", "국수"], capture_output=True, check=False)
    assert (found.returncode, bool(found.stdout)) == (0, True)
    end_hosts([index])


def test_other_failures_stay_what_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise AppError("library_damaged", path="/x", reason="y")

    monkeypatch.setattr("subtitle_rag.runtime.Runtime.__init__", fail)
    assert ran(capsys, "status", "--json").failure == "library_damaged"
