"""Giants of captions: each is read within bounds, or refused in words."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaign.giants import GIANTS

pytestmark = pytest.mark.campaign(part="fuzz")

MAX_CPU_S = 10.0
MAX_MB = 500
READ = """
import resource, sys
from pathlib import Path
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.captions.windows import cut_windows
from subtitle_rag.base.domain.errors import CaptionError
try:
    made = cut_windows("a", parse_captions(Path(sys.argv[1]).read_bytes(), sys.argv[2]))
    print("windows", len(made), max(len(window.text) for window in made), end=" ")
except CaptionError as error:
    print("refused", error.code, error.details.get("reason", "").replace(" ", "_"), end=" ")
used = resource.getrusage(resource.RUSAGE_SELF)
status = Path("/proc/self/status").read_text()  # ru_maxrss is inherited
print(used.ru_utime + used.ru_stime, int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.parametrize("name", GIANTS)
def test_a_giant_is_read_within_bounds_or_refused(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    format, make = GIANTS[name]
    path = tmp_path / "giant"
    path.write_bytes(make())
    ended = subprocess.run(
        [sys.executable, "-c", READ, str(path), format], check=False, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    result, *_rest, seconds, mb = ended.stdout.split()
    with capfd.disabled():
        sys.stdout.write(f"\n{name}: {path.stat().st_size / 1e6:.1f} MB, {ended.stdout.strip()} MB\n")
    assert float(seconds) < MAX_CPU_S
    assert int(mb) < MAX_MB
    if name == "timed_words":
        assert result == "windows", "12 hours are taken whole"
    path.unlink()
