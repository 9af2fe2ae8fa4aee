"""`scripts/bench guards`: what the writer stores of real answers, and which contexts each row of a search has.

What the figures mean is the business of `test_metrics`.
"""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.benchmarks import guards
from scripts.benchmarks._corpus import SAMPLE
from scripts.benchmarks.guards import USABLE, Answer
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Window
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.portable_names import all_windows
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from tests.evaluation.conftest import TALKS
from tests.support.cases import cases
from tests.support.place import Place
from tests.support.question_files import question, write_lines

FOLDER = Path(__file__).parents[1] / "data" / "contexts"
JUDGED = FOLDER / "judged_answers.jsonl"
OWN = "진행자가 시장에서 국수를 먹은 소감을 말한다."


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Library]:
    place = Place.at(tmp_path_factory.mktemp("sample"), analyzer)
    place.run(SAMPLE)
    yield place.library
    place.close()


@pytest.fixture(scope="module")
def answers(sample: Library) -> list[Answer]:
    return guards.read_answers(JUDGED, sample)


@pytest.fixture(scope="module")
def texts(sample: Library, answers: Sequence[Answer]) -> list[str]:
    return list(guards.stored(sample, answers, FOLDER))


def test_what_a_person_wrote_about_the_windows_is_stored_as_it_is(sample: Library) -> None:
    """But for few: a sentence with hardly a word of its window is taken for one about another, or about none."""
    given = guards.given_answers(sample)
    pairs = list(zip(guards.stored(sample, given, FOLDER), given, strict=True))
    assert all(text in ("", each.reply.text) for text, each in pairs)
    assert sum(bool(text) for text, _each in pairs) >= 0.95 * len(given)


def test_no_more_of_what_is_wrong_is_stored(answers: list[Answer], texts: list[str]) -> None:
    """All that is stored of 308 answers; a sentence that puts the video's own words together wrongly passes."""
    stored = Counter(answer.judged for answer, text in zip(answers, texts, strict=True) if text)
    assert len(answers) == 308
    assert stored - Counter({USABLE: 1, "copy": 0, "loop": 1, "unrelated": 3, "invented": 12}) == Counter()
    assert stored[USABLE] == sum(answer.judged == USABLE for answer in answers)


@pytest.mark.campaign(part="flows")
def test_the_answers_about_a_window_are_all_in_one_half(answers: list[Answer]) -> None:
    halves = {answer.window.id: answer.half for answer in answers}
    assert all(answer.half == halves[answer.window.id] for answer in answers)
    assert set(halves.values()) == set(guards.HALVES)


def test_the_table_has_both_halves(answers: list[Answer], texts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    guards.show(answers, texts)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows if "= " in row[-1]] == ["| seen", "| unseen"]


def test_a_judgement_of_no_kind_is_refused_by_its_line(sample: Library, tmp_path: Path) -> None:
    first = JUDGED.read_text(encoding="utf-8").splitlines()[0]
    path = tmp_path / "answers.jsonl"
    path.write_text(first + "\n" + first.replace('"judged": "', '"judged": "un'), encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        guards.read_answers(path, sample)
    assert raised.value.details["line"] == 2


def noodle_windows(runtime: Runtime) -> list[Window]:
    said = TALKS["국수 이야기"][0]
    return next(list(some) for some in all_windows(runtime.library).values() if said in some[0].text)


def answer_line(window: Window, context: str, **more: str) -> str:
    raw = json.dumps({"context": context}, ensure_ascii=False)
    return json.dumps({"video": "국수 이야기.srt", "start": window.start_ms / 1000, "raw": raw, **more})


def searched(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path, lines: Sequence[str] = ()
) -> list[list[str]]:
    """Return context and windows of the rows of the table, of these answers or else of those made for every window."""
    questions = write_lines(tmp_path / "questions.jsonl", question("q", "메밀국수", ("국수 이야기.srt", 0, 60)))
    answers = write_lines(tmp_path / "answers.jsonl", *lines)
    options = Namespace(questions=questions, contexts=None, answers=answers, kinds=not lines, encoder=None)
    guards.show_search(filled.library, options)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| words")]
    return [[cell.strip() for cell in line.split("|")[2:4]] for line in rows]


@pytest.mark.campaign(part="flows")
def test_raw_answers_stand_beside_what_the_writer_would_keep_of_them(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first, second, third = noodle_windows(filled)
    lines = [answer_line(first, OWN), answer_line(second, first.text), answer_line(third, OWN, done_reason="length")]
    assert searched(filled, capsys, tmp_path, lines) == [["none", "0"], ["unguarded", "3"], ["guarded", "1"]]


def test_an_answer_for_no_window_is_refused_by_its_line(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first = noodle_windows(filled)[0]
    lines = [answer_line(first, OWN), answer_line(replace(first, start_ms=first.start_ms + 1), OWN)]
    with pytest.raises(UsageError) as refused:
        searched(filled, capsys, tmp_path, lines)
    assert refused.value.details["line"] == 2


@pytest.mark.campaign(part="flows")
def test_copies_made_for_every_window_are_left_out_by_the_guards(
    filled: Runtime, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert searched(filled, capsys, tmp_path) == [
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
    assert guards.answer_value(raw) == value
