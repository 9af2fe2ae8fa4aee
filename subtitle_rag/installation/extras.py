"""The extras of `pyproject.toml`: what of the program comes with packages that the base does without."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.util import find_spec
from types import MappingProxyType

from subtitle_rag.errors import AppError

PACKAGE = "subtitle-rag"


@dataclass(frozen=True, slots=True)
class Extra:
    """Packages that are installed together; `subtitle-rag[NAME]` names them."""

    name: str
    modules: tuple[str, ...]
    """What the program imports of them."""
    megabytes: int
    """On the disk, with all that they need beyond the base, on Linux without a GPU (`scripts/bench_install`)."""

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


NEURAL = Extra("neural", ("FlagEmbedding", "sentence_transformers", "torch", "huggingface_hub", "httpx2"), 1_700)
SERVER = Extra("server", ("qdrant_client",), 60)
EVAL = Extra("eval", ("ir_measures", "bm25s"), 300)
WEB = Extra("web", ("textual_serve", "aiohttp"), 15)
PICTURES = Extra("pictures", ("textual_image", "PIL"), 20)
MCP = Extra("mcp", ("mcp", "mcp_types", "pydantic"), 40)

EXTRAS: Mapping[str, Extra] = MappingProxyType(
    {extra.name: extra for extra in (NEURAL, SERVER, EVAL, WEB, PICTURES, MCP)}
)
CUDA_MEGABYTES = 5_400
"""Of the extra `neural` where pip takes the build of PyTorch that brings CUDA."""


_complete: set[str] = set()
"""Extras that this process has seen to be whole; nobody takes packages away from it."""


def require(extra: Extra) -> None:
    """Refuse to go on without an extra.

    Raises:
        AppError: `neural_missing`, `server_missing`, `eval_missing`, `web_missing`, `pictures_missing` or
            `mcp_missing`, with what the user types to install it.
    """
    if not extra.is_installed:
        raise missing(extra)


def missing(extra: Extra) -> AppError:
    """The failure that tells how an extra that is not here is installed."""
    from subtitle_rag.installation.advice import instruction

    return AppError(extra.code, line=instruction(extra))


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
