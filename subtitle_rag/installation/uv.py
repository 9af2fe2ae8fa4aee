"""Packages brought by uv, which caches its downloads and can choose PyTorch without CUDA."""

import re
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from subtitle_rag.domain import PackagesAdvanced, PackagesEvent, PackagesInstalled
from subtitle_rag.installation.process import lines

_RESOLVED = re.compile(r"^Resolved (\d+) packages?")
_FETCHING = re.compile(r"^\s*(?:Downloading|Building) ([\w.-]+)")
_FETCHED = re.compile(r"^\s*(?:Downloaded|Built) ([\w.-]+)")
_CHANGED = re.compile(r"^ [+~] ([\w.-]+)==([\w.+!-]+)")


@dataclass(frozen=True, slots=True)
class Uv:
    """The uv at `program`, for the environment of the interpreter `python`; `constraints` is a file."""

    program: str
    python: Path
    constraints: Path
    stop: threading.Event

    def add(
        self, requirements: Sequence[str], options: Sequence[str] = (), *, upgrade: str = ""
    ) -> Generator[PackagesEvent, None, None]:
        """Install the missing ones of the requirements; of the package `upgrade` the newest version.

        The last event is `PackagesInstalled`. Raises InstallerError, AppError `interrupted`.
        """
        command = [self.program, "pip", "install", "--python", str(self.python)]
        command += ["--constraint", str(self.constraints), *options]
        if upgrade:
            command += ["--upgrade-package", upgrade]
        yield from run_uv([*command, *requirements], self.stop)


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
