"""The tests of the session and its requests, with the newest yt-dlp there is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

VARIABLE = "SUBTITLE_RAG_TEST_YT_DLP"
"""The folder that `pip install --pre --no-deps --target FOLDER yt-dlp` has filled."""
FILES = ("test_yt_dlp_names.py", "test_requests.py", "test_session.py", "test_addresses.py", "test_youtube.py")


@pytest.mark.skipif(
    not os.environ.get(VARIABLE),
    reason=f"{VARIABLE} names no folder that pip install --pre --no-deps --target FOLDER yt-dlp has filled",
)
def test_the_newest_yt_dlp_is_one_that_this_program_can_use() -> None:
    folder = Path(os.environ[VARIABLE]).resolve()
    assert (folder / "yt_dlp" / "__init__.py").is_file(), f"{folder} holds no yt-dlp"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ["PYTHONPATH"]))}
    place = [sys.executable, "-c", "import yt_dlp; print(yt_dlp.__file__)"]
    imported = subprocess.run(place, env=environment, capture_output=True, text=True, check=True).stdout
    assert Path(imported.strip()).is_relative_to(folder)
    tests = [str(Path(__file__).with_name(name)) for name in FILES]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stdout[-5_000:] + ended.stderr[-1_000:]
