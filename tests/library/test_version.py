"""What tells that somebody has committed something."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from subtitle_rag.library.app_state import note_search
from subtitle_rag.library.store import Library


def test_the_version_is_one_for_all_threads_and_changes_with_every_commit(tmp_path: Path) -> None:
    library, other = Library(tmp_path / "library.db"), Library(tmp_path / "library.db")
    with ThreadPoolExecutor(1) as thread:
        seen = [library.database.version()]
        for writer in (library, other):
            note_search(writer, f"{writer is other}")
            seen.append(library.database.version())
            assert thread.submit(library.database.version).result() == seen[-1]
        thread.submit(note_search, library, "치킨").result()
        seen.append(library.database.version())
        assert library.database.version() == seen[-1]
        thread.submit(library.close).result()
    assert len(set(seen)) == len(seen)
    library.close()
    other.close()
