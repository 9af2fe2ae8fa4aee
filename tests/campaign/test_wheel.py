"""The wheel, as it is built and installed: in an empty environment outside the repository, with nobody's settings.

pip takes the dependencies from where it is set up to take them, so these tests need the network.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

import subtitle_rag
from scripts._documents import LINK
from tests.support.hermetic import started_environment
from tests.support.invented import end_hosts

pytestmark = [
    pytest.mark.campaign(part="wheel"),
    pytest.mark.hosts,
    pytest.mark.outside,
    pytest.mark.xdist_group("wheel"),  # one worker builds and installs it
]

ROOT = Path(__file__).resolve().parents[2]
FRAME_S = 60.0
"""A first start reads its modules from a cold disk."""
CTRL_Q = b"\x11"
STEERING = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")


def outside() -> dict[str, str]:
    """The environment in which the tests were started, with pip's settings and without what leads to this tree."""
    return {
        name: value for name, value in started_environment().items() if not name.startswith(("SUBTITLE_RAG_", "PYTHON"))
    }


def built(folder: Path, *kinds: str) -> list[Path]:
    command = [sys.executable, "-m", "build", *kinds, "--outdir", str(folder), str(ROOT)]
    ended = subprocess.run(command, capture_output=True, text=True, env=outside(), cwd=folder, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it."""
    sdist, wheel = sorted(built(tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix)
    return sdist, wheel


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, a home, and nothing of whoever runs the tests."""

    bin: Path
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        """All that the program gets to see, as with `env -i`; no Ollama is asked."""
        return {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "SUBTITLE_RAG_OLLAMA": "", "LC_ALL": "C.UTF-8"}

    @property
    def home(self) -> Path:
        return self.folder / "library"

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.bin / arguments[0]), *arguments[1:]],
            capture_output=True,
            encoding="utf-8",
            env=self.variables,
            cwd=self.folder,
            timeout=300,
            check=False,
        )

    def command(self, *arguments: str) -> str:
        """What the program prints; it must succeed."""
        ended = self.run("subtitle-rag", "--home", str(self.home), *arguments)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def installed(dist: tuple[Path, Path]) -> Iterator[Installed]:
    with tempfile.TemporaryDirectory(prefix="wheel-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], env=outside(), check=True)
        made = Installed(folder / "venv" / "bin", folder / "home")
        made.folder.mkdir()
        pip = [str(made.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
        pinned = folder / "constraints.txt"
        pinned.write_text("\n".join(line.partition(" --hash")[0] for line in lock) + "\n", encoding="utf-8")
        constraints = ["--constraint", str(pinned)]
        ended = subprocess.run(
            [*pip, *constraints, str(dist[1])], capture_output=True, text=True, env=outside(), cwd=folder, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        yield made
        end_hosts([made.home / "data" / "index", made.home / "cache" / "demo" / "data" / "index"])


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_sdist_builds_the_same_wheel_as_the_working_tree(dist: tuple[Path, Path], tmp_path: Path) -> None:
    (direct,) = built(tmp_path, "--wheel")
    assert direct.name == dist[1].name
    assert contents(direct) == contents(dist[1])


def test_what_the_repository_has_of_the_package_is_in_both(dist: tuple[Path, Path]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "subtitle_rag", "models"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
        env=outside(),
    )
    tracked = set(filter(None, listed.stdout.split("\0")))
    assert tracked
    compiled = {re.sub(r"\.po$", ".mo", name) for name in tracked}
    assert compiled != tracked
    in_wheel = set(contents(dist[1]))
    assert {re.sub("^models/", "subtitle_rag/models_data/", name) for name in compiled} <= in_wheel
    assert not [name for name in in_wheel if name.endswith(".po")]
    with tarfile.open(dist[0]) as archive:
        packed = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    assert tracked <= packed
    assert {"pyproject.toml", "requirements.lock", "Makefile", "LICENSE", "CHANGELOG.md"} <= packed
    assert {"README.md", "README.en.md", "docs/start.md", "docs/reference/settings.md"} <= packed


def test_the_index_of_packages_takes_both_files(dist: tuple[Path, Path]) -> None:
    checks = (
        ("twine", "check", "--strict", *map(str, dist)),
        ("check_wheel_contents", "--config", str(ROOT / "pyproject.toml"), str(dist[1])),
    )
    for check in checks:
        ended = subprocess.run(
            [sys.executable, "-m", *check], capture_output=True, text=True, env=outside(), check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_page_of_the_index_links_to_the_projects_home_alone(dist: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(dist[1]) as wheel:
        metadata = wheel.read(f"subtitle_rag-{subtitle_rag.__version__}.dist-info/METADATA").decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    home = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["home"]
    links = [first or second for first, second in LINK.findall(metadata)]
    inner = [link.removeprefix(home) for link in links if link.startswith(home)]
    assert [link for link in links if "://" not in link] == []
    paths = [re.sub(rf"^/(blob|raw)/v{re.escape(subtitle_rag.__version__)}/|#.*", "", link) for link in inner]
    assert len(paths) > 3
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert {f"Project-URL: Source, {home}", "Requires-Python: >=3.11"} <= set(metadata.splitlines())


def test_the_wheel_holds_no_tests_and_no_scripts(dist: tuple[Path, Path]) -> None:
    places = {name.partition("/")[0] for name in contents(dist[1])}
    assert places == {"subtitle_rag", f"subtitle_rag-{subtitle_rag.__version__}.dist-info"}


def test_the_program_that_runs_is_the_installed_one(installed: Installed) -> None:
    place = installed.run("python", "-c", "import subtitle_rag; print(subtitle_rag.__file__)").stdout
    assert Path(place.strip()).is_relative_to(installed.bin.parent)
    assert subtitle_rag.__version__ in installed.run("subtitle-rag", "--version").stdout.split()


def test_it_speaks_korean(installed: Installed) -> None:
    assert "자막" in installed.run("subtitle-rag", "--language", "ko", "--help").stdout


def test_the_demo_finds_a_scene(installed: Installed) -> None:
    scenes = json.loads(installed.command("demo", "--json"))["result"]["scenes"]
    assert any("치킨" in scene["text"] for scene in scenes)


@pytest.fixture(scope="module")
def indexed(installed: Installed) -> Installed:
    """With the sample that came with the wheel in its library."""
    code = "from importlib.resources import files; print(files('subtitle_rag') / 'sample')"
    sample = installed.run("python", "-c", code).stdout.strip()
    result = json.loads(installed.command("index", sample, "--json"))["result"]
    assert (result["videos"]["new"], result["videos"]["failed"]) == (9, 0)
    return installed


def test_a_scene_of_the_sample_is_found_and_has_a_link(indexed: Installed) -> None:
    scenes = json.loads(indexed.command("search", "소스에 찍어 먹는 치킨", "--json"))["result"]["scenes"]
    assert "맵단짠 치킨" in scenes[0]["video"]["title"]
    link = indexed.command("open", f"{scenes[0]['video']['id']}@0:30", "--print").strip()
    assert link.endswith("?t=30")


def test_the_app_draws_its_first_frame_and_ends(indexed: Installed) -> None:
    assert frame(indexed, "영상 9편", [CTRL_Q]) == 0


def test_the_models_that_are_offered_are_listed(installed: Installed) -> None:
    assert "BAAI/bge-m3" in installed.command("models", "list")


def test_doctor_finds_no_fault(installed: Installed) -> None:
    checks = json.loads(installed.command("doctor", "--offline", "--json"))["result"]["checks"]
    assert checks
    assert not [check for check in checks if check["severity"] == "error"]


def frame(installed: Installed, text: str, keys: Sequence[bytes]) -> int:
    """Open the app in a terminal, wait until it has drawn `text`, press keys, and tell how it ends."""
    command = [str(installed.bin / "subtitle-rag"), "--home", str(installed.home), "--language", "ko"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(installed.folder)
        terminal_kind = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        os.execve(command[0], command, {**installed.variables, **terminal_kind})
    drawn, deadline = b"", time.monotonic() + FRAME_S
    pressed = False
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                read = os.read(terminal, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not read:
                break
            drawn += read
            if not pressed and text in STEERING.sub("", drawn.decode("utf-8", errors="replace")):
                pressed = True
                for key in keys:
                    os.write(terminal, key)
        assert pressed, drawn[-2000:]
        assert b"Traceback" not in drawn
        ended, status = os.waitpid(pid, os.WNOHANG if time.monotonic() > deadline else 0)
        assert ended, "the app does not end"
        return os.waitstatus_to_exitcode(status)
    finally:
        os.close(terminal)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
