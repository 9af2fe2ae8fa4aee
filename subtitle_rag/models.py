"""The models that the app offers, from the manifest `models.toml`; which of them suits this machine."""

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_PLACES = (
    Path(__file__).parent / "models_data" / "models.toml",  # in a wheel
    Path(__file__).parents[1] / "models" / "models.toml",  # in a checkout
)
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


@cache
def offered() -> tuple[Offered, ...]:
    """In the manifest's order, the first choice first."""
    return tuple(Offered(**entry) for entry in _manifest().get("context", ()))


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
