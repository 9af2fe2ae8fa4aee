"""Installation of extras into this copy's environment, and updates of one package, by the environment's own installer.

Installed packages keep their versions: they are the constraints for the installer's resolver. A Python of the system is
never written to.
"""

import hashlib
import importlib
import logging
import shutil
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import Distribution, distributions, requires
from pathlib import Path

from subtitle_rag.domain import AppError, BusyError, PackagesEvent, PackagesInstalled, byte_size
from subtitle_rag.installation import advice
from subtitle_rag.installation.environment import Environment, current_environment, program
from subtitle_rag.installation.extras import EXTRAS, NEURAL, PACKAGE, Extra, wants_cpu_build
from subtitle_rag.installation.installers import CudaError, Pip, run_uv
from subtitle_rag.installation.process import InstallerError, lines

logger = logging.getLogger(__name__)

INSTALLERS = ("pip", "setuptools", "wheel")
"""First packages of an environment. The program does not use them, and PyTorch needs a newer setuptools."""
DATA = ("certifi",)
"""Packages without code, of which an extra may need a newer version than the environment has."""
RESERVE_MEGABYTES = 500
"""Space to keep free on the disk."""
LOCK = ".subtitle-rag-packages.lock"
"""File in the environment: one process at a time writes to it, whatever its library."""


class PackageInstaller:
    """Adds packages to an environment, by default this copy's. `cache` keeps finished downloads; `stop` ends a run."""

    def __init__(
        self, cache: Path, stop: threading.Event | None = None, environment: Environment | None = None
    ) -> None:
        self._environment = environment or current_environment()
        # programs of several environments may share a cache
        name = hashlib.sha256(str(self._environment.prefix).encode()).hexdigest()[:12]
        self._folder = cache / "packages" / name
        self._stop = stop or threading.Event()

    def refusal(self, extra: Extra) -> AppError | None:
        """Return the reason why the program cannot add an extra itself, with the line to type; else None."""
        return None if self._can_install else AppError("packages_refused", line=self._instruction(extra))

    def add(self, extra: Extra) -> Generator[PackagesEvent, None, None]:
        """Install an extra. The last event is `PackagesInstalled`.

        Raises:
            AppError: `packages_refused`, `packages_failed`, `packages_cuda`, `interrupted`.
            BusyError: `packages_busy`, `packages_disk`, `folder_unwritable`.
        """
        refusal = self.refusal(extra)
        if refusal:
            raise refusal
        with self._locked(), self._failures_with_line(self._instruction(extra)):
            self._check_disk(extra)
            installed = yield from _advance(self._install(extra, self._constraints()))
            self._record(extra)
            importlib.invalidate_caches()
        yield installed  # a caller may stop at the last event

    def _install(self, extra: Extra, constraints: Path) -> Generator[PackagesEvent, None, None]:
        cpu = extra is NEURAL and wants_cpu_build()
        if self._environment.installer == "pipx" and self._environment.uses_uv:
            yield from self._inject(extra, constraints, cpu=cpu)
        elif self._environment.has_uv:
            options = advice.CPU_BUILD if cpu else ()
            yield from self._by_uv(self._program, constraints, *options, *extra.requirements())
        else:
            yield from self._by_pip(extra, constraints, cpu=cpu)

    def upgrade(self, package: str) -> Generator[PackagesEvent, None, None]:
        """Bring the newest version of one package; all others keep theirs. Raises what `add` raises."""
        requirement, companions = self._with_extras(package)
        line = advice.upgrade_line(requirement, self._environment)
        if not self._can_install:
            raise AppError("packages_refused", line=line)
        with self._locked(), self._failures_with_line(line):
            yield from _advance(self._upgrade(requirement, self._constraints(leaving=(package, *companions))))
            importlib.invalidate_caches()
        yield PackagesInstalled((package,))

    def _upgrade(self, package: str, constraints: Path) -> Generator[PackagesEvent, None, None]:
        """Upgrade a package, named with its extras."""
        if self._environment.installer == "pipx" and self._environment.uses_uv:
            command = [self._program, "runpip", self._environment.prefix.name, "install", "--upgrade", package]
            yield from run_uv(command, self._stop, {"UV_CONSTRAINT": str(constraints)})
        elif self._environment.has_uv:
            yield from self._by_uv(self._program, constraints, "--upgrade-package", package.partition("[")[0], package)
        else:
            yield from self._pip(constraints).upgrade(package)

    @property
    def _can_install(self) -> bool:
        return self._environment.installer not in ("uvx", "system") and bool(self._program)

    @property
    def _program(self) -> str:
        """The installer's path, or "" if not found; pip runs in this copy's own interpreter."""
        name = {"uv": "uv", "uv tool": "uv", "pipx": "pipx"}.get(self._environment.installer)
        return (program(name) or "") if name else str(self._environment.python)

    def _pip(self, constraints: Path) -> Pip:
        return Pip(self._environment.python, self._folder / "wheels", constraints, self._stop)

    def _by_uv(self, uv: str, constraints: Path, *arguments: str) -> Generator[PackagesEvent, None, None]:
        command = [uv, "pip", "install", "--python", str(self._environment.python), "--constraint", str(constraints)]
        yield from run_uv([*command, *arguments], self._stop)

    def _by_pip(self, extra: Extra, constraints: Path, *, cpu: bool) -> Generator[PackagesEvent, None, None]:
        """Install an extra by pip. If pip knows PyTorch with CUDA alone and no GPU is here, uv brings PyTorch."""
        pip = self._pip(constraints)
        try:
            yield from pip.add(extra.requirements(), cuda=not cpu, command=self._inject_command)
            return
        except CudaError as error:
            uv = program("uv")
            if uv is None:
                raise AppError("packages_cuda", line=advice.cpu_instruction(extra, self._environment)) from error
        torch = [each for each in extra.requirements() if each.startswith("torch")]
        yield from _advance(self._by_uv(uv, constraints, *advice.CPU_BUILD, *torch))
        yield from self._pip(self._constraints()).add(extra.requirements(), cuda=False, command=self._inject_command)

    @property
    def _inject_command(self) -> list[str]:
        """The command by which pipx runs pip and records it; pipx records no package of before."""
        is_pipx = self._environment.installer == "pipx"
        return [self._program, "inject", self._environment.prefix.name] if is_pipx else []

    def _inject(self, extra: Extra, constraints: Path, *, cpu: bool) -> Generator[PackagesEvent, None, None]:
        """Install and record an extra by pipx with uv."""
        variables = {"UV_CONSTRAINT": str(constraints), **({"UV_TORCH_BACKEND": "cpu"} if cpu else {})}
        command = [self._program, "inject", self._environment.prefix.name, *extra.requirements()]
        yield from _advance(run_uv(command, self._stop, variables))
        yield PackagesInstalled(tuple(extra.requirements()))

    def _record(self, extra: Extra) -> None:
        """Have uv record a tool's extra for its own updates, without fetching anything."""
        if self._environment.installer != "uv tool" or not self._environment.origin.is_here:
            return
        command = advice.tool_arguments(self._environment, extra)
        try:
            for _line in lines([self._program, *command], self._stop):
                pass
        except InstallerError:  # the packages are installed all the same
            logger.warning("the installer did not note the extra %s", extra.name, exc_info=True)

    def _with_extras(self, package: str) -> tuple[str, list[str]]:
        """Return a package with those extras that ours want of it and that are here, and the packages they bring.

        These belong to its version, as the scripts that solve YouTube's challenges do to that of yt-dlp.
        """
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name

        wanted = [Requirement(text) for extra in EXTRAS.values() for text in extra.requirements()]
        names = {name for each in wanted if each.name == package for name in each.extras}
        brought = [Requirement(text) for text in requires(package) or []] if names else []
        here = {canonicalize_name(each.name) for each in self._distributions()}
        extras, companions = [], []
        for name in sorted(names):
            of_extra = [each.name for each in brought if each.marker and each.marker.evaluate({"extra": name})]
            if of_extra and here.issuperset(map(canonicalize_name, of_extra)):
                extras.append(name)
                companions += of_extra
        return (f"{package}[{','.join(extras)}]" if extras else package), companions

    def _distributions(self) -> list[Distribution]:
        """Return the environment's packages; an unfinished installation has no name or version."""
        prefix = self._environment.prefix
        folders = [*prefix.glob("lib/python*/site-packages"), prefix / "Lib" / "site-packages"]
        found = distributions(path=list(map(str, folders)))
        return [each for each in found if each.metadata["Name"] and each.metadata["Version"]]

    def _constraints(self, leaving: Sequence[str] = ()) -> Path:
        """Write a file of every installed package at its version, and of others at the repository's lock."""
        from packaging.utils import canonicalize_name

        pins = {canonicalize_name(each.name): f"{each.name}=={each.version}" for each in self._distributions()}
        lock = self._environment.repository and self._environment.repository / "requirements.lock"
        if lock and lock.is_file():
            for line in lock.read_text(encoding="utf-8").splitlines():
                name, sign, _version = line.partition("==")
                if sign and not line.startswith("#"):
                    pins.setdefault(canonicalize_name(name), line)
        for name in (PACKAGE, *leaving, *INSTALLERS, *DATA):
            pins.pop(canonicalize_name(name), None)
        path = self._folder / "constraints.txt"
        path.write_text("\n".join(sorted(pins.values())) + "\n", encoding="utf-8")
        return path

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

    def _instruction(self, extra: Extra) -> str:
        return advice.install_steps(extra, self._environment)

    @contextmanager
    def _failures_with_line(self, line: str) -> Iterator[None]:
        """Turn a failure of the installer into one with the line to type."""
        try:
            yield
        except InstallerError as error:
            raise AppError("packages_failed", reason=str(error), line=line) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # a generator may be closed by another thread than the one that began it
            lock = FileLock(self._environment.prefix / LOCK, thread_local=False)
            guard = lock.acquire(timeout=0)
        except Timeout:
            raise BusyError("packages_busy") from None
        except OSError as error:
            path = error.filename or self._folder
            raise BusyError("folder_unwritable", path=str(path), reason=error.strerror or str(error)) from error
        with guard:
            yield


def _advance(events: Iterator[PackagesEvent]) -> Generator[PackagesEvent, None, PackagesInstalled]:
    """Pass on the events but the last, and return that one."""
    installed = PackagesInstalled(())
    for event in events:
        if isinstance(event, PackagesInstalled):
            installed = event
        else:
            yield event
    return installed
