import pytest

from tests.support.cases import cases


def test_every_case_that_fails_is_named_with_its_reason() -> None:
    tried = []

    @cases(("left", "right"), [(1, 1), (1, 2), (3, 3), (5, 4)])
    def equal(left: int, right: int) -> None:
        tried.append(left)
        assert left == right, "differ"

    with pytest.raises(AssertionError) as failure:
        equal()
    assert tried == [1, 1, 3, 5]
    told = str(failure.value)
    assert "2 of 4 cases fail" in told
    assert "left=1, right=2\n    AssertionError: differ" in told
    assert "left=5, right=4" in told
    assert "left=3" not in told


def test_a_case_that_raises_too_little_fails() -> None:
    @cases("text", ["x", "1"])
    def refused(text: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011  (any will do here)
            int(text)

    with pytest.raises(AssertionError, match=r"1 of 2 cases fail:\ntext='1'\n    Failed: DID NOT RAISE"):
        refused()


@cases("number", [1, 2])
def test_fixtures_are_given_to_each_case(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert tmp_path_factory.getbasetemp().is_dir()
    assert number in (1, 2)


def test_no_case_is_no_proof() -> None:
    with pytest.raises(AssertionError, match="no case"):
        cases("number", [])


def test_a_function_finds_the_cases_when_the_test_runs() -> None:
    found: list[int] = []

    @cases("number", lambda: found)
    def small(number: int) -> None:
        assert number < 3

    with pytest.raises(AssertionError, match="no case"):
        small()
    found += [1, 2]
    small()
    found += [3]
    with pytest.raises(AssertionError, match="1 of 3 cases fail"):
        small()
