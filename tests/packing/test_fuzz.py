"""A few damaged packs; the part `fuzz` of the campaign tries a thousand."""

from pathlib import Path

from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.damaged_packs import fuzz


def test_a_damaged_pack_is_refused_or_harmless(tmp_path: Path, analyzer: Analyzer) -> None:
    done = fuzz(tmp_path, analyzer, count=60, seed=1)
    assert done.problems == []
    assert done.results["refused"] > 30
