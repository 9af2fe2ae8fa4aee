"""The manifest `models.toml`, and the default model for this machine."""

import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from subtitle_rag.base.installation.extras import LISTEN, MEANING, NEURAL, Extra
from subtitle_rag.models.prompts import Prompts

_MANIFESTS = (
    Path(__file__).parents[1] / "models_data" / "models.toml",  # in a wheel
    Path(__file__).parents[2] / "models" / "models.toml",  # in a checkout
)
Kind = Literal["encoder", "reranker", "speech"]
ENCODER: Kind = "encoder"
RERANKER: Kind = "reranker"
SPEECH: Kind = "speech"
VectorKind = Literal["dense", "sparse"]
DENSE: VectorKind = "dense"
SPARSE: VectorKind = "sparse"
PoolingMode = Literal["", "cls", "mean", "lasttoken"]
"""Names as in sentence-transformers."""
_GB = 10**9
_REPORTED = 0.9  # a machine sold with 8 GB reports less, because firmware and graphics reserve some


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedModel:
    """A model that the program offers. The manifest documents the fields."""

    name: str
    family: str
    licence: str
    disk_gb: float
    memory_gb: float
    confirmed: bool
    note: Mapping[str, str]
    """Language → its strengths."""
    doubt: str = ""
    is_light: bool = False
    """Whether it encodes a window in hundredths of a second on a CPU."""
    words: float | None = None
    """Weight of the words next to an encoder's vectors; None if not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextModel(OfferedModel):
    """A model for contexts."""

    suits: str
    context: int
    num_ctx: int
    rollback: str
    tokens_per_character: float
    default_from_gb: float | None = None
    alternatives: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FilePattern:
    """A file in a model's repository, or a pattern of files."""

    path: str
    bytes: int | None = None
    sha256: str = ""

    def matches(self, path: str) -> bool:
        """Whether the pattern matches a path; a `*` stays within a folder, hidden files never match."""
        patterns, parts = self.path.split("/"), path.split("/")
        unsafe = any(part.startswith(".") or set(part) & {"\\", ":"} for part in parts)  # `..` among them
        return not unsafe and len(patterns) == len(parts) and all(map(fnmatchcase, parts, patterns))


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel(OfferedModel):
    """A model with files on the Hugging Face hub."""

    kind: Kind
    files: tuple[FilePattern, ...]
    dtype: str
    revision: str = ""
    default: bool = False

    @property
    def extra(self) -> Extra:
        """Return the extra with the packages that run it."""
        raise NotImplementedError

    @property
    def folder(self) -> str:
        """Return the name of its folder."""
        return self.name.replace("/", "--")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechModel(HubModel):
    """A model that turns speech into text."""

    seconds: float
    """Seconds to transcribe a minute of speech on two cores."""

    @property
    def extra(self) -> Extra:
        return LISTEN


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuralModel(HubModel):
    """An encoder or a reranker."""

    max_tokens: int
    memory_bf16_gb: float
    dimensions: int = 0
    """Length of an encoder's dense vectors."""
    has_sparse: bool = False
    vectors: VectorKind = DENSE
    """Kind of an encoder's vectors, `kind` in the manifest; BGE-M3 makes both."""
    prompts: Prompts = field(default_factory=Prompts)
    """Prompts that replace those in the model's own files."""
    pooling: PoolingMode = ""
    """How token states become one vector if the model's files have no sentence-transformers modules."""
    original: str = ""
    """The model with the same weights in another format."""

    @property
    def graph(self) -> str:
        """Return the path of the ONNX graph in its folder; "" for a PyTorch model."""
        return next((file.path for file in self.files if file.path.endswith(".onnx")), "")

    @property
    def extra(self) -> Extra:
        """Return the extra with the packages that run it."""
        return MEANING if self.graph else NEURAL


HubModelT = TypeVar("HubModelT", bound=HubModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """A level of search, from words only to all models. The manifest documents the fields."""

    name: str
    title: Mapping[str, str]
    """By language, like the next field."""
    gain: Mapping[str, str]
    encoder: str = ""
    reranker: str = ""
    seconds: float | None = None

    @property
    def models(self) -> "tuple[NeuralModel, ...]":
        return tuple(model for model in map(neural_model, filter(None, (self.encoder, self.reranker))) if model)

    @property
    def extra(self) -> Extra | None:
        """Return the extra with the packages that it needs."""
        return next((model.extra for model in self.models), None)


OLLAMA = "ollama:"
"""Prefix of the names of encoders in Ollama."""


def is_ollama(name: str) -> bool:
    """Whether an encoder's name or id is one in Ollama."""
    return name.startswith(OLLAMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaEncoderModel(OfferedModel):
    """An encoder in Ollama."""

    dimensions: int
    max_tokens: int
    prompts: Prompts = field(default_factory=Prompts)

    @property
    def pull_name(self) -> str:
        """Return its name in Ollama."""
        return self.name.removeprefix(OLLAMA)


@cache
def ollama_encoders() -> tuple[OllamaEncoderModel, ...]:
    """List the encoders in Ollama, the first choice first."""
    return tuple(OllamaEncoderModel(prompts=_pop_prompts(entry), **entry) for entry in _entries("ollama_encoder"))


def ollama_encoder(name: str) -> OllamaEncoderModel | None:
    """Return the encoder with this name, which begins with `ollama:`, or None."""
    sought = name.casefold().removesuffix(":latest")
    return next((each for each in ollama_encoders() if each.name.casefold() == sought), None)


@cache
def context_models() -> tuple[ContextModel, ...]:
    """List the models for contexts, the first choice first."""
    return tuple(ContextModel(**entry) for entry in _entries("context"))


def alternatives(name: str) -> tuple[str, ...]:
    """Return the other names of a model for contexts, in the order in which to try them."""
    return next((tuple(model.alternatives) for model in context_models() if model.name == name), ())


@cache
def encoders() -> tuple[NeuralModel, ...]:
    """List the encoders, the default first."""
    return _neural(ENCODER)


@cache
def rerankers() -> tuple[NeuralModel, ...]:
    """List the rerankers, the default first."""
    return _neural(RERANKER)


def neural_model(name: str) -> NeuralModel | None:
    """Return the encoder or reranker of this name, with or without its owner's, or None.

    The name of an original also finds its conversion, if only that is offered.
    """
    every = (*encoders(), *rerankers())
    sought = name.casefold()
    original = (each for each in every if sought and sought == each.original.casefold())
    return _by_name(every, name) or next(original, None)


def words_weight(encoder_id: str) -> float | None:
    """Return the weight of the words next to an encoder's vectors; None if not measured."""
    name = encoder_id.partition("@")[0]
    model: OfferedModel | None = ollama_encoder(name) if is_ollama(name) else neural_model(name)
    return model.words if model else None


@cache
def speech_models() -> tuple[SpeechModel, ...]:
    """List the speech models, the default first."""
    return tuple(SpeechModel(kind=SPEECH, files=_pop_files(entry), **entry) for entry in _entries(SPEECH))


def hub_model(name: str) -> HubModel | None:
    """Return the encoder, reranker or speech model of this name, with or without its owner's, or None."""
    return neural_model(name) or _by_name(speech_models(), name)


def _by_name(models: Sequence[HubModelT], name: str) -> HubModelT | None:
    sought = name.casefold()
    return next((each for each in models if sought in (each.name.casefold(), each.name.casefold().split("/")[1])), None)


@cache
def search_steps() -> tuple[SearchStep, ...]:
    """List the levels of search in the order in which to offer them."""
    return tuple(SearchStep(**entry) for entry in _entries("step"))


def encoder_steps() -> tuple[SearchStep, ...]:
    """List the levels that search by meaning, the lightest first."""
    return tuple(step for step in search_steps() if step.encoder)


def default_context_model() -> ContextModel:
    """Return the default for this machine's memory, or for 8 GB if unknown."""
    available_gb = memory() or 8
    from_gb = {each.default_from_gb: each for each in context_models() if each.default_from_gb is not None}
    return from_gb[max(least_gb for least_gb in from_gb if least_gb * _REPORTED <= available_gb)]


def memory() -> float | None:
    """Return this machine's memory in GB, or None if unknown."""
    if sys.platform == "win32":
        return _memory_of_windows()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    except (ValueError, OSError):
        return None


def free_memory() -> int | None:
    """Return the bytes that a new program could use without swapping; half of the memory if unknown."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        everything = memory()
        return None if everything is None else int(everything * _GB / 2)


def _neural(kind: Kind) -> tuple[NeuralModel, ...]:
    return tuple(
        NeuralModel(
            kind=kind,
            vectors=entry.pop("kind", DENSE),
            files=_pop_files(entry),
            prompts=_pop_prompts(entry),
            **entry,
        )
        for entry in _entries(kind)
    )


def _pop_files(entry: dict[str, Any]) -> tuple[FilePattern, ...]:
    return tuple(FilePattern(**file) for file in entry.pop("files"))


def _pop_prompts(entry: dict[str, Any]) -> Prompts:
    return Prompts(entry.pop("query_prompt", ""), entry.pop("document_prompt", ""))


def _entries(table: str) -> list[dict[str, Any]]:
    path = next((path for path in _MANIFESTS if path.exists()), _MANIFESTS[0])
    return [dict(entry) for entry in _tables(path).get(table, [])]


@cache
def _tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    with path.open("rb") as file:
        return tomllib.load(file)


def _memory_of_windows() -> float | None:
    import ctypes

    installed = ctypes.c_ulonglong(0)  # in KiB
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    if not kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(installed)):
        return None
    return installed.value * 1024 / _GB
