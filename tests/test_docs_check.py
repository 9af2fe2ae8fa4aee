"""`scripts/docs-check --write` makes the reference whole or leaves it as it is."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts import _documents, _reference


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Two reference folders that hold one page each, and a program whose commands are not run."""
    folders = {"ko": tmp_path / "ko", "en": tmp_path / "en"}
    for folder in folders.values():
        folder.mkdir()
        (folder / "json-results.md").write_text("whole", encoding="utf-8")
    monkeypatch.setattr(_reference, "FOLDERS", folders)

    @contextmanager
    def home() -> Iterator[Mapping[str, str]]:
        yield {"HOME": str(tmp_path)}

    monkeypatch.setattr(_documents, "throwaway_home", home)
    return folders


def ended(code: int) -> Callable[..., Any]:
    def run(*_arguments: Any, **_how: Any) -> SimpleNamespace:
        return SimpleNamespace(returncode=code, stdout='{"result": null}', stderr="! no such extra")

    return run


def contents(folders: Mapping[str, Path]) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for folder in folders.values() for file in folder.iterdir()}


def test_an_incomplete_extra_costs_no_page(
    pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = SimpleNamespace(extras={"eval": ("bm25s",), "mcp": ()})
    monkeypatch.setattr(_documents, "version_report", lambda: report)
    monkeypatch.setattr(_documents, "_run_shell", ended(0))
    assert _documents.main(["--write", "--static"]) == 1
    assert "incomplete extras: eval" in capsys.readouterr().err
    assert contents(pages) == {"json-results.md": "whole"}


def test_a_command_that_fails_costs_no_page(
    pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_documents, "version_report", lambda: SimpleNamespace(extras={"eval": ()}))
    monkeypatch.setattr(_documents, "_run_shell", ended(2))
    assert _documents.main(["--write", "--static"]) == 1
    assert "exit code 2: ! no such extra" in capsys.readouterr().err
    assert contents(pages) == {"json-results.md": "whole"}
