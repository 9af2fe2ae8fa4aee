"""`scripts/bench guards`: what the writer stores of real answers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from scripts.benchmarks import guards
from scripts.benchmarks._corpus import SAMPLE
from scripts.benchmarks.guards import USABLE, Answer
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.korean.morphemes import Analyzer
from subtitle_rag.library.store import Library
from tests.support.place import Place

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


@pytest.mark.parametrize(
    ("field", "wrong"), [('"judged": "', '"judged": "un'), ('"start": ', '"start": 9')], ids=["judgement", "window"]
)
def test_an_answer_of_no_kind_or_window_is_refused_by_its_line(
    field: str, wrong: str, sample: Library, tmp_path: Path
) -> None:
    first = JUDGED.read_text(encoding="utf-8").splitlines()[0]
    path = tmp_path / "answers.jsonl"
    path.write_text(first + "\n" + first.replace(field, wrong), encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        guards.read_answers(path, sample)
    assert raised.value.details["line"] == 2
