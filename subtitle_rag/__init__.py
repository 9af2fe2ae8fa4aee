"""Find the scene: local-first search over the captions of Korean video.

For scripts: `with subtitle_rag.open() as library: library.search("치킨 소스")`.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subtitle_rag.api import (
        IndexSummary as IndexSummary,
        OpenLibrary as OpenLibrary,
        open as open,  # noqa: A004 - `subtitle_rag.open`
    )
    from subtitle_rag.base.domain.answer_values import Answer as Answer
    from subtitle_rag.base.domain.errors import AppError as AppError, BusyError as BusyError, UsageError as UsageError
    from subtitle_rag.base.domain.values import Video as Video
    from subtitle_rag.models.neural.added_encoder import TextEncoder as TextEncoder
    from subtitle_rag.search.scenes import Scene as Scene
    from subtitle_rag.sharing.export_formats import ExportFormat as ExportFormat

__version__ = "0.2.0"

# where no log is written (`log_file`), nothing is printed instead
logging.getLogger(__name__).addHandler(logging.NullHandler())

_MODULES = {
    "Answer": "base.domain.answer_values",
    "AppError": "base.domain.errors",
    "BusyError": "base.domain.errors",
    "ExportFormat": "sharing.export_formats",
    "IndexSummary": "api",
    "OpenLibrary": "api",
    "Scene": "search.scenes",
    "TextEncoder": "models.neural.added_encoder",
    "UsageError": "base.domain.errors",
    "Video": "base.domain.values",
    "open": "api",
}


def __getattr__(name: str) -> Any:
    """Import a name for scripts and plug-ins when it is used: a command needs none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
