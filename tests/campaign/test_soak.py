"""Hours of work on one library: index, sync, search, keys, removals and kills; nothing is lost, nothing grows.

`SUBTITLE_RAG_HOURS` and `SUBTITLE_RAG_SEED` set length and steps: `scripts/campaign soak --hours 2 --seed 7`.
"""

import os
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.campaign.soak import LINGER_S, Soak
from tests.stand_ins.youtube import stand_in

HOURS = float(os.environ.get("SUBTITLE_RAG_HOURS") or 0.005)
SEED = int(os.environ.get("SUBTITLE_RAG_SEED") or 19)

pytestmark = [
    pytest.mark.campaign(part="soak"),
    pytest.mark.hosts,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]


def test_hours_of_work_lose_nothing_and_nothing_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", str(LINGER_S))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temp"))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def tell(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{line}")
            sys.stdout.flush()

    with stand_in() as youtube, closing(Soak(tmp_path, youtube, SEED, tell)) as soak:
        soak.soak(HOURS)
