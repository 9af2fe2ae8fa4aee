"""`contexts export` and `contexts import`: contexts by video and time, in a file."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.ollama import StandIn
from tests.support.commandline import Run
from tests.support.invented import caption_folder

NAME = "writer:q4"
CONTEXT = "두레반 삼촌이 국수 육수의 간을 보는 장면입니다."
VIDEO = "영상 0 [invented000].ko.vtt"

pytestmark = pytest.mark.usefixtures("one_analyzer")


@pytest.fixture
def run(isolated_home: Path, tmp_path: Path, command: Run) -> Run:
    """Runs a command on a library of two videos of two windows each."""
    (isolated_home / "config.toml").write_text(f'[llm]\nmodel = "{NAME}"\n')
    assert command("index", caption_folder(tmp_path / "captions", 2, minutes=1.8), "--no-contexts").code == 0
    return command


def entry(start: float = 0, end: float = 50, context: str = CONTEXT, video: str = VIDEO, **more: Any) -> dict[str, Any]:
    return {"video": video, "start": start, "end": end, "context": context, **more}


def written(path: Path, *entries: object) -> Path:
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in entries), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_export_is_imported_without_a_difference(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    run("contexts", "write")
    path = tmp_path / "contexts.jsonl"
    result = run("contexts", "export", path, "--json").result
    assert result == {"file": str(path), "contexts": 4, "videos": 2}
    assert set(read(path)[0]) == {"video", "start", "end", "context", "model"}
    assert {line["model"] for line in read(path)} == {NAME}
    assert run("contexts", "export", "-").out == path.read_text(encoding="utf-8")
    result = run("contexts", "import", path, "--json").result
    assert [result[name] for name in ("new", "replaced", "kept", "same")] == [0, 0, 0, 4]


def test_contexts_come_back_after_the_captions_were_indexed_anew(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    run("contexts", "write")
    path = tmp_path / "contexts.jsonl"
    run("contexts", "export", path)
    assert run("remove", "captions", "--yes").code == 0
    run("index", tmp_path / "captions", "--no-contexts")
    assert run("contexts", "list", "--json").result["written"] == 0
    result = run("contexts", "import", path, "--json").result
    assert (result["new"], result["replaced"]) == (4, 0)
    assert [scene["context"] for scene in run("search", "국수", "--json").result["scenes"]]
    ollama.clear()
    assert run("contexts", "write", "--json").result["written"] == 0
    assert ollama.count("chat") == 2, "the summaries of the videos, which went with them"


def test_what_is_imported_is_searched_and_outlives_the_writer(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", entry())
    assert run("search", "두레반", "--json").result["scenes"] == []
    result = run("contexts", "import", path, "--json").result
    assert (result["new"], result["missing_videos"], result["without_window"]) == (1, [], 0)
    (scene,) = run("search", "두레반", "--json").result["scenes"]
    assert scene["context"] == CONTEXT
    assert run("contexts", "write", "--json").result["written"] == 3
    assert run("search", "두레반", "--json").result["scenes"][0]["context"] == CONTEXT
    run("contexts", "write", "--redo")
    assert run("search", "두레반", "--json").result["scenes"] == []


def test_no_context_is_replaced_without_being_asked(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    run("contexts", "write")
    before = run("contexts", "export", "-").out
    path = written(tmp_path / "mine.jsonl", entry())
    outcome = run("contexts", "import", path, "--json")
    assert (outcome.code, outcome.failure) == (2, "contexts_kept")
    assert f"{NAME} (1)" in outcome.err
    assert run("contexts", "export", "-").out == before
    assert run("contexts", "import", path, "--keep", "--json").result["kept"] == 1
    assert run("contexts", "export", "-").out == before
    assert run("contexts", "import", path, "--replace", "--json").result["replaced"] == 1
    assert run("search", "두레반", "--json").result["scenes"][0]["context"] == CONTEXT


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": "q", "query": "국수", "kind": "keyword", "gold": []}, "that is a question, not a context"),
        (entry(end=0), "it must end after its start"),
        (entry(context="  "), "context must be a text"),
        (entry(context="가" * 4_001), "more than 4,000 characters"),
        (entry(model=3), "model must be a text"),
        ([], "it is not a JSON object"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(run: Run, tmp_path: Path, line: object, reason: str) -> None:
    path = written(tmp_path / "mine.jsonl", entry(), line)
    outcome = run("contexts", "import", path, "--json")
    assert (outcome.code, outcome.failure) == (2, "bad_line")
    assert f"{path}, line 2: " in outcome.err
    assert reason in outcome.err
    assert run("contexts", "list", "--json").result["written"] == 0


def test_contexts_of_another_library_are_refused(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "foreign.jsonl", entry(video="없는 영상.srt"))
    outcome = run("contexts", "import", path, "--json")
    assert (outcome.code, outcome.failure) == (2, "contexts_foreign")
    assert "없는 영상.srt" in outcome.err


def test_what_has_no_place_is_named(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", entry(), entry(video="없는 영상.srt"), entry(9_000, 9_050))
    outcome = run("contexts", "import", path)
    assert outcome.out.split()[:2] == ["Added", "1"]
    assert "없는 영상.srt" in outcome.err
    assert "1 context is left out" in outcome.err


def test_a_file_is_read_from_stdin(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.dumps(entry(), ensure_ascii=False).encode() + b"\n{"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
    outcome = run("contexts", "import", "-", "--json")
    assert outcome.failure == "bad_line"
    assert "stdin, line 2: " in outcome.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw[:-2]), encoding="utf-8"))
    assert run("contexts", "import", "-", "--json").result["new"] == 1


def test_a_file_that_exists_stays(run: Run, ollama: StandIn, tmp_path: Path) -> None:
    path = written(tmp_path / "there.jsonl", entry())
    outcome = run("contexts", "export", path, "--json")
    assert (outcome.code, outcome.failure) == (2, "export_exists")
    outcome = run("contexts", "export", path, "--force", "--json")
    assert (outcome.code, outcome.failure) == (2, "no_contexts")
    run("contexts", "write")
    assert run("contexts", "export", path, "--force", "--video", "영상 1", "--json").result["contexts"] == 2
