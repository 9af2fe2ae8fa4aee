"""Where the neural models run and with which numbers: a rule over what this machine has, and the user's settings.

Measured with BGE-M3's layers, 256 tokens, against float32 as PyTorch does it by default, on two days
(`bench_models`): bfloat16 is 2.4 and 3.2 times as fast on a CPU that multiplies it in hardware, and 3.7 times slower
on one that does not, so that the processor decides. float32 goes through oneDNN, which is 1.3 and 1.8 times as fast
as MKL on an AMD processor with the same results. int8 is 3.4 and 4 times as fast but turns ranks around, so that it
waits to be asked for.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from subtitle_rag.config import ModelSettings
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _, n_

if TYPE_CHECKING:
    import torch

INT8 = "/int8"
"""Ends the id of a model whose weights are rounded to eight bits: its vectors are not those of the others."""
_REASONS = {
    "set": N_("as set in the config"),
    "gpu": N_("the fastest on this graphics processor"),
    "bfloat16": N_("this processor multiplies it in hardware"),
    "float32": N_("the fastest here that rounds nothing; int8 under precision in the config is faster still"),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What PyTorch finds here."""

    cpu: str
    """Its name."""
    threads: int
    """That one calculation is spread over."""
    bfloat16: bool
    """Whether the CPU multiplies bfloat16 in hardware (AVX512-BF16 or AMX)."""
    cuda: str = ""
    """The name of the first GPU; empty where there is none."""
    mps: bool = False
    """Whether there is a GPU of Apple's."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where and how a model runs."""

    device: str
    """`cpu`, `cuda:0` or `mps`."""
    precision: str
    """`float32`, `bfloat16`, `float16` or `int8`."""
    name: str
    """What the processor is called."""
    threads: int
    """0 where a GPU does the work."""
    why: str
    """A key of the reasons for this precision."""

    @property
    def line(self) -> str:
        """All of it in a line for people."""
        line = _("{device} ({name}), {precision}: {why}").format(
            device=self.device, name=self.name, precision=self.precision, why=_(_REASONS[self.why])
        )
        if self.threads:
            line += "; " + n_("{n} thread", "{n} threads", self.threads).format(n=self.threads)
        return line

    def named(self, id: str) -> str:
        """The model's id as it runs by this plan; naming it twice changes nothing."""
        return id + INT8 if self.precision == "int8" and not id.endswith(INT8) else id

    @property
    def dtype(self) -> "torch.dtype":
        """The type of the numbers as a model is loaded; int8 is made of float32."""
        import torch

        return getattr(torch, "float32" if self.precision == "int8" else self.precision)

    @property
    def pass_tokens(self) -> int:
        """Of one pass through a model, padding counted: more are no faster, and keep whoever waits."""
        return 1024 if self.device == "cpu" else 16384


def find() -> Machine:
    """What this machine has; imports PyTorch, which takes a second."""
    import torch

    has = torch.cpu.get_capabilities()
    return Machine(
        cpu=str(has.get("cpu_name", "")).strip() or str(has.get("architecture", "?")),
        threads=torch.get_num_threads(),
        bfloat16=bool(has.get("avx512_bf16") or has.get("amx_bf16")),
        cuda=torch.cuda.get_device_name(0) if torch.cuda.is_available() else "",
        mps=torch.backends.mps.is_available(),
    )


def choose(settings: ModelSettings, machine: Machine) -> Plan:
    """The plan for a machine.

    Raises:
        UsageError: `no_device` or `no_precision`, where the settings ask for what is not there.
    """
    device = settings.device
    if device == "auto":
        device = "cuda" if machine.cuda else "mps" if machine.mps else "cpu"
    elif not {"cpu": True, "cuda": machine.cuda, "mps": machine.mps}[device]:
        raise UsageError("no_device", device=device)
    precision, why = settings.precision, "set"
    if precision == "auto":
        why = "gpu" if device != "cpu" else "bfloat16" if machine.bfloat16 else "float32"
        precision = "float16" if why == "gpu" else why
    elif precision == "int8" and device != "cpu":
        raise UsageError("no_precision", precision=precision, device=device)
    name = {"cpu": machine.cpu, "cuda": machine.cuda, "mps": "Apple"}[device]
    return Plan("cuda:0" if device == "cuda" else device, precision, name, machine.threads * (device == "cpu"), why)


def plan(settings: ModelSettings) -> Plan:
    """The plan for this machine. Raises what `choose` raises."""
    return choose(settings, find())


def prepare(plan: Plan) -> None:
    """Set PyTorch up for models that run by this plan, in this process and for good."""
    import torch

    # routes float32 to oneDNN, which rounds to bfloat16 only where the CPU has AMX
    if plan.device == "cpu" and not torch.cpu.get_capabilities().get("amx_bf16"):
        torch.set_float32_matmul_precision("medium")


def round_to_int8(layers: Any) -> None:
    """Round the weights of all linear layers to eight bits, in place, with a scale for each row.

    The activations are rounded while it runs, with one scale for a batch: a vector hangs a little on its batch.
    """
    import torch

    scheme = torch.ao.quantization.per_channel_dynamic_qconfig
    torch.ao.quantization.quantize_dynamic(layers, {torch.nn.Linear: scheme}, inplace=True)
