"""Runs Whisper models for CTranslate2: the door to faster-whisper, entered in a process of its own alone."""

import os
from pathlib import Path
from typing import Any

from subtitle_rag.domain import AppError

LEAST_THREADS, MOST_THREADS = 2, 4


class Whisper:
    """A model in memory, in 8 bits.

    Raises:
        AppError: `model_damaged`.
        MemoryError: it does not fit.
    """

    def __init__(self, folder: Path, threads: int | None) -> None:
        from faster_whisper import WhisperModel

        count = threads or min(MOST_THREADS, max(LEAST_THREADS, (os.cpu_count() or 1) // 2))
        try:
            self._model: Any = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=count)
        except (RuntimeError, ValueError, OSError) as error:
            if is_out_of_memory(error):
                raise MemoryError from error
            raise AppError("model_damaged", name=folder.name, reason=str(error)) from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether CTranslate2 means that no memory is left."""
    text = str(error).casefold()
    return "alloc" in text or "out of memory" in text
