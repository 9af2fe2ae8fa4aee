"""Extras added by the real pip from an index on loopback, by what stands for uv, or by a line for the user."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.installation import extras, package_installer
from subtitle_rag.base.installation.extras import EVAL, MCP, NEURAL
from subtitle_rag.base.installation.package_installer import install_packages, install_steps, upgrade_line
from tests.base.installation.environments import installed, program, put, use_environment
from tests.stand_ins.packages import Index, wheel
from tests.support.failures import failing

ORIGIN = """{"url": "https://example.org/subtitle_rag", "vcs_info": {"vcs": "git", "commit_id": "abc"}}"""


@pytest.fixture
def no_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_installer, "_uv", lambda: None)


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A program that notes its arguments."""
    notes = tmp_path / "notes"
    code = f"import sys\nopen({str(notes)!r}, 'w').write('\\n'.join(sys.argv[1:]))\nprint('Resolved 3 packages')\n"
    path = program(tmp_path / "bin", "uv", code)
    monkeypatch.setattr(package_installer, "_uv", lambda: str(path))
    return lambda: notes.read_text().splitlines()


@pytest.mark.programs("lsb_release", "rustc")  # pip tells an index about the system
class TestPip:
    @pytest.mark.campaign(part="flows")
    def test_an_extra_is_added_and_told_in_pips_lines(self, environment: Path, index: Index) -> None:
        put(environment, wheel("anyio", "4.0"))
        lines = list(install_packages(MCP))
        assert installed(environment) == {"mcp==2.3.1", "anyio==4.0", "pydantic==2.9"}
        assert any("Collecting pydantic" in line for line in lines)
        ran = subprocess.run([sys.executable, "-c", "import mcp, pydantic"], check=False)
        assert ran.returncode == 0

    @pytest.mark.campaign(part="flows")
    def test_it_is_stopped_in_a_download(self, environment: Path, index: Index) -> None:
        index.held.add("pydantic-2.9-py3-none-any.whl")
        stop, failures = threading.Event(), []

        def run() -> None:
            try:
                list(install_packages(MCP, stop))
            except AppError as error:
                failures.append(error.code)

        halted = threading.Thread(target=run)
        halted.start()
        assert index.reached.wait(60)
        stop.set()
        halted.join(60)
        index.held.clear()
        index.released.set()
        assert failures == ["interrupted"]
        assert installed(environment) == set()

    @pytest.mark.campaign(part="flows")
    def test_a_failure_is_told_in_pips_words_with_the_line(self, environment: Path, index: Index) -> None:
        with failing("packages_failed") as caught:
            list(install_packages(EVAL))
        assert "ir-measures" in caught.value.message
        assert "-m pip install 'ir-measures>=0.4.3'" in caught.value.hint

    @pytest.mark.usefixtures("no_uv")
    def test_it_brings_no_cuda_where_no_gpu_is(
        self, environment: Path, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "find_spec", lambda name: None if name == "torch" else object())
        with failing("packages_failed") as caught:
            next(install_packages(NEURAL))
        assert package_installer.TORCH_PAGE in caught.value.hint
        assert index.asked == []


class TestUv:
    def test_it_installs_where_no_pip_is(
        self, environment: Path, uv: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "find_spec", lambda name: None)
        assert list(install_packages(MCP)) == ["Resolved 3 packages"]
        assert uv() == ["pip", "install", "--python", sys.executable, "mcp>=2.3,<3"]

    def test_it_leaves_cuda_out_beside_pip(
        self, environment: Path, uv: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "find_spec", lambda name: None if name == "torch" else object())
        list(install_packages(NEURAL))
        assert uv()[:6] == ["pip", "install", "--python", sys.executable, "--torch-backend", "cpu"]
        assert uv()[6:] == extras.requirements("neural")

    @pytest.mark.usefixtures("no_uv")
    def test_without_it_and_without_pip_the_line_is_told(
        self, environment: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "find_spec", lambda name: None)
        with failing("packages_failed") as caught:
            next(install_packages(MCP))
        assert f"uv pip install --python {sys.executable} 'mcp>=2.3,<3'" in caught.value.hint


class TestOwnedByOthers:
    """What pipx, uv and the system look after is left to them."""

    @pytest.fixture
    def prefix(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "tools" / "subtitle-rag"
        folder.mkdir(parents=True)
        use_environment(monkeypatch, folder, Path("/e/python"))
        monkeypatch.setattr(extras.Extra, "is_installed", False)
        return folder

    def line(self) -> str:
        with failing("packages_failed") as caught:
            next(install_packages(MCP))
        assert install_steps(MCP) == caught.value.details["line"]
        return str(caught.value.details["line"])

    def test_pipx(self, prefix: Path) -> None:
        (prefix / "pipx_metadata.json").touch()
        assert self.line() == "pipx inject subtitle-rag 'mcp>=2.3,<3'"
        assert upgrade_line("yt-dlp") == "pipx runpip subtitle-rag install --upgrade yt-dlp"

    def test_a_tool_of_uv_is_named_with_all_its_extras(self, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (prefix / "uv-receipt.toml").touch()
        monkeypatch.setattr(extras.Extra, "is_installed", property(lambda extra: extra is EVAL))
        assert self.line() == "uv tool install 'subtitle-rag[eval,mcp]'"

    def test_what_passes_by_itself(self, prefix: Path, declared: Path) -> None:
        (prefix.parent / "CACHEDIR.TAG").touch()
        (next(declared.iterdir()) / "direct_url.json").write_text(ORIGIN)
        origin = "git+https://example.org/subtitle_rag@abc"
        assert self.line() == f"uvx --from 'subtitle-rag[mcp] @ {origin}' subtitle-rag"
        assert upgrade_line("yt-dlp") == f"uvx --refresh --from 'subtitle-rag @ {origin}' subtitle-rag"

    def test_the_systems_python(self, prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "base_prefix", str(prefix))
        assert self.line() == "/e/python -m pip install 'mcp>=2.3,<3'"


def test_an_upgrade_names_what_the_installed_extras_want_of_the_package(environment: Path) -> None:
    python = sys.executable
    assert upgrade_line("yt-dlp") == f"{python} -m pip install --upgrade 'yt-dlp[curl-cffi,default,deno]'"
    assert upgrade_line("secretstorage") == f"{python} -m pip install --upgrade secretstorage"
