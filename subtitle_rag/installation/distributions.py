"""The required packages of this copy, whether their installed versions fit, and the age of yt-dlp.

All of it is read from the installed metadata; nothing is sent over the network. YouTube changes within weeks, and each
release of yt-dlp is named after its day: its age decides, and failures for which only another version helps.
"""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import TYPE_CHECKING, Literal

from subtitle_rag.domain import AppError
from subtitle_rag.installation import extras

if TYPE_CHECKING:
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


def version_report() -> VersionReport:
    """Return the report on the installed copy.

    Raises AppError `no_metadata`, if it runs from its source without an installation.
    """
    from packaging.specifiers import SpecifierSet
    from packaging.utils import canonicalize_name

    try:
        metadata = distribution(extras.PACKAGE).metadata
    except PackageNotFoundError as error:
        raise AppError("no_metadata") from error
    packages: dict[tuple[str, str], PackageStatus] = {}
    incomplete: dict[str, tuple[str, ...]] = {}
    for extra in ("", *(name for name in metadata.get_all("Provides-Extra") or () if name not in DEVELOPERS)):
        unfit = []
        for requirement in extras.requirements(extra):
            key = canonicalize_name(requirement.name), str(requirement.specifier)
            package = packages.get(key) or _status(
                requirement.name, requirement.specifier, _installed_version(requirement.name)
            )
            if extra and (package.extras or key not in packages):  # not of the program itself
                package = replace(package, extras=(*package.extras, extra))
            packages[key] = package
            if package.state != "ok":
                unfit.append(package.name)
        if extra:
            incomplete[extra] = tuple(unfit)
    required_python = SpecifierSet(",".join(metadata.get_all("Requires-Python") or ()))
    python = _status("Python", required_python, platform.python_version())
    return VersionReport(metadata["Version"], python, tuple(packages.values()), incomplete)


def missing_packages() -> list[str]:
    """Return the packages of the program itself that are not here."""
    return [package.name for package in extras.requirements() if _installed_version(package.name) is None]


def _installed_version(name: str) -> str | None:
    try:
        return distribution(name).version or None  # None: its metadata is damaged
    except PackageNotFoundError:
        return None


def _status(name: str, specifiers: "SpecifierSet", installed: str | None) -> PackageStatus:
    return PackageStatus(name, str(specifiers), installed, _state(installed, specifiers))


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
