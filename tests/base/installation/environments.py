"""Environments for tests: folders as installers lay them out, and a virtual environment with the real pip."""

import os
import sys
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from subtitle_rag.base.installation import extras, package_installer
from tests.stand_ins.packages import Index, Wheel

ROOT = Path(__file__).resolve().parents[3]


def write_metadata(folder: Path) -> None:
    """The distribution's metadata with the extras that `pyproject.toml` has, as an installer would write it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {project['version']}"]
    rows += [f"Requires-Dist: {each}" for each in project["dependencies"]]
    for extra, wanted in project["optional-dependencies"].items():
        rows += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {each}; extra == '{extra}'" for each in wanted)]
    place = folder / f"subtitle_rag-{project['version']}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("\n".join(rows) + "\n", encoding="utf-8")


def use_environment(monkeypatch: pytest.MonkeyPatch, prefix: Path, python: Path) -> None:
    """Have the program run in this virtual environment, on Linux without a GPU."""
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(extras, "GPU_FILES", ())
    monkeypatch.setattr(extras, "_complete", set())
    monkeypatch.setattr(package_installer, "POLL_S", 0.01)


def site(prefix: Path) -> Path:
    version = sys.version_info
    return prefix / "lib" / f"python{version[0]}.{version[1]}" / "site-packages"


def make_environment(prefix: Path) -> Path:
    """A virtual environment that has its pip from a folder elsewhere, as pipx shares it; its interpreter."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(prefix)
    found = find_spec("pip")
    assert found
    assert found.submodule_search_locations
    shared = prefix.parent / "shared"
    shared.mkdir(exist_ok=True)
    if not (shared / "pip").exists():
        (shared / "pip").symlink_to(found.submodule_search_locations[0])
    (site(prefix) / "shared.pth").write_text(f"{shared}\n", encoding="utf-8")
    return prefix / "bin" / "python"


def put(prefix: Path, *wheels: Wheel) -> None:
    """Have packages installed, without an installer."""
    for wheel in wheels:
        for name, text in wheel.files.items():
            path = site(prefix) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def installed(prefix: Path) -> set[str]:
    """Packages of the environment with their versions."""
    folders = (path.stem for path in site(prefix).glob("*.dist-info"))
    return {"==".join(name.rsplit("-", 1)) for name in folders if not name.startswith("subtitle_rag")}


def pip_variables(index: Index) -> dict[str, str]:
    """pip's settings: this index, and nothing of whoever runs the tests."""
    return {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": index.url,
        "PIP_NO_CACHE_DIR": "1",
        "PIP_RETRIES": "0",
        "PIP_TRUSTED_HOST": index.url.split("/")[2],  # else nothing that came without TLS is kept
    }


def program(folder: Path, name: str, code: str) -> Path:
    """A program that stands for an installer; it is written in Python."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -S\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return path
