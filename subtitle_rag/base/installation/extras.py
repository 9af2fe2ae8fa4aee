"""The extras of `pyproject.toml`: optional parts of the program, with their packages."""

import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from subtitle_rag.base.i18n import N_

PACKAGE = "subtitle-rag"
GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia/version")
"""Driver files of NVIDIA, WSL and AMD."""


@dataclass(frozen=True, slots=True)
class Extra:
    """Packages installed together, as `subtitle-rag[NAME]`."""

    name: str
    purpose: str
    """What needs it: the subject of a sentence, as a message id."""
    modules: tuple[str, ...]
    """Modules that these packages provide."""
    cpu_megabytes: int
    """Size on disk with all dependencies beyond the base."""
    cuda_megabytes: int = 0
    """Megabytes with PyTorch's CUDA build."""

    @property
    def megabytes(self) -> int:
        """Size on disk on this computer."""
        brings_cuda = self.cuda_megabytes and sys.platform == "linux" and not wants_cpu_build()
        return self.cuda_megabytes if brings_cuda else self.cpu_megabytes

    @property
    def is_installed(self) -> bool:
        """Whether all of it is installed, even since the start; imports nothing."""
        if (
            self.name not in _complete
            and all(find_spec(name) for name in self.modules)
            and not missing_packages(self.name)
        ):
            _complete.add(self.name)
        return self.name in _complete


NEURAL = Extra(
    "neural",
    N_("Search by meaning"),
    ("FlagEmbedding", "sentence_transformers", "torch", "huggingface_hub", "httpx2"),
    1_600,
    cuda_megabytes=6_400,
)
MEANING = Extra("meaning", N_("Search by meaning"), ("onnxruntime", "tokenizers", "huggingface_hub", "httpx2"), 120)
YOUTUBE = Extra("youtube", N_("The JavaScript of YouTube's player"), ("curl_cffi", "deno", "yt_dlp_ejs"), 160)
SERVER = Extra("server", N_("A Qdrant server (url under [qdrant] in the config)"), ("qdrant_client",), 30)
EVAL = Extra("eval", N_("Measuring"), ("ir_measures",), 150)
MCP = Extra("mcp", N_("Connecting other AI apps"), ("mcp", "mcp_types", "pydantic"), 30)
ANKI = Extra("anki", N_("Making cards for Anki"), ("genanki",), 5)
LISTEN = Extra(
    "listen", N_("Listening to speech"), ("faster_whisper", "av", "ctranslate2", "huggingface_hub", "httpx2"), 250
)

EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {extra.name: extra for extra in (MEANING, NEURAL, YOUTUBE, SERVER, EVAL, MCP, ANKI, LISTEN)}
)
_EXTRA = re.compile(r"""extra *== *['"]([\w.-]+)""")
_NAME = re.compile(r"[\w.-]+")
_complete: set[str] = set()
"""Extras found complete in this process, whose packages will not go away."""


def requirements(extra: str = "") -> list[str]:
    """Return the requirements of the program or an extra in the installed metadata, such as `torch>=2.13`."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(PACKAGE) or ()
    except PackageNotFoundError:  # a folder without an installation
        return []
    declared = [
        (requirement.strip(), _EXTRA.findall(marker))
        for requirement, _sign, marker in (x.partition(";") for x in lines)
    ]
    return [requirement for requirement, extras in declared if extras == ([extra] if extra else [])]


def missing_packages(extra: str = "") -> list[str]:
    """Return the missing packages of the program or an extra. Installers write metadata last."""
    return [name for name in map(package_name, requirements(extra)) if not has_metadata(name)]


def package_name(requirement: str) -> str:
    """Return the name in a requirement, without extras and versions."""
    return _NAME.match(requirement)[0]  # type: ignore[index]


def has_metadata(name: str) -> bool:
    """Whether a package is completely installed; imports nothing."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


def wants_cpu_build() -> bool:
    """Whether PyTorch's usual build would include a useless CUDA: on Linux without a GPU driver."""
    return sys.platform == "linux" and not has_gpu()


def has_gpu() -> bool:
    """Whether PyTorch would find a GPU, judging by driver files or the system."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return shutil.which("nvidia-smi") is not None
    return any(Path(file).exists() for file in GPU_FILES)
