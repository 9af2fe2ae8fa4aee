"""Python imports this at its start, as the folder is on PYTHONPATH: it guards the processes that tests start.

The interpreter's own `sitecustomize`, which this one hides, is run as well.
"""

import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "tests.guard.audit"


def _guard() -> None:
    path = os.path.join(os.path.dirname(HERE), "audit.py")
    module = type(sys)(NAME)
    module.__file__ = path
    code = SourceFileLoader(NAME, path).get_code(NAME)
    assert code is not None
    sys.modules[NAME] = module  # pytest's process is one of them where xdist starts it
    exec(code, module.__dict__)
    module.install()


def _hidden() -> None:
    found = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if entry != HERE])
    if found is not None and found.loader is not None:
        found.loader.exec_module(sys.modules[__name__])


if os.environ.get("TEST_GUARD_RUN"):
    _guard()
_hidden()
