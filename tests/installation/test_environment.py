"""How a copy was installed, told by what installers leave."""

import json
import shlex
from pathlib import Path

import pytest

from subtitle_rag.installation.environment import Environment, Installer, Origin, find, origin_of
from tests.installation.environments import write_config, write_receipt

SYSTEM = Path("/usr")
UV = {"uv": "0.13.9"}


def found(prefix: Path, origin: Origin | None = None, *, has_pip: bool = True) -> Environment:
    return find(prefix, SYSTEM, prefix / "bin" / "python", origin, has_pip=has_pip)


def in_cache(folder: Path, *parts: str) -> Path:
    """A folder in a cache, as caches are marked."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CACHEDIR.TAG").touch()
    return folder.joinpath(*parts)


class TestEnvironment:
    def test_a_python_without_a_virtual_environment_is_the_systems(self, tmp_path: Path) -> None:
        here = find(tmp_path, tmp_path, tmp_path / "bin" / "python3")
        assert (here.installer, here.is_externally_managed) == ("system", False)

    @pytest.mark.parametrize("place", ["lib/python3.11", "lib64/python3.13", "Lib"])
    def test_a_distributions_python_says_that_pip_may_not_write_to_it(self, tmp_path: Path, place: str) -> None:
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "EXTERNALLY-MANAGED").touch()
        assert find(tmp_path, tmp_path, tmp_path / "python3").is_externally_managed

    def test_an_environment_without_its_config_is_not_written_to(self, tmp_path: Path) -> None:
        assert found(tmp_path).installer == "system"

    @pytest.mark.parametrize(("keys", "installer"), [({}, "pip"), (UV, "uv")])
    def test_venv_and_uv_are_told_apart(self, tmp_path: Path, keys: dict[str, str], installer: Installer) -> None:
        here = found(write_config(tmp_path, **keys))
        assert (here.installer, here.python) == (installer, tmp_path / "bin" / "python")

    def test_uv_serves_an_environment_that_has_no_pip(self, tmp_path: Path) -> None:
        assert found(write_config(tmp_path), has_pip=False).installer == "uv"

    def test_a_tool_of_uv_has_its_extras_companions_and_python_on_record(self, tmp_path: Path) -> None:
        prefix = write_receipt(
            write_config(tmp_path, **UV),
            [
                '{ name = "subtitle-rag", extras = ["web", "mcp"], path = "/w/subtitle_rag-0.1.0-py3-none-any.whl" }',
                '{ name = "rich", specifier = ">=14" }',
                '{ name = "six" }',
                '{ name = "own", extras = ["a"], directory = "/src/own" }',
                '{ name = "far", git = "https://git.invalid/far?rev=main" }',
                '{ name = "file", url = "https://files.invalid/file-1-py3-none-any.whl" }',
            ],
            python="3.12",
        )
        here = found(prefix)
        assert (here.installer, here.extras) == ("uv tool", ("web", "mcp"))
        options = shlex.join(here.tool_options)
        assert options.split(" --with ") == [
            *("--python 3.12", "'rich>=14'", "six", "'own[a] @ /src/own'"),
            *("'far @ git+https://git.invalid/far?rev=main'", "'file @ https://files.invalid/file-1-py3-none-any.whl'"),
        ]

    @pytest.mark.parametrize("text", ["", "[tool]", "[tool", "tool = 3", '[tool]\nrequirements = ["subtitle-rag"]'])
    def test_a_receipt_that_cannot_be_read_has_nothing_on_record(self, tmp_path: Path, text: str) -> None:
        write_config(tmp_path, **UV)
        (tmp_path / "uv-receipt.toml").write_text(text)
        here = found(tmp_path)
        assert (here.installer, here.extras, here.tool_options) == ("uv tool", (), ())

    def test_uvx_lies_in_a_cache(self, tmp_path: Path) -> None:
        here = found(write_config(in_cache(tmp_path / "uv", "archive-v0", "Zx7"), **UV))
        assert (here.installer, here.uses_uv) == ("uvx", True)

    def test_the_mark_of_a_cache_in_the_environment_itself_is_no_sign_of_uvx(self, tmp_path: Path) -> None:
        """uv puts one into every environment, so that back-ups leave it out."""
        assert found(write_config(in_cache(tmp_path / ".venv"), **UV)).installer == "uv"

    def test_uv_run_with_more_packages_is_passing(self, tmp_path: Path) -> None:
        prefix = write_config(tmp_path / "builds-v0" / "tmp", **UV, **{"extends-environment": "/src/.venv"})
        assert found(prefix).installer == "uvx"

    @pytest.mark.parametrize("keys", [{}, UV])
    @pytest.mark.parametrize("place", ["home/pipx/.cache", "cache/pipx"])
    def test_pipx_run_is_passing_whoever_works_for_it(self, tmp_path: Path, place: str, keys: dict[str, str]) -> None:
        prefix = write_config(in_cache(tmp_path / place, "9f2ab81"), **keys)
        (prefix / "pipx_metadata.json").write_text("{}")
        here = found(prefix)
        assert (here.installer, here.uses_uv) == ("uvx", bool(keys))

    @pytest.mark.parametrize("keys", [{}, UV])
    def test_pipx_leaves_its_record_beside_that_of_who_works_for_it(self, tmp_path: Path, keys: dict[str, str]) -> None:
        prefix = write_config(tmp_path / "venvs" / "subtitle-rag", **keys)
        (prefix / "pipx_metadata.json").touch()
        here = found(prefix)
        assert (here.installer, here.uses_uv) == ("pipx", bool(keys))


class TestOrigin:
    @pytest.mark.parametrize(
        ("direct_url", "origin"),
        [
            (None, Origin()),
            ({"url": "file:///src/app", "dir_info": {}}, Origin("file:///src/app")),
            ({"url": "file:///src/app", "dir_info": {"editable": True}}, Origin("file:///src/app", editable=True)),
            ({"url": "file:///w/a.whl", "archive_info": {"hash": "sha256=0"}}, Origin("file:///w/a.whl")),
            (
                {"url": "https://git.invalid/a", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
                Origin("git+https://git.invalid/a@c0ffee"),
            ),
            (
                {"url": "https://a.invalid/a.zip", "archive_info": {}, "subdirectory": "app"},
                Origin("https://a.invalid/a.zip#subdirectory=app"),
            ),
        ],
    )
    def test_it_is_told_by_pep_610(self, direct_url: dict[str, object] | None, origin: Origin) -> None:
        assert origin_of(json.dumps(direct_url) if direct_url else None) == origin

    @pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}", '{"url": "x", "vcs_info": {}, "dir_info": 3}'])
    def test_what_cannot_be_read_is_taken_for_an_index(self, text: str) -> None:
        assert origin_of(text) == Origin()

    def test_what_came_from_a_network_can_be_had_again_as_far_as_is_known(self) -> None:
        assert Origin().is_here
        assert Origin("git+https://git.invalid/a@c0ffee").is_here

    def test_what_has_gone_from_the_disk_cannot_be_had_again(self, tmp_path: Path) -> None:
        wheel = tmp_path / "a b.whl"
        origin = Origin(wheel.as_uri())
        assert (origin.path, origin.is_here) == (wheel, False)
        wheel.touch()
        assert origin.is_here

    def test_a_requirement_names_the_place_and_the_extras(self, tmp_path: Path) -> None:
        folder, wheel = Origin(tmp_path.as_uri()), Origin("file:///w/a.whl")
        assert Origin().arguments() == ["subtitle-rag"]
        assert Origin().arguments("web", "mcp") == ["subtitle-rag[mcp,web]"]
        assert folder.arguments("web") == [f"{tmp_path}[web]"]
        assert Origin(folder.url, editable=True).arguments("web") == ["--editable", f"{tmp_path}[web]"]
        assert Origin(folder.url, editable=True).requirement("web") == f"{tmp_path}[web]"
        assert wheel.arguments("web") == ["subtitle-rag[web] @ file:///w/a.whl"]
