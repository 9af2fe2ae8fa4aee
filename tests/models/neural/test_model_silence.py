"""What a process that uses the models writes, and whom it calls: nothing, and nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[3]

WORK = """
import sys
from pathlib import Path

calls = []
sys.addaudithook(lambda event, args: calls.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None)

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.models.neural.device import Plan
from subtitle_rag.models.neural.encoder import FlagEncoder
from subtitle_rag.models.neural.reranker import CrossReranker

folder, dense, pairs, damaged = map(Path, sys.argv[1:])
texts = ["바다 여행 " * number for number in range(0, 300, 9)]
for precision in ("float32", "bfloat16"):
    plan = Plan("cpu", precision, "this one", 2, precision)
    encoder, reranker = FlagEncoder(folder, "tiny", plan), CrossReranker(pairs, "tiny", plan)
    encoder.passages(texts)
    encoder.query("바다")
    reranker.scores("바다", texts)
    encoder.close()
    reranker.close()
FlagEncoder(dense, "tiny", plan).query("바다")
try:
    FlagEncoder(damaged, "tiny", plan).load()
except AppError as error:
    assert error.code == "model_damaged"
assert not calls, calls
"""

LIGHT = """
import sys
from subtitle_rag.models.neural import device, encoder, reranker
heavy = {"torch", "transformers", "FlagEmbedding", "sentence_transformers", "numpy", "tqdm"} & set(sys.modules)
assert not heavy, heavy
"""


def run(code: str, *arguments: Path) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "HF_ENDPOINT"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, env=environment, capture_output=True, check=False
    )


@pytest.mark.campaign(part="models")
def test_models_are_used_without_a_word_and_without_the_network(
    encoder_folder: Path, dense_folder: Path, reranker_folder: Path, tmp_path: Path
) -> None:
    import shutil

    import torch

    damaged = shutil.copytree(encoder_folder, tmp_path / "model")
    weights = torch.load(damaged / "pytorch_model.bin", weights_only=True)
    torch.save(
        {name: value for name, value in weights.items() if "layer.1." not in name}, damaged / "pytorch_model.bin"
    )
    done = run(WORK, encoder_folder, dense_folder, reranker_folder, damaged)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_importing_the_doors_loads_nothing_heavy() -> None:
    done = run(LIGHT)
    assert (done.returncode, done.stderr) == (0, b"")
