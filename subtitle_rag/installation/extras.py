"""The extras of `pyproject.toml`: optional parts of the program, with their packages."""

import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PACKAGE = "subtitle-rag"
GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia/version")
"""Files of the drivers of NVIDIA, of WSL, and of AMD."""


@dataclass(frozen=True, slots=True)
class Extra:
    """Packages installed together, as `subtitle-rag[NAME]`."""

    name: str
    modules: tuple[str, ...]
    """The imported modules of these packages."""
    cpu_megabytes: int
    """Size on the disk with all dependencies beyond the base (`scripts/bench install`)."""
    cuda_megabytes: int = 0
    """Megabytes with PyTorch's build for CUDA."""

    @property
    def megabytes(self) -> int:
        """Size on the disk of this computer."""
        brings_cuda = self.cuda_megabytes and sys.platform == "linux" and not wants_cpu_build()
        return self.cuda_megabytes if brings_cuda else self.cpu_megabytes

    @property
    def code(self) -> str:
        """Code of the failure for want of it."""
        return f"{self.name}_missing"

    @property
    def is_installed(self) -> bool:
        """Whether all of it is here, also if installed since the start; imports nothing."""
        if self.name not in _complete and all(find_spec(name) for name in self.modules) and _has_metadata(self):
            _complete.add(self.name)
        return self.name in _complete


NEURAL = Extra(
    "neural",
    ("FlagEmbedding", "sentence_transformers", "torch", "huggingface_hub", "httpx2"),
    1_600,
    cuda_megabytes=6_400,
)
MEANING = Extra("meaning", ("onnxruntime", "tokenizers", "huggingface_hub", "httpx2"), 120)
YOUTUBE = Extra("youtube", ("curl_cffi", "deno", "yt_dlp_ejs"), 160)
SERVER = Extra("server", ("qdrant_client",), 30)
EVAL = Extra("eval", ("ir_measures", "bm25s"), 150)
WEB = Extra("web", ("textual_serve", "aiohttp"), 17)
PICTURES = Extra("pictures", ("textual_image", "PIL"), 23)
MCP = Extra("mcp", ("mcp", "mcp_types", "pydantic"), 30)
LISTEN = Extra("listen", ("faster_whisper", "av", "ctranslate2", "huggingface_hub", "httpx2"), 250)

EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {extra.name: extra for extra in (MEANING, NEURAL, YOUTUBE, SERVER, EVAL, WEB, PICTURES, MCP, LISTEN)}
)
_complete: set[str] = set()
"""Extras found complete in this process, which keeps its packages."""


def requirements(extra: str = "") -> "list[Requirement]":
    """Return what the installed metadata requires here: for the program itself, or what an extra adds to that.

    They have no markers, so that each is an argument for an installer: `torch>=2.13`.
    """
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement

    try:
        declared = [Requirement(line) for line in requires(PACKAGE) or ()]
    except PackageNotFoundError:  # a folder without an installation
        return []
    needed = []
    for requirement in declared:
        marker, requirement.marker = requirement.marker, None
        is_of_base = marker is None or marker.evaluate({"extra": ""})
        applies = marker is None or marker.evaluate({"extra": extra})
        if applies and not (extra and is_of_base):
            needed.append(requirement)
    return needed


def _has_metadata(extra: Extra) -> bool:
    """Whether each package has its metadata, which installers write after the modules."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        for requirement in requirements(extra.name):
            distribution(requirement.name)
    except PackageNotFoundError:
        return False
    return True


def wants_cpu_build() -> bool:
    """Whether PyTorch's usual build would bring CUDA in vain: on Linux without a GPU's driver."""
    return sys.platform == "linux" and not has_gpu()


def has_gpu() -> bool:
    """Whether PyTorch would find a graphics processor, as far as its driver's files or the system tell."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return shutil.which("nvidia-smi") is not None
    return any(Path(file).exists() for file in GPU_FILES)
