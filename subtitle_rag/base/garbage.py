"""Frequency of Python's garbage collection, and return of memory to the system.

Python collects after every 700 new objects, and sometimes searches all of them. Cues, morphemes and drawn lines are
thousands of small objects that are not garbage: without this module, indexing takes 5 to 10 % more CPU time
(`scripts/bench budgets`).
"""

import gc
import sys

OBJECTS = 20_000
"""New objects before Python collects among them; more than a search in the app makes."""
OLDER = 1
"""Collections before older objects, and then all, are included; more would keep closed screens in memory."""


def tune_garbage_collector() -> None:
    """Set the thresholds for this process, before it makes objects of its own."""
    gc.set_threshold(OBJECTS, OLDER, OLDER)


def return_memory() -> None:
    """Return freed memory to the system; CPython and the C library would keep it."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not need it
        if trim is not None:
            trim(0)
