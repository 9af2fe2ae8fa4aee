"""The analyzer's work ahead: its order, its failures, its end."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from subtitle_rag.domain import BusyError, Morphemes
from subtitle_rag.retrieval.analysis_ahead import FAILURES, AnalysisAhead


class Letters:
    """An analyzer whose morphemes are letters; it fails at `!`, and `?` waits until it is released."""

    def __init__(self) -> None:
        self.analysed: list[str] = []
        self.release = threading.Event()
        self.waits = threading.Event()

    def load_soon(self) -> None:
        raise AssertionError

    def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
        for text in texts:
            if text == "!":
                raise ValueError(text)
            if text == "?":
                self.waits.set()
                assert self.release.wait(10)
            self.analysed.append(text)
            yield Morphemes(tuple(text), (), ())


def forms(analyses: Iterator[Morphemes]) -> list[str]:
    return ["".join(analysis.forms) for analysis in analyses]


def test_the_texts_of_all_calls_are_analysed_before_any_is_taken() -> None:
    letters = Letters()
    with closing(AnalysisAhead(letters)) as ahead:
        first, second = ahead.begin(["가", "나다"]), ahead.begin(["라", "?"])
        assert letters.waits.wait(10)
        assert letters.analysed == ["가", "나다", "라"]
        letters.release.set()
        assert forms(first) == ["가", "나다"]
        assert forms(second) == ["라", "?"]


def test_a_text_that_cannot_be_read_stops_no_other() -> None:
    with closing(AnalysisAhead(Letters())) as ahead:
        assert forms(ahead.begin(["나", "!", "다", "!", "라"])) == ["나", "", "다", "", "라"]


def test_a_broken_analyzer_is_no_fault_of_the_texts() -> None:
    with closing(AnalysisAhead(Letters())) as ahead:
        first, second = ahead.begin(["나", *"!" * (FAILURES + 1), "다"]), ahead.begin(["라"])
        assert next(first).forms == ("나",)
        with pytest.raises(ValueError, match="!"):
            list(first)
        assert forms(second) == ["라"]


@pytest.mark.parametrize("failure", [BusyError("library_busy", path=""), OSError(24, "Too many"), MemoryError()])
def test_a_failure_of_the_machine_is_raised_where_its_texts_are_taken(failure: Exception) -> None:
    class Starved(Letters):
        def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
            yield from super().morphemes(texts[:1])
            raise failure

    with closing(AnalysisAhead(Starved())) as ahead:
        analyses = ahead.begin(["가", "나"])
        assert next(analyses).forms == ("가",)
        with pytest.raises(type(failure)):
            next(analyses)


def test_what_is_not_analysed_is_given_up_at_the_end() -> None:
    letters = Letters()
    ahead = AnalysisAhead(letters)
    ahead.begin(["가", "?", "나", "다"])
    ahead.begin(["라"])
    assert letters.waits.wait(10)
    threading.Timer(0.05, letters.release.set).start()
    ahead.close()
    assert letters.analysed == ["가", "?"]
    assert "analysis-ahead" not in [thread.name for thread in threading.enumerate()]


def test_no_texts_need_no_thread() -> None:
    ahead = AnalysisAhead(Letters())
    assert forms(ahead.begin([])) == []
    assert "analysis-ahead" not in [thread.name for thread in threading.enumerate()]
    ahead.close()
