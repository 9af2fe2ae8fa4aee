"""Run a command line in this process or in a new one, and return its result."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.cli import main as cli

ENVELOPE = ["schema", "command", "status", "result", "errors"]


@dataclass(frozen=True)
class Ran:
    """Result of a command line."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Return stdout, which must be exactly one envelope."""
        document: dict[str, Any] = json.loads(self.out)
        assert list(document) == ENVELOPE
        assert document["schema"] == 1
        assert document["status"] in ("success", "partial", "error")
        assert (document["status"] == "success") == (not document["errors"])
        for entry in document["errors"]:
            assert list(entry) == ["code", "message", "hint", "video"]
            assert entry["message"]
            assert entry["message"] in self.err  # people see it too
        return document

    @property
    def result(self) -> Any:
        assert self.code == 0
        return self.document["result"]

    @property
    def failure(self) -> str:
        """Return the code of the only error."""
        document = self.document
        assert (document["status"], document["result"]) == ("error", None)
        (entry,) = document["errors"]
        assert f"! {entry['message']}\n  {entry['hint']}\n" == self.err
        return str(entry["code"])


Run = Callable[..., Ran]


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run a command line."""
    capsys.readouterr()
    code = cli.run([str(argument) for argument in arguments])
    told = capsys.readouterr()
    return Ran(code, told.out, told.err)


def start(home: Path, *arguments: object) -> "subprocess.Popen[bytes]":
    """Start a command line as a process, with unbuffered pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "subtitle_rag", *map(str, arguments)],
        env={**os.environ, config.HOME_VARIABLE: str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
