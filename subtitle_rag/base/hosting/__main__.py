"""Command that runs a host: `python -m subtitle_rag.base.hosting PATH ORDER`, with `HostKind.path` and a JSON order."""

import sys

from subtitle_rag.base.garbage import tune_garbage_collector
from subtitle_rag.base.hosting.server import serve

if __name__ == "__main__":
    tune_garbage_collector()
    sys.exit(serve(sys.argv[1], sys.argv[2]))
