"""`scripts/bench guards`: what the writer stores of real answers that were judged by reading."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.benchmarks import guards
from scripts.benchmarks._corpus import SAMPLE
from scripts.benchmarks.guards import USABLE, CheckedReply
from subtitle_rag.domain import UsageError
from subtitle_rag.library import Library
from subtitle_rag.retrieval.korean.morphemes import Analyzer
from tests.support.place import Place

FOLDER = Path(__file__).parents[1] / "data" / "contexts"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, analyzer: Analyzer) -> Iterator[Library]:
    place = Place.at(tmp_path_factory.mktemp("sample"), analyzer)
    place.run(SAMPLE)
    yield place.library
    place.close()


@pytest.fixture(scope="module")
def checked(sample: Library) -> list[CheckedReply]:
    return list(guards.check_answers(sample, guards.read_answers(FOLDER / "judged_answers.jsonl"), FOLDER))


def test_all_that_a_person_wrote_about_the_windows_is_stored(sample: Library) -> None:
    given = guards.given_answers(sample)
    stored = [each.stored for each in guards.check_answers(sample, given, FOLDER)]
    assert stored == [each.reply.text for each in given]


def test_no_more_of_what_is_wrong_is_stored(checked: list[CheckedReply]) -> None:
    """All that is stored of 308 answers; a sentence that puts the video's own words together wrongly passes."""
    stored = Counter(each.judged.judged for each in checked if each.stored)
    assert len(checked) == 308
    assert stored - Counter({USABLE: 1, "copy": 3, "loop": 1, "unrelated": 3, "invented": 19}) == Counter()
    assert all(each.stored for each in checked if each.judged.judged == USABLE)


@pytest.mark.campaign(part="flows")
def test_the_answers_about_a_window_are_all_in_one_half(checked: list[CheckedReply]) -> None:
    halves = {(each.judged.video, each.judged.start_ms): each.judged.half for each in checked}
    assert all(each.judged.half == halves[each.judged.video, each.judged.start_ms] for each in checked)
    assert set(Counter(halves.values())) == set(guards.HALVES)


def test_the_table_has_both_halves(checked: list[CheckedReply], capsys: pytest.CaptureFixture[str]) -> None:
    guards.show(checked)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows if "= " in row[-1]] == ["| seen", "| unseen"]


def test_a_judgement_of_no_kind_is_refused_by_its_line(tmp_path: Path) -> None:
    first = (FOLDER / "judged_answers.jsonl").read_text(encoding="utf-8").splitlines()[0]
    path = tmp_path / "answers.jsonl"
    path.write_text(first + "\n" + first.replace('"judged": "', '"judged": "un'), encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        guards.read_answers(path)
    assert raised.value.details["line"] == 2
