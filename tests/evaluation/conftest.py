"""A small library of invented captions, and the place of the real data."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.index.index_edge import EdgeIndex
from subtitle_rag.korean.lexical import QueryAnalyzer
from subtitle_rag.korean.morphemes import ANALYZER, Analyzer
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.searcher import Searcher
from tests.support.tiny_models import dense_folder, encoder_folder, reranker_folder

__all__ = ["dense_folder", "encoder_folder", "reranker_folder"]

TALKS = {
    "국수 이야기": [
        "오늘은 시장에서 메밀국수를 먹어 봤습니다",
        "육수에는 멸치와 다시마가 들어가요",
        "면은 손으로 밀어서 썰었어요",
    ],
    "산책 일기": ["강가를 따라 천천히 걸었습니다", "돌다리 위에서 왜가리를 보았어요", "벤치에 앉아 귤을 까먹었습니다"],
}
"""Title → one line for each minute."""


def captions(lines: list[str]) -> str:
    """The lines as SRT, each of them filling a window of a minute with pauses between them."""
    parts = []
    for minute, line in enumerate(lines):
        start, end = f"00:{2 * minute:02d}:00,000", f"00:{2 * minute + 1:02d}:00,000"
        parts.append(f"{minute + 1}\n{start} --> {end}\n{line}\n")
    return "\n".join(parts)


@pytest.fixture
def runtime(tmp_path: Path, analyzer: Analyzer) -> Iterator[Runtime]:
    """A runtime with an empty library, whose index lies in this process."""
    with Runtime(config.load(home=tmp_path / "home", language="en")) as runtime:
        index = EdgeIndex(runtime.settings.paths.index, {"analyzer": ANALYZER})
        searcher = Searcher(runtime.library, index, QueryAnalyzer(runtime.library, analyzer))
        runtime.__dict__.update(index=index, analyzer=analyzer, searcher=searcher)
        yield runtime
        index.close()


@pytest.fixture
def filled(runtime: Runtime, tmp_path: Path) -> Runtime:
    """The runtime with both talks of `TALKS`."""
    folder = tmp_path / "captions"
    folder.mkdir()
    for title, lines in TALKS.items():
        (folder / f"{title}.srt").write_text(captions(lines), encoding="utf-8")
    for _event in runtime.indexer.index([folder]):
        pass
    return runtime
