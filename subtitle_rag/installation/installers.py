"""Packages brought by pip or by uv, which caches its downloads and can choose PyTorch without CUDA.

By pip they come one after the other, so that a stopped installation keeps its finished downloads. pip itself keeps a
wheel only if it came over HTTP and the cache is on, and starts a stopped installation from the
beginning. So its resolver lists the packages (`pip install --dry-run --report`), each becomes a wheel in a folder
(`pip wheel --no-deps`), and all of them are installed from there without an index. To resolve, an old pip or an index
without metadata needs whole wheels: a pip without a cache gets a temporary one.
"""

import json
import re
import shutil
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import PackagesAdvanced, PackagesEvent, PackagesInstalled
from subtitle_rag.file_changes import replace_path
from subtitle_rag.installation.process import InstallerError, lines

CUDA = re.compile(r"nvidia-|cuda-|triton$|pytorch-triton")
"""Packages of PyTorch's CUDA build alone."""
_NAMED = re.compile(r"^\s*(?:Collecting|Downloading)\s+([A-Za-z0-9._-]+)")
_RESOLVED = re.compile(r"^Resolved (\d+) packages?")
_FETCHING = re.compile(r"^\s*(?:Downloading|Building) ([\w.-]+)")
_FETCHED = re.compile(r"^\s*(?:Downloaded|Built) ([\w.-]+)")
_CHANGED = re.compile(r"^ [+~] ([\w.-]+)==([\w.+!-]+)")


class CudaError(InstallerError):
    """pip knows PyTorch only with CUDA."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A package as pip has resolved it."""

    name: str
    version: str

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class Pip:
    """pip of the interpreter `python`; `folder` keeps wheels, `constraints` is a file. `stop` ends what runs."""

    python: Path
    folder: Path
    constraints: Path
    stop: threading.Event

    def add(
        self, requirements: Sequence[str], *, cuda: bool, command: Sequence[str] = ()
    ) -> Generator[PackagesEvent, None, None]:
        """Install the missing ones of the requirements. The last event is `PackagesInstalled`.

        `command` runs pip for them, and records it (`pipx inject NAME`).

        Raises:
            InstallerError: CudaError if only a build with CUDA is to be had, unless `cuda` allows it.
            AppError: `interrupted`.
        """
        cache = [] if self._has_cache() else ["--cache-dir", str(self.folder / "http")]
        needed = yield from self._resolve(requirements, cache)
        if not cuda and any(CUDA.match(each.name) for each in needed):
            raise CudaError
        self.folder.mkdir(parents=True, exist_ok=True)
        finished = set(self._finished_wheels())
        for at, each in enumerate(needed):
            yield PackagesAdvanced("fetching", each.name, at, len(needed))
            if each.requirement not in finished:
                self._fetch(each, cache)
        yield PackagesAdvanced("installing", "", len(needed), len(needed))
        if needed and command:
            self._run_installer([*command, *requirements], needed)
        elif needed:
            offline = ["install", "--no-deps", "--no-index", "--find-links", str(self.folder)]
            self._run(*offline, *(each.requirement for each in needed))
        shutil.rmtree(self.folder, ignore_errors=True)
        yield PackagesInstalled(tuple(f"{each.name} {each.version}" for each in needed))

    def upgrade(self, package: str) -> Generator[PackagesEvent, None, None]:
        """Bring the newest version of a package. Raises InstallerError, AppError `interrupted`."""
        yield PackagesAdvanced("fetching", package, 0, 1)
        self._run("install", "--constraint", str(self.constraints), "--upgrade", package)
        yield PackagesInstalled((package,))

    def _has_cache(self) -> bool:
        try:
            self._run("cache", "dir")
        except InstallerError:
            return False
        return True

    def _resolve(
        self, requirements: Sequence[str], cache: Sequence[str]
    ) -> Generator[PackagesEvent, None, list[Pinned]]:
        with tempfile.TemporaryDirectory(prefix="subtitle-rag-") as name:
            report = Path(name) / "report.json"
            options = ["--dry-run", "--report", str(report), "--constraint", str(self.constraints)]
            for line in self._lines("install", *cache, *options, *requirements):
                if match := _NAMED.match(line):
                    yield PackagesAdvanced("resolving", match[1], 0, 0)
            try:
                entries = json.loads(report.read_text(encoding="utf-8"))["install"]
                return [_pin(each["metadata"]) for each in entries]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InstallerError(f"pip: {error}") from error

    def _fetch(self, package: Pinned, cache: Sequence[str]) -> None:
        """Bring a package's wheel into the folder, atomically."""
        with tempfile.TemporaryDirectory(prefix=".part-", dir=self.folder) as name:
            self._run("wheel", *cache, "--no-deps", "--wheel-dir", name, package.requirement)
            for wheel in Path(name).glob("*.whl"):
                replace_path(wheel, self.folder / wheel.name)

    def _run_installer(self, command: Sequence[str], needed: Sequence[Pinned]) -> None:
        """Run a command in which pip installs the resolved packages from the folder."""
        pins = self.folder / "pins.txt"
        constraints = self.constraints.read_text(encoding="utf-8")
        pins.write_text(constraints + "".join(f"{each.requirement}\n" for each in needed), encoding="utf-8")
        # as addresses, for pip splits what these hold at spaces
        variables = {"PIP_FIND_LINKS": self.folder.as_uri(), "PIP_CONSTRAINT": pins.as_uri()}
        for _line in lines(command, self.stop, {"PIP_NO_INDEX": "1", **variables}):
            pass

    def _finished_wheels(self) -> Iterator[str]:
        from packaging.utils import InvalidWheelFilename, parse_wheel_filename

        for wheel in self.folder.glob("*.whl"):
            try:
                name, version, _build, _tags = parse_wheel_filename(wheel.name)
            except InvalidWheelFilename:
                continue
            yield f"{name}=={version}"

    def _run(self, *arguments: str) -> None:
        for _line in self._lines(*arguments):
            pass

    def _lines(self, *arguments: str) -> Generator[str, None, None]:
        return lines([str(self.python), "-m", "pip", *arguments], self.stop)


def _pin(metadata: dict[str, str]) -> Pinned:
    """Return name and version as the names of wheels have them."""
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    return Pinned(canonicalize_name(metadata["name"]), str(Version(metadata["version"])))


def run_uv(
    command: Sequence[str], stop: threading.Event, variables: dict[str, str] | None = None
) -> Generator[PackagesEvent, None, None]:
    """Run a command in which uv installs packages, and parse its output into events."""
    fetched, changed = 0, []
    yield PackagesAdvanced("resolving", "", 0, 0)
    for line in lines(command, stop, variables):
        if _RESOLVED.match(line):
            yield PackagesAdvanced("fetching", "", 0, 0)
        elif match := _FETCHING.match(line):
            yield PackagesAdvanced("fetching", match[1], fetched, 0)
        elif match := _FETCHED.match(line):
            fetched += 1
            yield PackagesAdvanced("fetching", match[1], fetched, 0)
        elif line.startswith("Prepared "):
            yield PackagesAdvanced("installing", "", fetched, 0)
        elif match := _CHANGED.match(line):
            changed.append(f"{match[1]} {match[2]}")
    yield PackagesInstalled(tuple(changed))
