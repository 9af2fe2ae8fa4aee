"""Which packages this copy needs, which of them are here, and whether their versions fit: from the metadata alone.

The extras are those that the installed metadata names, whatever they are called; nothing is asked of any network.
"""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Literal

from subtitle_rag.errors import AppError
from subtitle_rag.installation.extras import PACKAGE

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

DEVELOPERS = frozenset({"test"})
"""Extras that no user installs."""

State = Literal["ok", "missing", "too_old", "too_new", "unfit"]


@dataclass(frozen=True, slots=True)
class Needed:
    """A package that the program, or one of its extras, needs."""

    name: str
    wanted: str
    """The range of versions, as in the metadata; empty: any."""
    installed: str | None
    state: State
    extras: tuple[str, ...] = ()
    """Those that need it; none: the program itself does."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How this copy stands."""

    version: str
    python: Needed
    packages: tuple[Needed, ...]
    extras: Mapping[str, tuple[str, ...]]
    """Extra → the packages of it that are not here as they should be."""

    @property
    def unfit(self) -> list[Needed]:
        """What keeps the program itself from working: Python or a package of its own."""
        return [one for one in (self.python, *self.packages) if not one.extras and one.state != "ok"]


def standing(name: str = PACKAGE) -> Standing:
    """How the copy stands that is installed.

    Raises:
        AppError: `no_metadata`, where it is not installed but runs from its source.
    """
    try:
        own = distribution(name)
    except PackageNotFoundError as error:
        raise AppError("no_metadata") from error
    base, by_extra = _requirements(own)
    needed = {(_normal(one.name), str(one.specifier)): one for one in base}
    holders: dict[tuple[str, str], list[str]] = {key: [] for key in needed}
    for extra, ones in by_extra.items():
        for one in ones:
            key = (_normal(one.name), str(one.specifier))
            needed.setdefault(key, one)
            if key not in holders or holders[key]:
                holders.setdefault(key, []).append(extra)
    packages = tuple(_needed(one, tuple(holders[key])) for key, one in needed.items())
    states = {(_normal(one.name), one.wanted): one.state for one in packages}
    lacking = {
        extra: tuple(one.name for one in ones if states[_normal(one.name), str(one.specifier)] != "ok")
        for extra, ones in by_extra.items()
    }
    return Standing(own.version, _python(own), packages, lacking)


def _requirements(own: Distribution) -> "tuple[list[Requirement], dict[str, list[Requirement]]]":
    """What the program needs here, and what each extra needs beyond that."""
    from packaging.requirements import Requirement

    every = [Requirement(line) for line in own.requires or ()]
    names = [extra for extra in own.metadata.get_all("Provides-Extra") or () if extra not in DEVELOPERS]
    base = [one for one in every if one.marker is None or one.marker.evaluate({"extra": ""})]
    return base, {extra: list(_of_extra(own, every, base, extra, set())) for extra in names}


def _of_extra(
    own: Distribution, every: "list[Requirement]", base: "list[Requirement]", extra: str, seen: set[str]
) -> "Iterator[Requirement]":
    """What an extra needs; one that is made of others names this package with them."""
    seen.add(extra)
    for one in every:
        if one in base or one.marker is None or not one.marker.evaluate({"extra": extra}):
            continue
        if _normal(one.name) == _normal(own.metadata["Name"]):
            for other in sorted(one.extras - seen):
                yield from _of_extra(own, every, base, other, seen)
        else:
            yield one


def _needed(one: "Requirement", extras: tuple[str, ...]) -> Needed:
    try:
        installed = distribution(one.name).version or None  # None: its metadata is damaged
    except PackageNotFoundError:
        installed = None
    return Needed(one.name, str(one.specifier), installed, _state(installed, one.specifier), extras)


def _python(own: Distribution) -> Needed:
    from packaging.specifiers import SpecifierSet

    wanted = SpecifierSet(",".join(own.metadata.get_all("Requires-Python") or ()))
    found = platform.python_version()
    return Needed("Python", str(wanted), found, _state(found, wanted))


def _state(installed: str | None, wanted: "SpecifierSet") -> State:
    """How a version stands to the range: below all of it, above, or left out in its middle."""
    from packaging.version import InvalidVersion, Version

    if installed is None:
        return "missing"
    try:
        version = Version(installed)
    except InvalidVersion:
        return "unfit"
    for clause in wanted:
        if clause.contains(version, prereleases=True):
            continue
        bound = Version(clause.version.removesuffix(".*"))
        if clause.operator in (">=", ">") or (clause.operator in ("~=", "==", "===") and version < bound):
            return "too_old"
        return "unfit" if clause.operator == "!=" else "too_new"
    return "ok"


def _normal(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)
