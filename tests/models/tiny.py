"""Two small models with the layout of the real ones, and a manifest that offers them."""

import json
import random
import struct
from collections.abc import Sequence
from pathlib import Path

from subtitle_rag.models import manifest

SHIPPED = manifest._MANIFESTS[1]
ENCODER = "maker/tiny-m3"
RERANKER = "maker/tiny-reranker"
WEIGHTS = random.Random(5).randbytes(3_000_000)
CONFIG = {"model_type": "xlm-roberta", "hidden_size": 32, "max_position_embeddings": 8194, "pad_token_id": 1}
ENCODER_FILES = {
    "config.json": json.dumps({**CONFIG, "architectures": ["XLMRobertaModel"]}).encode(),
    "tokenizer.json": b'{"model": {}}',
    "1_Pooling/config.json": b"{}",
    "sparse_linear.pt": b"sparse head",
    "colbert_linear.pt": b"colbert head",
    "pytorch_model.bin": WEIGHTS,
    "onnx/model.onnx": b"must not be fetched",
    "imgs/a.jpg": b"nor this",
    ".hidden.json": b"nor this",
}
WANTED = [path for path in ENCODER_FILES if not path.startswith(("onnx/", "imgs/", "."))]
ENTRY = """
[[{kind}]]
name = "{name}"
family = "Tiny"
{revision}
default = true
licence = "MIT"
{shape}
max_tokens = 8192
dtype = "float32"
disk_gb = 0.003
memory_gb = 0.1
memory_bf16_gb = 0.1
confirmed = true
files = [{files}]
note = {{ en = "Small.", ko = "작습니다." }}
"""


def safetensors(size: int) -> bytes:
    """Weights of so many bytes as the format lays them out."""
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + random.Random(size).randbytes(size)


RERANKER_FILES = {
    "config.json": json.dumps({**CONFIG, "architectures": ["XLMRobertaForSequenceClassification"]}).encode(),
    "tokenizer.json": b"{}",
    "model.safetensors": safetensors(200_000),
    "README.md": b"not fetched",
}


def write_manifest(path: Path, commit: str, wanted: Sequence[str] = WANTED) -> None:
    """Offers the encoder at its commit, and the reranker at none."""
    files = ", ".join(f'{{ path = "{name}" }}' for name in wanted)
    entries = [
        ENTRY.format(
            kind="encoder",
            name=ENCODER,
            revision=f'revision = "{commit}"',
            shape="dimensions = 32\nhas_sparse = true",
            files=files,
        ),
        ENTRY.format(
            kind="reranker",
            name=RERANKER,
            revision="",
            shape="",
            files='{ path = "*.json" }, { path = "*.safetensors" }',
        ),
    ]
    shipped = SHIPPED.read_text("utf-8")
    through_ollama = shipped[shipped.index("\n[[ollama_encoder]]") : shipped.index("\n[[reranker]]")]
    path.write_text("\n".join((shipped.partition("\n[[encoder]]")[0], through_ollama, *entries)), "utf-8")


def clear() -> None:
    """Have the manifest read anew."""
    for function in vars(manifest).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
