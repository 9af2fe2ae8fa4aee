"""Measures what the base and each extra cost to install, and prints a Markdown table.

    scripts/bench install [--installer pip|uv] [--python PYTHON] [--constraint FILE] [EXTRA…]

The wheel is built, and installed into a new environment for the base and for each extra, from where pip or uv is set up
to take packages; nothing comes out of a cache. Seconds are those of resolving, of fetching and of installing; MB are
what the environment takes on the disk beyond an empty one. Ratios are to the base. Which build of PyTorch was taken is
told: pip takes the one with CUDA, unless an index or a constraint leads it to another.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.benchmarks import _frame
from scripts.benchmarks._frame import Table

ROOT = Path(__file__).resolve().parents[2]
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


@dataclass(frozen=True)
class Cost:
    """What one installation took."""

    name: str
    packages: int
    megabytes: float
    resolving: float
    fetching: float
    installing: float
    note: str = ""

    @property
    def seconds(self) -> float:
        return self.resolving + self.fetching + self.installing


class InstallationError(Exception):
    """An installer has failed; the text is the end of what it said."""


def run(arguments: Sequence[str], variables: Mapping[str, str] | None = None) -> tuple[str, float]:
    """The output of a program, and its seconds."""
    began = time.monotonic()
    ended = subprocess.run(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(variables or {})},
        check=False,
    )
    if ended.returncode:
        raise InstallationError(" ".join(ended.stdout.split())[-300:])
    return ended.stdout, time.monotonic() - began


def by_pip(python: Path, requirement: str, folder: Path, constraint: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of resolving, fetching and installing."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    report = folder / "report.json"
    _output, resolving = run([*pip, "install", "--dry-run", "--report", str(report), *constraint, requirement])
    entries = json.loads(report.read_text(encoding="utf-8"))["install"]
    packages = [(each["metadata"]["name"], each["metadata"]["version"]) for each in entries]
    # the wheel of this program is a file already
    requirements = [f"{name}=={version}" for name, version in packages if name != "subtitle-rag"]
    wheels = folder / "wheels"
    _output, fetching = run([*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), *requirements])
    offline = ["install", "--no-deps", "--no-index", "--find-links", str(wheels)]
    _output, installing = run([*pip, *offline, requirement, *requirements])
    return resolving, fetching, installing


def by_uv(python: Path, requirement: str, folder: Path, constraint: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of resolving, fetching and installing, as uv tells them; bytecode is made, as pip makes it."""
    command = ["uv", "pip", "install", "--python", str(python), "--compile-bytecode", *constraint]
    if sys.platform == "linux" and "[neural]" in requirement:
        from subtitle_rag.installation.extras import wants_cpu_build
        from subtitle_rag.installation.install_command import CPU_BUILD

        command += CPU_BUILD if wants_cpu_build() else ()
    text, total = run([*command, requirement], {"UV_CACHE_DIR": str(folder / "cache"), "NO_COLOR": "1"})
    resolving, fetching = step_seconds(text, "Resolved"), step_seconds(text, "Prepared")
    return resolving, fetching, max(0.0, total - resolving - fetching)


def step_seconds(text: str, step: str) -> float:
    """The seconds that uv tells of a step: `Prepared 31 packages in 1m 2.5s`."""
    match = re.search(rf"^{step} .* in (.+)$", text, re.MULTILINE)
    parts = re.findall(r"([\d.]+)(ms|s|m)\b", match[1]) if match else []
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def size(folder: Path) -> float:
    """MB that the files take on the disk; one that has two names counts once."""
    files = {(status.st_dev, status.st_ino): status.st_blocks * 512 for status in statuses(folder)}
    return sum(files.values()) / 1e6


def statuses(folder: Path) -> Iterator[os.stat_result]:
    for folder_path, _folders, names in os.walk(folder):
        for name in names:
            yield os.lstat(os.path.join(folder_path, name))  # noqa: PTH118 - tens of thousands of files


def cost(name: str, requirement: str, folder_path: Path, options: argparse.Namespace) -> Cost:
    """Install into a new environment and measure."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder_path))
    try:
        environment = folder / "environment"
        if options.installer == "uv":
            run(["uv", "venv", "--python", options.python, str(environment)])
        else:
            run([options.python, "-m", "venv", str(environment)])
        empty = size(environment)
        python = environment / "bin" / "python"
        constraint = ["--constraint", str(options.constraint)] if options.constraint else []
        steps = (by_uv if options.installer == "uv" else by_pip)(python, requirement, folder, constraint)
        distributions = list(environment.glob("lib/python*/site-packages/*.dist-info"))
        builds = [each.name.removesuffix(".dist-info") for each in distributions if each.name.startswith("torch-")]
        return Cost(name, len(distributions), size(environment) - empty, *steps, note=", ".join(builds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(costs: Sequence[Cost]) -> None:
    """Print the table; the first cost is the base's."""
    base = costs[0]
    steps = ("resolving s", "fetching s", "installing s", "all s")
    table = Table("what", "packages", "MB", "to the base", *steps, "to the base")
    for entry in costs:
        seconds = [f"{value:.1f}" for value in (entry.resolving, entry.fetching, entry.installing, entry.seconds)]
        ratios = [f"{entry.megabytes / base.megabytes:.2f}", f"{entry.seconds / base.seconds:.2f}"]
        name = f"{entry.name} ({entry.note})" if entry.note else entry.name
        table.row(name, entry.packages, f"{entry.megabytes:,.0f}", ratios[0], *seconds, ratios[1])


def main() -> int:
    from subtitle_rag.installation.extras import EXTRAS

    parser = _frame.parser(__doc__)
    parser.add_argument("--installer", choices=("pip", "uv"), default="pip")
    parser.add_argument("--python", default=sys.executable, help="whose environments are made")
    parser.add_argument("--constraint", type=Path, help="versions that are taken, as requirements.lock has them")
    parser.add_argument("--folder", type=Path, help="for the environments, which need up to 6 GB")
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help=f"{', '.join(EXTRAS)}; all where none is named")
    options = parser.parse_args()
    names = options.extras or list(EXTRAS)
    if unknown := [name for name in names if name not in EXTRAS]:
        parser.error(f"there is no extra {', '.join(unknown)}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="bench-install-", dir=options.folder) as folder_path:
        run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder_path, str(ROOT)])
        (wheel,) = Path(folder_path).glob("*.whl")
        costs = []
        for name in ("base", *names):
            extra = "" if name == "base" else f"[{name}]"
            try:
                costs.append(cost(name, f"subtitle-rag{extra} @ {wheel.as_uri()}", Path(folder_path), options))
                last = costs[-1]
                print(f"{name}: {last.megabytes:,.0f} MB, {last.seconds:.0f} s", file=sys.stderr, flush=True)
            except InstallationError as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                failed = True
                if not costs:
                    return 1
    print(f"\n{options.installer}, {sys.platform}, Python of {options.python}\n")
    show(costs)
    return int(failed)
