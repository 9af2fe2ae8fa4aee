"""Extras added, and yt-dlp updated, by the real pip from an index on loopback, and by what stands for uv and pipx."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.domain import AppError, BusyError, PackagesAdvanced, PackagesEvent, PackagesInstalled
from subtitle_rag.installation import extras, install_command, package_installer
from subtitle_rag.installation.environment import Environment
from subtitle_rag.installation.extras import NEURAL, WEB
from subtitle_rag.installation.install_command import add_refusal
from subtitle_rag.installation.package_installer import PackageInstaller
from tests.installation.environments import files, installed, program, put
from tests.stand_ins.packages import Index, wheel

WEB_PACKAGES = {"textual_serve==1.1.3", "aiohttp==3.14.5", "jinja2==3.1.6"}
Add = Callable[[], list[PackagesEvent]]


@pytest.fixture
def add(environment: Environment) -> Add:
    return lambda: list(PackageInstaller(environment=environment).add(WEB))


class TestPip:
    @pytest.mark.campaign(part="flows")
    def test_an_extra_is_added_and_told_in_pips_lines(self, environment: Environment, index: Index, add: Add) -> None:
        *progress, last = add()
        assert installed(environment.prefix) == WEB_PACKAGES
        assert last == PackagesInstalled(("aiohttp 3.14.5", "jinja2 3.1.6", "textual-serve 1.1.3"))
        assert any(isinstance(each, PackagesAdvanced) and "Collecting aiohttp" in each.line for each in progress)
        ran = subprocess.run([environment.python, "-c", "import textual_serve, jinja2"], check=False)
        assert ran.returncode == 0

    @pytest.mark.campaign(part="flows")
    def test_installed_packages_keep_their_versions(self, environment: Environment, index: Index, add: Add) -> None:
        put(environment.prefix, wheel("aiohttp", "3.1"), wheel("rich", "14.0"))
        index.push(wheel("textual-serve", "1.1.4", ["aiohttp", "rich>=14"]), wheel("rich", "15.0"))
        add()
        assert installed(environment.prefix) == {"aiohttp==3.1", "rich==14.0", "textual_serve==1.1.4"}

    @pytest.mark.campaign(part="flows")
    def test_what_would_change_an_installed_one_is_refused_with_the_line(
        self, environment: Environment, index: Index, add: Add
    ) -> None:
        put(environment.prefix, wheel("jinja2", "2.0"))
        before = files(environment.prefix)
        with pytest.raises(AppError) as refused:
            add()
        assert refused.value.code == "packages_failed"
        assert "conflict" in refused.value.message
        assert "-m pip install 'textual-serve<2,>=1.1.3'" in refused.value.hint
        assert files(environment.prefix) == before

    @pytest.mark.campaign(part="install")
    def test_what_an_installer_has_not_finished_holds_nothing_up(
        self, environment: Environment, index: Index, add: Add
    ) -> None:
        put(environment.prefix, wheel("aiohttp", "3.14.5"))
        for name in ("METADATA", "RECORD"):
            next(environment.prefix.rglob(f"aiohttp-*/{name}")).unlink()
        add()
        assert installed(environment.prefix) >= WEB_PACKAGES

    @pytest.mark.campaign(part="install")
    def test_a_clones_lock_decides_about_versions_that_are_not_here(
        self, environment: Environment, index: Index, add: Add
    ) -> None:
        (environment.prefix / "constraints.txt").write_text("# made\naiohttp==3.0\njinja2==3.1.6\nsetuptools==1\n")
        index.push(wheel("aiohttp", "3.0"))
        put(environment.prefix, wheel("jinja2", "3.9"))
        add()
        assert installed(environment.prefix) >= {"aiohttp==3.0", "jinja2==3.9"}

    @pytest.mark.campaign(part="flows")
    def test_it_is_stopped_in_a_download(self, environment: Environment, index: Index) -> None:
        index.held.add("jinja2-3.1.6-py3-none-any.whl")
        stop, failures = threading.Event(), []

        def run() -> None:
            try:
                list(PackageInstaller(stop, environment).add(WEB))
            except AppError as error:
                failures.append(error.code)

        halted = threading.Thread(target=run)
        halted.start()
        assert index.reached.wait(60)
        stop.set()
        halted.join(60)
        assert failures == ["interrupted"]
        assert installed(environment.prefix) == set()
        index.held.clear()
        index.released.set()

    @pytest.mark.campaign(part="wheel")
    def test_one_program_at_a_time_installs(self, environment: Environment, index: Index) -> None:
        with closing(PackageInstaller(environment=environment).add(WEB)) as first:
            next(first)
            with pytest.raises(BusyError) as busy:
                next(PackageInstaller(environment=environment).add(WEB))
            assert busy.value.code == "packages_busy"
        with closing(PackageInstaller(environment=environment).add(WEB)) as second:
            next(second)

    def test_a_full_disk_is_told_before_anything_is_fetched(
        self, index: Index, add: Add, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "RESERVE_MEGABYTES", 10**12)
        with pytest.raises(BusyError) as short:
            add()
        assert short.value.code == "packages_disk"
        assert index.asked == []

    @pytest.mark.campaign(part="flows")
    def test_the_newest_of_one_package_comes_and_others_stay(self, environment: Environment, index: Index) -> None:
        put(environment.prefix, wheel("yt-dlp", "2026.1.1", ["aiohttp"]), wheel("aiohttp", "3.1"))
        index.push(wheel("yt-dlp", "2026.11.2", ["aiohttp"]))
        events = list(PackageInstaller(environment=environment).upgrade("yt-dlp"))
        assert events[-1] == PackagesInstalled(("yt-dlp 2026.11.2",))
        assert installed(environment.prefix) == {"yt_dlp==2026.11.2", "aiohttp==3.1"}

    @pytest.mark.campaign(part="flows")
    def test_an_index_that_has_it_not_is_told_in_pips_words(self, environment: Environment, index: Index) -> None:
        with pytest.raises(AppError) as failed:
            list(PackageInstaller(environment=environment).upgrade("absent"))
        assert failed.value.code == "packages_failed"
        assert "absent" in failed.value.message
        assert "-m pip install --upgrade absent" in failed.value.hint

    def test_it_brings_no_cuda_where_no_gpu_is(
        self, environment: Environment, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(extras, "GPU_FILES", ())
        monkeypatch.setattr(install_command, "find_spec", lambda _name: None)
        with pytest.raises(AppError) as refused:
            next(PackageInstaller(environment=environment).add(NEURAL))
        assert refused.value.code == "packages_cuda"
        assert install_command.TORCH_PAGE in refused.value.hint
        assert index.asked == []


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (Environment("uvx", Path("/c/x"), Path("/c/x/python"), uses_uv=True), "uvx --from 'subtitle-rag[web]' "),
        (Environment("system", Path("/usr"), Path("/usr/bin/python3")), "/usr/bin/python3 -m pip install "),
        (
            Environment("system", Path("/usr"), Path("/usr/bin/python3"), is_externally_managed=True),
            "pipx install 'subtitle-rag[web]'",
        ),
        (Environment("uv", Path("/e"), Path("/e/python")), "uv pip install --python /e/python "),
        (Environment("uv tool", Path("/e"), Path("/e/python")), "uv tool install "),
        (Environment("pipx", Path("/e"), Path("/e/python")), "pipx inject e "),
    ],
    ids=["uvx", "system", "managed", "no uv", "no uv for a tool", "no pipx"],
)
def test_what_is_not_written_to_is_refused_with_the_line(environment: Environment, line: str) -> None:
    installer = PackageInstaller(environment=environment)
    refusal = add_refusal(WEB, environment)
    assert refusal
    assert line in refusal.hint
    for attempt in (installer.add(WEB), installer.upgrade("yt-dlp")):
        with pytest.raises(AppError) as refused:
            next(attempt)
        assert refused.value.code == "packages_refused"


def test_an_environment_that_cannot_be_written_to_is_named(environment: Environment) -> None:
    gone = replace(environment, prefix=Path(os.devnull) / "e")
    with pytest.raises(BusyError) as failed:
        list(PackageInstaller(environment=gone).upgrade("yt-dlp"))
    assert failed.value.code == "folder_unwritable"


class TestOthers:
    """What uv and pipx are asked for; the campaign has the real ones."""

    @pytest.fixture
    def asked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[object]]]:
        """Programs that note their arguments, their build of PyTorch and their constraints."""
        notes = tmp_path / "notes"
        code = f"""
import json, os, sys
constraints = open(os.environ["UV_CONSTRAINT"]).read().split() if "UV_CONSTRAINT" in os.environ else []
with open({str(notes)!r}, "a") as file:
    name, build = os.path.basename(sys.argv[0]), os.environ.get("UV_TORCH_BACKEND", "")
    print(json.dumps([[name, *sys.argv[1:]], build, constraints]), file=file)
print("Resolved 3 packages in 1ms\\nDownloading big (20.0MiB)")
"""
        for name in ("uv", "pipx"):
            program(tmp_path / "bin", name, code)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        return lambda: [json.loads(row) for row in notes.read_text().splitlines()]

    def test_uv_installs_with_what_is_there_as_constraints(
        self, environment: Environment, asked: Callable[[], list[list[object]]]
    ) -> None:
        put(environment.prefix, wheel("rich", "14.0"), wheel("setuptools", "1"))
        events = list(PackageInstaller(environment=replace(environment, installer="uv")).add(WEB))
        command = ["uv", "pip", "install", "--python", str(environment.python), "textual-serve<2,>=1.1.3"]
        assert asked() == [[command, "", ["rich==14.0"]]]
        lines = ("Resolved 3 packages in 1ms", "Downloading big (20.0MiB)")
        assert events == [*map(PackagesAdvanced, lines), PackagesInstalled(())]

    def test_pipx_with_uv_gets_constraints_and_build_by_variables(
        self, environment: Environment, asked: Callable[[], list[list[object]]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(extras, "GPU_FILES", ())
        put(environment.prefix, wheel("rich", "14.0"))
        own = replace(environment, installer="pipx", uses_uv=True)
        list(PackageInstaller(environment=own).add(NEURAL))
        ((command, build, constraints),) = asked()
        assert isinstance(command, list)
        assert command[:3] == ["pipx", "inject", environment.prefix.name]
        assert (build, constraints) == ("cpu", ["rich==14.0"])
