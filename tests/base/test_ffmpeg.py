"""Answers of ffprobe that are none."""

import stat
import sys
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.ffmpeg import Ffmpeg
from tests.support.cases import cases


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a shebang")
@cases("script", ["echo '[]'", "echo '{\"streams\": []}'", "echo no json", "echo broken >&2; exit 1"])
def test_no_answer_about_a_film_is_a_failure_in_words(tmp_path: Path, script: str) -> None:
    program = tmp_path / "ffprobe"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

    with pytest.raises(AppError) as caught:
        Ffmpeg("", str(program)).probe(tmp_path / "film.mp4")

    assert caught.value.code == "clip_failed"
    assert caught.value.details["reason"]
