"""The rule for device and precision, for machines that are not here too."""

from dataclasses import replace

import pytest

from subtitle_rag.config.settings import DEVICES, PRECISIONS, ModelSettings
from subtitle_rag.domain import UsageError
from subtitle_rag.retrieval.neural import device
from subtitle_rag.retrieval.neural.device import Machine, Plan, choose
from tests.support.failures import failing

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
def test_the_machine_decides_where_nothing_is_set(machine: Machine, expected: Plan) -> None:
    assert choose(ModelSettings(), machine) == expected


@pytest.mark.parametrize("precision", [name for name in PRECISIONS if name != "auto"])
def test_a_set_precision_is_taken_on_a_cpu(precision: str) -> None:
    plan = choose(ModelSettings(precision=precision), SERVER)
    assert (plan.device, plan.precision, plan.why) == ("cpu", precision, "set")


def test_a_set_device_is_taken_before_a_faster_one() -> None:
    assert choose(ModelSettings(device="cpu"), GPU) == choose(ModelSettings(), PLAIN)


@pytest.mark.parametrize("name", [name for name in DEVICES if name not in ("auto", "cpu")])
def test_a_set_device_that_is_not_there_is_an_error(name: str) -> None:
    with failing("no_device", UsageError) as caught:
        choose(ModelSettings(device=name), PLAIN)
    assert name in caught.value.message


@pytest.mark.parametrize("machine", [GPU, APPLE])
def test_int8_is_for_processors_alone(machine: Machine) -> None:
    with failing("no_precision", UsageError):
        choose(ModelSettings(precision="int8"), machine)


@pytest.mark.parametrize("machine", [PLAIN, SERVER, GPU, APPLE])
def test_a_plan_is_told_in_one_line(machine: Machine) -> None:
    plan = choose(ModelSettings(), machine)
    for part in (plan.device, plan.name, plan.precision):
        assert part in plan.line
    assert ("4 threads" in plan.line) == (plan.device == "cpu")
    assert "\n" not in plan.line


def test_only_int8_changes_what_a_model_is_called() -> None:
    plan = choose(ModelSettings(precision="int8"), PLAIN)
    assert plan.model_id("m3@1") == plan.model_id(plan.model_id("m3@1")) == "m3@1/int8"
    assert choose(ModelSettings(), SERVER).model_id("m3@1") == "m3@1"


@pytest.mark.models
def test_a_plan_for_this_machine_can_be_made() -> None:
    import torch

    plan = device.plan_device(ModelSettings(device="cpu"))
    assert plan.precision in ("float32", "bfloat16")
    assert plan.threads == torch.get_num_threads()
    assert plan.name
    assert str(plan.dtype) == f"torch.{plan.precision}"
