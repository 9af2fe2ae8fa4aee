"""The models that the app offers, from the manifest `models.toml`; which of them suits this machine."""

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal

_PLACES = (
    Path(__file__).parents[1] / "models_data" / "models.toml",  # in a wheel
    Path(__file__).parents[2] / "models" / "models.toml",  # in a checkout
)
Kind = Literal["encoder", "reranker"]
ENCODER: Kind = "encoder"
RERANKER: Kind = "reranker"
_GB = 10**9
_REPORTED = 0.9  # a machine sold with 8 GB reports less: firmware and graphics take their part


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that writes contexts. The manifest says what the fields mean."""

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
    """Language → what is good about it."""
    doubt: str = ""
    default_from_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a model's repository, or a pattern of such files."""

    path: str
    bytes: int | None = None
    sha256: str = ""

    def takes(self, path: str) -> bool:
        """Whether the pattern names this path; a `*` stays within a folder; hidden files are never taken."""
        own, given = self.path.split("/"), path.split("/")
        strange = any(part.startswith(".") or set(part) & {"\\", ":"} for part in given)  # `..` among them
        return not strange and len(own) == len(given) and all(map(fnmatchcase, given, own))


@dataclass(frozen=True, slots=True)
class Neural:
    """An encoder or a reranker. The manifest says what the fields mean."""

    kind: Kind
    name: str
    family: str
    licence: str
    files: tuple[Wanted, ...]
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
    """Of an encoder's dense vectors."""
    has_sparse: bool = False

    @property
    def folder(self) -> str:
        """Its folder's name among the fetched models."""
        return self.name.replace("/", "--")


@cache
def offered() -> tuple[Offered, ...]:
    """In the manifest's order, the first choice first."""
    return tuple(Offered(**entry) for entry in _manifest().get("context", ()))


@cache
def encoders() -> tuple[Neural, ...]:
    """In the manifest's order, the default first."""
    return _neural(ENCODER)


@cache
def rerankers() -> tuple[Neural, ...]:
    """In the manifest's order, the default first."""
    return _neural(RERANKER)


def neural(name: str) -> Neural | None:
    """The encoder or reranker of this name, with or without its owner's; None if none is offered."""
    every = (*encoders(), *rerankers())
    sought = name.casefold()
    return next((each for each in every if sought in (each.name.casefold(), each.name.casefold().split("/")[1])), None)


def default(memory_gb: float | None = None) -> Offered:
    """The default for a machine with so much memory; by default for this one, or a usual one if it does not tell."""
    known = memory_gb or memory() or 8
    fitting = [each for each in offered() if (each.default_from_gb or 0) * _REPORTED <= known]
    return max((each for each in fitting if each.default_from_gb is not None), key=_from)


def memory() -> float | None:
    """This machine's memory in GB, or None where the system does not tell."""
    if sys.platform == "win32":
        return _memory_of_windows()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GB
    except (ValueError, OSError):
        return None


def _from(each: Offered) -> float:
    return each.default_from_gb or 0


def _neural(kind: Kind) -> tuple[Neural, ...]:
    entries = [dict(entry) for entry in _manifest().get(kind, ())]
    return tuple(Neural(kind, files=tuple(Wanted(**file) for file in entry.pop("files")), **entry) for entry in entries)


def _manifest() -> dict[str, Any]:
    place = next((place for place in _PLACES if place.exists()), _PLACES[0])
    with place.open("rb") as file:
        return tomllib.load(file)


def _memory_of_windows() -> float | None:
    import ctypes

    installed = ctypes.c_ulonglong(0)  # in KiB
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    if not kernel.GetPhysicallyInstalledSystemMemory(ctypes.byref(installed)):
        return None
    return installed.value * 1024 / _GB
