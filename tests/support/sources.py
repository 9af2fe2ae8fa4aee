"""Syntax trees of source files, parsed once per worker, for tests that read the program's code."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file, which the caller must not change."""
    return ast.parse(path.read_text(encoding="utf-8"))
