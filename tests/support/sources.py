"""Syntax trees of source files, for the tests that read the program's code: those of all files in one worker."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file, which the caller does not change."""
    return ast.parse(path.read_text(encoding="utf-8"))
