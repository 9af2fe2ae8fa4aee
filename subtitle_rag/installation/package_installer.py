"""Runs the command that adds an extra to this copy's environment or updates one package of it.

When an extra is added, installed packages keep their versions: they are the installer's constraints. A Python of the
system is never written to.
"""

import importlib
import shutil
import tempfile
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager
from importlib.metadata import distributions
from pathlib import Path

from subtitle_rag.atomic_files import lock_file
from subtitle_rag.domain import AppError, BusyError, PackagesAdvanced, PackagesEvent, PackagesInstalled, byte_size
from subtitle_rag.installation.environment import Environment, current_environment
from subtitle_rag.installation.extras import PACKAGE, Extra
from subtitle_rag.installation.install_command import InstallCommand, add_refusal, extra_command, upgrade_command
from subtitle_rag.installation.process import output_lines

UNPINNED = (PACKAGE, "pip", "setuptools", "wheel", "certifi")
"""Without a constraint: installers, which the program does not use and PyTorch needs newer, and data without code."""
RESERVE_MEGABYTES = 500
"""Space to keep free on the disk."""
LOCK = ".subtitle-rag-packages.lock"
"""File in the environment: one process at a time writes to it, whatever its library."""
LOCKED_VERSIONS = "constraints.txt"
"""File in the environment of a clone: the versions of its lock file, as its scripts have written them."""


class PackageInstaller:
    """Adds packages to an environment, by default this copy's; setting `stop` ends a run."""

    def __init__(self, stop: threading.Event | None = None, environment: Environment | None = None) -> None:
        self._environment = environment or current_environment()
        self._stop = stop or threading.Event()

    def add(self, extra: Extra) -> Generator[PackagesEvent, None, None]:
        """Install an extra. The last event is `PackagesInstalled`.

        Raises:
            AppError: `packages_refused`, `packages_cuda`, `packages_failed`, `interrupted`.
            BusyError: `packages_busy`, `packages_disk`, `folder_unwritable`.
        """
        if refusal := add_refusal(extra, self._environment):
            raise refusal
        self._check_disk(extra)
        with tempfile.TemporaryDirectory(prefix="subtitle-rag-") as folder:
            constraints = Path(folder) / "constraints.txt"
            constraints.write_text("\n".join(self._constraints()) + "\n", encoding="utf-8")
            # pip splits a path at its spaces, but not an address
            variables = {"PIP_CONSTRAINT": constraints.as_uri(), "UV_CONSTRAINT": str(constraints)}
            yield from self._run(extra_command(extra, self._environment), variables)

    def upgrade(self, package: str) -> Generator[PackagesEvent, None, None]:
        """Bring the newest version of one package, and of others what it needs. Raises what `add` raises."""
        command = upgrade_command(package, self._environment)
        if not self._environment.is_writable:
            raise AppError("packages_refused", line=command.line)
        yield from self._run(command, {})

    def _run(self, command: InstallCommand, variables: dict[str, str]) -> Generator[PackagesEvent, None, None]:
        with self._lock():
            before = self._versions()
            for line in output_lines(command, self._stop, variables):
                if line.strip():
                    yield PackagesAdvanced(line.strip())
            importlib.invalidate_caches()
            changed = self._versions().items() - before.items()
        yield PackagesInstalled(tuple(sorted(" ".join(each) for each in changed)))

    def _versions(self) -> dict[str, str]:
        """Return the environment's packages by normal name; an unfinished installation has no name or version."""
        from packaging.utils import canonicalize_name

        prefix = self._environment.prefix
        folders = [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]
        installed = [each.metadata for each in distributions(path=list(map(str, folders)))]
        return {
            canonicalize_name(metadata["Name"]): metadata["Version"]
            for metadata in installed
            if metadata["Name"] and metadata["Version"]
        }

    def _constraints(self) -> list[str]:
        """Return the installed packages at their versions, and others at those of a clone's lock file."""
        pins = self._versions()
        path = self._environment.prefix / LOCKED_VERSIONS
        locked = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for name, sign, version in (line.partition("==") for line in locked):
            if sign and not name.startswith("#"):
                pins.setdefault(name, version)
        return [f"{name}=={version}" for name, version in sorted(pins.items()) if name not in UNPINNED]

    def _check_disk(self, extra: Extra) -> None:
        free = shutil.disk_usage(self._environment.prefix).free // 1_000_000
        # wheels lie in a cache, too, until they are installed
        needed = extra.megabytes * 3 // 2 + RESERVE_MEGABYTES
        if free < needed:
            raise BusyError(
                "packages_disk",
                path=str(self._environment.prefix),
                needed=byte_size(needed * 1e6),
                free=byte_size(free * 1e6),
            )

    def _lock(self) -> AbstractContextManager[object]:
        folder = self._environment.prefix
        try:
            return lock_file(folder / LOCK, BusyError("packages_busy"))
        except OSError as error:
            raise BusyError("folder_unwritable", path=str(folder), reason=error.strerror or str(error)) from error
