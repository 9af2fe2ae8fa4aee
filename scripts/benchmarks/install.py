"""Measures what the base and each extra cost to install, and prints a Markdown table.

    scripts/bench install [--installer pip|uv] [--python PYTHON] [--constraint FILE] [EXTRA…]

The wheel is built, and installed into a new environment for the base and for each extra, from where pip or uv is set up
to take packages; nothing comes out of a cache. MB are what the environment takes on the disk beyond an empty one, and
seconds those of the installer. Ratios are to the base. Which build of PyTorch was taken is told: pip takes the one with
CUDA, unless an index or a constraint leads it to another.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table, timed
from subtitle_rag.base.installation.extras import EXTRAS, wants_cpu_build
from subtitle_rag.base.installation.package_installer import CPU_BUILD

ROOT = Path(__file__).resolve().parents[2]


class Cost(NamedTuple):
    """Cost of one installation."""

    packages: int
    megabytes: float
    seconds: float
    torch: str
    """The installed build of PyTorch, if any."""


class InstallationError(Exception):
    """A failed installation, with the end of the installer's output."""


def run(arguments: Sequence[str]) -> None:
    ended = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode:
        raise InstallationError(" ".join(ended.stdout.split())[-300:])


def size(folder: Path) -> float:
    """Return the MB of the files on the disk, counting hard links once."""
    statuses = (os.lstat(os.path.join(path, name)) for path, _folders, names in os.walk(folder) for name in names)  # noqa: PTH118 - tens of thousands of files
    return sum({(status.st_dev, status.st_ino): status.st_blocks * 512 for status in statuses}.values()) / 1e6


def cost(requirement: str, options: argparse.Namespace) -> Cost:
    """Install into a new environment and measure."""
    with tempfile.TemporaryDirectory(dir=options.folder, ignore_cleanup_errors=True) as name:
        environment = Path(name) / "environment"
        python = environment / "bin" / "python"
        if options.installer == "uv":
            run(["uv", "venv", "--python", options.python, str(environment)])
            # compile, as pip does
            install = ["uv", "pip", "install", "--no-cache", "--python", str(python), "--compile-bytecode"]
            if sys.platform == "linux" and "[neural]" in requirement and wants_cpu_build():
                install += CPU_BUILD
        else:
            run([options.python, "-m", "venv", str(environment)])
            install = [str(python), "-m", "pip", "--no-cache-dir", "install"]
        if options.constraint:
            install += ["--constraint", str(options.constraint)]
        empty = size(environment)
        seconds = timed(lambda: run([*install, requirement]))
        distributions = [each.stem for each in environment.glob("lib/python*/site-packages/*.dist-info")]
        torch = next((each for each in distributions if each.startswith("torch-")), "")
        return Cost(len(distributions), size(environment) - empty, seconds, torch)


def main() -> int:
    parser = _frame.parser(__doc__)
    parser.add_argument("--installer", choices=("pip", "uv"), default="pip")
    parser.add_argument("--python", default=sys.executable, help="whose environments are made")
    parser.add_argument("--constraint", type=Path, help="versions that are taken, one a line")
    parser.add_argument("--folder", type=Path, help="for the environments, which need up to 6 GB")
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help=f"{', '.join(EXTRAS)}; all where none is named")
    options = parser.parse_args()
    names = options.extras or list(EXTRAS)
    if unknown := [name for name in names if name not in EXTRAS]:
        parser.error(f"there is no extra {', '.join(unknown)}")
    print(f"{options.installer}, {sys.platform}, Python of {options.python}\n")
    table = Table("what", "packages", "MB", "to the base", "s", "to the base")
    with tempfile.TemporaryDirectory(prefix="bench-install-", dir=options.folder) as folder:
        run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, str(ROOT)])
        (wheel,) = Path(folder).glob("*.whl")
        base = cost(f"subtitle-rag @ {wheel.as_uri()}", options)
        failed = False
        for name in ("base", *names):
            try:
                each = base if name == "base" else cost(f"subtitle-rag[{name}] @ {wheel.as_uri()}", options)
            except InstallationError as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                failed = True
                continue
            ratios = f"{each.megabytes / base.megabytes:.2f}", f"{each.seconds / base.seconds:.2f}"
            what = f"{name} ({each.torch})" if each.torch else name
            table.row(what, each.packages, f"{each.megabytes:,.0f}", ratios[0], f"{each.seconds:.0f}", ratios[1])
    return int(failed)
