"""The distribution's metadata as `pyproject.toml` has it now, and an index with what the extras name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.base.installation.environments import make_environment, pip_variables, use_environment, write_metadata
from tests.stand_ins.packages import Index, wheel


@pytest.fixture(autouse=True)
def declared(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What an environment says that was made before `pyproject.toml` changed does not count."""
    folder = tmp_path_factory.mktemp("declared")
    write_metadata(folder)
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """It offers what the extra `mcp` names, and what that needs."""
    with Index() as serving:
        serving.push(wheel("mcp", "2.3.1", ["anyio", "pydantic>=2"]), wheel("anyio", "4.1"), wheel("pydantic", "2.9"))
        for name, value in pip_variables(serving).items():
            monkeypatch.setenv(name, value)
        yield serving


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program runs in a virtual environment of its own, which has the real pip."""
    prefix = tmp_path / "environment"
    use_environment(monkeypatch, prefix, make_environment(prefix))
    return prefix
