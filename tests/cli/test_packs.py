"""`pack` and `unpack` on the command line."""

import hashlib
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from subtitle_rag import indexing
from subtitle_rag.config import settings as config
from tests.support.commandline import Run
from tests.support.invented import caption_folder, end_hosts


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run) -> Iterator[Run]:
    """Runs commands on a library of two videos."""
    assert command("index", caption_folder(tmp_path / "captions", 2, minutes=2)).code == 0
    yield command
    end_hosts([config.Paths.under(home).index for home in (isolated_home, tmp_path / "two")])


def test_a_channel_is_packed_and_unpacked_into_another_home(run: Run, tmp_path: Path) -> None:
    assert run("marks", "add", "invented000@0:30", "--note", "메모").code == 0
    pack = tmp_path / "a.pack"
    told = run("pack", "captions", "-o", pack)
    assert told.code == 0
    assert "1 mark with your note is in the pack" in told.err
    assert run("pack", "captions", "-o", pack, "--json").failure == "export_exists"
    packed = run("pack", "captions", "-o", pack, "--force", "--json").result
    assert (packed["videos"], packed["marks"]) == (2, 1)
    assert packed["bytes"] == pack.stat().st_size

    two = ("--home", tmp_path / "two")
    result = run(*two, "unpack", pack, "--json").result
    assert result["videos"] == {"new": 2, "known": 0, "failed": 0}
    assert (result["marks"], result["conflicts"]) == (1, [])
    assert result["windows_indexed"] == packed["windows"] == result["library"]["windows"]
    scenes = [run(*home, "search", "국수", "--json").result["scenes"] for home in ((), two)]
    assert scenes[0] == scenes[1] != []
    again = run(*two, "unpack", pack)
    assert again.out.startswith("0 new videos, 2 known\n")


def test_a_refused_pack_changes_nothing_and_makes_no_library(run: Run, tmp_path: Path) -> None:
    pack = tmp_path / "a.pack"
    assert run("pack", "captions", "-o", pack).code == 0
    (tmp_path / "cut.pack").write_bytes(pack.read_bytes()[:-30])
    two = ("--home", tmp_path / "two")
    refused = run(*two, "unpack", tmp_path / "cut.pack", "--json")
    assert (refused.code, refused.failure) == (1, "pack_foreign")
    assert (run(*two, "unpack", tmp_path / "nowhere", "--json")).failure == "pack_unreadable"
    assert not (tmp_path / "two" / "data").exists()


def test_captions_that_cannot_be_read_are_told_on_stderr_and_in_the_envelope(
    run: Run, isolated_home: Path, tmp_path: Path
) -> None:
    raw = b"no captions"
    with closing(sqlite3.connect(config.Paths.under(isolated_home).library)) as db, db:
        values = (zlib.compress(raw), hashlib.sha256(raw).hexdigest())
        db.execute("UPDATE track SET raw = ?, sha256 = ? WHERE video_id = 'invented001'", values)
    assert run("pack", "captions", "-o", tmp_path / "a.pack").code == 0
    done = run("--home", tmp_path / "two", "unpack", tmp_path / "a.pack", "--json")
    assert done.result["videos"] == {"new": 1, "known": 0, "failed": 1}
    (error,) = done.document["errors"]
    assert error["video"] == "invented001"
    assert error["message"] in done.err


def test_what_is_not_there_is_told(run: Run, tmp_path: Path) -> None:
    assert run("pack", "nowhere", "-o", tmp_path / "a.pack", "--json").failure == "unknown_channel"
    assert run("pack", "--video", "nowhere", "-o", tmp_path / "a.pack", "--json").failure == "unknown_video"
    assert run("pack", "-o", tmp_path / "a.pack", "--json").failure == "nothing_to_pack"
    assert not (tmp_path / "a.pack").exists()


def test_a_pack_for_a_library_that_is_being_indexed_is_refused_soon(
    run: Run, isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BACKGROUND_TIMEOUT_S", 60)
    assert run("pack", "captions", "-o", tmp_path / "a.pack").code == 0
    with FileLock(isolated_home / "data" / "library.lock"):
        start = time.monotonic()
        busy = run("unpack", tmp_path / "a.pack", "--json")
        assert (busy.code, busy.failure) == (3, "library_busy")
        assert time.monotonic() - start < 30
    assert run("unpack", tmp_path / "a.pack").code == 0


def test_a_copy_of_the_library_s_file_is_a_backup(run: Run, isolated_home: Path, tmp_path: Path) -> None:
    before = run("search", "국수", "--json").result["scenes"]
    restored = config.Paths.under(tmp_path / "two").library
    restored.parent.mkdir(parents=True)
    with (
        closing(sqlite3.connect(config.Paths.under(isolated_home).library)) as source,
        closing(sqlite3.connect(restored)) as copy,
    ):
        source.backup(copy)
    two = ("--home", tmp_path / "two")
    told = run(*two, "search", "국수", "--json")
    assert (told.failure, "subtitle-rag rebuild" in told.err) == ("index_damaged", True)
    assert run(*two, "rebuild").code == 0
    assert run(*two, "search", "국수", "--json").result["scenes"] == before != []
