"""Failures on their way to the screen: what is not an `AppError` goes to the log file and becomes one."""

import time
import traceback
from typing import TYPE_CHECKING

from subtitle_rag.errors import AppError

if TYPE_CHECKING:
    from subtitle_rag.config import Paths


def told(error: Exception, paths: "Paths") -> AppError:
    """`error` as something that can be told in two sentences. Writes a file, so call it from a worker thread."""
    if isinstance(error, AppError):
        return error
    log = paths.log / "tui.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}\n{''.join(traceback.format_exception(error))}\n")
    except OSError:
        pass  # a full disk must not hide the failure that is being told
    return AppError("unexpected", reason=f"{type(error).__name__}: {error}"[:200], log=log)
