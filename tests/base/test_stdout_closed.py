"""A reader that has left, or that never was: no traceback, and the exit code of the command."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.hosts

PROGRAM = [sys.executable, "-m", "subtitle_rag"]


@pytest.mark.parametrize("arguments", [["show", "nothing", "0"], ["open", "nothing"]])
def test_a_failure_keeps_its_code_where_the_reader_has_left(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*PROGRAM, *arguments, "--json"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
