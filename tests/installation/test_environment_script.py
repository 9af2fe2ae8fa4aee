"""The scripts' own environment: what of the lock its pip is held to."""

import subprocess
from pathlib import Path

import pytest

from tests.installation.environments import ROOT, make_environment, put
from tests.stand_ins.packages import wheel

LOCK = "# by hand\nclick==8.2.1\nyt-dlp==2026.10.26\nrich==15.0.0\n"


@pytest.mark.programs("bash")
@pytest.mark.parametrize(
    ("here", "held"),
    [
        (None, "2026.10.26"),
        ("2026.9.30", "2026.10.26"),
        ("2026.10.26", "2026.10.26"),
        ("2026.11.2", "2026.11.2"),
        ("2026.11.2.232843", "2026.11.2.232843"),
        ("2027.1.1", "2027.1.1"),
    ],
)
def test_a_newer_yt_dlp_stays_and_all_else_is_the_locks(tmp_path: Path, here: str | None, held: str) -> None:
    make_environment(tmp_path / ".venv")
    if here:
        put(tmp_path / ".venv", wheel("yt-dlp", here))
    (tmp_path / "requirements.lock").write_text(LOCK)
    script = f"set -euo pipefail; source '{ROOT}/scripts/_environment.sh'; write_constraints"
    ended = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / ".venv" / "constraints.txt").read_text() == LOCK.replace("2026.10.26", held)
