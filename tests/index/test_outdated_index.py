"""An index that an earlier version has made: it is searched as it is, and made again by whoever needs it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from subtitle_rag import runtime as composition
from subtitle_rag.api import OpenLibrary
from subtitle_rag.base.config import settings as config
from subtitle_rag.korean.morphemes import ANALYZER, REVISION
from subtitle_rag.runtime import Runtime
from tests.support.commandline import ran
from tests.support.failures import failing
from tests.support.invented import caption_folder, end_hosts

QUERY = "국수를 먹었어요"
EARLIER = ANALYZER.replace(f"v{REVISION}", f"v{REVISION - 1}")
NEWER = ANALYZER.replace(f"v{REVISION}", f"v{REVISION + 1}")

pytestmark = pytest.mark.hosts


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    monkeypatch.setenv("SUBTITLE_RAG_HOST_LINGER", "0.2")
    made, captions = tmp_path / "home", caption_folder(tmp_path / "captions", 3, minutes=5)
    assert ran(capsys, "--home", str(made), "index", str(captions)).code == 0
    end_hosts([index(made)])
    yield made
    end_hosts([index(made)])


def index(home: Path) -> Path:
    return config.Paths.under(home).index


def put_analyzer(home: Path, analyzer: str) -> None:
    record = index(home) / "meta.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"analyzer": analyzer}))


def analyzer(home: Path) -> str:
    return str(json.loads((index(home) / "meta.json").read_text())["analyzer"])


def test_a_search_makes_a_small_index_again_and_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_analyzer(home, EARLIER)
    found = ran(capsys, "--home", str(home), "search", QUERY, "--json")
    assert found.code == 0
    assert found.result["scenes"]
    assert "made again, once" in found.err
    assert analyzer(home) == ANALYZER
    assert "made again" not in ran(capsys, "--home", str(home), "search", QUERY, "--json").err


def test_a_large_index_answers_as_it_is_until_the_next_sync(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composition, "SMALL_INDEX", 1)
    put_analyzer(home, EARLIER)
    found = ran(capsys, "--home", str(home), "search", QUERY, "--json")
    assert found.result["scenes"]
    assert "the next sync or index" in found.err
    assert analyzer(home) == EARLIER
    synced = ran(capsys, "--home", str(home), "sync", "--json")
    assert synced.code == 0
    assert analyzer(home) == ANALYZER
    again = ran(capsys, "--home", str(home), "search", QUERY, "--json")
    assert [scene["scene"] for scene in again.result["scenes"]] == [scene["scene"] for scene in found.result["scenes"]]


def test_files_are_brought_in_before_the_index_is_made_again(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_analyzer(home, EARLIER)
    more = caption_folder(tmp_path / "more", 5, minutes=5)
    added = ran(capsys, "--home", str(home), "index", str(more), "--json")
    assert (added.code, added.result["library"]["videos"]) == (0, 5)
    assert analyzer(home) == ANALYZER
    with Runtime(config.load(home)) as runtime:
        assert runtime.index.count() == runtime.library.counts().windows == runtime.library.counts().searchable


def test_scripts_and_assistants_go_on(home: Path) -> None:
    put_analyzer(home, EARLIER)
    with Runtime(config.load(home)) as runtime:
        assert OpenLibrary(runtime).search(QUERY)
    assert analyzer(home) == ANALYZER


def test_an_older_program_says_update(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_analyzer(home, NEWER)
    found = ran(capsys, "--home", str(home), "search", QUERY)
    assert found.code == 1
    assert "newer subtitle-rag" in found.err
    assert "rebuild" not in found.err
    with Runtime(config.load(home)) as runtime, failing("newer_version"):
        runtime.rebuilder()
    assert analyzer(home) == NEWER
