"""The public interface: a script opens a library, brings captions in, searches, asks and exports."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

import subtitle_rag
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.runtime import Runtime
from tests.support.invented import end_hosts

SAMPLE = Path(subtitle_rag.__file__).parent / "sample"


@pytest.fixture
def library(
    isolated_home: Path, monkeypatch: pytest.MonkeyPatch, analyzer: Analyzer
) -> Iterator[subtitle_rag.OpenLibrary]:
    monkeypatch.setattr(Runtime, "analyzer", analyzer)
    isolated_home.mkdir(parents=True, exist_ok=True)
    (isolated_home / "config.toml").write_text("[llm]\nhosts = []\n")
    with subtitle_rag.open(isolated_home) as library:
        yield library
    end_hosts([isolated_home / "data" / "index"])


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = (
        "subtitle_rag.runtime",
        "subtitle_rag.base.config",
        "sqlite3",
        "kiwipiepy",
        "qdrant_edge",
        "textual",
        "click",
    )
    code = f"import sys, subtitle_rag; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_script_goes_all_the_way(library: subtitle_rag.OpenLibrary, tmp_path: Path) -> None:
    first, second = SAMPLE / "[sample-0001].ko.vtt", SAMPLE / "[sample-0002].ko.vtt"
    summary = library.index(first, str(second))
    assert (summary.new, summary.unchanged, summary.failures) == (2, 0, ())
    assert summary.windows > 2
    assert {video.id for video in library.videos} == {"sample-0001", "sample-0002"}
    word = library.videos[0].title.split()[0]
    scenes: tuple[subtitle_rag.Scene, ...] = library.search(word, limit=3)
    assert 0 < len(scenes) <= 3
    assert scenes[0].rank == 1
    assert isinstance(scenes[0], subtitle_rag.Scene)
    assert isinstance(scenes[0].video, subtitle_rag.Video)
    assert library.search(word, videos=["sample-0001"], after=date(1900, 1, 1), before=date(2100, 1, 1))
    text = library.export(scenes)
    assert scenes[0].video.title in text
    table = library.export(scenes, tmp_path / "scenes.csv")
    assert (tmp_path / "scenes.csv").read_bytes().decode("utf-8-sig") == table != text
    library.export(scenes, tmp_path / "table.md", format="csv")
    assert (tmp_path / "table.md").read_bytes() == (tmp_path / "scenes.csv").read_bytes()
    answer = library.ask(f"{word} 이야기가 어디에 나오나요?")
    assert answer.ending == "no_model"
    assert answer.error is not None
    assert answer.error.code == "llm_off"
    assert word in "".join(source.video.title for source in answer.evidence.sources)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda library: library.index("no such file"), "unsupported_source"),
        (lambda library: library.search("국수", channels=["nobody"]), "unknown"),
        (lambda library: library.export((), format="anki"), "export_without_file"),
        (lambda library: library.export((), format="nothing"), "unknown_value"),
        (lambda library: library.export(()), "nothing_chosen"),
    ],
)
def test_what_cannot_be_is_an_error_with_a_code(library: subtitle_rag.OpenLibrary, call: object, code: str) -> None:
    assert callable(call)
    with pytest.raises(subtitle_rag.UsageError) as refused:
        call(library)
    assert refused.value.code == code
    assert refused.value.message
    assert refused.value.hint
