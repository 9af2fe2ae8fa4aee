"""The extras of `pyproject.toml`: what of the program comes with packages that the base does without."""

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.util import find_spec
from types import MappingProxyType

from subtitle_rag.installation.gpu import wants_cpu_build

PACKAGE = "subtitle-rag"


@dataclass(frozen=True, slots=True)
class Extra:
    """Packages that are installed together; `subtitle-rag[NAME]` names them."""

    name: str
    modules: tuple[str, ...]
    """What the program imports of them."""
    cpu_megabytes: int
    """On the disk, with all that they need beyond the base (`scripts/bench_install`)."""
    cuda_megabytes: int = 0
    """The same where PyTorch's build with CUDA is among them."""

    @property
    def megabytes(self) -> int:
        """On the disk of this computer."""
        brings_cuda = self.cuda_megabytes and sys.platform == "linux" and not wants_cpu_build()
        return self.cuda_megabytes if brings_cuda else self.cpu_megabytes

    @property
    def code(self) -> str:
        """Of the failure for want of it."""
        return f"{self.name}_missing"

    @property
    def is_installed(self) -> bool:
        """Whether all of it is here; imports nothing. Packages that have come since the start are seen."""
        if self.name not in _complete and all(map(_is_found, self.modules)) and _has_metadata(self):
            _complete.add(self.name)
        return self.name in _complete

    def requirements(self) -> list[str]:
        """What pip would have to install, as the distribution's metadata names it: `torch>=2.13`."""
        from packaging.requirements import Requirement

        found = []
        for text in _requirements():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and "extra" in str(marker) and marker.evaluate({"extra": self.name}):
                requirement.marker = None
                found.append(str(requirement))
        return found


NEURAL = Extra(
    "neural",
    ("FlagEmbedding", "sentence_transformers", "torch", "huggingface_hub", "httpx2"),
    1_600,
    cuda_megabytes=6_400,
)
SERVER = Extra("server", ("qdrant_client",), 30)
EVAL = Extra("eval", ("ir_measures", "bm25s"), 150)
WEB = Extra("web", ("textual_serve", "aiohttp"), 17)
PICTURES = Extra("pictures", ("textual_image", "PIL"), 23)
MCP = Extra("mcp", ("mcp", "mcp_types", "pydantic"), 30)

EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {extra.name: extra for extra in (NEURAL, SERVER, EVAL, WEB, PICTURES, MCP)}
)
_complete: set[str] = set()
"""Extras that this process has seen to be whole; nobody takes packages away from it."""


def _requirements() -> list[str]:
    try:
        return requires(PACKAGE) or []
    except PackageNotFoundError:  # it runs from a folder that was never installed
        return []


def _is_found(module: str) -> bool:
    return find_spec(module) is not None


def _has_metadata(extra: Extra) -> bool:
    """Whether each package has its metadata, which installers write after the modules."""
    from packaging.requirements import Requirement

    try:
        for text in extra.requirements():
            distribution(Requirement(text).name)
    except PackageNotFoundError:
        return False
    return True


def look_again() -> None:
    """Have the import system see what an installer has just brought."""
    importlib.invalidate_caches()
