"""Run a host: `python -m subtitle_rag.hosting MODULE ORDER`, with the module of its `HostKind` and a JSON order."""

import importlib
import sys

from subtitle_rag.garbage import tune_garbage_collector
from subtitle_rag.hosting.server import serve

if __name__ == "__main__":
    tune_garbage_collector()
    sys.exit(serve(importlib.import_module(sys.argv[1]).KIND, sys.argv[2]))
