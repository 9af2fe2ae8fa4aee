"""The analyzer's work ahead: its order, its failures, its end."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from subtitle_rag.base.domain.values import Morphemes
from subtitle_rag.index.analysis_ahead import FAILURES, AnalysisAhead
from subtitle_rag.library.connection import busy_error

pytestmark = pytest.mark.kiwi


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


def forms(ahead: AnalysisAhead, count: int) -> list[str]:
    return ["".join(analysis.forms) for analysis in ahead.take(count)]


def test_the_texts_of_all_calls_are_analysed_before_any_is_taken() -> None:
    letters = Letters()
    with closing(AnalysisAhead(letters)) as ahead:
        ahead.begin(["가", "나다"])
        ahead.begin(["라", "?"])
        assert letters.waits.wait(10)
        assert letters.analysed == ["가", "나다", "라"]
        letters.release.set()
        assert forms(ahead, 2) == ["가", "나다"]
        assert forms(ahead, 2) == ["라", "?"]


def test_all_texts_that_wait_are_analysed_in_one_call() -> None:
    class Counting(Letters):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[list[str]] = []

        def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
            self.calls.append(list(texts))
            return super().morphemes(texts)

    letters = Counting()
    with closing(AnalysisAhead(letters)) as ahead:
        ahead.begin(["?"])
        assert letters.waits.wait(10)
        for texts in (["가", "나"], ["다"], ["라"]):
            ahead.begin(texts)
        letters.release.set()
        assert forms(ahead, 5) == ["?", "가", "나", "다", "라"]
    assert letters.calls == [["?"], ["가", "나", "다", "라"]]


def test_a_text_that_cannot_be_read_stops_no_other() -> None:
    with closing(AnalysisAhead(Letters())) as ahead:
        ahead.begin(["나", "!", "다", "!", "라"])
        assert forms(ahead, 5) == ["나", "", "다", "", "라"]


def test_a_broken_analyzer_is_no_fault_of_the_texts() -> None:
    with closing(AnalysisAhead(Letters())) as ahead:
        ahead.begin(["나", *"!" * (FAILURES + 1), "다"])
        assert forms(ahead, 1) == ["나"]
        for _time in range(2):
            with pytest.raises(ValueError, match="!"):
                ahead.take(FAILURES + 2)


@pytest.mark.parametrize("failure", [busy_error(Path("x"), "library"), OSError(24, "Too many"), MemoryError()])
def test_a_failure_of_the_machine_is_raised_where_its_texts_are_taken(failure: Exception) -> None:
    class Starved(Letters):
        def morphemes(self, texts: Sequence[str]) -> Iterator[Morphemes]:
            yield from super().morphemes(texts[:1])
            raise failure

    with closing(AnalysisAhead(Starved())) as ahead:
        ahead.begin(["가", "나"])
        assert forms(ahead, 1) == ["가"]
        with pytest.raises(type(failure)):
            ahead.take(1)


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
    ahead.begin([])
    assert ahead.take(0) == []
    assert "analysis-ahead" not in [thread.name for thread in threading.enumerate()]
    ahead.close()


@pytest.mark.parametrize("interruption", [KeyboardInterrupt("Ctrl C"), RuntimeError("can't start new thread")])
def test_an_interruption_while_the_thread_starts_stays_what_it_is(
    interruption: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_thread: threading.Thread) -> None:
        raise interruption

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(type(interruption), match=str(interruption)), closing(AnalysisAhead(Letters())) as ahead:
        ahead.begin(["가"])
