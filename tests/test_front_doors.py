"""A package is entered by its front door: its `__init__.pyi` lists what other packages may import."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import grimp
import pytest

import subtitle_rag

ROOT = Path(subtitle_rag.__file__).parents[1]
# the stub of subtitle_rag itself is for scripts outside: nothing in here may import by it
DOORS = {".".join(path.relative_to(ROOT).parent.parts): path for path in ROOT.glob("subtitle_rag/*/**/__init__.pyi")}


def listed(door: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of what a door offers; the name is empty for a whole module."""
    for node in ast.parse(DOORS[door].read_text(encoding="utf-8")).body:
        assert isinstance(node, ast.ImportFrom), ast.unparse(node)
        for alias in node.names:
            yield (f"{door}.{node.module}", alias.name) if node.module else (f"{door}.{alias.name}", "")


@pytest.mark.parametrize("door", sorted(DOORS))
def test_a_door_offers_what_its_modules_have(door: str) -> None:
    package = import_module(door)
    entries = list(listed(door))

    assert entries
    for module, name in entries:
        assert getattr(package, name or module.rpartition(".")[2]) is (
            getattr(import_module(module), name) if name else import_module(module)
        )


def test_other_packages_import_by_the_door() -> None:
    graph = grimp.build_graph("subtitle_rag", cache_dir=None)
    offered = {module for door in DOORS for module, name in listed(door) if not name}
    inner = {module for module in graph.modules if module.rpartition(".")[0] in DOORS and module not in DOORS} - offered

    around_the_door = {
        f"{importer} → {module}"
        for module in inner
        for importer in graph.find_modules_that_directly_import(module)
        if not importer.startswith(module.rpartition(".")[0] + ".")
    }

    assert inner
    assert around_the_door == set()


def test_no_module_goes_through_its_own_door() -> None:
    graph = grimp.build_graph("subtitle_rag", cache_dir=None)

    through_their_own = {
        f"{importer} → {door}"
        for door in DOORS
        for importer in graph.find_modules_that_directly_import(door)
        if importer.startswith(f"{door}.")
    }

    assert through_their_own == set()
