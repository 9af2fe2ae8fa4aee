"""Locks beside the library's file, and a file that goes while it is open."""

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import filelock
import pytest

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.library.connection import hold_lock
from subtitle_rag.library.store import Library


def test_a_lock_that_one_thread_took_is_released_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference to each lock is kept: some versions of filelock release by themselves what nobody refers to."""
    made, kept = filelock.FileLock, []

    def keep(*given: Any, **options: Any) -> filelock.BaseFileLock:
        kept.append(made(*given, **options))
        return kept[-1]

    monkeypatch.setattr(filelock, "FileLock", keep)
    held = hold_lock(tmp_path, "library")
    taking = threading.Thread(target=held.__enter__)
    taking.start()
    taking.join()
    with pytest.raises(BusyError), hold_lock(tmp_path, "library"):
        pass
    held.__exit__(None, None, None)
    with hold_lock(tmp_path, "library"):
        pass


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(Library(tmp_path / "home" / "library.db")) as library:
        yield library


def in_thread(act: Callable[[], object]) -> list[str]:
    """The code of the failure in a thread of its own, which has no connection yet."""
    codes: list[str] = []

    def run() -> None:
        try:
            act()
        except AppError as error:
            codes.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return codes


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves no open file")
@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_library_that_goes_while_it_is_open_is_told_and_no_empty_one_made(
    library: Library, tmp_path: Path, is_deleted: bool
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.rename(elsewhere)
    if is_deleted:
        shutil.rmtree(elsewhere)
    for act in (library.videos, library.database.version, lambda: library.put_rule("rule")):
        assert in_thread(act) == ["library_moved"]
    assert not home.exists()
    if not is_deleted:
        elsewhere.rename(home)
        assert in_thread(library.videos) == []
