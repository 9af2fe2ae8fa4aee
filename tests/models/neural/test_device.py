"""The rule for device and precision, for machines that are not here too."""

from dataclasses import replace

import pytest

from subtitle_rag.models.neural import device
from subtitle_rag.models.neural.device import Machine, Plan, choose

PLAIN = Machine(cpu="Old", threads=4, bfloat16=False)
SERVER = replace(PLAIN, cpu="New", bfloat16=True)
GPU = replace(PLAIN, cuda="Fast")
APPLE = replace(PLAIN, mps=True)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (PLAIN, Plan("cpu", "float32", "Old", 4, "float32")),
        (SERVER, Plan("cpu", "bfloat16", "New", 4, "bfloat16")),
        (GPU, Plan("cuda:0", "float16", "Fast", 0, "gpu")),
        (APPLE, Plan("mps", "float16", "Apple", 0, "gpu")),
        (replace(GPU, mps=True, bfloat16=True), Plan("cuda:0", "float16", "Fast", 0, "gpu")),
    ],
)
def test_the_machine_decides(machine: Machine, expected: Plan) -> None:
    assert choose(machine) == expected


@pytest.mark.parametrize("machine", [PLAIN, SERVER, GPU, APPLE])
def test_a_plan_is_told_in_one_line(machine: Machine) -> None:
    plan = choose(machine)
    for part in (plan.device, plan.name, plan.precision):
        assert part in plan.line
    assert ("4 threads" in plan.line) == (plan.device == "cpu")
    assert "\n" not in plan.line


@pytest.mark.models
def test_a_plan_for_this_machine_can_be_made() -> None:
    import torch

    plan = device.plan_device()
    assert plan.precision in (("float32", "bfloat16") if plan.device == "cpu" else ("float16",))
    assert plan.threads == (torch.get_num_threads() if plan.device == "cpu" else 0)
    assert plan.name
    assert str(plan.dtype) == f"torch.{plan.precision}"
