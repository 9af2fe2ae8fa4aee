"""Expected failures, by their code."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from subtitle_rag.base.domain.errors import AppError


@contextmanager
def failing(code: str, kind: type[AppError] = AppError) -> Iterator[pytest.ExceptionInfo[AppError]]:
    """Expect a failure of this kind and code."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.code == code
