"""The host process (`hosting`) of a library's index, for the clients in `index_client`.

qdrant-edge holds the GIL during every call and allows one process per folder. So one host per folder owns the
`EdgeIndex` (`edge_service`), and the app and all commands are its clients. With `[qdrant]` in the config, the host has
the connection to the server instead (`server_service`), because importing its client takes longer than a search.

The host also runs Kiwi, which takes longer to load than a search may take and uses 270 MB. A lexical search is one call
(`search_text`), for which the host reads the vocabulary of the client's library. Texts of the index are analysed here
too (`text_morphemes`), in slices with a lower priority than queries.

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
"""Maximum server requests per call of the host."""


def _died(folder: Path, signal: str) -> AppError | None:
    # the engine maps its files, so a full disk or a damaged file kills it
    is_full = signal == "SIGBUS" and shutil.disk_usage(folder).free < SPARE_BYTES
    return BusyError("disk_full", path=str(folder)) if is_full else None


KIND = HostKind(
    path=f"{__name__}:KIND",
    service="subtitle_rag.index.edge_service:EdgeService",
    protocol=(26, SCHEMA_VERSION, REVISION, ANALYZER),  # the host also reads the library and analyses queries
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
