"""How often Python looks for garbage, and how memory goes back to the system.

Python looks whenever it has made 700 objects, and at times through all there are. Cues, morphemes and drawn lines are
thousands of small ones, none of them garbage: without this module, indexing takes 5 to 10 % more processor time
(`scripts/bench budgets`).
"""

import gc
import sys

OBJECTS = 20_000
"""New ones until Python looks for garbage among them; more than a search of the app makes."""
OLDER = 1
"""So many times before it looks at older objects too, and through all: every 80,000 new ones, as by default. Otherwise
closed screens would stay in memory."""


def tune_garbage_collector() -> None:
    """Set it for this process, before it makes any objects of its own."""
    gc.set_threshold(OBJECTS, OLDER, OLDER)


def return_memory() -> None:
    """Return freed memory to the system; CPython and the C library keep it otherwise."""
    gc.collect()
    if sys.platform == "linux":
        import ctypes

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not need it
        if trim is not None:
            trim(0)
