#!/usr/bin/env python3
"""Update requirements.lock from pyproject.toml with uv: packages for users first, then packages for tests.

Locked versions stay; to upgrade one, delete its line first.
"""

import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEAD = """\
# What scripts/start and scripts/setup install: exact versions with the digests of all their files, for every platform.
# Made by scripts/lock.py.
"""
BY_VERSION = re.compile("(torch|triton|nvidia-.*|cuda-.*)==")
"""Packages with files that depend on the machine: PyTorch with or without CUDA."""


def compiled(*options: str) -> list[str]:
    """Return the entries in the form that pip reads."""
    pinned = re.findall(r"^\S+==[^\s;]+", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as constraints:
        constraints.write("\n".join(pinned))
        constraints.flush()
        command = ["uv", "pip", "compile", "pyproject.toml", "--constraint", constraints.name, *options]
        command += ["--universal", "--python-version", "3.11", "--generate-hashes"]
        command += ["--no-annotate", "--no-header", "--no-emit-index-url"]
        ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    entries = re.findall(r"^\S.*(?:\n .*)*\n", ended.stdout, re.MULTILINE)
    return [entry for entry in entries if not entry.startswith("#")]


def main() -> None:
    base, everything = compiled(), compiled("--all-extras", "--group", "test")
    more = [entry for entry in everything if entry not in base]
    tests = [entry for entry in more if not BY_VERSION.match(entry)]
    versions = [entry.partition("\\")[0].rstrip() + "\n" for entry in more if BY_VERSION.match(entry)]
    sections = {"base": base, "tests": tests, "by version alone: PyTorch's build depends on the machine": versions}
    LOCK.write_text(HEAD + "".join(f"# {name}\n{''.join(each)}" for name, each in sections.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
