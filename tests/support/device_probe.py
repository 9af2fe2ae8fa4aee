"""One live probe of the device per environment: importing PyTorch takes 2 s of processor time."""

import json
import os
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from subtitle_rag.models.neural import device
from tests.support import hermetic


def remember_device_probes() -> None:
    """Probe only environments that no worker has probed before."""

    def run(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        key = [command[0], os.environ.get("LANGUAGE"), os.environ.get("PATH")]
        answer = hermetic.RUN / f"probe-{sha256(json.dumps(key).encode()).hexdigest()}.json"
        if not answer.exists():
            ended = subprocess.run(command, check=False, **options)
            fresh = answer.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps([ended.returncode, ended.stdout, ended.stderr]), encoding="utf-8")
            fresh.replace(answer)
        return subprocess.CompletedProcess(command, *json.loads(answer.read_text(encoding="utf-8")))

    device.subprocess = SimpleNamespace(run=run, DEVNULL=subprocess.DEVNULL)  # type: ignore[assignment, attr-defined]
