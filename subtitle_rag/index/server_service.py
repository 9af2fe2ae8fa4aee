"""Service of the index host with the connection to a Qdrant server (`index_host`)."""

import json
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.settings import QdrantSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.index.analysis_service import AnalysisService
from subtitle_rag.index.index_server import ServerIndex

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """A client's choice of server. Equal orders share a connection. `repr` omits the key."""

    settings: QdrantSettings
    meta: str
    collection: str
    key: str = field(repr=False)


class ServerService(AnalysisService):
    """Connections to the Qdrant server of a config, and the analyzer.

    The first call opens a connection, so that an unreachable server fails the call instead of the host. Clients with
    different keys do not share connections, so each key is checked by the server.
    """

    def __init__(self, _folder: Path) -> None:
        super().__init__()
        self._opening = threading.Lock()
        self._indexes: dict[ServerOrder, ServerIndex] = {}
        self.methods |= {"create", "server_version"}

    def _call_index(self, order: dict[str, Any], method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        meta = json.dumps(order["meta"], sort_keys=True)
        wanted = ServerOrder(QdrantSettings(**order["server"]), meta, order["collection"], order["key"])
        if method in ("create", "clear"):
            self._replace(wanted, create=True, fresh=method == "clear")
            return None
        if method == "open":
            self._index(wanted)
            return None
        try:
            return getattr(self._index(wanted), method)(*args, **options)
        except AppError as error:
            if error.code != "qdrant_failed":
                raise
            logger.info("the connection is opened again", exc_info=True)  # maybe the collection was deleted
            self._replace(wanted)
            return getattr(self._index(wanted), method)(*args, **options)

    def _index(self, order: ServerOrder) -> ServerIndex:
        with self._opening:
            if order not in self._indexes:
                self._indexes[order] = self._open_index(order)
            return self._indexes[order]

    def _open_index(self, order: ServerOrder, **how: bool) -> ServerIndex:
        return ServerIndex(order.settings, json.loads(order.meta), order.collection, key=order.key, **how)

    def _replace(self, order: ServerOrder, **how: bool) -> None:
        """Reopen the order's connection; calls on the previous one fail."""
        with self._opening:
            self._indexes.pop(order, None)
            self._indexes[order] = self._open_index(order, **how)

    def close(self) -> None:
        super().close()
        with self._opening:
            for index in self._indexes.values():
                index.close()
