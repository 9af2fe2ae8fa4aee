"""`scripts/docs-check --write` makes the reference whole or leaves it as it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import _documents, _reference


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reference of one page, and a program whose commands are not run."""
    folder = tmp_path / "reference"
    folder.mkdir()
    (folder / "json.md").write_text("whole", encoding="utf-8")
    monkeypatch.setattr(_reference, "FOLDER", folder)

    @contextmanager
    def home() -> Iterator[Mapping[str, str]]:
        yield {"HOME": str(tmp_path)}

    monkeypatch.setattr(_documents, "throwaway_home", home)
    return folder


@pytest.mark.parametrize(
    ("missing", "exit_code", "reason"),
    [(["eval"], 0, "incomplete extras: eval"), ([], 2, "exit code 2: ! no such extra")],
    ids=["an incomplete extra", "a command that fails"],
)
def test_what_would_be_lacking_costs_no_page(
    missing: list[str],
    exit_code: int,
    reason: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = SimpleNamespace(returncode=exit_code, stdout='{"result": null}', stderr="! no such extra")
    extras = [SimpleNamespace(name=name, is_installed=name not in missing) for name in ("eval", "mcp")]
    monkeypatch.setattr(_documents, "EXTRAS", {extra.name: extra for extra in extras})
    monkeypatch.setattr(_documents, "_run_shell", lambda *_arguments, **_how: ended)
    assert reason in _documents.write_reference()
    assert [file.read_text(encoding="utf-8") for file in folder.iterdir()] == ["whole"]
