"""The counter of a version whose hosts tell a stranger nothing, and live on for each that asks."""

from dataclasses import replace
from typing import Any

from subtitle_rag.hosting.server import Server
from tests.hosting import counter


def _prepare_process() -> None:
    def refusal(server: Server, protocol: Any, caller: Any) -> None:
        server._count(calls=0)

    Server._refusal = refusal  # type: ignore[assignment,method-assign]


KIND = replace(counter.KIND, module=__name__, prepare_process=_prepare_process)
