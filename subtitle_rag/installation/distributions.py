"""The required packages of this copy, whether their installed versions fit, and the age of yt-dlp.

All of it is read from the installed metadata; nothing is sent over the network. YouTube changes within weeks, and each
release of yt-dlp is named after its day: its age decides, and failures for which only another version helps.
"""

import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from itertools import chain
from typing import TYPE_CHECKING, Literal

from subtitle_rag.domain import AppError
from subtitle_rag.installation.extras import PACKAGE

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

DEVELOPERS = frozenset({"test"})
"""Extras for developers only."""

EXTRACTOR = "yt-dlp"
OLD_DAYS = 90
"""Age at which a release is likely to fail; yt-dlp warns about itself at the same age."""

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


@dataclass(frozen=True, slots=True)
class YtDlpAge:
    """The installed release, and the reasons for another one."""

    version: str
    days: int
    has_failed: bool = False
    """It did not understand an answer of YouTube's."""

    @property
    def is_due(self) -> bool:
        return self.has_failed or self.days > OLD_DAYS


def version_report(name: str = PACKAGE) -> VersionReport:
    """Return the report on the installed copy.

    Raises AppError `no_metadata`, if it runs from its source without an installation.
    """
    try:
        copy_ = distribution(name)
    except PackageNotFoundError as error:
        raise AppError("no_metadata") from error
    base, requirements_by_extra = _requirements(copy_)
    requirements: dict[tuple[str, str], Requirement] = {}
    for requirement in chain(base, *requirements_by_extra.values()):
        requirements.setdefault(_key(requirement), requirement)
    keys = {extra: [_key(requirement) for requirement in each] for extra, each in requirements_by_extra.items()}
    own = {_key(requirement) for requirement in base}
    packages = {
        key: _package_status(requirement, () if key in own else tuple(extra for extra in keys if key in keys[extra]))
        for key, requirement in requirements.items()
    }
    incomplete = {
        extra: tuple(packages[key].name for key in keys[extra] if packages[key].state != "ok") for extra in keys
    }
    return VersionReport(copy_.version, _python(copy_), tuple(packages.values()), incomplete)


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


def _key(requirement: "Requirement") -> tuple[str, str]:
    return _normal(requirement.name), str(requirement.specifier)


def _normal(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


def yt_dlp_age(failures: Iterable[Mapping[str, object]] = (), today: date | None = None) -> YtDlpAge:
    """Return the age of the installed yt-dlp; `failures` are the details of those with the code `yt_dlp_outdated`."""
    release = version(EXTRACTOR)
    year, month, day = map(int, release.split(".")[:3])
    days = ((today or date.today()) - date(year, month, day)).days
    failed = {_comparable(str(details.get("version", ""))) for details in failures}
    return YtDlpAge(release, days, _comparable(release) in failed)


def _comparable(release: str) -> tuple[str, ...]:
    """Return the parts without zeros: metadata has `2026.6.9` for the module's `2026.06.09`."""
    return tuple(part.lstrip("0") for part in release.split("."))
