import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from subtitle_rag.base.hosting.temp_folders import OLD_S, sweep_temp_folders

pytestmark = pytest.mark.skipif("sys.platform == 'win32'", reason="Windows clears its own")


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(temp: Path, name: str, age_s: float = OLD_S + 60) -> Path:
    folder = temp / name
    folder.mkdir()
    (folder / "error.json").write_text("{}")
    os.utime(folder, (time.time() - age_s,) * 2)
    return folder


def test_old_ones_are_swept(temp: Path) -> None:  # a short name: no socket has a path of more than 107 bytes
    for name in ("subtitle-rag-abcd_123", "subtitle-rag-eval-abcd_123"):
        left(temp, name)
    kept = [
        left(temp, "subtitle-rag-wxyz0000", OLD_S - 60),
        left(temp, f"subtitle-rag-{os.getuid()}"),
        left(temp, "subtitle-rag-notes.of.mine"),
        left(temp, "drag-abcd_123"),
    ]
    (temp / "subtitle-rag-linked00").symlink_to(kept[0])
    sweep_temp_folders()
    assert sorted(temp.iterdir()) == sorted([*kept, temp / "subtitle-rag-linked00"])
    assert all((folder / "error.json").exists() for folder in kept)


def test_a_folder_in_which_a_host_listens_stays(temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left(temp, "subtitle-rag-abcd_123")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        server.listen()
        os.utime(folder, (0, 0))
        sweep_temp_folders()
        assert folder.exists()
    sweep_temp_folders()
    assert not folder.exists()
