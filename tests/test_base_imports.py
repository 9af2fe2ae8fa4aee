"""The base runs without anything that an extra brings: in processes that do not find those packages."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from subtitle_rag.base.installation.extras import EXTRAS, Extra
from tests.support.invented import end_hosts

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class BareFinder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = BareFinder
"""
"""Python imports it at its start, in the processes that these start, too."""
IMPORT_ALL = """
import sys
before = set(sys.modules)
import pkgutil, importlib, subtitle_rag
for module in pkgutil.walk_packages(subtitle_rag.__path__, "subtitle_rag."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
print("of extras:", {name for name in sys.modules.keys() - before if name.partition(".")[0] in sys.argv[1:]})
"""
RUN_ALL = """
import json, sys
from subtitle_rag.cli import main as cli
for arguments in json.loads(sys.argv[1]):
    print("\\0", cli.run(arguments), flush=True)
"""


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def closure(requirements: Iterable[str]) -> set[str]:
    """The distributions that these bring, as they are installed here."""
    found: set[str] = set()
    left = [Requirement(each) for each in requirements]
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        for text in _requires(name):
            each = Requirement(text)
            extras = {"", *requirement.extras}
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras):
                each.marker = None
                if canonicalize_name(each.name) not in found or each.extras:
                    left.append(each)
        found.add(name)
    return found


@cache
def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


@cache
def hidden() -> frozenset[str]:
    """Top-level modules that come with extras alone."""
    base = closure(project()["dependencies"])
    every = project()["optional-dependencies"]
    more = closure(text for extra in EXTRAS for text in every[extra]) - base
    named = packages_distributions()
    modules = {module for module, owners in named.items() if {canonicalize_name(each) for each in owners} <= more}
    return frozenset(modules)


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text(f"HIDDEN = {set(hidden())!r}\n{WITHOUT}", encoding="utf-8")
    path = os.pathsep.join((str(folder), str(ROOT)))
    return {**os.environ, "PYTHONPATH": path, "SUBTITLE_RAG_HOST_LINGER": "0.2", "LANGUAGE": "en"}


def ran(variables: dict[str, str], code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=variables,
        check=False,
    )


def test_what_extras_bring_is_known() -> None:
    named = {module for extra in EXTRAS.values() for module in extra.modules}
    assert named - {"pydantic"} <= hidden()  # Ollama's package brings that one
    assert hidden() >= {"transformers", "tokenizers", "sklearn", "scipy", "pandas", "datasets", "jinja2", "starlette"}
    assert not hidden() & {"textual", "kiwipiepy", "qdrant_edge", "numpy", "httpx", "filelock", "yt_dlp"}


def test_every_module_of_the_base_can_be_imported(variables: dict[str, str]) -> None:
    ended = ran(variables, IMPORT_ALL, *hidden())
    assert ended.returncode == 0, ended.stderr
    *modules, loaded = ended.stdout.splitlines()
    users = {"subtitle_rag.mcp_server", "subtitle_rag.models.neural.encoder"}
    assert users <= set(modules)
    assert loaded == "of extras: set()"


@pytest.mark.campaign(part="flows")
@pytest.mark.hosts
def test_the_base_finds_scenes_and_tells_what_each_extra_needs(variables: dict[str, str], tmp_path: Path) -> None:
    home, questions = tmp_path / "home", tmp_path / "questions.jsonl"
    questions.write_text('{"query": "치킨", "relevant": ["none"]}\n', encoding="utf-8")
    begin = ["--home", str(home)]
    lines = [
        [*begin, "index", str(files("subtitle_rag") / "sample"), "--json"],
        [*begin, "search", "소스에 찍어 먹는 치킨", "--json"],
        [*begin, "doctor", "--offline", "--json"],
        [*begin, "models", "get", "BAAI/bge-m3", "--json"],
        [*begin, "vectors", "--json"],
        [*begin, "eval", "run", str(questions), "--json"],
        [*begin, "mcp"],
    ]
    try:
        ended = ran(variables, RUN_ALL, json.dumps(lines))
    finally:
        end_hosts([home / "data" / "index"])
    assert ended.returncode == 0, ended.stderr
    told = [re.sub(r"\0 \d+\s*$", "", part) for part in re.split(r"(?<=\0 \d)\n", ended.stdout)]
    codes = [int(code) for code in re.findall(r"\0 (\d+)$", ended.stdout, re.MULTILINE)]
    assert codes[:3] == [0, 0, 0], ended.stdout + ended.stderr
    indexed, found, doctor, *refused = told
    assert json.loads(indexed)["result"]["videos"]["failed"] == 0
    assert "맵단짠 치킨" in json.loads(found)["result"]["scenes"][0]["video"]["title"]
    checks = {check["name"]: check for check in json.loads(doctor)["result"]["checks"]}
    assert "no extras" in checks["packages"]["message"]
    assert [check for check in checks.values() if check["severity"] == "error"] == []
    assert set(codes[3:]) == {1}, refused
    errors = [json.loads(part)["errors"][0]["code"] for part in refused[:3]]
    assert errors == ["missing_extra", "missing_extra", "missing_extra"]
    for extra in (EXTRAS["neural"], EXTRAS["eval"], EXTRAS["mcp"]):
        assert _names_the_line(ended.stderr, extra)


def _names_the_line(said: str, extra: Extra) -> bool:
    """The sentence and, behind it, what is typed."""
    return bool(re.search(rf"\(extra {extra.name}\)\.\n.*(nstall them: )\S+", said))
