from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.library.store import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library."""
    with closing(Library(tmp_path / "data" / "library.db")) as opened:
        yield opened
