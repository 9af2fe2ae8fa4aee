#!/usr/bin/env python3
"""Make a release: set the version, turn the changelog's unreleased part into it, commit and tag.

    scripts/release.py VERSION [--dry-run]

The notes of the release, which are that part of the changelog, go to stdout. Nothing is pushed.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT, PACKAGE, CHANGELOG = Path("pyproject.toml"), Path("subtitle_rag/__init__.py"), Path("CHANGELOG.md")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
PLACES = {
    PROJECT: re.compile(r'^version = "([^"]*)"$', re.MULTILINE),
    PACKAGE: re.compile(r'^__version__ = "([^"]*)"$', re.MULTILINE),
}
"""Where the version is written."""
UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)

Number = tuple[int, int, int]


class ReleaseError(Exception):
    """Why there is no release, and what to do about it."""


def number(version: str) -> Number | None:
    """The version as it is compared; None for what is not of the form 1.2.3."""
    match = VERSION.fullmatch(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def git(root: Path, *arguments: str) -> str:
    """What git prints. Raises ReleaseError with git's own words."""
    ended = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ReleaseError(f"git {arguments[0]} failed: {(ended.stderr or ended.stdout).strip()}")
    return ended.stdout


def check_version(root: Path, version: str) -> None:
    """See that the version is above the last release, and not below what the program calls itself."""
    wanted_number = number(version)
    if wanted_number is None:
        raise ReleaseError(f"{version} is no version; it has the form 1.2.3")
    tags = [tag_number for tag in git(root, "tag", "--list", "v*").split() if (tag_number := number(tag[1:]))]
    if tags and wanted_number <= max(tags):
        last = ".".join(map(str, max(tags)))
        raise ReleaseError(f"{version} is not above {last}, the last release; choose a higher version")
    match = PLACES[PROJECT].search((root / PROJECT).read_text(encoding="utf-8"))
    current = number(match[1]) if match else None
    if current and wanted_number < current:
        raise ReleaseError(f"{version} is below {match and match[1]} in {PROJECT}; choose a higher version")


def notes(changelog: str) -> str:
    """The changelog's unreleased part, without empty headings."""
    match = UNRELEASED.search(changelog)
    if match is None:
        raise ReleaseError(f"{CHANGELOG} has no part [Unreleased]; write one that says what changes for users")
    text = re.sub(r"^### [^\n]*\n\s*(?=^### |\Z)", "", match[1], flags=re.MULTILINE).strip()
    if not re.search(r"^\s*[-*] \S", text, re.MULTILINE):
        raise ReleaseError(f"the part [Unreleased] of {CHANGELOG} is empty; write what changes for users")
    return text


def changed(root: Path, version: str, day: str) -> dict[Path, str]:
    """The files of the release, as they will be."""
    texts = {}
    for path, pattern in PLACES.items():
        before = (root / path).read_text(encoding="utf-8")
        after, count = pattern.subn(lambda match: match[0].replace(f'"{match[1]}"', f'"{version}"'), before)
        if count != 1:
            raise ReleaseError(f"{path} has {count} lines with the version where there should be one; mend it")
        texts[path] = after
    changelog = (root / CHANGELOG).read_text(encoding="utf-8")
    section = f"## [Unreleased]\n\n## [{version}] - {day}\n\n{notes(changelog)}\n"
    rest = UNRELEASED.split(changelog, maxsplit=1)
    texts[CHANGELOG] = rest[0] + section + (f"\n{rest[2]}" if rest[2] else "")
    return texts


def commit(root: Path, version: str, texts: Mapping[Path, str], message: str) -> None:
    """Write, commit and tag in a clean working tree; where git refuses, everything is as before."""
    start = git(root, "rev-parse", "HEAD").strip()
    try:
        for path, text in texts.items():
            (root / path).write_text(text, encoding="utf-8")
        git(root, "commit", "--quiet", "--message", f"release: make {version}", "--", *map(str, texts))
        git(root, "tag", "--annotate", f"v{version}", "--cleanup=verbatim", "--message", message)
    except BaseException:
        git(root, "reset", "--quiet", "--hard", start)
        raise


def release(root: Path, version: str, *, dry_run: bool) -> str:
    """Make the release and return its notes."""
    check_version(root, version)
    if dirty := git(root, "status", "--porcelain").strip():
        raise ReleaseError(f"the working tree has changes; commit or stash them first:\n{dirty}")
    texts = changed(root, version, datetime.now(UTC).date().isoformat())
    text = notes((root / CHANGELOG).read_text(encoding="utf-8"))
    if not dry_run:
        commit(root, version, texts, f"subtitle_rag {version}\n\n{text}\n")
    return text


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser("scripts/release.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("version", metavar="VERSION", help="of the form 1.2.3, above the last release")
    parser.add_argument("--dry-run", action="store_true", help="check everything and print the notes; change nothing")
    options = parser.parse_args(arguments)
    try:
        text = release(root, options.version, dry_run=options.dry_run)
    except (ReleaseError, OSError) as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    print(text)
    if options.dry_run:
        print("Nothing was changed.", file=sys.stderr)
    else:
        print(f"Committed and tagged v{options.version}. To publish: git push --follow-tags", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
