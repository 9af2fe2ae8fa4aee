"""`scripts/bench harm`: which contexts each row has; what the figures mean is the business of `test_metrics`."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.benchmarks import harm
from subtitle_rag.domain import UsageError, Window
from subtitle_rag.library import all_windows
from subtitle_rag.runtime import Runtime
from tests.evaluation.conftest import TALKS
from tests.support.cases import cases
from tests.support.packs import context_of

OWN = "진행자가 시장에서 국수를 먹은 소감을 말한다."


def measured(
    filled: Runtime,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    *,
    kinds: bool = False,
    answers: Path | None = None,
) -> list[list[str]]:
    """Return the rows of the table, without its head."""
    questions = tmp_path / "questions.jsonl"
    gold = [{"video": "국수 이야기.srt", "start": 0, "end": 60}]
    questions.write_text(json.dumps({"id": "q", "query": "메밀국수", "kind": "k", "gold": gold}), encoding="utf-8")
    options = Namespace(questions=questions, contexts=None, answers=answers, kinds=kinds, encoder=None, vectors=None)
    harm.show([filled.library], options)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| words")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.campaign(part="flows")
def test_raw_answers_stand_beside_what_the_library_keeps(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second, _third = next(
        some for some in all_windows(filled.library).values() if TALKS["국수 이야기"][0] in some[0].text
    )
    kept = replace(context_of(first, OWN), raw=json.dumps({"context": OWN}))
    left_out = replace(context_of(second, ""), raw='{"context": "면은 손으로 밀어서 썰었')
    for context in (kept, left_out):
        assert filled.library.contexts.put(context)
    rows = measured(filled, capsys, tmp_path)
    assert [row[1:4] for row in rows] == [
        [name, count, "1.000 [1.000, 1.000]"] for name, count in (("none", "0"), ("unguarded", "2"), ("guarded", "1"))
    ]


def answer_line(window: Window, context: str, **more: str) -> str:
    raw = json.dumps({"context": context}, ensure_ascii=False)
    span = {"start": window.start_ms / 1000, "end": window.end_ms / 1000}
    return json.dumps({"video": "국수 이야기.srt", **span, "raw": raw, **more}, ensure_ascii=False)


@pytest.mark.campaign(part="flows")
def test_raw_answers_of_a_file_stand_beside_what_the_writer_would_keep_of_them(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second, third = next(
        some for some in all_windows(filled.library).values() if TALKS["국수 이야기"][0] in some[0].text
    )
    answers = tmp_path / "answers.jsonl"
    lines = [answer_line(first, OWN), answer_line(second, first.text), answer_line(third, OWN, done_reason="length")]
    answers.write_text("\n".join(lines), encoding="utf-8")
    rows = measured(filled, capsys, tmp_path, answers=answers)
    assert [row[1:3] for row in rows] == [["none", "0"], ["unguarded", "3"], ["guarded", "1"]]


def test_an_answer_for_no_window_is_refused_by_its_line(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first = next(some[0] for some in all_windows(filled.library).values() if TALKS["국수 이야기"][0] in some[0].text)
    answers = tmp_path / "answers.jsonl"
    lines = [answer_line(first, OWN), answer_line(replace(first, end_ms=first.end_ms + 1), OWN)]
    answers.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        measured(filled, capsys, tmp_path, answers=answers)
    assert refused.value.details["line"] == 2


@pytest.mark.campaign(part="flows")
def test_copies_made_for_every_window_are_left_out_by_the_guards(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = measured(filled, capsys, tmp_path, kinds=True)
    assert [row[1:3] for row in rows] == [
        ["none", "0"],
        ["own captions, unguarded", "6"],
        ["own captions, guarded", "0"],
        ["captions before, unguarded", "6"],
        ["captions before, guarded", "0"],
    ]


@cases(
    ("raw", "value"),
    [
        ('{"context": "국수를 삶는다."}', "국수를 삶는다."),
        ('{"title": "국수", "context": "삶는다."}', "국수 삶는다."),
        ('{\n  "context": "국수를 삶', "국수를 삶"),
        ("국수를 삶는다.\n", "국수를 삶는다."),
    ],
)
def test_the_value_of_an_answer_is_that_of_its_json_even_of_a_cut_one(raw: str, value: str) -> None:
    assert harm.answer_value(raw) == value
