"""Device and precision of the neural models, chosen for this machine.

Measured by `scripts/bench models --random` with BGE-M3's layers against PyTorch's default float32, on two days:
bfloat16 is 2.4 and 3.2 times as fast on a CPU with hardware support and 3.7 times slower without, so the CPU decides.
float32 uses oneDNN, 1.3 and 1.8 times as fast as MKL on an AMD processor with the same results.
"""

import json
import logging
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from subtitle_rag.base.i18n import N_, _, activate, n_

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

CPU_INFO = Path("/proc/cpuinfo")
"""Linux's description of the processors (proc(5))."""
PROBE_S = 120.0
"""Timeout for importing PyTorch from a slow disk."""

_REASONS = {
    "gpu": N_("the fastest on this graphics processor"),
    "bfloat16": N_("this processor multiplies it in hardware"),
    "graph": N_("as its file has it"),
    "no_avx2": N_("as its file has it; this processor lacks AVX2 and takes several times as long"),
    "float32": N_("the fastest here that rounds nothing"),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """The processors that PyTorch detects."""

    cpu: str
    """Name of the CPU."""
    threads: int
    """Threads of one calculation."""
    bfloat16: bool
    """Whether the CPU supports bfloat16 (AVX512-BF16 or AMX)."""
    cuda: str = ""
    """Name of the first GPU, or ""."""
    mps: bool = False
    """Whether an Apple GPU is present."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The device and precision of a model."""

    device: str
    """`cpu`, `cuda:0` or `mps`."""
    precision: str
    """`float32`, `bfloat16` or `float16`; `ONNX` for a graph, which has its own."""
    name: str
    """Name of the processor."""
    threads: int
    """0 on a GPU."""
    why: str
    """Key of the reason for this precision."""

    @property
    def line(self) -> str:
        """Return a line to display."""
        line = _("{device} ({name}), {precision}: {why}").format(
            device=self.device, name=self.name, precision=self.precision, why=_(_REASONS[self.why])
        )
        if self.threads:
            line += "; " + n_("{n} thread", "{n} threads", self.threads)
        return line

    @property
    def dtype(self) -> "torch.dtype":
        """Return the type to load a model with."""
        import torch

        return getattr(torch, self.precision)

    @property
    def pass_tokens(self) -> int:
        """Return the most tokens of a pass, with padding: more are no faster and delay other callers."""
        return 1024 if self.device == "cpu" else 16384


def detect() -> Machine:
    """Detect this machine's processors; importing PyTorch takes a second."""
    import torch

    has = torch.cpu.get_capabilities()
    return Machine(
        cpu=str(has.get("cpu_name", "")).strip() or str(has.get("architecture", "?")),
        threads=torch.get_num_threads(),
        bfloat16=bool(has.get("avx512_bf16") or has.get("amx_bf16")),
        cuda=torch.cuda.get_device_name(0) if torch.cuda.is_available() else "",
        mps=torch.backends.mps.is_available(),
    )


def choose(machine: Machine) -> Plan:
    """Choose the plan for a machine."""
    if machine.cuda:
        return Plan("cuda:0", "float16", machine.cuda, 0, "gpu")
    if machine.mps:
        return Plan("mps", "float16", "Apple", 0, "gpu")
    precision = "bfloat16" if machine.bfloat16 else "float32"
    return Plan("cpu", precision, machine.cpu, machine.threads, precision)


def plan_device() -> Plan:
    """Choose the plan for this machine."""
    return choose(detect())


def plan_graph(*, waits: bool) -> Plan:
    """Choose the plan for an ONNX graph, without importing PyTorch.

    A reranker, for which a user `waits`, uses all processors; an encoder of a library half of them, up to four.
    """
    affinity = getattr(os, "sched_getaffinity", None)  # only on Linux
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    name, has_avx2 = _processor()
    threads = processors if waits else max(1, min(4, processors // 2))
    return Plan("cpu", "ONNX", name, threads, "graph" if has_avx2 else "no_avx2")


def _processor() -> tuple[str, bool]:
    """Return the CPU's name, and whether it multiplies eight numbers at once; unknown CPUs do."""
    try:
        text = CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _colon, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())  # of the first core
    name = fields.get("model name") or platform.processor() or platform.machine()
    is_intel = platform.machine().lower() in ("x86_64", "amd64")
    return name, not (is_intel and "flags" in fields) or "avx2" in fields["flags"].split()


def prepare(plan: Plan) -> None:
    """Set up PyTorch for this plan, for the rest of the process."""
    import torch

    # routes float32 to oneDNN, which rounds to bfloat16 only if the CPU has AMX
    if plan.device == "cpu" and not torch.cpu.get_capabilities().get("amx_bf16"):
        torch.set_float32_matmul_precision("medium")


Probe = tuple[Literal["ok", "error"], str, str | None]
"""Whether the models have a device, a sentence about it, and the remedy of a failure."""


def probe_device() -> Probe:
    """Plan the device in a new process.

    Importing PyTorch blocks every other thread for a second, and an unsuitable installation kills its process.
    """
    ran = subprocess.run(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", __name__],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=PROBE_S,
    )
    try:
        severity, message, remedy = json.loads(ran.stdout.splitlines()[-1])
    except (LookupError, TypeError, ValueError):
        logger.warning("the device's process ended with status %d", ran.returncode, exc_info=True)
        reason = (ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[-1]
        message = _("PyTorch does not start. It said: {reason}").format(reason=reason)
        return "error", message, _("Install subtitle-rag again.")
    return severity, message, remedy


def _print_probe() -> None:
    """Print the result for `probe_device`."""
    activate(os.environ.get("LANGUAGE", "en"))
    result: Probe = "ok", plan_device().line, None
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    _print_probe()
