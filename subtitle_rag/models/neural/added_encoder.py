"""Encoders of plug-ins that are two functions."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.vectors.points import DenseVector
from subtitle_rag.models.neural.encoder import CACHE_SIZE
from subtitle_rag.models.neural.protocols import Encoded, makes_pieces
from subtitle_rag.plugins import ENCODERS, plugin_failure

Numbers = Sequence[float]


@dataclass(frozen=True, slots=True)
class TextEncoder:
    """An `EncoderSource` of one encoder. Its functions run in this process, one at a time, and load their model."""

    version: str
    """Vectors of different versions are not compared."""
    dimensions: int
    passages: Callable[[Sequence[str]], Sequence[Numbers]]
    """Returns the vectors of passages in order, of any length."""
    query: Callable[[str], Numbers]
    is_light: bool = False
    """Whether it encodes a window in hundredths of a second on a CPU."""

    def open_encoder(self, name: str, models: Any) -> "AddedEncoder | None":  # noqa: ARG002 - it has its own model
        base, mark, _version = name.partition("@")
        encoder = _added_encoder(base, self)
        return None if mark and encoder.id != name else encoder


class AddedEncoder:
    """`Encoder` for a `TextEncoder`. Raises AppError `plugin_broken` for any exception of its functions."""

    has_sparse = False
    must_wait = False

    def __init__(self, name: str, functions: TextEncoder) -> None:
        self.id = f"{name}@{quote(functions.version, safe='')}"
        self.dimensions = functions.dimensions
        self.is_light = functions.is_light
        self._name = name
        self._functions = functions
        self._lock = threading.Lock()
        self._cached_query = lru_cache(CACHE_SIZE)(self._query)

    @property
    def has_pieces(self) -> bool:
        return makes_pieces(self)

    def passages(self, texts: Sequence[str]) -> list[Encoded]:
        return self._encoded(lambda: self._functions.passages(texts), len(texts))

    def query(self, text: str) -> Encoded:
        return self._cached_query(text)

    def _query(self, text: str) -> Encoded:
        [encoded] = self._encoded(lambda: [self._functions.query(text)], 1)
        return encoded

    def _encoded(self, encode: Callable[[], Sequence[Numbers]], count: int) -> list[Encoded]:
        try:
            with self._lock:
                vectors = [[float(number) for number in vector] for vector in encode()]
            if [len(vector) for vector in vectors] != [self.dimensions] * count:
                raise ValueError(f"not {count} × {self.dimensions}")
        except AppError:
            raise
        except Exception as error:  # a plug-in may raise anything
            raise plugin_failure(ENCODERS, self._name, error) from error
        return [Encoded(_unit(vector), None) for vector in vectors]


@lru_cache
def _added_encoder(name: str, functions: TextEncoder) -> AddedEncoder:
    return AddedEncoder(name, functions)


def _unit(vector: Numbers) -> DenseVector:
    norm = math.sqrt(sum(number * number for number in vector)) or 1.0
    return DenseVector(tuple(number / norm for number in vector))
