"""scripts/release, on repositories of a few files."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs("awk", "bash", "date", "dirname", "git", "grep", "sed", "sort", "tail")

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("pyproject.toml", "subtitle_rag/__init__.py")
NOTES = '### Added\n\n- Scenes are found by `모양`, "too".\n- A second line\n  that goes on.\n'
CHANGELOG = f"""# Changelog

What changes.

## [Unreleased]

{NOTES}
### Fixed

## [0.1.0] - 2026-01-02

- The first.
"""
CI = "#!/usr/bin/env bash\necho checked\n"


@dataclass(frozen=True)
class Repository:
    folder: Path

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    def release(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.folder / "scripts" / "release", *arguments], capture_output=True, encoding="utf-8", check=False
        )

    def commit(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", f"Change {name}")

    def state(self) -> tuple[str, str, str]:
        """The commit, the tags, and what is changed or staged."""
        return self.git("rev-parse", "HEAD"), self.git("tag"), self.git("status", "--porcelain")

    def refuses(self, *arguments: str) -> str:
        """What it says when it makes no release; nothing has changed."""
        before = self.state()
        ended = self.release(*arguments)
        assert (ended.returncode, ended.stdout) == (1, ""), ended.stderr
        assert self.state() == before
        return ended.stderr


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The script, the project's own files of the version, a changelog of two parts, and v0.1.0 tagged."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
    made = Repository(tmp_path / "project")
    for name in PLACES:  # whatever version this working tree has
        text = re.sub(r'^(version|__version__) = ".*"', r'\1 = "0.1.0"', (ROOT / name).read_text(), flags=re.MULTILINE)
        (made.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (made.folder / name).write_text(text)
    (made.folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "release", made.folder / "scripts")
    made.git("init", "--quiet", "--initial-branch", "main")
    made.commit(".ci/run", CI)
    made.commit("CHANGELOG.md", CHANGELOG)
    made.git("tag", "v0.1.0")
    return made


def test_a_release_sets_the_version_dates_the_changelog_and_tags_what_is_green(repository: Repository) -> None:
    before = (repository.folder / "pyproject.toml").read_text()
    day = datetime.now(UTC).date().isoformat()
    ended = repository.release("0.2.0")
    assert (ended.returncode, ended.stdout) == (0, NOTES), ended.stderr
    assert ended.stderr.startswith("checked\n")
    after = (repository.folder / "pyproject.toml").read_text()
    assert after == before.replace('version = "0.1.0"', 'version = "0.2.0"', 1)
    assert '__version__ = "0.2.0"' in (repository.folder / "subtitle_rag" / "__init__.py").read_text()
    head, _unreleased, rest = CHANGELOG.partition("## [Unreleased]\n")
    changelog = (repository.folder / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog == f"{head}## [Unreleased]\n\n## [0.2.0] - {day}\n{rest}"
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("log", "-1", "--format=%s") == "release: make 0.2.0"
    assert repository.git("rev-parse", "v0.2.0^{commit}") == repository.git("rev-parse", "HEAD")
    assert repository.git("tag", "--list", "--format=%(contents)", "v0.2.0") == f"subtitle_rag 0.2.0\n\n{NOTES}".strip()
    assert repository.git("diff", "--name-only", "HEAD~").split() == ["CHANGELOG.md", *PLACES]


def test_a_dry_run_prints_the_notes_and_changes_nothing(repository: Repository) -> None:
    before = repository.state()
    ended = repository.release("0.2.0", "--dry-run")
    assert (ended.returncode, ended.stdout) == (0, NOTES)
    assert repository.state() == before


def test_after_a_release_there_is_nothing_to_release(repository: Repository) -> None:
    assert repository.release("0.2.0").returncode == 0
    assert "[Unreleased] of CHANGELOG.md is empty" in repository.refuses("0.3.0")


@pytest.mark.parametrize("version", ["0.1.0", "0.0.10"])
def test_a_version_must_be_above_the_last(repository: Repository, version: str) -> None:
    assert "not above 0.1.0" in repository.refuses(version)


def test_versions_are_compared_as_numbers(repository: Repository) -> None:
    repository.git("tag", "v0.10.0")
    repository.git("tag", "very-old")
    assert "not above 0.10.0" in repository.refuses("0.9.0")
    assert repository.release("0.10.1", "--dry-run").returncode == 0


def test_the_first_release_may_be_what_the_program_calls_itself(repository: Repository) -> None:
    repository.git("tag", "--delete", "v0.1.0")
    assert repository.release("0.1.0").returncode == 0
    assert repository.git("tag") == "v0.1.0"


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3rc1", "01.2.3", "1.2.3\n", ""])
def test_a_version_has_three_numbers(repository: Repository, version: str) -> None:
    assert "it has the form 1.2.3" in repository.refuses(version)


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


def fails(repository: Repository) -> None:
    before = repository.state()
    assert repository.release("0.2.0").returncode != 0
    assert repository.state() == before


def test_what_is_not_green_is_not_tagged(repository: Repository) -> None:
    repository.commit(".ci/run", f"{CI}exit 1\n")
    fails(repository)


def test_where_git_refuses_everything_stays(repository: Repository) -> None:
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    fails(repository)


def test_a_tag_that_git_refuses_leaves_no_commit(repository: Repository) -> None:
    repository.git("pack-refs", "--all")
    blocker = repository.folder / ".git" / "refs" / "tags" / "v0.2.0"
    blocker.mkdir(parents=True)
    (blocker / "x.lock").write_text("")
    fails(repository)
