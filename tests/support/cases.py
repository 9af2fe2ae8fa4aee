"""Many small cases as one test, if pytest's own work on each would cost more than the case."""

import inspect
import reprlib
from collections.abc import Callable, Iterable, Sequence
from functools import wraps

import pytest

SHORT = reprlib.Repr()
SHORT.maxstring = SHORT.maxother = 120


def cases(
    names: str | Sequence[str], values: Iterable[object] | Callable[[], Iterable[object]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each of the values, like `pytest.mark.parametrize` but as a single test.

    All values are tried; the failed ones are listed with their reasons. The cases share the fixtures, so a case must
    leave nothing behind that affects another. If values take long to compute, pass a function: every worker collects
    all tests, but calls it only when the test runs.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    found = values if callable(values) else list(values)
    assert found, "no case"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def whole(**fixtures: object) -> None:
            rows, failures = list(found()) if callable(found) else found, []
            assert rows, "no case"
            for row in rows:
                given = dict(zip(wanted, row if len(wanted) > 1 else [row], strict=True))  # type: ignore[call-overload]
                try:
                    test(**fixtures, **given)
                except (Exception, pytest.fail.Exception) as error:
                    where = ", ".join(f"{name}={SHORT.repr(value)}" for name, value in given.items())
                    failures.append(f"{where}\n    {type(error).__name__}: {error}")
            assert not failures, f"{len(failures)} of {len(rows)} cases fail:\n" + "\n".join(failures)

        signature = inspect.signature(test)
        left = [value for name, value in signature.parameters.items() if name not in wanted]
        whole.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    return decorated
