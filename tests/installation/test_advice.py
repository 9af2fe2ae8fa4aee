"""The lines that users are told to type, for every way in which a copy came."""

import shlex
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PureWindowsPath
from typing import get_args

import pytest

from subtitle_rag.installation import advice, extras
from subtitle_rag.installation.advice import CPU_BUILD, TORCH_PAGE, install_steps, missing_extra, upgrade_line
from subtitle_rag.installation.environment import Environment, Installer, Origin
from subtitle_rag.installation.extras import EXTRAS, NEURAL, WEB, Extra

PREFIX = Path("/e/subtitle-rag")
PYTHON = PREFIX / "bin" / "python"
SERVE = "'textual-serve<2,>=1.1.3'"
BY_INDEX = {
    "pip": "/e/subtitle-rag/bin/python -m pip install 'subtitle-rag[web]'",
    "uv": "uv pip install --python /e/subtitle-rag/bin/python 'subtitle-rag[web]'",
    "uv tool": "uv tool install 'subtitle-rag[web]'",
    "pipx": f"pipx inject subtitle-rag {SERVE}",
    "uvx": "uvx --from 'subtitle-rag[web]' subtitle-rag",
    "system": "/e/subtitle-rag/bin/python -m pip install 'subtitle-rag[web]'",
}


def of(installer: Installer, origin: Origin | None = None, **more: object) -> Environment:
    more = {"uses_uv": installer == "uvx"} | more
    return Environment(installer, PREFIX, PYTHON, origin or Origin(), **more)  # type: ignore[arg-type]


@pytest.fixture
def wheel(tmp_path: Path) -> Origin:
    """A wheel that is still where the copy came from."""
    (tmp_path / "a.whl").touch()
    return Origin((tmp_path / "a.whl").as_uri())


@pytest.fixture
def on_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Linux with no GPU; the file that a driver would have."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(extras, "GPU_FILES", (str(tmp_path / "nvidiactl"), str(tmp_path / "kfd")))
    return tmp_path / "kfd"


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "find_spec", lambda name: None if name == "torch" else find_spec(name))


@pytest.mark.parametrize("installer", get_args(Installer))
def test_a_copy_from_an_index_gets_the_extra_from_there(installer: Installer) -> None:
    assert install_steps(WEB, of(installer)) == BY_INDEX[installer]


@pytest.mark.parametrize("installer", get_args(Installer))
def test_a_copy_from_a_wheel_gets_it_from_that(installer: Installer, wheel: Origin) -> None:
    expected = BY_INDEX[installer].replace("subtitle-rag[web]", f"subtitle-rag[web] @ {wheel.url}")
    assert install_steps(WEB, of(installer, wheel)) == expected


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=list(EXTRAS))
@pytest.mark.parametrize("installer", get_args(Installer))
@pytest.mark.parametrize("gone", [False, True], ids=["here", "gone"])
@pytest.mark.parametrize("place", ["wheel", "folder", "linked"])
def test_no_copy_from_elsewhere_is_told_to_ask_an_index_for_this_program(
    extra: Extra, installer: Installer, gone: bool, place: str, tmp_path: Path
) -> None:
    path = tmp_path / ("a.whl" if place == "wheel" else "src")
    if not gone:
        path.touch() if place == "wheel" else path.mkdir()
    environment = of(installer, Origin(path.as_uri(), editable=place == "linked"))
    line = install_steps(extra, environment)
    words = shlex.split(line.rpartition("; then ")[2])
    names = [word for at, word in enumerate(words) if word.startswith("subtitle-rag") and "@" not in word]
    # pipx names its environment so, and the last word after --from is the command
    assert names in ([], ["subtitle-rag"])
    assert not any(word.startswith("subtitle-rag[") for word in names)
    if names:
        assert words[0] in ("pipx", "uvx")
        assert "install" not in words


@pytest.mark.parametrize(
    ("installer", "line"),
    [
        ("pip", f"/e/subtitle-rag/bin/python -m pip install {SERVE}"),
        ("uv", f"uv pip install --python /e/subtitle-rag/bin/python {SERVE}"),
        ("uv tool", f"uv pip install --python /e/subtitle-rag/bin/python {SERVE}"),
        ("pipx", f"pipx inject subtitle-rag {SERVE}"),
    ],
)
def test_where_the_wheel_has_gone_the_extras_own_packages_are_named(installer: Installer, line: str) -> None:
    assert install_steps(WEB, of(installer, Origin("file:///nowhere/a.whl"))) == line


def test_a_tool_of_uvs_keeps_what_it_has_on_record() -> None:
    tool = of("uv tool", extras=("mcp",), companions=("rich>=14",), request="3.12")
    expected = "uv tool install --python 3.12 --with 'rich>=14' 'subtitle-rag[mcp,web]'"
    assert install_steps(WEB, tool) == expected


def test_an_editable_copy_stays_one_but_not_with_uvx(tmp_path: Path) -> None:
    linked = Origin(tmp_path.as_uri(), editable=True)
    assert install_steps(WEB, of("uv tool", linked)) == f"uv tool install --editable '{tmp_path}[web]'"
    assert install_steps(WEB, of("uvx", linked)) == f"uvx --from '{tmp_path}[web]' subtitle-rag"


def test_pipx_run_is_told_of_pipx_run() -> None:
    assert install_steps(WEB, of("uvx", uses_uv=False)) == "pipx run --spec 'subtitle-rag[web]' subtitle-rag"


def test_where_pip_refuses_pipx_makes_an_environment() -> None:
    managed = of("system", externally_managed=True)
    assert install_steps(WEB, managed) == "pipx install 'subtitle-rag[web]'"
    assert upgrade_line("yt-dlp", managed) == "pipx install subtitle-rag"


class TestRepository:
    @pytest.fixture
    def clone(self, tmp_path: Path) -> Environment:
        root = tmp_path / "my clone"
        (root / "scripts").mkdir(parents=True)
        (root / "scripts" / "start").touch()
        return replace(of("pip", Origin(root.as_uri(), editable=True)), prefix=root / ".venv")

    def test_its_script_installs(self, clone: Environment) -> None:
        begin = f"cd '{clone.repository}' && ./scripts/start"
        assert install_steps(WEB, clone) == f"{begin} --with web"
        assert install_steps(NEURAL, clone) == f"{begin} --neural"

    def test_its_script_takes_no_cuda_by_itself(self, clone: Environment, on_linux: Path, without_torch: None) -> None:
        assert TORCH_PAGE not in install_steps(NEURAL, clone)


class TestCpuBuild:
    """PyTorch for Linux comes with gigabytes of CUDA, unless it is asked for otherwise."""

    @pytest.fixture(autouse=True)
    def bare_linux(self, on_linux: Path, without_torch: None) -> Path:
        return on_linux

    @pytest.mark.parametrize(
        ("environment", "line"),
        [
            (of("uv"), "uv pip install --python /e/subtitle-rag/bin/python --torch-backend cpu 'subtitle-rag[neural]'"),
            (of("uv tool"), "uv tool install --torch-backend cpu 'subtitle-rag[neural]'"),
            (of("uvx"), "uvx --torch-backend cpu --from 'subtitle-rag[neural]' subtitle-rag"),
            (of("uvx", uses_uv=False), "uvx --torch-backend cpu --from 'subtitle-rag[neural]' subtitle-rag"),
            (of("system", externally_managed=True), "uv tool install --torch-backend cpu 'subtitle-rag[neural]'"),
        ],
        ids=["uv", "uv tool", "uvx", "pipx run", "managed"],
    )
    def test_uv_is_told_so(self, environment: Environment, line: str) -> None:
        assert install_steps(NEURAL, environment) == line

    def test_the_uv_of_pipx_is_told_by_a_variable(self) -> None:
        line = install_steps(NEURAL, of("pipx", uses_uv=True))
        assert line.startswith("UV_TORCH_BACKEND=cpu pipx inject subtitle-rag ")
        assert "'torch>=2.13'" in line

    @pytest.mark.parametrize("installer", ["pip", "pipx", "system"])
    def test_pip_gets_pytorch_first(self, installer: Installer) -> None:
        said = install_steps(NEURAL, of(installer))
        first, _then, line = said.partition("; then ")
        assert TORCH_PAGE in first
        assert str(PYTHON) in first
        assert line == advice.install_line(NEURAL, of(installer))

    def test_pip_keeps_a_pytorch_that_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(advice, "find_spec", lambda name: object())
        assert install_steps(NEURAL, of("pip")).endswith("-m pip install 'subtitle-rag[neural]'")

    @pytest.mark.parametrize("installer", get_args(Installer))
    def test_a_gpus_driver_or_another_system_takes_the_usual_build(
        self, installer: Installer, bare_linux: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert extras.wants_cpu_build()
        monkeypatch.setattr(sys, "platform", "darwin")
        elsewhere = install_steps(NEURAL, of(installer))
        monkeypatch.setattr(sys, "platform", "linux")
        bare_linux.touch()
        assert install_steps(NEURAL, of(installer)) == elsewhere
        assert "cpu" not in elsewhere
        assert TORCH_PAGE not in elsewhere

    @pytest.mark.parametrize("extra", [extra for extra in EXTRAS.values() if extra is not NEURAL], ids=lambda e: e.name)
    def test_other_extras_bring_no_pytorch(self, extra: Extra) -> None:
        line = install_steps(extra, of("uv tool"))
        assert CPU_BUILD[0] not in line


@pytest.mark.parametrize(
    ("installer", "line"),
    [
        ("pip", "/e/subtitle-rag/bin/python -m pip install --upgrade yt-dlp"),
        ("system", "/e/subtitle-rag/bin/python -m pip install --upgrade yt-dlp"),
        ("uv", "uv pip install --python /e/subtitle-rag/bin/python --upgrade yt-dlp"),
        ("uv tool", "uv pip install --python /e/subtitle-rag/bin/python --upgrade yt-dlp"),
        ("pipx", "pipx runpip subtitle-rag install --upgrade yt-dlp"),
        ("uvx", "uvx --refresh --from subtitle-rag subtitle-rag"),
    ],
)
def test_one_package_is_updated(installer: Installer, line: str) -> None:
    assert upgrade_line("yt-dlp", of(installer)) == line


def test_pipx_run_is_made_anew() -> None:
    line = upgrade_line("yt-dlp", of("uvx", uses_uv=False))
    assert line == "pipx run --no-cache --spec subtitle-rag subtitle-rag"


def test_each_system_quotes_in_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Environment("pip", Path("/my files"), Path("/my files/it's python"))
    words = ["/my files/it's python", "-m", "pip", "install", "--upgrade", "a[b]>=1"]
    assert shlex.split(upgrade_line("a[b]>=1", here)) == words
    monkeypatch.setattr(sys, "platform", "win32")
    windows = upgrade_line("yt-dlp", Environment("pip", Path("C:/"), PureWindowsPath("C:\\Program Files\\python.exe")))  # type: ignore[arg-type]
    assert windows == '"C:\\Program Files\\python.exe" -m pip install --upgrade yt-dlp'


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=list(EXTRAS))
def test_what_is_missing_is_told_in_a_sentence_with_the_line(extra: Extra) -> None:
    error = missing_extra(extra)
    assert error.code == f"{extra.name}_missing"
    assert install_steps(extra) in error.hint
