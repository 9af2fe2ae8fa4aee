"""Locks beside the library's file."""

import threading
from pathlib import Path
from typing import Any

import filelock
import pytest

from subtitle_rag.domain import BusyError
from subtitle_rag.library.connection import hold_lock


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
