"""One live probe of the device for each set of settings: a process that imports PyTorch takes 2 s of processor."""

import json
import os
import subprocess
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from subtitle_rag.retrieval import device


def remember_device_probes() -> None:
    """Let the checks of this test process start a process for what they have not asked before."""
    answers: dict[tuple[object, ...], subprocess.CompletedProcess[str]] = {}

    def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        models = json.loads(command[-1])
        key = (command[0], models["device"], models["precision"], os.environ.get("LANGUAGE"), os.environ.get("PATH"))
        if key not in answers:
            answers[key] = subprocess.run(command, check=False, **options)
        return answers[key]

    device.subprocess = SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL)  # type: ignore[assignment, attr-defined]
