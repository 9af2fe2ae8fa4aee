"""`scripts/docs-check --write` makes the reference whole or leaves it as it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

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


@pytest.mark.parametrize(
    ("missing", "exit_code", "reason"),
    [(["eval"], 0, "incomplete extras: eval"), ([], 2, "exit code 2: ! no such extra")],
    ids=["an incomplete extra", "a command that fails"],
)
def test_what_would_be_lacking_costs_no_page(
    missing: list[str],
    exit_code: int,
    reason: str,
    pages: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = SimpleNamespace(returncode=exit_code, stdout='{"result": null}', stderr="! no such extra")
    extras = [SimpleNamespace(name=name, is_installed=name not in missing) for name in ("eval", "mcp")]
    monkeypatch.setattr(_documents, "EXTRAS", {extra.name: extra for extra in extras})
    monkeypatch.setattr(_documents, "_run_shell", lambda *_arguments, **_how: ended)
    assert _documents.main(["--write", "--static"]) == 1
    assert reason in capsys.readouterr().err
    contents = [file.read_text(encoding="utf-8") for folder in pages.values() for file in folder.iterdir()]
    assert contents == ["whole", "whole"]
