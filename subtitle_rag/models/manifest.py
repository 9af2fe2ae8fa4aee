"""The manifest `models.toml`, and the default model for this machine."""

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

_MANIFESTS = (
    Path(__file__).parents[1] / "models_data" / "models.toml",  # in a wheel
    Path(__file__).parents[2] / "models" / "models.toml",  # in a checkout
)
Kind = Literal["encoder", "reranker"]
ENCODER: Kind = "encoder"
RERANKER: Kind = "reranker"
_GB = 10**9
_REPORTED = 0.9  # a machine sold with 8 GB reports less: firmware and graphics take their part


@dataclass(frozen=True, slots=True)
class ContextModel:
    """A model for contexts. The manifest documents the fields."""

    name: str
    family: str
    suits: str
    disk_gb: float
    memory_gb: float
    licence: str
    context: int
    num_ctx: int
    rollback: str
    tokens_per_character: float
    confirmed: bool
    note: Mapping[str, str]
    """Language → its strengths."""
    doubt: str = ""
    default_from_gb: float | None = None


@dataclass(frozen=True, slots=True)
class FilePattern:
    """A file of a model's repository, or a pattern of such files."""

    path: str
    bytes: int | None = None
    sha256: str = ""

    def matches(self, path: str) -> bool:
        """Whether the pattern matches a path; a `*` stays within a folder, hidden files never match."""
        patterns, parts = self.path.split("/"), path.split("/")
        unsafe = any(part.startswith(".") or set(part) & {"\\", ":"} for part in parts)  # `..` among them
        return not unsafe and len(patterns) == len(parts) and all(map(fnmatchcase, parts, patterns))


@dataclass(frozen=True, slots=True)
class NeuralModel:
    """An encoder or a reranker. The manifest documents the fields."""

    kind: Kind
    name: str
    family: str
    licence: str
    files: tuple[FilePattern, ...]
    max_tokens: int
    dtype: str
    disk_gb: float
    memory_gb: float
    memory_bf16_gb: float
    confirmed: bool
    note: Mapping[str, str]
    doubt: str = ""
    revision: str = ""
    default: bool = False
    dimensions: int = 0
    """The length of an encoder's dense vectors."""
    has_sparse: bool = False

    @property
    def folder(self) -> str:
        """Return the name of its folder."""
        return self.name.replace("/", "--")


@cache
def context_models() -> tuple[ContextModel, ...]:
    """List the models for contexts in the manifest's order, the first choice first."""
    return tuple(ContextModel(**entry) for entry in _manifest().get("context", ()))


@cache
def encoders() -> tuple[NeuralModel, ...]:
    """List the encoders, the default first."""
    return _neural(ENCODER)


@cache
def rerankers() -> tuple[NeuralModel, ...]:
    """List the rerankers, the default first."""
    return _neural(RERANKER)


def neural(name: str) -> NeuralModel | None:
    """Return the encoder or reranker of this name, with or without its owner's, or None."""
    every = (*encoders(), *rerankers())
    sought = name.casefold()
    return next((each for each in every if sought in (each.name.casefold(), each.name.casefold().split("/")[1])), None)


def default(memory_gb: float | None = None) -> ContextModel:
    """Return the default for so much memory, by default this machine's, or 8 GB if unknown."""
    available_gb = memory_gb or memory() or 8
    fitting = [each for each in context_models() if (each.default_from_gb or 0) * _REPORTED <= available_gb]
    return max(
        (each for each in fitting if each.default_from_gb is not None), key=lambda each: each.default_from_gb or 0
    )


def memory() -> float | None:
    """Return this machine's memory in GB, or None if unknown."""
    if sys.platform == "win32":
        return _memory_of_windows()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    except (ValueError, OSError):
        return None


def _neural(kind: Kind) -> tuple[NeuralModel, ...]:
    entries = [dict(entry) for entry in _manifest().get(kind, ())]
    return tuple(
        NeuralModel(kind, files=tuple(FilePattern(**file) for file in entry.pop("files")), **entry) for entry in entries
    )


def _manifest() -> dict[str, Any]:
    path = next((path for path in _MANIFESTS if path.exists()), _MANIFESTS[0])
    with path.open("rb") as file:
        return tomllib.load(file)


def _memory_of_windows() -> float | None:
    import ctypes

    installed = ctypes.c_ulonglong(0)  # in KiB
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    if not kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(installed)):
        return None
    return installed.value * 1024 / _GB
