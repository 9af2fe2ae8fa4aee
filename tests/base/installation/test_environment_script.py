"""The scripts' own environment: what of the lock its pip is held to."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from subtitle_rag.base.installation.extras import package_name
from tests.base.installation.environments import ROOT, make_environment, put
from tests.stand_ins.packages import wheel

LOCK = """# made
# base
click==8.2.1 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
yt-dlp==2026.10.26 ; python_version >= "3" \\
    --hash=sha256:cc
# tests
ruff==0.14.0 \\
    --hash=sha256:dd
# by version alone
torch==2.13.0
"""


def written(folder: Path, extra: str) -> tuple[list[str], list[str]]:
    """The requirements and the constraints that the script writes."""
    (folder / "requirements.lock").write_text(LOCK)
    script = f"set -euo pipefail; source '{ROOT}/scripts/_environment.sh'; write_requirements '{extra}'"
    ended = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    texts = [(folder / ".venv" / f"{name}.txt").read_text() for name in ("requirements", "constraints")]
    requirements, constraints = ([" ".join(line.split()) for line in text.splitlines()] for text in texts)
    return requirements, constraints


@pytest.mark.programs("bash")
def test_all_but_pytorch_is_held_to_the_digests_of_the_lock(tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv")
    base = [
        "click==8.2.1 --hash=sha256:aa --hash=sha256:bb",
        'yt-dlp==2026.10.26 ; python_version >= "3" --hash=sha256:cc',
    ]
    versions = ["click==8.2.1", 'yt-dlp==2026.10.26 ; python_version >= "3"', "ruff==0.14.0", "torch==2.13.0"]
    assert written(tmp_path, "") == (base, versions)
    assert written(tmp_path, "test") == ([*base, "ruff==0.14.0 --hash=sha256:dd"], versions)


@pytest.mark.programs("bash")
@pytest.mark.parametrize(
    ("here", "stays"),
    [
        ("2026.9.30", False),
        ("2026.10.26", False),
        ("2026.11.2", True),
        ("2026.11.2.232843", True),
        ("2027.1.1", True),
    ],
)
def test_a_newer_yt_dlp_stays(tmp_path: Path, here: str, stays: bool) -> None:
    make_environment(tmp_path / ".venv")
    put(tmp_path / ".venv", wheel("yt-dlp", here))
    requirements, constraints = written(tmp_path, "")
    assert any(line.startswith("yt-dlp") for line in requirements) != stays
    assert (f"yt-dlp=={here}" in constraints) == stays


def test_the_lock_has_what_the_tests_need() -> None:
    group = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["test"]
    locked = re.findall(r"^[\w.-]+(?===)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert {package_name(each) for each in group} <= {package_name(name) for name in locked}


def test_every_file_of_the_lock_has_a_digest() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    hashed, _heading, by_version = lock.partition("# by version alone")
    entries = [line for line in hashed.replace("\\\n", "").splitlines() if not line.startswith("#")]
    assert len(entries) > 100
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []
    names = {line.partition("==")[0] for line in by_version.splitlines()[1:]}
    assert all(name.startswith(("torch", "triton", "nvidia-", "cuda-")) for name in names)
