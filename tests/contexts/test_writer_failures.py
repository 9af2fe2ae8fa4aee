"""What a run makes of an Ollama that is not there, fails, falls silent or comes back."""

import threading
from collections import Counter

import pytest

from subtitle_rag.base.domain.errors import AppError, LlmError
from subtitle_rag.base.domain.events import ContextReport, ContextWritten
from subtitle_rag.contexts.hosts import UNUSABLE
from subtitle_rag.contexts.writer import Writer
from subtitle_rag.library.context_store import WindowSelection
from tests.contexts.desk import Desk, beginnings, blocked, meanwhile, talk, windows_asked
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.support.failures import failing
from tests.support.invented import came_true

CLEAN = "국수를 삶아 먹는 장면입니다."


def stopped(server: StandIn, *, back_after: float | None = None) -> str:
    """The server goes away in the middle of an answer."""
    server.stop()
    if back_after is not None:
        threading.Timer(back_after, server.start).start()
    return CLEAN


def refusal(desk: Desk, **more: str) -> AppError:
    with pytest.raises(AppError) as raised:
        desk.write(**more)  # type: ignore[arg-type]
    return raised.value


def test_a_server_that_does_not_run_is_told_at_once(desk: Desk) -> None:
    desk.put("a", talk(1))
    desk.ollama.stop()
    error = refusal(desk)
    assert (type(error), error.code) == (LlmError, "llm_not_running")
    assert "ollama serve" in error.hint


def test_a_model_that_is_missing_is_told_with_how_to_get_it(desk: Desk) -> None:
    desk.put("a", talk(1))
    error = refusal(desk, model="absent:q4")
    assert error.code == "llm_model_missing"
    assert "subtitle-rag models get absent:q4" in error.hint
    assert desk.chats() == []


def test_without_any_host_there_is_no_run(desk: Desk) -> None:
    with failing("llm_off"):
        list(Writer(desk.place.library, desk.place.indexer, [], "writer:q4", analyzer=desk.place.analyzer).run())


@pytest.mark.parametrize("model", [Model("far:q4", remote_host="https://ollama.com"), Model("big:120b-cloud")])
def test_a_model_in_the_cloud_is_refused_before_any_prompt(desk: Desk, model: Model) -> None:
    desk.put("a", talk(1))
    desk.ollama.add(model)
    assert refusal(desk, model=model.name).code == "llm_cloud_refused"
    assert desk.chats() == []


def test_too_little_memory_ends_the_run(desk: Desk) -> None:
    desk.ollama.add(Model("huge:q4", behaviour="out_of_memory"))
    desk.put("a", talk(3))
    report = desk.write(model="huge:q4")
    assert blocked(report) == "llm_out_of_memory"
    assert (report.written, [asked.options["num_ctx"] for asked in desk.chats()]) == (0, [8192, 4096])


def test_a_model_that_leaves_in_the_middle_ends_the_run(desk: Desk) -> None:
    desk.put("a", talk(3))

    def last(_sent: object) -> str:
        desk.ollama.remove("writer:q4")
        return CLEAN

    desk.ollama.answer(last)
    report = desk.write()
    assert (report.written, blocked(report)) == (1, "llm_model_missing")


@pytest.mark.parametrize("behaviour", ["dying", "unfinished", "silent", "error", "garbled", "busy"])
def test_a_server_that_answers_nothing_three_times_in_a_row_is_given_up(desk: Desk, behaviour: str) -> None:
    desk.ollama.add(Model("ill:q4", behaviour=behaviour))
    own = desk.put("a", talk(5))
    report = desk.write(model="ill:q4")
    code = {"dying": "llm_broke_off", "error": "llm_failed", "busy": "llm_broke_off"}.get(behaviour, "llm_nonsense")
    assert blocked(report) == code
    assert [event.code for event in desk.failed] == [code] * 2  # the third is what ends it
    for event in desk.failed:
        assert "{" not in AppError(event.code, **event.details).message
    assert Counter(windows_asked(desk.chats())) == dict.fromkeys((window.text for window in own[:3]), 3)
    assert report.written == 0


def test_a_window_is_asked_for_again_until_it_is_answered(desk: Desk) -> None:
    own = desk.put("a", talk(2))
    desk.ollama.refuse("chat", 500, times=2)
    report = desk.write()
    assert (report.written, report.failed, report.blocked) == (2, 0, None)
    assert windows_asked(desk.chats()) == [own[0].text] * 3 + [own[1].text]


def test_a_window_that_stays_without_an_answer_is_passed_over_and_stays_due(desk: Desk) -> None:
    own = desk.put("a", talk(3))
    desk.ollama.refuse("chat", 500, "the runner died", times=3)
    report = desk.write()
    assert (report.written, report.failed, report.blocked) == (2, 1, None)
    (failure,) = desk.failed
    assert (failure.video, failure.code, failure.details["reason"]) == ("a", "llm_failed", "the runner died")
    desk.ollama.clear()
    assert desk.write().written == 1
    assert windows_asked(desk.chats()) == [own[0].text]


def test_failures_count_in_a_row_only(desk: Desk) -> None:
    desk.put("a", talk(4))
    desk.ollama.refuse("chat", 500, times=6)  # two windows
    report = desk.write()
    assert (report.written, report.failed, report.blocked) == (2, 2, None)


def test_failures_in_a_row_are_counted_over_videos(desk: Desk) -> None:
    for number in range(4):
        desk.put(f"v{number}", talk(1, seed=number))
    desk.ollama.refuse("chat", 500, times=None)
    report = desk.write()
    assert blocked(report) == "llm_failed"
    assert len(desk.chats()) == 9


def test_a_model_without_a_usable_answer_for_a_stretch_of_windows_is_given_up_by_name(desk: Desk) -> None:
    desk.put("a", talk(UNUSABLE + 5))
    desk.ollama.add(Model("poor:q4", behaviour=lambda _sent: "네, 알겠습니다."))
    report = desk.write(model="poor:q4")
    assert (blocked(report), report.empty, report.written) == ("contexts_unusable", UNUSABLE, 0)
    assert len(desk.chats()) == 2 * UNUSABLE
    assert str(report.blocked).startswith("poor:q4 has written no context")


def test_one_usable_answer_within_the_stretch_lets_a_model_go_on(desk: Desk) -> None:
    minutes = UNUSABLE + 5
    desk.put("a", talk(minutes))
    answers = ["네, 알겠습니다."] * (2 * minutes)
    answers[2 * (UNUSABLE - 1)] = f"{100 + UNUSABLE - 1}번째 이야기를 하며 국수를 삶는 장면입니다."
    desk.ollama.answer(*answers)
    report = desk.write()
    assert (report.blocked, report.written, report.empty) == (None, 1, minutes - 1)


def test_a_silent_server_is_waited_for_no_longer_than_is_set(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.models.ollama.llm_client.TOKENS_PER_SECOND", 1_000_000)  # no patience for reading
    monkeypatch.setattr("subtitle_rag.models.ollama.llm_client.TIMEOUT_S", 1)
    desk.put("a", talk(1))
    hold = desk.ollama.hold()
    report = desk.write()
    hold.release()
    assert (report.written, report.failed, len(desk.chats())) == (1, 0, 2)


@pytest.mark.parametrize("tokens_per_character", [1.0, 1.5])
def test_prompts_that_are_longer_than_reckoned_are_planned_anew(desk: Desk, tokens_per_character: float) -> None:
    desk.ollama.add(Model("wordy:q4", tokens_per_character=tokens_per_character))
    own = desk.put("a", talk(10, words=10))
    report = desk.write(model="wordy:q4")
    assert (report.written, report.failed, report.blocked) == (10, 0, None)
    sizes = [asked.options["num_ctx"] for asked in desk.chats()]
    assert sizes == sorted(sizes)
    assert sizes[0] == 8192
    assert beginnings(windows_asked(desk.chats())[-10:]) == beginnings(window.text for window in own)


def test_a_prompt_that_does_not_fit_costs_nothing_of_the_limit(desk: Desk) -> None:
    desk.ollama.add(Model("wordy:q4", tokens_per_character=1.2))
    desk.put("a", talk(20, words=10))
    assert desk.write(WindowSelection(limit=2), model="wordy:q4").written == 2
    assert "refused" in [asked.outcome for asked in desk.chats()]


def test_a_video_that_never_fits_is_passed_over(desk: Desk) -> None:
    desk.ollama.add(Model("tiny:q4", context_length=512))
    desk.put("a", talk(2, seed=1))
    desk.put("b", talk(2, seed=2))
    report = desk.write(model="tiny:q4")
    assert (report.written, report.blocked) == (0, None)
    assert [(event.video, event.code) for event in desk.failed] == [("a", "llm_overflow"), ("b", "llm_overflow")]
    assert "{" not in AppError(desk.failed[0].code, **desk.failed[0].details).message


def test_a_server_that_cuts_prompts_without_a_word_is_noticed(desk: Desk) -> None:
    desk.ollama.add(Model("deaf:q4", heeds_truncate=False, tokens_per_character=1.2))
    desk.put("a", talk(8, words=10))
    report = desk.write(model="deaf:q4")
    assert report.written == 8
    assert [asked.cut for asked in desk.chats()][-8:] == [False] * 8


def test_a_server_that_is_started_again_goes_on(desk: Desk) -> None:
    desk.put("a", talk(4))
    desk.ollama.answer(CLEAN, CLEAN.replace("국수", "만두"), lambda _sent: stopped(desk.ollama, back_after=0.15))
    report = desk.write(pause=0.1)
    assert (report.written, report.failed, report.blocked) == (4, 0, None)
    assert len(desk.chats()) == 5


def test_a_server_that_stays_away_ends_the_run_and_the_next_goes_on(desk: Desk) -> None:
    own = desk.put("a", talk(4))
    desk.ollama.answer(CLEAN, CLEAN.replace("국수", "만두"), lambda _sent: stopped(desk.ollama))
    report = desk.write()
    assert (report.written, report.failed, blocked(report)) == (2, 0, "llm_not_running")
    desk.ollama.clear()
    desk.ollama.start()
    assert desk.write().written == 2
    assert windows_asked(desk.chats()) == [window.text for window in own[2:]]
    assert len(desk.contexts()) == 4


def test_one_host_goes_on_with_what_another_has_left(desk: Desk) -> None:
    for number in range(3):
        desk.put(f"v{number}", talk(2, seed=number))
    with StandIn() as second:
        second.add(Model("writer:q4"))
        second.refuse("chat", 500, "model requires more system memory (6 GiB) than is available", times=None)
        hold = desk.ollama.hold()

        def release() -> None:
            came_true(lambda: bool(second.asked("chat")))
            hold.release()

        with meanwhile(release):
            report = desk.write(servers=[desk.ollama, second])
        assert [asked.options["num_ctx"] for asked in second.asked("chat")] == [8192, 4096]
    assert (report.written, report.blocked) == (6, None)  # nothing is left that one should be told about


def test_a_host_that_is_away_is_done_without(desk: Desk) -> None:
    desk.put("a", talk(2))
    with StandIn() as second:
        pass
    assert desk.write(servers=[second, desk.ollama]).written == 2


def test_a_run_that_is_stopped_in_the_middle_of_an_answer_ends_at_once(desk: Desk) -> None:
    desk.put("a", talk(3))
    stop = threading.Event()
    hold = desk.ollama.hold(times=None)

    def end() -> None:
        hold.arrived.wait(20)
        stop.set()

    with meanwhile(end):
        report = desk.write(stop=stop)
    hold.release()  # no sooner: the run has not waited for the answer
    assert (report.written, report.failed, report.blocked) == (0, 0, None)
    assert came_true(lambda: desk.chats()[0].ended.is_set())
    assert desk.chats()[0].outcome == "gone"


def test_an_answer_that_is_stopped_half_way_is_not_kept(desk: Desk) -> None:
    desk.ollama.add(Model("slow:q4", behaviour=lambda _sent: Turn(CLEAN * 20, pace=0.02)))
    desk.put("a", talk(2))
    stop = threading.Event()

    def end() -> None:
        came_true(lambda: bool(desk.chats() and desk.chats()[0].prompt))
        stop.set()

    with meanwhile(end):
        report = desk.write(model="slow:q4", stop=stop)
    assert (report.written, report.failed, desk.contexts()) == (0, 0, [])
    assert not stop.is_set()  # so that it can be run again


def test_a_run_that_is_closed_leaves_no_thread_and_can_be_begun_again(desk: Desk) -> None:
    desk.put("a", talk(4))
    before = set(threading.enumerate())
    with desk.writer() as writer:
        running = writer.run()
        next(event for event in running if isinstance(event, ContextWritten))
        hold = desk.ollama.hold()
        hold.arrived.wait(20)
        running.close()  # type: ignore[attr-defined]
        hold.release()
        assert came_true(lambda: not [t for t in set(threading.enumerate()) - before if "Run.work" in repr(t)])
        written = len(desk.contexts())
        report = list(writer.run())[-1]
    assert isinstance(report, ContextReport)
    assert report.written == 4 - written
    assert desk.place.library.contexts.unindexed() == {}


def test_what_goes_wrong_in_a_hosts_thread_is_raised_in_the_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_more: object) -> str:
        raise ZeroDivisionError

    desk.put("a", talk(1))
    monkeypatch.setattr("subtitle_rag.contexts.answer_check.clean_context", broken)
    with pytest.raises(ZeroDivisionError):
        desk.write()
