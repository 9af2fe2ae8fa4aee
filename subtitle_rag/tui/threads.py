"""Work in threads: what a thread raises becomes an `AppError`, and the log has the traceback."""

import logging
from typing import TYPE_CHECKING

from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.log_file import NAME

if TYPE_CHECKING:
    from subtitle_rag.config import Paths

logger = logging.getLogger(__name__)


def to_app_error(error: Exception, paths: "Paths") -> AppError:
    """`error` as something that can be told in two sentences. Writes to the log, so call it from a worker thread."""
    if isinstance(error, AppError):
        # half of a query is wrong at every other key
        logger.log(logging.DEBUG if isinstance(error, UsageError) else logging.INFO, "failed", exc_info=error)
        return error
    logger.error("unexpected", exc_info=error)
    return AppError("unexpected", reason=f"{type(error).__name__}: {error}"[:200], log=paths.log / NAME)
