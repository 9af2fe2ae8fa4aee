"""scripts/release.py, on repositories of a few files."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from scripts import release

pytestmark = pytest.mark.programs("git")

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = """# Changelog

What changes.

## [Unreleased]

### Added

- Scenes are found by `모양`, "too".
- A second line
  that goes on.

### Fixed

## [0.1.0] - 2026-01-02

- The first.
"""


class Ended(NamedTuple):
    """A run of the script."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Repository:
    folder: Path
    output: pytest.CaptureFixture[str]

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    def release(self, *arguments: str) -> Ended:
        self.output.readouterr()
        code = release.main(arguments, self.folder)
        return Ended(code, *self.output.readouterr())

    def commit(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"Change {name}")

    def state(self) -> tuple[str, str, str]:
        """The commit, the tags and what is changed; also whether a file is staged."""
        return self.git("rev-parse", "HEAD"), self.git("tag"), self.git("status", "--porcelain")

    def refuses(self, *arguments: str) -> str:
        """What it says when it makes no release; nothing has changed."""
        before = self.state()
        ended = self.release(*arguments)
        assert (ended.code, ended.stdout) == (1, "")
        assert self.state() == before
        return ended.stderr


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Repository:
    """The project's own files of the version, a changelog of two parts, and v0.1.0 tagged."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
    made = Repository(tmp_path / "project", capsys)
    for name in release.PLACES:  # whatever version this working tree has
        text = re.sub(r'^(version|__version__) = ".*"', r'\1 = "0.1.0"', (ROOT / name).read_text(), flags=re.MULTILINE)
        (made.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (made.folder / name).write_text(text)
    made.git("init", "--quiet", "--initial-branch", "main")
    made.commit("CHANGELOG.md", CHANGELOG)
    made.git("tag", "v0.1.0")
    return made


def test_a_release_sets_the_version_the_changelog_and_a_tag(repository: Repository) -> None:
    before = (repository.folder / "pyproject.toml").read_text()
    ended = repository.release("0.2.0")
    assert ended.code == 0, ended.stderr
    notes = '### Added\n\n- Scenes are found by `모양`, "too".\n- A second line\n  that goes on.\n'
    assert ended.stdout == notes
    assert (repository.folder / "pyproject.toml").read_text() == before.replace(
        'version = "0.1.0"', 'version = "0.2.0"', 1
    )
    assert '__version__ = "0.2.0"' in (repository.folder / "subtitle_rag" / "__init__.py").read_text()
    day = repository.git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d")
    changelog = (repository.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    head, rest = CHANGELOG.split("## [Unreleased]")[0], CHANGELOG[CHANGELOG.index("## [0.1.0]") :]
    match = re.fullmatch(
        re.escape(f"{head}## [Unreleased]\n\n## [0.2.0] - ") + r"(\d{4}-\d\d-\d\d)" + re.escape(f"\n\n{notes}\n{rest}"),
        changelog,
    )
    assert match
    assert abs(int(match[1].replace("-", "")) - int(day.replace("-", ""))) < 8_900, "today, in any time zone"
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("log", "-1", "--format=%s") == "release: make 0.2.0"
    assert repository.git("rev-parse", "v0.2.0^{commit}") == repository.git("rev-parse", "HEAD")
    assert "### Added" in repository.git("tag", "--list", "--format=%(contents)", "v0.2.0")
    assert repository.git("diff", "--name-only", "HEAD~").split() == [
        "CHANGELOG.md",
        "pyproject.toml",
        "subtitle_rag/__init__.py",
    ]


def test_a_dry_run_prints_the_notes_and_changes_nothing(repository: Repository) -> None:
    before = repository.state()
    ended = repository.release("0.2.0", "--dry-run")
    assert ended.code == 0
    assert ended.stdout.startswith("### Added\n\n- Scenes")
    assert repository.state() == before


def test_after_a_release_there_is_nothing_to_release(repository: Repository) -> None:
    assert repository.release("0.2.0").code == 0
    assert "[Unreleased] of CHANGELOG.md is empty" in repository.refuses("0.3.0")


@pytest.mark.parametrize(
    ("version", "reason"), [("0.1.0", "not above 0.1.0"), ("0.0.10", "not above 0.1.0"), ("1.2", "1.2 is no version")]
)
def test_a_version_must_be_above_the_last(repository: Repository, version: str, reason: str) -> None:
    assert reason in repository.refuses(version)


def test_versions_are_compared_as_numbers(repository: Repository) -> None:
    repository.git("tag", "v0.10.0")
    repository.git("tag", "very-old")
    assert "not above 0.10.0" in repository.refuses("0.9.0")
    assert repository.release("0.10.1", "--dry-run").code == 0


def test_the_first_release_may_be_what_the_program_calls_itself(repository: Repository) -> None:
    repository.git("tag", "--delete", "v0.1.0")
    assert "below 0.1.0" in repository.refuses("0.0.9")
    ended = repository.release("0.1.0")
    assert ended.code == 0, ended.stderr
    assert repository.git("tag") == "v0.1.0"


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3rc1", "01.2.3", "1.2.3\n", ""])
def test_a_version_has_three_numbers(version: str) -> None:
    assert release.number(version) is None


@pytest.mark.parametrize("name", ["CHANGELOG.md", "something-new"])
def test_a_working_tree_with_changes_is_refused(repository: Repository, name: str) -> None:
    with (repository.folder / name).open("a") as file:
        file.write("\n- more\n")
    assert name in repository.refuses("0.2.0")


@pytest.mark.parametrize(
    "text",
    [
        CHANGELOG.replace("## [Unreleased]\n", ""),
        CHANGELOG.replace("- Scenes", "Scenes").replace("- A second", "A second"),
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n## [0.1.0] - 2026-01-02\n\n- The first.\n",
    ],
    ids=["no part", "no entry", "headings only"],
)
def test_without_a_word_for_users_there_is_no_release(repository: Repository, text: str) -> None:
    repository.commit("CHANGELOG.md", text)
    assert "[Unreleased]" in repository.refuses("0.2.0")


def test_where_git_refuses_everything_stays(repository: Repository) -> None:
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    assert "not today" in repository.refuses("0.2.0")


def test_a_tag_that_git_refuses_leaves_no_commit(repository: Repository) -> None:
    repository.git("branch", "v9")
    repository.git("pack-refs", "--all")
    blocker = repository.folder / ".git" / "refs" / "tags" / "v0.2.0"
    blocker.mkdir(parents=True)
    (blocker / "x.lock").write_text("")
    assert "git tag failed" in repository.refuses("0.2.0")
