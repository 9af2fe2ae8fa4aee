"""Model folders from other programs: kind, completeness and digest."""

import hashlib
import json
import logging
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from subtitle_rag.models import record
from subtitle_rag.models.manifest import DENSE, ENCODER, RERANKER, SPARSE, Kind, VectorKind
from subtitle_rag.models.prompts import Prompts

logger = logging.getLogger(__name__)

HEADS = ("sparse_linear.pt", "colbert_linear.pt")
"""FlagEmbedding uses random heads unless both files are there."""
SPEECH_FILES = ("config.json", "model.bin", "tokenizer.json")
"""Files that a CTranslate2 Whisper model must have."""
LIGHT_WEIGHTS = 30_000_000
"""Maximum number of layer weights of a light model: multilingual-e5-small has 21 million, BGE-M3 302 million."""
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_GRAPHS = tuple(
    f"{folder}{name}.onnx" for name in ("model_quantized", "model_int8", "model") for folder in ("onnx/", "")
)
_HEAVY = (".safetensors", ".bin")
_LIGHT = (".json", ".model", ".txt", ".pt")
_SAMPLES = 16
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class Shape:
    """Kind and size of a model, from `config.json`."""

    kind: Kind
    dimensions: int
    max_tokens: int
    has_sparse: bool
    vectors: VectorKind = DENSE
    is_light: bool = False


def find_graph(folder: Path) -> str:
    """Return the path of the folder's ONNX graph, preferring 8 bits; "" if there is none."""
    return next((path for path in _GRAPHS if (folder / path).is_file()), "")


def graph_folder(graph: Path) -> Path:
    """Return the model folder of a graph: the one with `config.json`, which may be the parent of `onnx`."""
    return graph.parent if (graph.parent / "config.json").is_file() else graph.parent.parent


def has_weights(folder: Path) -> bool:
    """Whether the folder has PyTorch weights."""
    return any((folder / name).is_file() for name in _WEIGHTS)


def file_prompts(folder: Path) -> Prompts | None:
    """Read the prompts of a sentence-transformers model; None if its files have none."""
    try:
        entry = _json(folder / "config_sentence_transformers.json")["prompts"]
        document = next((entry[name] for name in ("document", "passage", "corpus") if entry.get(name)), "")
        prompts = Prompts(str(entry.get("query") or ""), str(document))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return prompts or None


def pooling(folder: Path) -> str:
    """Read how token states become one vector: `cls`, `mean` …; "" if the files do not say.

    Raises:
        ValueError: several methods at once, or a damaged file.
    """
    try:
        entry: Any = _json(folder / "1_Pooling" / "config.json")
    except FileNotFoundError:
        return ""
    modes = [entry["pooling_mode"]] if "pooling_mode" in entry else [key for key in entry if entry[key] is True]
    methods = {
        str(mode).removeprefix("pooling_mode_").partition("_")[0] for mode in modes if str(mode) != "include_prompt"
    }
    if len(methods) != 1:
        raise ValueError(", ".join(sorted(methods)))
    return methods.pop()


def shape(folder: Path) -> Shape | None:
    """Read `config.json`; None if a field is missing."""
    try:
        config = _json(folder / "config.json")
        classifies = any("SequenceClassification" in name for name in config.get("architectures") or ())
        # RoBERTa numbers positions from the padding id + 1
        reserved = config["pad_token_id"] + 1 if "roberta" in config["model_type"] else 0
        vectors = vector_kind(folder)
        has_heads = not classifies and all((folder / name).is_file() for name in HEADS)
        return Shape(
            kind=RERANKER if classifies else ENCODER,
            dimensions=int(config["hidden_size"]) if has_heads else _width(folder) or int(config["hidden_size"]),
            max_tokens=int(config["max_position_embeddings"]) - reserved,
            has_sparse=has_heads or vectors == SPARSE,
            vectors=vectors,
            is_light=0 < _layer_weights(config) <= LIGHT_WEIGHTS,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        logger.info("%s is no model's folder", folder.name, exc_info=True)
        return None


def _layer_weights(config: dict[str, Any]) -> int:
    """Estimate the weights of the layers, which determine the speed; 0 if the config does not tell."""
    return 12 * int(config.get("num_hidden_layers") or 0) * int(config["hidden_size"]) ** 2


def vector_kind(folder: Path) -> VectorKind:
    """Read which kind of vectors a sentence-transformers model makes; dense if no file says."""
    try:
        is_sparse = _json(folder / "config_sentence_transformers.json").get("model_type") == "SparseEncoder"
        return SPARSE if is_sparse else DENSE
    except (OSError, ValueError, AttributeError, TypeError):
        return DENSE


def _width(folder: Path) -> int:
    """Return the vector length after the last dense module, or 0."""
    try:
        modules = _json(folder / "modules.json")
        paths = [str(module["path"]) for module in modules if str(module["type"]).endswith(".Dense")]
        return int(_json(folder / paths[-1] / "config.json")["out_features"]) if paths else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def problems(folder: Path, graph: str) -> Iterator[tuple[str, Literal["missing", "size"]]]:
    """Yield the required files that are missing or cut short. A graph must be loaded to tell whether it is cut."""
    weights = next((name for name in _WEIGHTS if (folder / name).is_file()), _WEIGHTS[0])
    names = [graph, "tokenizer.json"] if graph else _shards(folder, weights)
    for name in ("config.json", *names):
        if not (folder / name).is_file():
            yield name, "missing"
        elif not graph and name != "config.json" and not _ends(folder / name):
            yield name, "size"


def size(path: Path) -> int:
    """Return the bytes of a file or of all files in a folder; 0 if there are none."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def digest(folder: Path, graph: str = "") -> str:
    """Return eight hexadecimal digits of the folder's content, independent of path and times.

    Small files are read in full, weights by length and by samples spread over them. With a graph, only the graph, its
    weights and its configuration count.
    """
    hasher = hashlib.sha256()
    if graph:
        beside = (folder / graph).parent.glob(f"{Path(graph).name}*")
        files = {*beside, *(folder / name for name in ("config.json", "tokenizer.json", "1_Pooling/config.json"))}
    else:
        every = {*folder.glob("*"), *folder.glob("*/config.json"), *folder.glob("*_Dense/*")}
        files = {path for path in every if path.suffix in (*_HEAVY, *_LIGHT)}
    for path in sorted(path for path in files if path.is_file()):
        if path.name == record.NAME:
            continue
        length = path.stat().st_size
        hasher.update(f"{path.relative_to(folder).as_posix()}\0{length}\0".encode())
        with path.open("rb") as file:
            if path.suffix in _LIGHT:
                hasher.update(file.read())
                continue
            for sample in range(_SAMPLES):
                file.seek(max(0, length - _SAMPLE) * sample // (_SAMPLES - 1))
                hasher.update(file.read(_SAMPLE))
    return hasher.hexdigest()[:8]


def _shards(folder: Path, weights: str) -> list[str]:
    if not weights.endswith(".index.json"):
        return [weights]
    try:
        names = _json(folder / weights)["weight_map"].values()
        return sorted({Path(str(name)).name for name in names}) or [weights]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return [weights]


def _ends(path: Path) -> bool:
    """Whether a weights file has the length that its own table of contents says."""
    try:
        with path.open("rb") as file:
            if path.suffix == ".bin":  # a zip file since torch 1.6; older files cannot be checked
                return zipfile.is_zipfile(path) or file.read(2) != b"PK"
            header = int.from_bytes(file.read(8), "little")
            table = json.loads(file.read(min(header, path.stat().st_size)))
            end = max((each["data_offsets"][1] for name, each in table.items() if name != "__metadata__"), default=0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return 8 + header + int(end) == path.stat().st_size
