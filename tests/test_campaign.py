"""scripts/campaign, on suites of a few tests, and what its parts promise."""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import _campaign
from scripts._campaign import PARTS, Part, Program
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


def rows(out: str) -> dict[str, list[str]]:
    """The rows of the table at the end, by part."""
    lines = out[out.rindex("== campaign") :].splitlines()[2:]
    return {line.split()[0]: line.split()[1:] for line in lines}


def test_parts_run_one_after_the_other_also_after_a_failure(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _campaign.main([], [part("two"), part("three"), part("four"), part("one")], suite) == 1
    told = capfd.readouterr()
    found = rows(told.out)
    assert list(found) == ["two", "three", "four", "one", "all"]
    assert found["two"][:3] == ["0", "1", "0"]
    assert found["three"][:3] == ["0", "1", "1"], "a skip is a failure, but for root, who may write everywhere"
    assert found["four"][4:] == ["FAILED", "no", "test", "is", "marked", "for", "it"]
    assert found["one"][:3] == ["1", "0", "1"], "an expected failure is none"
    assert found["one"][4:] == ["passed"]
    assert found["all"][4:] == ["FAILED"]
    assert "In a campaign nothing is skipped: no Chromium is installed" in told.out
    assert "it is broken" in told.out
    assert "no part asks for it" not in told.out


def test_the_parts_that_are_named_run_and_arguments_go_to_pytest(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parts = [part("one"), part("two")]
    assert _campaign.main(["one", "--", "--verbose", "-k", "of_one"], parts, suite) == 0
    out = capfd.readouterr().out
    assert list(rows(out)) == ["one", "all"]
    assert rows(out)["one"][:3] == ["1", "0", "0"]
    assert "test_suite.py::test_of_one PASSED" in out
    assert re.search(r"=+ 1 passed, 6 deselected in [\d.]+s =+", out)


def test_ci_runs_the_short_half(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kills = part("kills", ci=True, variables={"SUBTITLE_RAG_KILLS": "2"}, ci_variables={"SUBTITLE_RAG_KILLS": "20"})
    assert _campaign.main(["--ci"], [part("one"), kills], suite) == 0
    assert list(rows(capfd.readouterr().out)) == ["together", "all"]


def test_ci_runs_its_parts_in_one_run_of_pytest(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parts = [part("one", ci=True), part("two", ci=True), part("three")]
    assert _campaign.main(["--ci"], parts, suite) == 1
    told = capfd.readouterr()
    found = rows(told.out)
    assert list(found) == ["together", "all"]
    assert found["together"][:3] == ["1", "1", "1"]
    assert "== together: one, two" in told.out
    assert "it is broken" in told.out


def test_a_part_beside_the_short_half_runs_alone_with_its_own_variables(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kills = part("kills", variables={"SUBTITLE_RAG_KILLS": "20"})
    assert _campaign.main(["--ci", "one", "kills"], [part("one", ci=True), kills], suite) == 0
    assert list(rows(capfd.readouterr().out)) == ["together", "kills", "all"]


def test_what_is_set_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    kills = part("kills", ci=True, variables={"SUBTITLE_RAG_KILLS": "20"})
    monkeypatch.delenv("SUBTITLE_RAG_KILLS", raising=False)
    assert _campaign.environment(kills, ROOT, ci=False)["SUBTITLE_RAG_KILLS"] == "20"
    assert "SUBTITLE_RAG_KILLS" not in _campaign.environment(kills, ROOT, ci=True)
    monkeypatch.setenv("SUBTITLE_RAG_KILLS", "7")
    assert _campaign.environment(kills, ROOT, ci=False)["SUBTITLE_RAG_KILLS"] == "7"


def test_seed_count_and_hours_reach_the_tests() -> None:
    assert _campaign.parse(["kill"], PARTS)[0].parts == ["kills"]
    options, _ = _campaign.parse(["soak", "--seed", "7", "--hours", "0.05", "--count", "12"], PARTS)
    assert _campaign.option_variables(options) == {
        "SUBTITLE_RAG_SEED": "7",
        "SUBTITLE_RAG_HOURS": "0.05",
        **dict.fromkeys(_campaign.COUNTS, "12"),
    }
    assert {*_campaign.option_variables(options)} <= hermetic.KEPT, "the test run drops the others"
    assert _campaign.option_variables(_campaign.parse([], PARTS)[0]) == {}


def test_a_missing_program_is_a_failure_that_names_the_package(
    suite: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(suite))
    absent = [Program("chromium", ("chromium", "google-chrome")), Program("stress-ng", ("stress-ng",))]
    assert _campaign.main([], [part("one", programs=tuple(absent))], suite) == 1
    told = capfd.readouterr()
    assert "one needs chromium and stress-ng: apt install chromium stress-ng" in told.err
    assert rows(told.out)["one"][:3] == ["0", "0", "0"]
    (suite / "google-chrome").touch(mode=0o755)
    assert _campaign.missing(part("one", programs=(absent[0],)), suite) == ""


def test_a_missing_package_is_a_failure_that_names_the_line_of_pip(
    suite: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _campaign.main([], [part("one", packages=("pytest", "no-such-weights"))], suite) == 1
    assert "one needs no-such-weights: pip install --no-deps no-such-weights" in capfd.readouterr().err
    assert _campaign.missing(part("one", packages=("pytest",)), suite) == ""


def test_a_program_in_front_that_is_not_there_is_a_failure(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _campaign.main([], [part("one", front=("scripts/none", "--"))], suite) == 1
    assert "scripts/none" in capfd.readouterr().err


def test_a_program_runs_beside_the_tests_and_ends_with_them(suite: Path, capfd: pytest.CaptureFixture[str]) -> None:
    noted = suite / "pid"
    code = f"import os, pathlib, time; pathlib.Path({str(noted)!r}).write_text(str(os.getpid())); time.sleep(600)"
    beside = (sys.executable, "-S", "-c", code)
    slow = "import pathlib, time\nimport pytest\n@pytest.mark.campaign(part='one')\ndef test_it():\n"
    slow += f"    while not pathlib.Path({str(noted)!r}).exists(): time.sleep(0.01)\n"
    (suite / "test_slow.py").write_text(slow)
    assert _campaign.main([], [part("one", beside=beside)], suite) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(noted.read_text()), 0)
    (suite / "test_slow.py").unlink()
    assert _campaign.main(["--", "--version"], [part("one", beside=("false",))], suite) == 1
    assert "false ended before the tests did" in capfd.readouterr().err


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
    assert [one.name for one in PARTS if one.ci and (one.programs or one.packages or one.front or one.beside)] == []


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
    assert {"scripts/setup", "scripts/check", "scripts/test", "scripts/campaign", "scripts/release"} <= scripts
    assert [name for name in scripts if not os.access(ROOT / name, os.X_OK)] == []
    verbs = {"setup", "run", "test", "check", "test-fast", "campaign", "bench", "screenshots", "release"}
    assert verbs <= set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def test_continuous_integration_runs_the_test_command_and_the_short_half() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("./")]
    assert commands == ["./scripts/test", "./scripts/campaign --ci"]


SHELL_SCRIPTS = ("campaign", "check", "release", "setup", "test")


@pytest.mark.programs("bash")
@pytest.mark.parametrize("path", [".ci/run", *(f"scripts/{name}" for name in SHELL_SCRIPTS)])
def test_shell_scripts_can_be_read_by_bash(path: str) -> None:
    assert subprocess.run(["bash", "-n", ROOT / path], check=False).returncode == 0
