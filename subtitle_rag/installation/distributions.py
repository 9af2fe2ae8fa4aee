"""The required packages of this copy, and whether their installed versions fit: from the metadata alone.

The extras are those of the installed metadata. Nothing is sent over the network.
"""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Literal

from subtitle_rag.domain import AppError
from subtitle_rag.installation.extras import PACKAGE

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

DEVELOPERS = frozenset({"test"})
"""Extras for developers only."""

State = Literal["ok", "missing", "too_old", "too_new", "unfit"]


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """A package that the program or one of its extras needs."""

    name: str
    wanted: str
    """The range of versions, as in the metadata; empty: any."""
    installed: str | None
    state: State
    extras: tuple[str, ...] = ()
    """The extras that need it; none for the program itself."""


@dataclass(frozen=True, slots=True)
class VersionReport:
    """The versions of this copy and of its packages."""

    version: str
    python: PackageStatus
    packages: tuple[PackageStatus, ...]
    extras: Mapping[str, tuple[str, ...]]
    """Extra → its missing or unfit packages."""

    @property
    def unfit(self) -> list[PackageStatus]:
        """Unfit Python or packages of the program itself."""
        return [package for package in (self.python, *self.packages) if not package.extras and package.state != "ok"]


def version_report(name: str = PACKAGE) -> VersionReport:
    """Return the report on the installed copy.

    Raises:
        AppError: `no_metadata`, if it runs from its source without an installation.
    """
    try:
        copy_ = distribution(name)
    except PackageNotFoundError as error:
        raise AppError("no_metadata") from error
    base, requirements_by_extra = _requirements(copy_)
    requirements_by_key = {(_normal(requirement.name), str(requirement.specifier)): requirement for requirement in base}
    holders: dict[tuple[str, str], list[str]] = {key: [] for key in requirements_by_key}
    for extra, requirements in requirements_by_extra.items():
        for requirement in requirements:
            key = (_normal(requirement.name), str(requirement.specifier))
            requirements_by_key.setdefault(key, requirement)
            if key not in holders or holders[key]:
                holders.setdefault(key, []).append(extra)
    packages = tuple(
        _package_status(requirement, tuple(holders[key])) for key, requirement in requirements_by_key.items()
    )
    states = {(_normal(requirement.name), requirement.wanted): requirement.state for requirement in packages}
    incomplete = {
        extra: tuple(
            requirement.name
            for requirement in requirements
            if states[_normal(requirement.name), str(requirement.specifier)] != "ok"
        )
        for extra, requirements in requirements_by_extra.items()
    }
    return VersionReport(copy_.version, _python(copy_), packages, incomplete)


def _requirements(copy_: Distribution) -> "tuple[list[Requirement], dict[str, list[Requirement]]]":
    """Return the requirements of the program here, and the further ones of each extra."""
    from packaging.requirements import Requirement

    requirements = [Requirement(line) for line in copy_.requires or ()]
    names = [extra for extra in copy_.metadata.get_all("Provides-Extra") or () if extra not in DEVELOPERS]
    base = [
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]
    return base, {extra: list(_of_extra(copy_, requirements, base, extra, set())) for extra in names}


def _of_extra(
    copy_: Distribution, requirements: "list[Requirement]", base: "list[Requirement]", extra: str, visited: set[str]
) -> "Iterator[Requirement]":
    """Yield the requirements of an extra; one made of others names this package with them."""
    visited.add(extra)
    for requirement in requirements:
        if requirement in base or requirement.marker is None or not requirement.marker.evaluate({"extra": extra}):
            continue
        if _normal(requirement.name) == _normal(copy_.metadata["Name"]):
            for nested in sorted(requirement.extras - visited):
                yield from _of_extra(copy_, requirements, base, nested, visited)
        else:
            yield requirement


def _package_status(requirement: "Requirement", extras: tuple[str, ...]) -> PackageStatus:
    try:
        installed = distribution(requirement.name).version or None  # None: its metadata is damaged
    except PackageNotFoundError:
        installed = None
    return PackageStatus(
        requirement.name, str(requirement.specifier), installed, _state(installed, requirement.specifier), extras
    )


def _python(copy_: Distribution) -> PackageStatus:
    from packaging.specifiers import SpecifierSet

    specifiers = SpecifierSet(",".join(copy_.metadata.get_all("Requires-Python") or ()))
    version = platform.python_version()
    return PackageStatus("Python", str(specifiers), version, _state(version, specifiers))


def _state(installed: str | None, specifiers: "SpecifierSet") -> State:
    """Compare a version with the range: below all of it, above, or excluded in its middle."""
    from packaging.version import InvalidVersion, Version

    if installed is None:
        return "missing"
    try:
        version = Version(installed)
    except InvalidVersion:
        return "unfit"
    for clause in specifiers:
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
