"""scripts/campaign, on suites of a few tests, and what its parts promise."""

import os
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import _campaign
from scripts._campaign import PARTS, Part
from tests.support import hermetic

ROOT = Path(__file__).resolve().parents[1]
CONFIG = '[pytest]\naddopts = -ra --strict-markers -m "not campaign"\nmarkers =\n    campaign(part): long\n'
SUITE = """
import pytest

@pytest.mark.campaign(part="one")
def test_of_one(): pass

@pytest.mark.campaign(part="one")
@pytest.mark.xfail(strict=True, reason="as expected")
def test_that_is_expected_to_fail(): assert False

@pytest.mark.campaign(part="two")
def test_of_two(): assert False, "it is broken"

@pytest.mark.campaign(part="three")
def test_of_three(): pytest.skip("no Chromium is installed")

@pytest.mark.campaign(part="three")
def test_of_root(): pytest.skip("root may write everywhere")

@pytest.mark.campaign(part="kills")
def test_of_kills():
    import os
    assert os.environ["SUBTITLE_RAG_KILLS"] == "20"

def test_that_is_fast(): assert False, "no part asks for it"
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SUBTITLE_RAG_KILLS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    (tmp_path / "pytest.ini").write_text(CONFIG)
    (tmp_path / "test_suite.py").write_text(SUITE)
    return tmp_path


def part(name: str, **changes: object) -> Part:
    made = Part(name, f"what {name} proves", 1, parallel=False)
    return replace(made, **changes)  # type: ignore[arg-type]


def results(out: str) -> dict[str, str]:
    """Whether each part has passed, as the end of the output says."""
    lines = out[out.rindex("== campaign") :].splitlines()[1:]
    return {line.split()[0]: line.split()[-1] for line in lines}


def test_parts_run_one_after_the_other_also_after_a_failure(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _campaign.main([], [part("two"), part("three"), part("four"), part("one")], suite) == 1
    out = capfd.readouterr().out
    assert list(results(out).items()) == [("two", "FAILED"), ("three", "FAILED"), ("four", "FAILED"), ("one", "passed")]
    assert "1 failed, 1 skipped" in out, "a skip is a failure, but for root, who may write everywhere"
    assert "1 passed, 5 deselected, 1 xfailed" in out, "an expected failure is none"
    assert "In a campaign nothing is skipped: no Chromium is installed" in out
    assert "it is broken" in out
    assert "no part asks for it" not in out


def test_the_parts_that_are_named_run_and_arguments_go_to_pytest(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _campaign.main(["one", "--", "--verbose", "-k", "of_one"], [part("one"), part("two")], suite) == 0
    out = capfd.readouterr().out
    assert results(out) == {"one": "passed"}
    assert "test_suite.py::test_of_one PASSED" in out
    assert re.search(r"=+ 1 passed, 6 deselected in [\d.]+s =+", out)


def test_ci_runs_its_parts_in_one_run_of_pytest(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _campaign.main(["--ci"], [part("one", ci=True), part("two", ci=True), part("three")], suite) == 1
    out = capfd.readouterr().out
    assert results(out) == {"together": "FAILED"}
    assert "1 failed, 1 passed, 1 xfailed" in out
    assert "== together: one, two" in out
    assert "it is broken" in out


def test_a_part_beside_the_short_half_runs_alone_with_its_own_variables(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _campaign.main(["--ci", "one", "kills"], [part("one", ci=True), part("kills")], suite) == 0
    assert list(results(capfd.readouterr().out)) == ["together", "kills"]


def test_the_short_half_has_its_own_variables_and_what_is_set_already_stays(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _campaign.main(["--ci"], [part("kills", ci=True)], suite) == 1
    monkeypatch.setenv("SUBTITLE_RAG_KILLS", "20")
    assert _campaign.main(["--ci"], [part("kills", ci=True)], suite) == 0
    assert _campaign.main(["--count", "7"], [part("kills")], suite) == 1


def test_seed_count_and_hours_reach_the_tests() -> None:
    options, _ = _campaign.parse(["soak", "--seed", "7", "--hours", "0.05", "--count", "12"], PARTS)
    assert _campaign.option_variables(options) == {
        "SUBTITLE_RAG_SEED": "7",
        **dict.fromkeys(_campaign.LONG, "12"),
        "SUBTITLE_RAG_HOURS": "0.05",
    }
    assert {*_campaign.option_variables(options)} <= hermetic.KEPT, "the test run drops the others"
    assert _campaign.option_variables(_campaign.parse([], PARTS)[0]) == {}


@pytest.mark.programs("sh", "stress-ng")
def test_a_load_that_does_not_last_is_a_failure(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(suite), prepend=os.pathsep)
    program = suite / "stress-ng"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    loaded = part("one", front=("sh", "-c", _campaign.UNDER_LOAD, "load"))
    assert _campaign.main([], [loaded], suite) == 0
    assert _campaign.main(["--", "-k", "nothing"], [loaded], suite) == 1
    program.write_text("#!/bin/sh\nexit 1\n")
    assert _campaign.main([], [loaded], suite) == 1


def test_a_part_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        _campaign.main(["nothing"])
    assert stop.value.code == 2
    assert "kills" in capsys.readouterr().err


def test_the_list_names_all_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert _campaign.main(["--list"]) == 0
    first = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:] if not line.startswith(" ")]
    assert first == [one.name for one in PARTS]


def test_the_short_half_needs_no_program() -> None:
    assert [one.name for one in PARTS if one.ci and one.front] == []


def test_the_fast_suite_is_what_pyproject_says() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert options["addopts"][-2:] == ["-m", _campaign.FAST]


def test_every_mark_names_a_part() -> None:
    sources = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.name != Path(__file__).name
    ]
    marked = {name for text in sources for name in re.findall(r'mark\.campaign\(part="(\w+)"\)', text)}
    assert marked <= {one.name for one in PARTS}
    assert all(_campaign.marked_files(one, ROOT) for one in PARTS if not one.select)


def test_what_the_makefile_runs_is_there() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    scripts = set(re.findall(r"scripts/[\w.-]+", text))
    assert {"scripts/setup", "scripts/check", "scripts/test", "scripts/campaign"} <= scripts
    assert [name for name in scripts if not os.access(ROOT / name, os.X_OK)] == []
    verbs = {"setup", "run", "test", "check", "test-fast", "campaign", "bench", "screenshots"}
    assert verbs <= set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def test_continuous_integration_runs_the_test_command_and_the_short_half() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("./")]
    assert commands == ["./scripts/test", "./scripts/campaign --ci"]


SHELL_SCRIPTS = ("campaign", "check", "setup", "test")


@pytest.mark.programs("bash")
@pytest.mark.parametrize("path", [".ci/run", *(f"scripts/{name}" for name in SHELL_SCRIPTS)])
def test_shell_scripts_can_be_read_by_bash(path: str) -> None:
    assert subprocess.run(["bash", "-n", ROOT / path], check=False).returncode == 0
