"""The distribution's metadata as `pyproject.toml` has it now, and an index with what the extras name."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag.installation import process
from subtitle_rag.installation.environment import Environment, Origin
from tests.installation.environments import make_environment, pip_variables, write_metadata
from tests.stand_ins.packages import Index, wheel


@pytest.fixture(autouse=True)
def declared(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an environment says that was made before `pyproject.toml` changed does not count."""
    folder = tmp_path_factory.mktemp("declared")
    write_metadata(folder)
    monkeypatch.syspath_prepend(folder)


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "POLL_S", 0.01)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """It offers what the extra `web` names, and what that needs."""
    with Index() as serving:
        serving.push(
            wheel("textual-serve", "1.1.3", ["aiohttp", "jinja2>=3"]),
            wheel("aiohttp", "3.14.5"),
            wheel("jinja2", "3.1.6"),
        )
        for name, value in pip_variables(serving).items():
            monkeypatch.setenv(name, value)
        yield serving


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """A virtual environment of pip's, into which the program came from an index."""
    prefix = tmp_path / "environment"
    return Environment("pip", prefix, make_environment(prefix), Origin())
