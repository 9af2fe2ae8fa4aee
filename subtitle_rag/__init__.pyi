from .domain import (
    Answer as Answer,
    AppError as AppError,
    BusyError as BusyError,
    UsageError as UsageError,
    Video as Video,
)
from .retrieval.search.scenes import Scene as Scene
from .scripting import IndexSummary as IndexSummary, OpenLibrary as OpenLibrary, open as open  # noqa: A004

__version__: str
