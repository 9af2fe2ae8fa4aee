"""Faces write no content of the library and compose no stage: use cases do, and `workflows.pipeline` starts them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import tree

PACKAGE = Path("subtitle_rag")
FACES = sorted(
    [
        *PACKAGE.glob("cli/*.py"),
        *PACKAGE.rglob("tui/**/*.py"),
        *(PACKAGE / f"{name}.py" for name in ("mcp_server", "api")),
    ]
)
STORES = {
    "library": "store.py",
    "sources": "sources.py",
    "contexts": "context_store.py",
    "summaries": "summary_store.py",
    "vectors": "vector_store.py",
}
"""Attributes that hold a store of captions and what is made of them, and the store's module.

A user's own marks, answers and settings are no content: each is written by one call.
"""
STARTERS = {"fetcher": "runtime", "writer": "runtime", "encoding": "runtime", "fetch": "models", "pull": "host"}
"""Methods that `pipeline` alone calls, and what they are called on."""


@cache
def writers(module: str) -> frozenset[str]:
    """The public methods of a store that change the library's file, also through others of it."""
    bodies = {
        node.name: node for node in ast.walk(tree(PACKAGE / "library" / module)) if isinstance(node, ast.FunctionDef)
    }
    calls = {
        name: {leaf.attr for leaf in ast.walk(node) if isinstance(leaf, ast.Attribute)} for name, node in bodies.items()
    }
    changing = {"write", "change"}
    while more := {name for name, called in calls.items() if called & changing} - changing:
        changing |= more
    return frozenset(name for name in changing & set(bodies) if not name.startswith("_"))


def receivers(source: ast.AST) -> dict[str, str]:
    """Local names that stand for a store, as in `contexts = runtime.library.contexts`."""
    names = {store: store for store in STORES}
    for node in ast.walk(source):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = (
                    zip(target.elts, node.value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                    else [(target, node.value)]
                )
                for left, right in pairs:
                    if isinstance(left, ast.Name) and isinstance(right, ast.Attribute) and right.attr in STORES:
                        names[left.id] = right.attr
    return names


def faults(source: str) -> Iterator[str]:
    parsed = ast.parse(source)
    names = receivers(parsed)
    for node in ast.walk(parsed):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        called, receiver = node.func.attr, node.func.value
        if isinstance(receiver, ast.Subscript):
            receiver = receiver.value
        last = (
            receiver.attr
            if isinstance(receiver, ast.Attribute)
            else receiver.id
            if isinstance(receiver, ast.Name)
            else ""
        )
        store = STORES.get(names.get(last, ""))
        if (
            (store and called in writers(store))
            or last == "indexer"
            or (called in STARTERS and STARTERS[called] in last)
        ):
            yield f"{node.lineno}: {ast.unparse(node.func)}"


def test_the_stores_have_writers() -> None:
    assert {"put_video", "remove_videos", "put_indexed"} <= writers("store.py")
    assert {"follow", "unfollow"} <= writers("sources.py")
    assert {"put_glossary", "redo"} <= writers("context_store.py")
    assert "counts" not in writers("store.py")


@pytest.mark.parametrize(
    "line",
    [
        "runtime.library.remove_videos(ids)",
        "contexts = runtime.library.contexts\ncontexts.put_glossary(id, names)",
        "self._runtime.indexer.index(paths)",
        "runtime.fetcher().run(requests)",
        "runtime.models.fetch(name)",
        "hosts[0].pull(name)",
    ],
)
def test_a_writer_is_found(line: str) -> None:
    assert list(faults(line))


def test_faces_start_use_cases() -> None:
    found = {str(path): list(faults(path.read_text(encoding="utf-8"))) for path in FACES}

    assert len(found) > 100
    assert {path: lines for path, lines in found.items() if lines} == {}
