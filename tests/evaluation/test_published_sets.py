"""The published English sets, read from folders of their layout."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.domain import UsageError
from subtitle_rag.evaluation.dataset import load_set
from tests.support.question_files import write_lines


def write(path: Path, *objects: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, *objects)


def cookbook(folder: Path, *, golden: Sequence[object] = (("u1", 1),)) -> Path:
    chunks = [{"original_index": at, "content": f"def part_{at}():\n    pass"} for at in range(2)]
    write(folder / "codebase_chunks.json", [{"doc_id": "d", "original_uuid": "u1", "chunks": chunks}])
    write(folder / "evaluation_set.jsonl", {"query": "Which part?", "golden_chunk_uuids": list(golden)})
    return folder


def qmsum(folder: Path) -> Path:
    turns = [{"speaker": "Chair", "content": f"We agreed on point {at} {{vocalsound}} today ."} for at in range(3)]
    question = {"query": "What was agreed?", "relevant_text_span": [["1", "1"]]}
    meeting = {"topic_list": [], "meeting_transcripts": turns, "specific_query_list": [question]}
    for name in ("test", "val"):
        write(folder / f"{name}.jsonl", meeting)
    return folder


def test_chunks_are_windows_and_golden_ones_answer(tmp_path: Path) -> None:
    dataset = load_set(cookbook(tmp_path))
    ((video, windows),) = dataset.documents
    assert [window.text for window in windows] == ["def part_0(): pass", "def part_1(): pass"]
    (question,) = dataset.questions
    assert [(gold.video, gold.start_ms) for gold in question.gold] == [(video.id, windows[1].start_ms)]


def test_meetings_are_captions_without_marks_of_sounds(tmp_path: Path) -> None:
    dataset = load_set(qmsum(tmp_path))
    assert [question.id for question in dataset.questions] == ["qmsum-test-00-00", "qmsum-val-00-00"]
    text = dataset.documents[0][1][0].text
    assert "Chair: We agreed on point 0 today." in text
    assert "vocalsound" not in text


@pytest.mark.parametrize("golden", [[["u1", 9]], [["elsewhere", 0]], ["u1"], [None]])
def test_a_set_of_another_layout_is_refused(tmp_path: Path, golden: list[object]) -> None:
    with pytest.raises(UsageError) as caught:
        load_set(cookbook(tmp_path, golden=golden))
    assert caught.value.code == "bad_queries"


def test_a_meeting_without_turns_is_refused(tmp_path: Path) -> None:
    write(qmsum(tmp_path) / "val.jsonl", {"topic_list": 3})
    with pytest.raises(UsageError) as caught:
        load_set(tmp_path)
    assert caught.value.code == "bad_queries"
    (tmp_path / "val.jsonl").unlink()
    with pytest.raises(UsageError) as caught:
        load_set(tmp_path)
    assert caught.value.code == "unreadable"
