"""The command for an extra or a newer package, and the line that users read, for every way in which a copy came."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path, PureWindowsPath
from typing import get_args

import pytest

from subtitle_rag.installation import extras, install_command
from subtitle_rag.installation.environment import Environment, Installer, Origin
from subtitle_rag.installation.extras import EXTRAS, NEURAL, WEB, YOUTUBE, Extra
from subtitle_rag.installation.install_command import (
    CPU_BUILD,
    TORCH_PAGE,
    extra_command,
    install_steps,
    missing_extra,
    upgrade_command,
)
from tests.installation.environments import program

PREFIX = Path("/e/subtitle-rag")
PYTHON = PREFIX / "bin" / "python"
SERVE = "'textual-serve<2,>=1.1.3'"
BY_INDEX = {
    "pip": f"/e/subtitle-rag/bin/python -m pip install {SERVE}",
    "uv": f"uv pip install --python /e/subtitle-rag/bin/python {SERVE}",
    "uv tool": "uv tool install 'subtitle-rag[web]'",
    "pipx": f"pipx inject subtitle-rag {SERVE}",
    "uvx": "uvx --from 'subtitle-rag[web]' subtitle-rag",
    "system": f"/e/subtitle-rag/bin/python -m pip install {SERVE}",
}


def of(installer: Installer, origin: Origin | None = None, **more: object) -> Environment:
    more = {"uses_uv": installer == "uvx"} | more
    return Environment(installer, PREFIX, PYTHON, origin or Origin(), **more)  # type: ignore[arg-type]


def line(extra: Extra, environment: Environment) -> str:
    return extra_command(extra, environment).line


@pytest.fixture
def wheel(tmp_path: Path) -> Origin:
    """A wheel that is still where the copy came from."""
    (tmp_path / "a.whl").touch()
    return Origin((tmp_path / "a.whl").as_uri())


@pytest.fixture
def bare_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Linux with no GPU and no PyTorch; the file that a driver would have."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(extras, "GPU_FILES", (str(tmp_path / "nvidiactl"), str(tmp_path / "kfd")))
    monkeypatch.setattr(install_command, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    return tmp_path / "kfd"


@pytest.mark.parametrize("installer", get_args(Installer))
def test_a_copy_from_an_index_gets_the_extra_from_there(installer: Installer) -> None:
    assert line(WEB, of(installer)) == BY_INDEX[installer]


@pytest.mark.parametrize("installer", get_args(Installer))
def test_a_copy_from_a_wheel_gets_it_from_that(installer: Installer, wheel: Origin) -> None:
    expected = BY_INDEX[installer].replace("subtitle-rag[web]", f"subtitle-rag[web] @ {wheel.url}")
    assert line(WEB, of(installer, wheel)) == expected


def test_a_tool_whose_wheel_has_gone_gets_the_extras_own_packages() -> None:
    assert line(WEB, of("uv tool", Origin("file:///nowhere/a.whl"))) == BY_INDEX["uv"]


@pytest.mark.parametrize("extra", [WEB, NEURAL], ids=lambda extra: extra.name)
@pytest.mark.parametrize("installer", get_args(Installer))
@pytest.mark.parametrize("place", ["wheel", "folder", "linked"])
def test_no_copy_from_elsewhere_is_told_to_ask_an_index_for_this_program(
    extra: Extra, installer: Installer, place: str, tmp_path: Path
) -> None:
    path = tmp_path / ("a.whl" if place == "wheel" else "src")
    path.touch() if place == "wheel" else path.mkdir()
    words = shlex.split(line(extra, of(installer, Origin(path.as_uri(), editable=place == "linked"))))
    assert not any(word.startswith("subtitle-rag[") and "@" not in word for word in words)


def test_a_tool_of_uvs_keeps_what_it_has_on_record() -> None:
    tool = of("uv tool", extras=("mcp",), tool_options=("--python", "3.12", "--with", "rich>=14"))
    assert line(WEB, tool) == "uv tool install --python 3.12 --with 'rich>=14' 'subtitle-rag[mcp,web]'"


def test_an_editable_copy_stays_one_but_not_with_uvx(tmp_path: Path) -> None:
    linked = Origin(tmp_path.as_uri(), editable=True)
    assert line(WEB, of("uv tool", linked)) == f"uv tool install --editable '{tmp_path}[web]'"
    assert line(WEB, of("uvx", linked)) == f"uvx --from '{tmp_path}[web]' subtitle-rag"


def test_pipx_run_is_told_of_pipx_run() -> None:
    assert line(WEB, of("uvx", uses_uv=False)) == "pipx run --spec 'subtitle-rag[web]' subtitle-rag"


def test_where_pip_refuses_pipx_makes_an_environment() -> None:
    managed = of("system", is_externally_managed=True)
    assert line(WEB, managed) == "pipx install 'subtitle-rag[web]'"
    assert upgrade_command("yt-dlp", managed).line == "pipx install subtitle-rag"


class TestSteps:
    """What a failure for want of an extra names."""

    def test_the_programs_own_command_where_it_may_run(self, tmp_path: Path) -> None:
        python = program(tmp_path / "bin", "python", "")
        assert install_steps(WEB, Environment("pip", tmp_path, python)) == "subtitle-rag self add web"

    @pytest.mark.parametrize("installer", get_args(Installer))
    def test_else_the_installers_line(self, installer: Installer) -> None:
        """No installer is on the path of tests, and that Python does not exist."""
        assert install_steps(WEB, of(installer)) == BY_INDEX[installer]

    @pytest.mark.parametrize("extra", EXTRAS.values(), ids=list(EXTRAS))
    def test_they_are_in_the_failure(self, extra: Extra) -> None:
        error = missing_extra(extra)
        assert error.code == f"{extra.name}_missing"
        assert install_steps(extra) in error.hint


@pytest.mark.usefixtures("bare_linux")
class TestCpuBuild:
    """PyTorch for Linux comes with gigabytes of CUDA, unless it is asked for otherwise."""

    @pytest.mark.parametrize(
        ("environment", "begin"),
        [
            (of("uv"), "uv pip install --python /e/subtitle-rag/bin/python --torch-backend cpu "),
            (of("uv tool"), "uv tool install --torch-backend cpu 'subtitle-rag[neural]'"),
            (of("uvx"), "uvx --torch-backend cpu --from 'subtitle-rag[neural]' subtitle-rag"),
            (of("uvx", uses_uv=False), "uvx --torch-backend cpu --from 'subtitle-rag[neural]' subtitle-rag"),
            (of("system", is_externally_managed=True), "uv tool install --torch-backend cpu 'subtitle-rag[neural]'"),
            (of("pipx", uses_uv=True), "UV_TORCH_BACKEND=cpu pipx inject subtitle-rag "),
        ],
        ids=["uv", "uv tool", "uvx", "pipx run", "managed", "pipx"],
    )
    def test_uv_is_told_so(self, environment: Environment, begin: str) -> None:
        assert install_steps(NEURAL, environment).startswith(begin)

    @pytest.mark.parametrize("installer", ["pip", "pipx", "system"])
    def test_pip_gets_pytorch_first(self, installer: Installer) -> None:
        first, _then, rest = install_steps(NEURAL, of(installer)).partition("; then ")
        assert TORCH_PAGE in first
        assert str(PYTHON) in first
        assert rest == line(NEURAL, of(installer))

    def test_uv_installs_into_an_environment_of_pips(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(program(tmp_path, "uv", "").parent))
        assert line(NEURAL, of("pip")) == line(NEURAL, of("uv"))
        assert line(WEB, of("pip")) == BY_INDEX["pip"]

    def test_pip_keeps_a_pytorch_that_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(install_command, "find_spec", lambda name: object())
        assert install_steps(NEURAL, of("pip")) == line(NEURAL, of("pip"))

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
        assert CPU_BUILD[0] not in line(extra, of("uv tool"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (of("pip"), "/e/subtitle-rag/bin/python -m pip install --upgrade yt-dlp"),
        (of("system"), "/e/subtitle-rag/bin/python -m pip install --upgrade yt-dlp"),
        (of("uv"), "uv pip install --python /e/subtitle-rag/bin/python --upgrade-package yt-dlp yt-dlp"),
        (of("uv tool"), "uv pip install --python /e/subtitle-rag/bin/python --upgrade-package yt-dlp yt-dlp"),
        (of("pipx"), "pipx runpip subtitle-rag install --upgrade yt-dlp"),
        (of("uvx"), "uvx --refresh --from subtitle-rag subtitle-rag"),
        (of("uvx", uses_uv=False), "pipx run --no-cache --spec subtitle-rag subtitle-rag"),
    ],
)
def test_one_package_is_updated(environment: Environment, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_complete", set())
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    assert upgrade_command("yt-dlp", environment).line == expected


def test_yt_dlp_is_updated_with_what_the_extra_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    """It pins the scripts by which it solves YouTube's challenges."""
    monkeypatch.setattr(extras, "_complete", {YOUTUBE.name})
    assert upgrade_command("yt-dlp", of("pip")).arguments[-1] == "yt-dlp[curl-cffi,default,deno]"


def test_each_system_quotes_in_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Environment("pip", Path("/my files"), Path("/my files/it's python"))
    words = ["/my files/it's python", "-m", "pip", "install", "--upgrade", "a[b]>=1"]
    assert shlex.split(upgrade_command("a[b]>=1", here).line) == words
    monkeypatch.setattr(sys, "platform", "win32")
    python = PureWindowsPath("C:\\Program Files\\python.exe")
    windows = upgrade_command("rich", Environment("pip", Path("C:/"), python)).line  # type: ignore[arg-type]
    assert windows == '"C:\\Program Files\\python.exe" -m pip install --upgrade rich'
