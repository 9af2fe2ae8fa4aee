"""`self check`: the packages that this copy needs, by the metadata of what is installed."""

import sys
from pathlib import Path

import pytest

from subtitle_rag.installation import distributions, extras
from tests.support.cases import cases
from tests.support.commandline import Run

METADATA = """Metadata-Version: 2.4
Name: subtitle-rag
Version: 1.2
Requires-Python: {python}
Provides-Extra: neural
Provides-Extra: web
Provides-Extra: all
Provides-Extra: test
Requires-Dist: here-base>=2,<3
Requires-Dist: elsewhere>=1; sys_platform == "nowhere"
Requires-Dist: Here_Neural>=1; extra == "neural"
Requires-Dist: absent-web; extra == "web"
Requires-Dist: here-base>=2,<3; extra == "web"
Requires-Dist: here-base>=2,<3; extra == "all"
Requires-Dist: Here_Neural>=1; extra == "all"
Requires-Dist: absent-web; extra == "all"
Requires-Dist: absent-test; extra == "test"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, with a copy that needs some of them."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    install(folder, "subtitle_rag", "1.2", METADATA.format(python=">=3.11"))
    install(folder, "here_base", "2.5")
    install(folder, "here_neural", "1.0")
    return folder


def install(folder: Path, name: str, version: str, metadata: str = "") -> None:
    for old in folder.glob(f"{name}-*.dist-info/METADATA"):
        old.unlink()
        old.parent.rmdir()
    place = folder / f"{name}-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(metadata or f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")


def test_a_whole_copy_ends_with_0(run: Run, site: Path) -> None:
    told = run("self", "check")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert lines[0] == "subtitle-rag 1.2"
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["✓", "Python"],
        ["✓", "here-base"],
        ["✓", "Here_Neural"],
        ["·", "absent-web"],
    ]
    assert lines[4].endswith("not installed  [web], [all]")
    assert lines[5:] == ["[neural] whole", "[web] not whole: absent-web", "[all] not whole: absent-web"]


def test_a_program_reads_it_too(run: Run, site: Path) -> None:
    result = run("self", "check", "--json").result
    assert list(result) == ["version", "python", "packages", "extras"]
    assert result["python"]["state"] == "ok"
    assert result["packages"][0] == {
        "name": "here-base",
        "wanted": "<3,>=2",
        "installed": "2.5",
        "state": "ok",
        "extras": [],
    }
    assert result["extras"][1] == {"name": "web", "whole": False, "lacking": ["absent-web"]}


@cases(("version", "state"), [("1.9", "too_old"), ("3.0", "too_new"), ("nonsense", "unfit"), ("2.0rc1", "too_old")])
def test_a_base_package_out_of_its_range_is_a_failure(run: Run, site: Path, version: str, state: str) -> None:
    install(site, "here_base", version)
    told = run("self", "check", "--json")
    assert (told.code, told.document["status"]) == (1, "error")
    assert told.document["result"]["packages"][0]["state"] == state
    (entry,) = told.document["errors"]
    assert entry["code"] == "package_unfit"
    assert f"here-base {version} is here, but <3,>=2 is needed." in told.err


def test_a_base_package_that_is_missing_is_a_failure(run: Run, site: Path) -> None:
    (site / "here_base-2.5.dist-info" / "METADATA").unlink()
    (site / "here_base-2.5.dist-info").rmdir()
    told = run("self", "check", "--json")
    assert told.code == 1
    assert [entry["code"] for entry in told.document["errors"]] == ["package_missing"]
    assert distributions.missing_packages() == ["here-base"]


def test_an_old_package_of_an_extra_is_told_and_no_failure(run: Run, site: Path) -> None:
    install(site, "here_neural", "0.9")
    told = run("self", "check")
    assert told.code == 0
    assert any(line.startswith("!  Here_Neural") and "too old" in line for line in told.out.splitlines())
    assert "[neural] not whole: Here_Neural" in told.out


def test_another_python_is_a_failure(run: Run, site: Path) -> None:
    install(site, "subtitle_rag", "1.2", METADATA.format(python=">=9"))
    told = run("self", "check", "--json")
    assert (told.code, told.document["result"]["python"]["state"]) == (1, "too_old")


def test_a_copy_that_is_not_installed_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "PACKAGE", "nowhere-installed")
    refused = run("self", "check", "--json")
    assert (refused.code, refused.failure) == (1, "no_metadata")


@cases(
    ("installed", "wanted", "state"),
    [
        ("1.5", "", "ok"),
        ("1.5", "~=1.4", "ok"),
        ("2.0", "~=1.4", "too_new"),
        ("1.3", "~=1.4", "too_old"),
        ("1.5", "!=1.5", "unfit"),
        ("1.5", "==1.*", "ok"),
        ("2.5", "==1.*", "too_new"),
        ("2.13.0+cpu", ">=2.13", "ok"),
        ("2.0", "<2", "too_new"),
    ],
)
def test_a_version_stands_somewhere_to_its_range(installed: str, wanted: str, state: str) -> None:
    from packaging.specifiers import SpecifierSet

    assert distributions._state(installed, SpecifierSet(wanted)) == state


def test_the_copy_that_is_tested_is_whole_at_its_base() -> None:
    standing = distributions.version_report()
    assert standing.unfit == []
    assert standing.python.installed == ".".join(map(str, sys.version_info[:3]))
