"""Process that owns a library's index (`hosting`), for the clients in `index_client`.

qdrant-edge keeps the GIL in every call and allows one process per folder. So one host process per folder owns the
`EdgeIndex` (`edge_service`), and the app and all commands are its clients. With `[qdrant]` in the config the host has
the connection to that server instead (`server_service`), since importing its client takes longer than a whole search.

The host also analyses queries: Kiwi takes longer to load than a search may take, and its 270 MB are shared here. So a
lexical search is one call (`search_text`), for which the host reads the vocabulary of the client's library. The app's
texts for the index are analysed here too (`text_morphemes`), in slices with a lower priority than queries.

The host lingers for `SUBTITLE_RAG_HOST_LINGER` seconds (20).
"""

import shutil
from dataclasses import replace
from pathlib import Path

from subtitle_rag.base.domain.errors import AppError, BusyError
from subtitle_rag.base.hosting.entry import HostKind
from subtitle_rag.index.edge_terms import as_app_error
from subtitle_rag.index.index_edge import SPARE_BYTES
from subtitle_rag.index.server_terms import TIMEOUT_S
from subtitle_rag.korean.morphemes import ANALYZER, REVISION
from subtitle_rag.library.schema import SCHEMA_VERSION

REQUESTS = 4
"""Maximum server requests in one call of its host."""


def _died(folder: Path, signal: str) -> AppError | None:
    # The engine maps its files: a full disk kills it, and so does a damaged file.
    is_full = signal == "SIGBUS" and shutil.disk_usage(folder).free < SPARE_BYTES
    return BusyError("disk_full", path=str(folder)) if is_full else None


KIND = HostKind(
    path=f"{__name__}:KIND",
    service="subtitle_rag.index.edge_service:EdgeService",
    protocol=(26, SCHEMA_VERSION, REVISION, ANALYZER),  # a host reads the library too, and analyses queries
    linger_s=20.0,
    linger_variable="SUBTITLE_RAG_HOST_LINGER",
    reply_s=120.0,  # reached only after an `optimize` of millions of points
    unreachable=lambda reason: BusyError("index_unreachable", reason=reason),
    failure=as_app_error,
    died=_died,
)
SERVER_KIND = replace(
    KIND,
    path=f"{__name__}:SERVER_KIND",
    service="subtitle_rag.index.server_service:ServerService",
    reply_s=KIND.reply_s + REQUESTS * TIMEOUT_S,
)
