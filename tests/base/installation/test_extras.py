"""Which extras are here, as a process sees them whose environment changes under it."""

import importlib
import tomllib
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.installation import extras
from subtitle_rag.base.installation.extras import EXTRAS, NEURAL, SERVER, Extra, package_name, requirements
from subtitle_rag.base.installation.package_installer import require_extra
from tests.base.installation.environments import ROOT

ODD = Extra("odd", "Oddity", ("odd_one", "odd_two"), 1)


@pytest.fixture
def declared_odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An extra of two packages; the folder into which they come."""
    dist = tmp_path / "declared" / "subtitle_rag-0.1.0.dist-info"
    dist.mkdir(parents=True)
    wanted = ["odd-one>=1 ; extra == 'odd'", "other ; extra == 'other'", "rich>=14"]
    rows = "".join(f"Requires-Dist: {each}\n" for each in wanted)
    (dist / "METADATA").write_text(f"Metadata-Version: 2.4\nName: subtitle-rag\nVersion: 0.1.0\n{rows}")
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(dist.parent)
    monkeypatch.setattr(extras, "_complete", set())
    return tmp_path / "site"


def add_module(folder: Path, name: str) -> None:
    (folder / f"{name}.py").touch()
    importlib.invalidate_caches()


def add_metadata(folder: Path, name: str) -> None:
    (folder / f"{name}-1.0.dist-info").mkdir()
    (folder / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n")
    importlib.invalidate_caches()


def test_an_extra_is_here_when_all_of_it_is(declared_odd: Path) -> None:
    assert (requirements("odd"), requirements()) == (["odd-one>=1"], ["rich>=14"])
    seen = [ODD.is_installed]
    add_module(declared_odd, "odd_one")
    add_module(declared_odd, "odd_two")
    seen.append(ODD.is_installed)  # an installer that was killed has left modules without metadata
    with pytest.raises(AppError) as refused:
        require_extra(ODD)
    assert refused.value.code == "missing_extra"
    add_metadata(declared_odd, "odd_one")
    assert [*seen, ODD.is_installed] == [False, False, True]
    require_extra(ODD)


def test_metadata_without_the_module_is_not_the_package(declared_odd: Path) -> None:
    add_metadata(declared_odd, "odd_one")
    add_module(declared_odd, "odd_one")
    assert not ODD.is_installed


def test_what_was_whole_is_not_looked_for_again(declared_odd: Path) -> None:
    for name in ODD.modules:
        add_module(declared_odd, name)
    add_metadata(declared_odd, "odd_one")
    assert ODD.is_installed
    (declared_odd / "odd_two.py").unlink()
    importlib.invalidate_caches()
    assert ODD.is_installed


def test_a_program_that_was_never_installed_goes_by_the_modules(
    declared_odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "PACKAGE", "nowhere-installed")
    for name in ODD.modules:
        add_module(declared_odd, name)
    assert requirements("odd") == []
    assert ODD.is_installed


def test_the_extras_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = project["optional-dependencies"]
    assert set(EXTRAS) == set(named) - {"all"}
    (whole,) = named["all"]
    assert set(whole.removeprefix("subtitle-rag[").removesuffix("]").split(",")) == set(EXTRAS)


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=list(EXTRAS))
def test_each_names_what_installers_take(extra: Extra) -> None:
    needed = requirements(extra.name)
    assert len(needed) == len({package_name(each) for each in needed}) > 0
    assert all(";" not in each for each in needed)


def test_all_of_them_are_in_the_environment_of_the_tests() -> None:
    assert [extra.name for extra in EXTRAS.values() if not extra.is_installed] == []
    assert NEURAL.megabytes > SERVER.megabytes
