"""Damaged packs, `SUBTITLE_RAG_PACKS` of them (200), by `SUBTITLE_RAG_SEED`; prints a line of figures."""

import os
import sys
from pathlib import Path

import pytest

from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.damaged_packs import fuzz

pytestmark = pytest.mark.campaign(part="fuzz")

COUNT = int(os.environ.get("SUBTITLE_RAG_PACKS") or 200)
SEED = int(os.environ.get("SUBTITLE_RAG_SEED") or 1)
MAX_CPU_S = 5.0


def test_damaged_packs_are_refused_or_harmless(
    tmp_path: Path, analyzer: Analyzer, capfd: pytest.CaptureFixture[str]
) -> None:
    done = fuzz(tmp_path, analyzer, COUNT, SEED)
    with capfd.disabled():
        sys.stdout.write(f"\n{done.line()}\n")
    assert done.problems == []
    assert done.results["refused"] > COUNT // 2
    assert done.slowest[0] < MAX_CPU_S
