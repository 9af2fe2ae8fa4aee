"""The wheel by every installer: the base runs, what is missing is told with the line, extras and yt-dlp come by it.

uv and pipx come from the index that pip is set up to use, into a folder of the tests; so these tests need the network.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.campaign.test_wheel import CTRL_Q, Installed, dist, frame
from tests.support.hermetic import ROOT, started_environment
from tests.support.invented import end_hosts

__all__ = ["dist"]

pytestmark = [pytest.mark.campaign(part="install"), pytest.mark.hosts, pytest.mark.outside]

KEPT = re.compile(r"(PIP|UV|SSL)_|(http|https|no|all)_proxy$", re.IGNORECASE)
"""Variables that lead installers to where packages are."""
VERSIONS = """
import json
from importlib.metadata import distributions
print(json.dumps({each.name: each.version for each in distributions()}))
"""
WAYS = ("pip", "sdist", "uv", "uv tool", "pipx with pip", "pipx with uv")
OTHERS = ("3.12", "3.13", "3.14")
TOO_OLD = "3.10"


@dataclass(frozen=True)
class Copy(Installed):
    """A copy of the program as one installer has made it."""

    installer: str
    python: Path
    source: Path
    """The wheel or sdist from which it came."""
    paths: str
    """Where its installer is."""
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        return {**super().variables, **self.more, "PATH": os.pathsep.join((self.paths, "/usr/bin", "/bin"))}

    @property
    def versions(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(done([str(self.python), "-c", VERSIONS], self.variables))
        return found

    def result(self, *arguments: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.command(*arguments, "--json"))["result"]
        return found


def done(command: Sequence[str], variables: Mapping[str, str]) -> str:
    """What a program prints; it must succeed."""
    ended = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=variables, cwd=variables["HOME"], check=False
    )
    assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="install-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def tools(root: Path) -> Path:
    """The folder of uv and pipx."""
    variables = {**kept(), "HOME": str(root), "PATH": "/usr/bin:/bin"}
    done([sys.executable, "-m", "venv", str(root / "tools")], variables)
    done([str(root / "tools" / "bin" / "python"), "-m", "pip", "install", "--quiet", "uv", "pipx"], variables)
    return root / "tools" / "bin"


def python_of(version: str) -> str | None:
    """Return the interpreter of a version, if there is one that starts."""
    with suppress(OSError):
        found = subprocess.run(
            [f"python{version}", "-c", "import sys; print(sys.executable)"],
            capture_output=True,
            text=True,
            env=started_environment(),
            check=False,
        )
        return None if found.returncode else found.stdout.strip()
    return None


def kept() -> dict[str, str]:
    return {name: value for name, value in started_environment().items() if KEPT.match(name)}


def bare(root: Path, tools: Path, installer: str) -> dict[str, str]:
    """What an installer gets to see: a home of its own, and one cache for all."""
    home = root / installer.replace(" ", "-") / "home"
    home.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join((str(tools), "/usr/bin", "/bin"))
    cache = {
        "UV_CACHE_DIR": str(root / "cache-of-uv"),
        "PIP_CACHE_DIR": str(root / "cache-of-pip"),
        "UV_PYTHON_DOWNLOADS": "never",
    }
    return {**kept(), **cache, "HOME": str(home), "PATH": path, "LC_ALL": "C.UTF-8"}


def made(installer: str, root: Path, tools: Path, dist: tuple[Path, Path], base: str = sys.executable) -> Copy:
    """Have the program installed, the base alone, by one installer."""
    variables = bare(root, tools, installer)
    home, source = Path(variables["HOME"]), dist[installer != "sdist"]
    more = {name: variables[name] for name in ("UV_CACHE_DIR", "PIP_CACHE_DIR")} | kept()
    match installer:
        case "uv tool":
            done([str(tools / "uv"), "tool", "install", "--quiet", "--python", base, str(source)], variables)
            folder = home / ".local" / "share" / "uv" / "tools" / "subtitle-rag"
        case "pipx with pip" | "pipx with uv":
            command = [str(tools / "pipx"), "install", "--backend", installer.rpartition(" ")[2], "--python", base]
            done([*command, str(source)], variables)
            folder = Path(done([str(tools / "pipx"), "environment", "--value", "PIPX_LOCAL_VENVS"], variables).strip())
            folder /= "subtitle-rag"
        case "uv":
            folder = home / "environment"
            done([str(tools / "uv"), "venv", "--quiet", "--python", base, str(folder)], variables)
            install = [str(tools / "uv"), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
            done([*install, str(source)], variables)
        case _:
            folder = home / "environment"
            done([base, "-m", "venv", str(folder)], variables)
            done([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", str(source)], variables)
    return Copy(folder / "bin", home, installer, folder / "bin" / "python", source, str(tools), more)


@pytest.fixture(scope="module", params=WAYS)
def copy(request: pytest.FixtureRequest, root: Path, tools: Path, dist: tuple[Path, Path]) -> Iterator[Copy]:
    copy = made(request.param, root, tools, dist)
    yield copy
    end_hosts([copy.home / "data" / "index", copy.home / "cache" / "demo" / "data" / "index"])


def sample(copy: Copy) -> str:
    code = "from importlib.resources import files; print(files('subtitle_rag') / 'sample')"
    return done([str(copy.python), "-c", code], copy.variables).strip()


def test_the_base_runs_from_the_demo_to_the_first_frame(copy: Copy) -> None:
    assert not {"torch", "qdrant-client", "mcp"} & set(copy.versions)
    scenes = json.loads(copy.command("demo", "--json"))["result"]["scenes"]
    assert any("치킨" in scene["text"] for scene in scenes)
    videos = copy.result("index", sample(copy))["videos"]
    assert isinstance(videos, dict)
    assert (videos["new"], videos["failed"]) == (9, 0)
    found = json.loads(copy.command("search", "소스에 찍어 먹는 치킨", "--json"))["result"]["scenes"]
    assert "맵단짠 치킨" in found[0]["video"]["title"]
    assert frame(copy, "영상 9편", [CTRL_Q]) == 0


def test_what_is_missing_is_told_with_the_line(copy: Copy) -> None:
    questions = copy.folder / "questions.jsonl"
    questions.write_text('{"query": "치킨", "relevant": ["none"]}\n', encoding="utf-8")
    config = copy.folder / "other"
    config.mkdir()
    (config / "config.toml").write_text('[qdrant]\nurl = "http://127.0.0.1:9"\n[models]\nencoder = "BAAI/bge-m3"\n')
    needing = {
        "mcp": ["mcp"],
        "eval": ["eval", "run", str(questions)],
        "server": ["--home", str(config), "search", "치킨"],
        "neural": ["models", "get", "BAAI/bge-m3"],
    }
    for extra, arguments in needing.items():
        ended = copy.run("subtitle-rag", *arguments)
        assert ended.returncode, (extra, ended.stdout)
        assert "Traceback" not in ended.stderr
        assert f"(extra {extra})" in ended.stderr, ended.stderr
        by_others = {"uv tool": "uv tool install", "pipx with pip": "pipx inject", "pipx with uv": "pipx inject"}
        line = by_others.get(copy.installer, f"subtitle-rag self add {extra}")
        assert line in ended.stderr, ended.stderr


def test_an_extra_is_added_or_the_line_is_told_and_all_else_stays(copy: Copy, tools: Path) -> None:
    before = copy.versions
    if copy.installer in ("uv tool", "pipx with pip", "pipx with uv"):
        refused = copy.run("subtitle-rag", "self", "add", "mcp")
        assert refused.returncode == 1
        done(["bash", "-c", refused.stderr.splitlines()[-1].partition(": ")[2]], copy.variables)
    else:
        assert copy.result("self", "add", "mcp") == {"extra": "mcp"}
    after = copy.versions
    assert {name: after.get(name) for name in before} == before
    assert "mcp" in after
    assert copy.result("self", "add", "mcp") == {"extra": "mcp"}
    checks = json.loads(copy.command("doctor", "--offline", "--json"))["result"]["checks"]
    assert "extras: mcp" in next(check["message"] for check in checks if check["name"] == "packages")


def test_the_installer_knows_the_extra_afterwards(copy: Copy, tools: Path) -> None:
    installed = copy.versions["mcp"]
    variables = copy.variables
    if copy.installer == "uv tool":
        assert "mcp" in (copy.bin.parent / "uv-receipt.toml").read_text()
        done([str(tools / "uv"), "tool", "upgrade", "subtitle-rag"], variables)
    elif copy.installer.startswith("pipx"):
        assert "mcp" in done([str(tools / "pipx"), "list", "--include-injected"], variables)
    assert copy.versions["mcp"] == installed


@pytest.mark.parametrize("installer", ["uvx", "pipx run"])
def test_what_passes_by_itself_runs_and_refuses_with_the_line(
    installer: str, root: Path, tools: Path, dist: tuple[Path, Path]
) -> None:
    variables = {**bare(root, tools, installer), "SUBTITLE_RAG_OLLAMA": ""}
    wheel = str(dist[1])
    command = [str(tools / "uvx"), "--quiet", "--python", sys.executable, "--from", wheel, "subtitle-rag"]
    if installer == "pipx run":
        backend = ["--quiet", "--backend", "pip", "--python", sys.executable]
        command = [str(tools / "pipx"), "run", *backend, "--spec", wheel, "subtitle-rag"]
    home = Path(variables["HOME"]) / "library"
    try:
        scenes = json.loads(done([*command, "--home", str(home), "demo", "--json"], variables))["result"]["scenes"]
        assert any("치킨" in scene["text"] for scene in scenes)
    finally:
        end_hosts([home / "cache" / "demo" / "data" / "index"])
    refused = subprocess.run(
        [*command, "self", "add", "mcp"],
        capture_output=True,
        encoding="utf-8",
        env=variables,
        cwd=variables["HOME"],
        check=False,
    )
    assert refused.returncode == 1
    assert f"uvx --from 'subtitle-rag[mcp] @ {dist[1].as_uri()}' subtitle-rag" in refused.stderr


def test_a_system_python_is_never_written_to(root: Path, tools: Path, dist: tuple[Path, Path]) -> None:
    """The program lies in a folder of its own, as where somebody has installed it for all users."""
    variables = {**bare(root, tools, "system"), "SUBTITLE_RAG_OLLAMA": ""}
    base = str(sys._base_executable)  # type: ignore[attr-defined]
    folder = root / "for-all"
    done([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), str(dist[1])], variables)
    before = sorted(path.name for path in folder.iterdir())
    refused = subprocess.run(
        [base, "-m", "subtitle_rag", "self", "add", "mcp"],
        capture_output=True,
        encoding="utf-8",
        env={**variables, "PYTHONPATH": str(folder)},
        cwd=variables["HOME"],
        check=False,
    )
    assert refused.returncode == 1
    assert "cannot install packages by itself" in refused.stderr
    assert "install" in refused.stderr.splitlines()[-1]
    assert sorted(path.name for path in folder.iterdir()) == before


def test_other_pythons_that_are_here_run_it(
    root: Path, tools: Path, dist: tuple[Path, Path], record_testsuite_property: Callable[[str, object], None]
) -> None:
    tried = []
    for version in OTHERS:
        if (base := python_of(version)) is None:
            continue
        installer = f"pip of {version}"
        copy = made(installer, root, tools, dist, base)
        try:
            scenes = json.loads(copy.command("demo", "--json"))["result"]["scenes"]
            assert any("치킨" in scene["text"] for scene in scenes)
            copy.result("index", sample(copy))
            assert frame(copy, "영상 9편", [CTRL_Q]) == 0
        finally:
            end_hosts([copy.home / "data" / "index", copy.home / "cache" / "demo" / "data" / "index"])
        tried.append(version)
    record_testsuite_property("pythons", ", ".join(tried) or "that of the tests alone")


def test_a_clone_tells_a_python_that_is_too_old_which_is_wanted(
    root: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    base = python_of(TOO_OLD)
    record_testsuite_property("too old", base or "none is here")
    if base is None:
        return
    variables = {**kept(), "HOME": str(root), "PATH": "/usr/bin:/bin"}
    done([base, "-m", "venv", str(root / "too-old")], variables)
    refused = subprocess.run(
        [str(root / "too-old" / "bin" / "python"), "-m", "pip", "install", str(ROOT)],
        capture_output=True,
        encoding="utf-8",
        env=variables,
        cwd=root,
        check=False,
    )
    assert refused.returncode
    assert re.search(r"Python 3\.11 or newer|requires a different Python: \S+ not in '>=3\.11'", refused.stderr)
