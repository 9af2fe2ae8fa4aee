"""The rest of the queue that an earlier run has stored."""

import time

from subtitle_rag.captions import DAY
from subtitle_rag.library import Sources


def read_stored_rest(sources: Sources, rest_s: int) -> tuple[int, str]:
    """Return the end of the rest that still holds (Unix seconds) and the code behind it, else (0, "").

    `rest_s` is the length of a rest in the config. A rest that would last longer than that and than a day was stored
    by a clock that was wrong, and is over.
    """
    until, code = sources.rest()
    left = until - time.time()
    return (until, code) if 0 < left <= max(rest_s, DAY) else (0, "")
