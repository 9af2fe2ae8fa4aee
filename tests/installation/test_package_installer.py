"""Extras added, and yt-dlp updated, by the real pip from an index on loopback, and by what stands for uv and pipx."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from subtitle_rag.domain import AppError, BusyError, PackagesAdvanced, PackagesEvent, PackagesInstalled
from subtitle_rag.installation import advice, extras, package_installer
from subtitle_rag.installation.environment import Environment, Origin
from subtitle_rag.installation.extras import NEURAL, WEB
from subtitle_rag.installation.package_installer import PackageInstaller
from tests.installation.environments import files, installed, program, put, write_receipt
from tests.stand_ins.packages import Index, wheel

WEB_PACKAGES = {"textual_serve==1.1.3", "aiohttp==3.14.5", "jinja2==3.1.6"}
WEB_WHEELS = sorted(f"{each.replace('==', '-')}-py3-none-any.whl" for each in WEB_PACKAGES)
IN_CAMPAIGN = pytest.mark.campaign(part="install")
"""Of tests that start pip many times."""
WITHOUT_END = """
import sys
from pathlib import Path
from subtitle_rag.installation.environment import Environment
from subtitle_rag.installation.extras import WEB
from subtitle_rag.installation.package_installer import PackageInstaller
prefix = Path(sys.argv[1])
environment = Environment("pip", prefix, prefix / "bin" / "python")
list(PackageInstaller(Path(sys.argv[2]), environment=environment).add(WEB))
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def adding(cache: Path, environment: Environment) -> Callable[[], list[PackagesEvent]]:
    return lambda: list(PackageInstaller(cache, environment=environment).add(WEB))


def leftovers(cache: Path) -> list[str]:
    """Files of packages that are still in the cache."""
    return [path.name for path in cache.rglob("*") if path.is_file() and path.name != "constraints.txt"]


@contextmanager
def stopped_in(index: Index, filename: str) -> Iterator[None]:
    """The index stops in the middle of a file; when the block ends it has done so."""
    index.held.add(filename)
    yield
    assert index.reached.wait(60)


class TestPip:
    def test_an_extra_is_added_and_told_step_by_step(
        self, environment: Environment, index: Index, adding: Callable[[], list[PackagesEvent]], cache: Path
    ) -> None:
        events = adding()
        assert installed(environment.prefix) == WEB_PACKAGES
        assert isinstance(events[-1], PackagesInstalled)
        assert len(events[-1].packages) == 3
        assert "textual-serve 1.1.3" in events[-1].packages
        steps = [event for event in events if isinstance(event, PackagesAdvanced)]
        assert list(dict.fromkeys(step.step for step in steps)) == ["resolving", "fetching", "installing"]
        assert [(step.done, step.all) for step in steps if step.step == "fetching"] == [(at, 3) for at in range(3)]
        assert leftovers(cache) == []
        ran = subprocess.run([environment.python, "-c", "import textual_serve, jinja2"], check=False)
        assert ran.returncode == 0

    def test_installed_packages_keep_their_versions(
        self, environment: Environment, index: Index, adding: Callable[[], list[PackagesEvent]]
    ) -> None:
        put(environment.prefix, wheel("aiohttp", "3.1"), wheel("rich", "14.0"))
        index.push(wheel("textual-serve", "1.1.4", ["aiohttp", "rich>=14"]), wheel("rich", "15.0"))
        adding()
        assert installed(environment.prefix) == {"aiohttp==3.1", "rich==14.0", "textual_serve==1.1.4"}

    def test_what_would_change_an_installed_one_is_refused_with_the_line(
        self, environment: Environment, index: Index, adding: Callable[[], list[PackagesEvent]]
    ) -> None:
        put(environment.prefix, wheel("jinja2", "2.0"))
        before = files(environment.prefix)
        with pytest.raises(AppError) as refused:
            adding()
        assert refused.value.code == "packages_failed"
        assert "conflict" in refused.value.message
        assert "-m pip install 'subtitle-rag[web]'" in refused.value.hint
        assert files(environment.prefix) == before

    @IN_CAMPAIGN
    def test_what_an_installer_has_not_finished_holds_nothing_up(
        self, environment: Environment, index: Index, adding: Callable[[], list[PackagesEvent]]
    ) -> None:
        put(environment.prefix, wheel("aiohttp", "3.14.5"))
        for name in ("METADATA", "RECORD"):
            next(environment.prefix.rglob(f"aiohttp-*/{name}")).unlink()
        adding()
        assert installed(environment.prefix) >= WEB_PACKAGES

    @IN_CAMPAIGN
    def test_what_is_there_already_is_not_asked_for(
        self, environment: Environment, index: Index, adding: Callable[[], list[PackagesEvent]]
    ) -> None:
        adding()
        index.asked.clear()
        assert adding()[-1] == PackagesInstalled(())
        assert index.asked == []

    @pytest.mark.parametrize(
        "has_metadata", [True, pytest.param(False, marks=IN_CAMPAIGN)], ids=["with metadata", "whole wheels"]
    )
    def test_after_a_stop_what_has_arrived_whole_is_not_fetched_again(
        self, environment: Environment, index: Index, cache: Path, has_metadata: bool
    ) -> None:
        index.has_metadata = has_metadata
        stop = threading.Event()
        with stopped_in(index, "jinja2-3.1.6-py3-none-any.whl"):
            failures: list[AppError] = []
            halted = threading.Thread(target=self.add_until, args=(environment, cache, stop, failures))
            halted.start()
        stop.set()
        halted.join(60)
        assert [error.code for error in failures] == ["interrupted"]
        assert installed(environment.prefix) == set()
        self.assert_rest_comes(environment, index, cache)

    @staticmethod
    def add_until(environment: Environment, cache: Path, stop: threading.Event, failures: list[AppError]) -> None:
        try:
            list(PackageInstaller(cache, stop, environment).add(WEB))
        except AppError as error:
            failures.append(error)

    @IN_CAMPAIGN
    def test_after_a_kill_what_has_arrived_whole_is_not_fetched_again(
        self, environment: Environment, index: Index, cache: Path
    ) -> None:
        with stopped_in(index, "jinja2-3.1.6-py3-none-any.whl"):
            command = [sys.executable, "-c", WITHOUT_END, str(environment.prefix), str(cache)]
            killed = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        killed.kill()
        killed.wait()
        self.assert_rest_comes(environment, index, cache)

    @staticmethod
    def assert_rest_comes(environment: Environment, index: Index, cache: Path) -> None:
        arrived = {name for name in index.asked if name not in index.held}
        assert arrived
        assert len(arrived) < 3
        index.held.clear()
        index.released.set()
        list(PackageInstaller(cache, environment=environment).add(WEB))
        assert installed(environment.prefix) == WEB_PACKAGES
        assert [name for name in arrived if index.asked.count(name) > 1] == []
        assert sorted(set(index.asked)) == WEB_WHEELS

    @pytest.mark.campaign(part="wheel")
    def test_one_program_at_a_time_installs_whatever_library_it_has(
        self, environment: Environment, index: Index, tmp_path: Path
    ) -> None:
        first = PackageInstaller(tmp_path / "one", environment=environment).add(WEB)
        with closing(first):
            next(first)
            with pytest.raises(BusyError) as busy:
                next(PackageInstaller(tmp_path / "two", environment=environment).add(WEB))
            assert busy.value.code == "packages_busy"
        with closing(PackageInstaller(tmp_path / "two", environment=environment).add(WEB)) as second:
            next(second)

    @IN_CAMPAIGN
    def test_other_environments_with_the_same_cache_are_not_in_its_way(
        self, environment: Environment, index: Index, cache: Path
    ) -> None:
        first = PackageInstaller(cache, environment=environment).add(WEB)
        with closing(first):
            next(first)
            shutil.copytree(environment.prefix, copy := environment.prefix.with_name("copy"), symlinks=True)
            other = replace(environment, prefix=copy, python=copy / "bin" / "python")
            list(PackageInstaller(cache, environment=other).add(WEB))
            assert installed(copy) == WEB_PACKAGES
            list(first)
        assert installed(environment.prefix) == WEB_PACKAGES

    def test_a_full_disk_is_told_before_anything_is_fetched(
        self, index: Index, adding: Callable[[], list[PackagesEvent]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(package_installer, "RESERVE_MEGABYTES", 10**12)
        with pytest.raises(BusyError) as short:
            adding()
        assert short.value.code == "packages_disk"
        assert index.asked == []

    def test_an_index_that_has_it_not_is_told_in_pips_words(
        self, environment: Environment, cache: Path, index: Index
    ) -> None:
        with pytest.raises(AppError) as failed:
            list(PackageInstaller(cache, environment=environment).upgrade("absent"))
        assert failed.value.code == "packages_failed"
        assert "No matching distribution found for absent" in failed.value.message or "absent" in failed.value.message
        assert "-m pip install --upgrade absent" in failed.value.hint


class TestUpdate:
    def test_the_newest_of_one_package_comes_and_others_stay(
        self, environment: Environment, index: Index, cache: Path
    ) -> None:
        put(environment.prefix, wheel("yt-dlp", "2026.1.1", ["aiohttp"]), wheel("aiohttp", "3.1"))
        index.push(wheel("yt-dlp", "2026.11.2", ["aiohttp"]))
        events = list(PackageInstaller(cache, environment=environment).upgrade("yt-dlp"))
        assert events[-1] == PackagesInstalled(("yt-dlp",))
        assert installed(environment.prefix) == {"yt_dlp==2026.11.2", "aiohttp==3.1"}

    def test_what_belongs_to_its_version_comes_with_it(
        self, environment: Environment, index: Index, cache: Path
    ) -> None:
        """yt-dlp pins the scripts by which it solves YouTube's challenges; the extra `youtube` brings them."""
        names = {Requirement(text).name for text in requires("yt-dlp") or [] if "extra == 'default'" in text}
        assert "yt-dlp-ejs" in names
        put(environment.prefix, wheel("yt-dlp", "2026.1.1"), wheel("aiohttp", "3.1"))
        put(environment.prefix, *(wheel(name, "1.0") for name in names))
        index.push(wheel("yt-dlp", "2026.11.2", ["yt-dlp-ejs==2.0; extra == 'default'"]))
        index.push(wheel("yt-dlp-ejs", "2.0"), wheel("aiohttp", "3.2"))
        list(PackageInstaller(cache, environment=environment).upgrade("yt-dlp"))
        assert {"yt_dlp==2026.11.2", "yt_dlp_ejs==2.0", "aiohttp==3.1"} <= installed(environment.prefix)


class TestCuda:
    @pytest.fixture
    def neural(self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
        """An index whose PyTorch brings CUDA, on Linux without a GPU."""
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(extras, "GPU_FILES", (str(tmp_path / "nvidiactl"),))
        index.push(
            wheel("FlagEmbedding", "1.4.2", ["torch"]),
            wheel("sentence-transformers", "6.2", ["torch"]),
            wheel("huggingface-hub", "2.4"),
            wheel("httpx2", "2.0"),
            wheel("torch", "2.13.0", ["nvidia-cublas"]),
            wheel("nvidia-cublas", "13.0"),
        )
        return index

    def add(self, environment: Environment, cache: Path) -> PackagesEvent:
        return list(PackageInstaller(cache, environment=environment).add(NEURAL))[-1]

    def test_pip_does_not_bring_it_where_no_gpu_is(self, environment: Environment, neural: Index, cache: Path) -> None:
        with pytest.raises(AppError) as refused:
            self.add(environment, cache)
        assert refused.value.code == "packages_cuda"
        assert advice.TORCH_PAGE in refused.value.hint
        assert installed(environment.prefix) == set()

    @IN_CAMPAIGN
    def test_pip_brings_it_where_one_is(
        self, environment: Environment, neural: Index, cache: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "nvidiactl").touch()
        self.add(environment, cache)
        assert "nvidia_cublas==13.0" in installed(environment.prefix)

    @IN_CAMPAIGN
    def test_a_pytorch_without_it_that_is_there_stays(
        self, environment: Environment, neural: Index, cache: Path
    ) -> None:
        put(environment.prefix, wheel("torch", "2.13.0+cpu"))
        self.add(environment, cache)
        assert "torch==2.13.0+cpu" in installed(environment.prefix)
        assert "nvidia_cublas==13.0" not in installed(environment.prefix)

    @IN_CAMPAIGN
    def test_uv_brings_pytorch_where_it_is_installed(
        self, environment: Environment, neural: Index, cache: Path, tmp_path: Path
    ) -> None:
        packed = tmp_path / "torch-2.13.0+cpu-py3-none-any.whl"
        packed.write_bytes(wheel("torch", "2.13.0+cpu").content)
        code = f"""
import os, sys
assert sys.argv[1:5] == ["pip", "install", "--python", {str(environment.python)!r}]
assert sys.argv[7:] == ["--torch-backend", "cpu", "torch>=2.13"], sys.argv
python = {str(environment.python)!r}
os.execv(python, [python, "-m", "pip", "install", "--no-deps", {str(packed)!r}])
"""
        program(Path.home() / ".local" / "bin", "uv", code)
        try:
            assert isinstance(self.add(environment, cache), PackagesInstalled)
        finally:
            shutil.rmtree(Path.home() / ".local")
        assert "torch==2.13.0+cpu" in installed(environment.prefix)
        assert "nvidia-cublas-13.0" not in " ".join(neural.asked)


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (Environment("uvx", Path("/c/x"), Path("/c/x/python"), uses_uv=True), "uvx --from 'subtitle-rag[web]' "),
        (Environment("system", Path("/usr"), Path("/usr/bin/python3")), "/usr/bin/python3 -m pip install "),
        (
            Environment("system", Path("/usr"), Path("/usr/bin/python3"), externally_managed=True),
            "pipx install 'subtitle-rag[web]'",
        ),
        (Environment("uv", Path("/e"), Path("/e/python")), "uv pip install --python /e/python "),
        (Environment("uv tool", Path("/e"), Path("/e/python")), "uv tool install "),
        (Environment("pipx", Path("/e"), Path("/e/python")), "pipx inject e "),
    ],
    ids=["uvx", "system", "managed", "no uv", "no uv for a tool", "no pipx"],
)
def test_what_is_not_written_to_is_refused_with_the_line(environment: Environment, line: str, cache: Path) -> None:
    installer = PackageInstaller(cache, environment=environment)
    refusal = installer.refusal(WEB)
    assert refusal
    assert line in refusal.hint
    for attempt in (installer.add(WEB), installer.upgrade("yt-dlp")):
        with pytest.raises(AppError) as refused:
            next(attempt)
        assert refused.value.code == "packages_refused"
    assert not cache.exists()


def test_an_environment_that_cannot_be_written_to_is_named(environment: Environment, cache: Path) -> None:
    gone = replace(environment, prefix=Path(os.devnull) / "e")
    with pytest.raises((BusyError, FileNotFoundError, NotADirectoryError)) as failed:
        list(PackageInstaller(cache, environment=gone).add(WEB))
    assert isinstance(failed.value, BusyError)
    assert failed.value.code == "folder_unwritable"


class TestOthers:
    """What uv and pipx are asked for; the campaign has the real ones."""

    @pytest.fixture
    def asked(self, tmp_path: Path) -> Iterator[Callable[[], list[list[str]]]]:
        """Programs that note what they are asked for, and how long their constraints were."""
        notes = tmp_path / "notes"
        code = f"""
import json, os, sys
with open({str(notes)!r}, "a") as file:
    own = {{name: os.environ[name] for name in ("UV_CONSTRAINT", "UV_TORCH_BACKEND") if name in os.environ}}
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:], *([own] if own else [])]), file=file)
print("Resolved 3 packages in 1ms\\nDownloading big (20.0MiB)\\n Downloaded big\\nPrepared 2 packages in 3ms")
print("Installed 2 packages in 1ms\\n + big==1.0\\n + small==2.0")
sys.exit(int(os.path.exists({str(tmp_path / "refused")!r}) and sys.argv[1] == "tool"))
"""
        for name in ("uv", "pipx"):
            program(Path.home() / ".local" / "bin", name, code)
        yield lambda: [json.loads(row) for row in notes.read_text().splitlines()]
        shutil.rmtree(Path.home() / ".local")

    def test_uv_installs_with_what_is_there_as_constraints_and_tells_how_far_it_is(
        self, environment: Environment, cache: Path, asked: Callable[[], list[list[str]]]
    ) -> None:
        put(environment.prefix, wheel("rich", "14.0"))
        events = list(PackageInstaller(cache, environment=replace(environment, installer="uv")).add(WEB))
        ((*command, constraint, requirement),) = asked()
        assert command == ["uv", "pip", "install", "--python", str(environment.python), "--constraint"]
        assert requirement == "textual-serve<2,>=1.1.3"
        assert "rich==14.0" in Path(constraint).read_text().splitlines()
        assert events == [
            PackagesAdvanced("resolving", "", 0, 0),
            PackagesAdvanced("fetching", "", 0, 0),
            PackagesAdvanced("fetching", "big", 0, 0),
            PackagesAdvanced("fetching", "big", 1, 0),
            PackagesAdvanced("installing", "", 1, 0),
            PackagesInstalled(("big 1.0", "small 2.0")),
        ]

    def test_uv_has_the_extra_on_record_before_the_last_event(
        self, environment: Environment, cache: Path, asked: Callable[[], list[list[str]]]
    ) -> None:
        """Who takes the last event asks for no more."""
        tool = replace(environment, installer="uv tool", extras=("mcp",), companions=("rich",), request="3.12")
        with closing(PackageInstaller(cache, environment=tool).add(WEB)) as events:
            next(event for event in events if isinstance(event, PackagesInstalled))
        recording = ["uv", "tool", "install", "--python", "3.12", "--with", "rich", "subtitle-rag[mcp,web]"]
        assert asked()[1:] == [recording]

    def test_what_uv_does_not_note_is_here_all_the_same(
        self, environment: Environment, cache: Path, asked: Callable[[], list[list[str]]], tmp_path: Path
    ) -> None:
        (tmp_path / "refused").touch()
        events = list(PackageInstaller(cache, environment=replace(environment, installer="uv tool")).add(WEB))
        assert isinstance(events[-1], PackagesInstalled)
        assert len(asked()) == 2

    def test_a_tool_whose_wheel_has_gone_is_not_noted_anew(
        self, environment: Environment, cache: Path, asked: Callable[[], list[list[str]]]
    ) -> None:
        tool = replace(environment, installer="uv tool", origin=Origin("file:///nowhere/a.whl"))
        list(PackageInstaller(cache, environment=tool).add(WEB))
        assert [row[1] for row in asked()] == ["pip"]

    @pytest.mark.campaign(part="wheel")
    def test_pipx_with_pip_installs_what_has_arrived_and_notes_it(
        self, environment: Environment, tmp_path: Path, index: Index, asked: Callable[[], list[list[str]]]
    ) -> None:
        """It notes nothing that is there already, so the program has it install."""
        index.push(wheel("textual-serve", "1.1.4", ["aiohttp"]), wheel("aiohttp", "4.0"))
        put(environment.prefix, wheel("aiohttp", "3.1"))
        pipx = Path.home() / ".local" / "bin" / "pipx"
        noting = pipx.read_text().splitlines()[1:-3]
        python = str(environment.python)
        run_pip = f"os.execv({python!r}, [{python!r}, '-m', 'pip', 'install', *sys.argv[3:]])"
        program(pipx.parent, "pipx", "\n".join([*noting, run_pip]))
        cache = tmp_path / "my cache"
        list(PackageInstaller(cache, environment=replace(environment, installer="pipx")).add(WEB))
        assert installed(environment.prefix) == {"textual_serve==1.1.4", "aiohttp==3.1"}
        assert asked() == [["pipx", "inject", environment.prefix.name, "textual-serve<2,>=1.1.3"]]
        assert index.asked.count("textual_serve-1.1.4-py3-none-any.whl") == 1

    def test_pipx_with_uv_gets_constraints_and_build_by_variables(
        self,
        environment: Environment,
        cache: Path,
        asked: Callable[[], list[list[object]]],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(extras, "GPU_FILES", (str(tmp_path / "nvidiactl"),))
        own = replace(environment, installer="pipx", uses_uv=True)
        list(PackageInstaller(cache, environment=own).add(NEURAL))
        list(PackageInstaller(cache, environment=own).upgrade("yt-dlp"))
        added, updated = asked()
        constraint = {"UV_CONSTRAINT": str(next(cache.rglob("constraints.txt")))}
        assert added[:3] == ["pipx", "inject", environment.prefix.name]
        assert added[-1] == constraint | {"UV_TORCH_BACKEND": "cpu"}
        name = environment.prefix.name
        assert updated == ["pipx", "runpip", name, "install", "--upgrade", "yt-dlp", constraint]

    def test_uv_updates_one_package_alone(
        self, environment: Environment, cache: Path, asked: Callable[[], list[list[str]]]
    ) -> None:
        put(environment.prefix, wheel("yt-dlp", "2026.1.1"), wheel("rich", "14.0"))
        write_receipt(environment.prefix, ['{ name = "subtitle-rag" }'])
        list(PackageInstaller(cache, environment=replace(environment, installer="uv tool")).upgrade("yt-dlp"))
        ((*_command, constraint, option, named, requirement),) = asked()
        assert (option, named, requirement) == ("--upgrade-package", "yt-dlp", "yt-dlp")
        held = Path(constraint).read_text().splitlines()
        assert "rich==14.0" in held
        assert not any(row.startswith("yt-dlp") for row in held)


@IN_CAMPAIGN
def test_the_clones_lock_decides_about_versions_that_are_not_here(
    environment: Environment, cache: Path, index: Index, tmp_path: Path
) -> None:
    root = tmp_path / "clone"
    (root / "scripts").mkdir(parents=True)
    (root / "scripts" / "start").touch()
    (root / "requirements.lock").write_text("# made\naiohttp==3.0\njinja2==3.1.6\nsetuptools==1\n")
    shutil.copytree(environment.prefix, root / ".venv", symlinks=True)
    index.push(wheel("aiohttp", "3.0"))
    put(root / ".venv", wheel("jinja2", "3.9"))
    own = replace(
        environment,
        prefix=root / ".venv",
        python=root / ".venv" / "bin" / "python",
        origin=Origin(root.as_uri(), editable=True),
    )
    list(PackageInstaller(cache, environment=own).add(WEB))
    assert installed(root / ".venv") >= {"aiohttp==3.0", "jinja2==3.9"}
