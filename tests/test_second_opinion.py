"""Names that a second opinion offers to the glossary."""

from subtitle_rag.second_opinion import Difference, new_names

DIFFERENCES = [Difference(0, "다온이", "다운이", is_name=True), Difference(9_000, "그래서", "그러게")]


def test_names_are_taken_from_the_side_that_knows_them() -> None:
    unknown = {"다온", "다운"}
    assert list(new_names(DIFFERENCES, unknown, (), by_person=True)) == ["다온"]
    assert list(new_names(DIFFERENCES, unknown, (), by_person=False)) == ["다운"]
    assert list(new_names(DIFFERENCES, unknown, ("다온",), by_person=True)) == []
