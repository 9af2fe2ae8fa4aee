"""Files of JSON lines that are gone on with."""

import json
import stat
from pathlib import Path

import pytest

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.evaluation.records import Records

COMMAND = "subtitle-rag eval make"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made.jsonl"


def read(path: Path) -> Records:
    return Records.read(path, COMMAND, "origin")


def begun(path: Path, **head: int) -> Records:
    records = read(path)
    records.begin(head)
    return records


def entry(number: int) -> dict[str, object]:
    return {"id": number, "query": "국수\u2028이야기", "origin": {}}


def test_what_was_appended_is_there_for_the_next_run(path: Path) -> None:
    assert read(path).head == {}
    records = begun(path, seed=7)
    records.append(entry(1))
    read(path).append(entry(2))
    stored = read(path)
    assert (stored.head, stored.entries) == ({"made_by": COMMAND, "seed": 7}, [entry(1), entry(2)])
    assert "국수" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_was_cut_off_is_lost_and_nothing_else(path: Path, cut: int) -> None:
    records = begun(path)
    records.append(entry(1))
    complete = path.read_bytes()
    records.append(entry(2))
    path.write_bytes(path.read_bytes()[: len(complete) + cut])
    stored = read(path)
    assert stored.entries == [entry(1)]
    stored.append(entry(3))
    assert read(path).entries == [entry(1), entry(3)]
    assert all(map(json.loads, path.read_text(encoding="utf-8").splitlines()[:1]))


def test_a_last_line_that_an_editor_left_open_counts(path: Path) -> None:
    begun(path).append(entry(1))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    read(path).append(entry(2))
    assert read(path).entries == [entry(1), entry(2)]


def test_what_somebody_adds_meanwhile_stays(path: Path) -> None:
    records = begun(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry(1)) + "\n")
    records.append(entry(2))
    stored = read(path)
    assert [record["id"] for record in stored.entries] == [1, 2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"id": "q1", "query": "국수", "kind": "keyword", "gold": []}\n', 1),
        ('{"made_by": "somebody"}\n', 1),
        ("국수\n", 1),
        ("국수", 1),
        ('{"made_by": "subtitle-rag eval make"}\n{"id": "q1", "query": "국수"}\n', 2),
        ('{"made_by": "subtitle-rag eval make"}\n[]\n{"id": 1, "origin": {}}\n', 2),
    ],
)
def test_a_file_of_somebody_else_is_not_touched(path: Path, text: str, line: int) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as failure:
        read(path)
    assert (failure.value.code, failure.value.details["line"]) == ("not_own_file", line)
    assert path.read_text(encoding="utf-8") == text


def test_all_lines_are_replaced_at_once(path: Path) -> None:
    records = begun(path, seed=7)
    records.append(entry(1))
    path.chmod(0o600)
    records.replace([entry(2), entry(3)])
    records.append(entry(4))
    stored = read(path)
    assert [record["id"] for record in stored.entries] == [2, 3, 4]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [record.name for record in path.parent.iterdir()] == [path.name]


def test_a_place_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        begun(tmp_path / "absent" / "made.jsonl")
    assert failure.value.code == "unwritable"
    with pytest.raises(UsageError) as failure:
        read(tmp_path)
    assert failure.value.code == "unreadable"
    records = begun(tmp_path / "made.jsonl")
    (tmp_path / "made.jsonl").unlink()
    with pytest.raises(UsageError) as failure:
        records.append(entry(1))
    assert failure.value.code == "unwritable"
