"""The library's backups as the command line makes them, and its repair by `doctor --repair`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.library.backup import backups
from tests.library.damage import overwrite_page
from tests.support.commandline import Run, ran
from tests.support.invented import caption_folder, end_hosts


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    home = tmp_path / "home"
    yield partial(ran, capsys, "--home", home, "--language", "en")
    end_hosts([config.Paths.under(home).index])


@pytest.fixture
def library(run: Run, tmp_path: Path) -> Path:
    """The file of a library of three videos, with its backup."""
    captions = caption_folder(tmp_path / "captions", 3, minutes=1)
    assert run("index", captions).code == 0
    return tmp_path / "home" / "data" / "library.db"


def scenes(run: Run) -> list[str]:
    return [scene["text"] for scene in run("search", "국수", "--json").result["scenes"]]


def test_a_run_that_changed_something_leaves_a_copy_and_others_none(run: Run, library: Path, tmp_path: Path) -> None:
    (first,) = backups(library)
    run("index", tmp_path / "captions")
    run("search", "국수")
    run("status")
    assert backups(library) == [first]
    assert "1 copy of the library" in run("doctor", "--offline").out


def test_damage_is_found_by_doctor_repaired_and_found_again_by_searches(run: Run, library: Path) -> None:
    before = scenes(run)
    overwrite_page(library, "track")
    report = run("doctor", "--offline", "--json")
    (entry,) = [entry for entry in report.document["errors"] if entry["code"] == "library"]
    assert "doctor --repair" in entry["hint"]

    repaired = run("doctor", "--repair")
    assert repaired.code == 0
    assert "The copy of" in repaired.out
    assert "It lacks" not in repaired.out
    assert len(list(library.parent.glob("library.db.damaged-*[0-9]"))) == 1
    assert run("rebuild").code == 0
    assert scenes(run) == before
    assert run("doctor", "--repair", "--json").result["problem"] is None


def test_what_the_copy_lacks_is_named_and_comes_by_the_next_index(run: Run, library: Path, tmp_path: Path) -> None:
    (copy,) = backups(library)
    content = copy.path.read_bytes()
    caption_folder(tmp_path / "more", 2, minutes=1)
    for file in (tmp_path / "more").iterdir():
        file.rename(tmp_path / "captions" / file.name.replace("invented", "after000"))
    assert run("index", tmp_path / "captions", "--json").result["videos"]["new"] == 2
    for each in backups(library):
        each.path.unlink()
    copy.path.write_bytes(content)
    overwrite_page(library, "window")
    told = run("doctor", "--repair").out.splitlines()
    (at,) = [at for at, line in enumerate(told) if line.startswith("It lacks 2 videos")]
    assert all("(after000" in line for line in told[at + 1 : at + 3])
    assert run("status", "--json").result["videos"] == 3
    assert run("index", tmp_path / "captions", "--json").result["videos"]["new"] == 2
    assert run("status", "--json").result["videos"] == 5


def test_without_a_copy_nothing_is_changed_and_what_to_do_is_told(run: Run, library: Path, tmp_path: Path) -> None:
    for copy in backups(library):
        copy.path.unlink()
    overwrite_page(library, "track")
    refused = run("doctor", "--repair")
    assert refused.code == 1
    assert "index your captions again" in refused.err
    away = tmp_path / "away"
    away.mkdir()
    for name in ("library.db", "library.db-wal", "library.db-shm", "backups", "index"):
        if (library.parent / name).exists():
            (library.parent / name).rename(away / name)
    end_hosts([away / "index"])
    assert run("index", tmp_path / "captions", "--json").result["videos"]["new"] == 3


@pytest.mark.parametrize("content", [b"", None], ids=["empty", "gone"])
def test_a_lost_library_is_not_an_empty_one(run: Run, library: Path, content: bytes | None) -> None:
    for each in library.parent.glob("library.db*"):
        each.unlink()
    if content is not None:
        library.write_bytes(content)
    lost = run("search", "국수", "--json")
    assert (lost.code, lost.failure) == (1, "library_lost")
    assert run("doctor", "--repair").code == 0
    assert run("rebuild").code == 0
    assert run("status", "--json").result["videos"] == 3


def test_an_empty_library_beside_a_full_index_is_told(run: Run, library: Path) -> None:
    for copy in backups(library):
        copy.path.unlink()
    for each in library.parent.glob("library.db*"):
        each.unlink()
    for arguments in (("search", "국수"), ("list",), ("status",)):
        assert run(*arguments, "--json").failure == "index_orphaned", arguments
    assert run("rebuild").code == 0
    assert run("status", "--json").result["videos"] == 0


def test_while_a_run_writes_nothing_is_repaired(run: Run, library: Path) -> None:
    from filelock import FileLock

    with FileLock(library.with_suffix(".lock")):
        busy = run("doctor", "--repair", "--json")
    assert (busy.code, busy.failure) == (3, "busy")


def test_a_library_of_a_newer_program_is_for_that_one_to_repair(run: Run, library: Path) -> None:
    with closing(sqlite3.connect(library)) as db:
        db.execute("PRAGMA user_version = 99")
    refused = run("doctor", "--repair")
    assert (refused.code, refused.out) == (1, "")
    assert "was made by a newer subtitle-rag" in refused.err
    assert "Update subtitle-rag." in refused.err
    overwrite_page(library, "track")
    before = library.read_bytes()
    assert run("doctor", "--repair", "--json").failure == "newer_version"
    assert library.read_bytes() == before
