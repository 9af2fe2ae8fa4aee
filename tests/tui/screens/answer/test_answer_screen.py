"""Answers in the app: streamed, cited, asked further, jumped from, stopped; and without a model."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from textual.content import Content

from subtitle_rag.base.config.settings import HOSTS_VARIABLE
from subtitle_rag.contexts import planning
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from subtitle_rag.tui.screens.settings.setting_dialog import SettingDialog
from tests.stand_ins.ollama import Model, StandIn, Turn
from tests.tui.asking import (
    ANSWER,
    MODEL,
    QUESTION,
    ask,
    asking,
    hint,
    ids,
    rows,
    said,
    said_by_style,
    without_contexts,
)
from tests.tui.conftest import MakeApp, Outside, drawn_by, press, run_command, settle, toasts, typed, until

SCENES = 6
"""What the sample has about the question."""


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        serving.add(Model(MODEL))
        yield serving


@pytest.fixture
def make(runtime: Runtime, app_of: MakeApp, ollama: StandIn) -> MakeApp:
    return without_contexts(runtime, app_of, ollama)


class TestAsking:
    @pytest.mark.campaign(part="app")
    async def test_the_typed_query_becomes_the_question_and_enter_asks_it(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            assert screen.question.typed == QUESTION
            assert screen.question.has_focus
            assert "Ask what the videos say" in said(screen)
            await ask(pilot, screen)
            assert said(screen).startswith(f"❯ {QUESTION}\n배추는 40포기입니다 [1]. 소금은 99바가지입니다 [2]?. 모릅")
            assert len(rows(screen)) == SCENES
            assert [row.split()[0] for row in rows(screen)] == [f"[{number}]" for number in range(1, SCENES + 1)]
            assert screen.question.typed == ""
            assert screen.pane.has_focus, "numbers lead to scenes now"

    @pytest.mark.campaign(part="app")
    async def test_a_key_asks_of_all_captions_and_back(
        self, make: MakeApp, ollama: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert len(rows(screen)) == SCENES
            screen.action_whole()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert "whole they may have" in said(screen)
            ollama.add(Model(MODEL, "of its own", context_length=262_144))  # what is learnt goes with the digest
            monkeypatch.setattr(planning, "free_memory", lambda: 10**12)
            screen.action_whole()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert "From all captions of" in said(screen)
            assert len(rows(screen)) > SCENES
            screen.action_whole()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert len(rows(screen)) <= SCENES

    @pytest.mark.campaign(part="app")
    async def test_the_answer_is_shown_as_it_comes(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer(Turn("".join(f"배추는 {n} " for n in range(400)) + "[1].", pace=0.03))
        async with asking(make(show_times=False)) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, lambda: screen.page.dialogue.turns[0].text)
            assert said(screen).endswith(" …")
            assert screen.question.placeholder.startswith("Ask further")
            await until(pilot, lambda: "answering…" in drawn_by(pilot.app))
            assert rows(screen) == [], "they come below the whole answer"
            assert screen.question.typed == ""
            short = len(screen.page.dialogue.turns[0].text)
            await until(pilot, lambda: len(screen.page.dialogue.turns[0].text) > short)
            assert screen.page.dialogue.running

    @pytest.mark.campaign(part="app")
    async def test_what_is_wrong_with_a_citation_is_told_by_sign_and_words(
        self, make: MakeApp, ollama: StandIn
    ) -> None:
        ollama.answer(ANSWER + " 김장값은 1억 2천만 원입니다. 끝 [9].")
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert "? [2] Not in this scene: 99" in said(screen)
            assert "모릅니다. 김장값은 1억 2천만 원입니다. ?" in said(screen)
            assert "? In none of the scenes: 1억 2천만." in said(screen)
            assert "· 1 citation of a scene that was not given was left out." in said(screen)
            assert "3 sentences cite no scene." in said(screen)

    @pytest.mark.campaign(part="app")
    async def test_a_further_question_keeps_the_scenes_and_a_new_one_does_not(
        self, make: MakeApp, ollama: StandIn
    ) -> None:
        ollama.answer(ANSWER, "소금입니다 [2].", "치킨입니다 [1].")
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            before = ids(screen)
            await ask(pilot, screen, "소금은?")
            first, second = ollama.asked("chat")
            assert second.messages[0] == first.messages[0]
            assert [each["role"] for each in second.messages] == ["system", "user", "assistant", "user"]
            assert ids(screen) == before
            assert QUESTION in said(screen)
            assert "❯ 소금은?\n소금입니다 [2]" in said(screen)
            screen.question.value = "소스 치킨"
            await run_command(pilot, "app.ask")
            await until(pilot, lambda: len(ollama.asked("chat")) == 3 and not screen.page.dialogue.running)
            assert len(ollama.asked("chat")[2].messages) == 2
            assert QUESTION not in said(screen)
            assert ids(screen) != before
            await run_command(pilot, "app.ask")
            assert "Ask what the videos say" in said(screen)

    @pytest.mark.campaign(part="app")
    async def test_it_is_told_what_the_model_reads_before_it_answers(self, make: MakeApp, ollama: StandIn) -> None:
        hold = ollama.hold()
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await settle(pilot)
            assert said(screen).startswith(f"❯ {QUESTION}\nReading {SCENES} scenes…")
            assert "reading…" in drawn_by(pilot.app)
            assert screen.question.typed == QUESTION
            await pilot.press("escape")
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert "Stopped" in said(screen)

    @pytest.mark.campaign(part="app")
    @pytest.mark.parametrize("width", [80, 120])
    async def test_how_much_the_model_reads_and_how_long_is_told(
        self, make: MakeApp, ollama: StandIn, runtime: Runtime, width: int
    ) -> None:
        hold = ollama.hold()
        async with asking(make("ko"), size=(width, 40)) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await until(pilot, lambda: screen.page.dialogue.turns[-1].request)
            turn = screen.page.dialogue.turns[-1]
            assert turn.request is not None
            assert "읽는 중 ·" not in said(screen), "soon over"
            screen.page.dialogue._requested_at -= 60
            reading = f"자막 {turn.request.tokens:,}토큰을 읽는 중 · 1:0"
            await until(pilot, lambda: reading in said(screen))
            hold.release()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert "읽는 중" not in said(screen)

    @pytest.mark.campaign(part="app")
    async def test_a_question_that_is_being_typed_when_the_answer_comes_stays(
        self, make: MakeApp, ollama: StandIn
    ) -> None:
        hold = ollama.hold()
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            screen.question.value = "소금은"
            hold.release()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert screen.page.dialogue.turns[0].text == ANSWER
            assert screen.question.typed == "소금은"

    @pytest.mark.campaign(part="app")
    async def test_another_query_of_the_search_begins_anew_and_the_same_one_does_not(
        self, make: MakeApp, ollama: StandIn
    ) -> None:
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            await press(pilot, "escape", "a")
            assert QUESTION in said(screen)
            assert screen.question.typed == ""
            await press(pilot, "escape", "escape")
            await typed(pilot, f"{QUESTION} 소금")
            await press(pilot, "escape", "a")
            assert QUESTION not in said(screen)
            assert screen.question.typed == f"{QUESTION} 소금"

    @pytest.mark.campaign(part="app")
    async def test_a_whole_video_is_told_by_its_windows(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.add(Model(MODEL, context_length=3_072))
        ollama.answer("김장 이야기입니다 [1].")
        async with asking(make(), "video:김장 요약해줘") as (pilot, screen):
            await ask(pilot, screen)
            assert "From the contexts of all scenes of “할머니랑 배추" in said(screen)
            assert len(rows(screen)) > SCENES

    @pytest.mark.campaign(part="app")
    async def test_a_filter_that_cannot_be_read_is_told_and_not_asked(self, make: MakeApp, ollama: StandIn) -> None:
        async with asking(make(), "김치 after:모레") as (pilot, screen):
            await pilot.press("enter")
            assert hint(screen).startswith("! ")
            assert "모레" in hint(screen)
            assert not ollama.asked("chat")

    @pytest.mark.campaign(part="app")
    async def test_one_video_is_read_whole_and_that_is_told(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer("40포기입니다 [1].")
        async with asking(make(), "video:김장 배추 몇 포기야?") as (pilot, screen):
            await ask(pilot, screen)
            assert "From all captions of “할머니랑 배추" in said(screen)
            assert len(rows(screen)) > SCENES


class TestEnteringHangul:
    @pytest.mark.campaign(part="app")
    async def test_a_syllable_that_comes_after_enter_is_not_lost(self, make: MakeApp, ollama: StandIn) -> None:
        hold = ollama.hold()
        ollama.answer("처음입니다 [1].", "다음입니다 [1].")
        async with asking(make(), "김장 배추 몇 포") as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await pilot.press("기")
            assert screen.question.typed == "김장 배추 몇 포기"
            await pilot.press("enter")
            await until(pilot, lambda: not screen.page.dialogue.running and screen.page.dialogue.next_question is None)
            assert [turn.question for turn in screen.page.dialogue.turns] == ["김장 배추 몇 포기"]
            assert ollama.asked("chat")[-1].messages[-1]["content"].startswith("김장 배추 몇 포기")
            assert "김장 배추 몇 포\n" not in said(screen)
            assert screen.question.typed == ""

    @pytest.mark.campaign(part="app")
    async def test_enter_twice_asks_once(self, make: MakeApp, ollama: StandIn, outside: Outside) -> None:
        hold = ollama.hold()
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter", "enter")
            await until(pilot, hold.arrived.is_set)
            await pilot.press("enter")
            hold.release()
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert len(ollama.asked("chat")) == 1
            assert not outside.played

    @pytest.mark.campaign(part="app")
    async def test_a_question_during_an_answer_waits_for_its_end(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer(Turn("".join(f"배추는 {n} " for n in range(60)) + "[1].", pace=0.05), "소금입니다 [1].")
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, lambda: screen.page.dialogue.turns[0].text)
            await pilot.press(*"소금은", "enter")
            await until(pilot, lambda: "when this answer ends" in hint(screen))
            await until(pilot, lambda: len(screen.page.dialogue.turns) == 2 and not screen.page.dialogue.running)
            assert screen.page.dialogue.turns[0].answer
            assert screen.page.dialogue.turns[0].answer.ending == "whole"
            assert screen.page.dialogue.turns[1].question == "소금은"


class TestJumping:
    @pytest.mark.campaign(part="app")
    async def test_keys_go_through_the_citations_and_enter_jumps_to_the_second_of_each(
        self, make: MakeApp, ollama: StandIn, outside: Outside
    ) -> None:
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            await press(pilot, "c")
            [copied] = outside.copied
            assert copied.startswith(f"{QUESTION}\n\n배추는 40포기입니다 [1]. 소금은 99바가지입니다 [2]?.")
            assert toasts(pilot.app)[-1] == "Answer copied, with what it cites."
            await press(pilot, "down", "enter")
            citations = screen.page.dialogue.turns[0].citations
            assert [played["at_ms"] for played in outside.played] == [citations[0].at_ms]
            await pilot.press("down")
            chosen = screen.pane.find_scene()
            assert chosen
            assert (chosen.rank, chosen.at_ms) == (2, citations[1].at_ms)
            await press(pilot, *["down"] * 9, "enter")
            assert outside.played[-1]["at_ms"] == screen.page.dialogue.turns[0].sources[-1].at_ms

    @pytest.mark.campaign(part="app")
    async def test_a_digit_plays_its_scene_at_once(self, make: MakeApp, ollama: StandIn, outside: Outside) -> None:
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            await press(pilot, "3", "9")
            assert [played["at_ms"] for played in outside.played] == [screen.page.dialogue.turns[0].sources[2].at_ms]
            assert said_by_style(screen, "reverse") == [" [3]"]
            await pilot.press("가")
            assert screen.question.has_focus
            assert screen.question.typed == "가"

    @pytest.mark.campaign(part="app")
    async def test_a_click_chooses_a_citation_and_another_one_jumps(
        self, make: MakeApp, ollama: StandIn, outside: Outside
    ) -> None:
        ollama.answer(ANSWER)
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            offset = (Content("배추는 40포기입니다 ").cell_length + 1, 1)
            await pilot.click("#said", offset=offset)
            assert said_by_style(screen, "reverse") == ["[1]"]
            assert not outside.played
            await pilot.click("#said", offset=offset)
            await settle(pilot)
            assert [played["at_ms"] for played in outside.played] == [screen.page.dialogue.turns[0].citations[0].at_ms]


class TestStopping:
    @pytest.mark.campaign(part="app")
    async def test_an_answer_stopped_before_its_first_word_keeps_nothing(self, make: MakeApp, ollama: StandIn) -> None:
        hold = ollama.hold(times=None)
        ollama.answer(Turn("배추"))
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await pilot.press("escape")
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert said(screen).splitlines()[1] == "· Stopped."

    @pytest.mark.campaign(part="app")
    async def test_esc_stops_and_keeps_what_came_then_leaves(
        self, make: MakeApp, ollama: StandIn, runtime: Runtime
    ) -> None:
        ollama.answer(Turn("".join(f"배추는 {n} " for n in range(200)), pace=0.03))
        async with asking(make()) as (pilot, screen):
            await pilot.press("enter")
            await until(pilot, lambda: screen.page.dialogue.turns[0].text)
            await pilot.press("escape")
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert "Stopped; what had come by then stays." in said(screen)
            assert "배추는 0 배추는" in said(screen)
            assert runtime.library.answers.latest()[0].ending == "stopped"
            await until(pilot, lambda: ollama.asked("chat")[0].outcome == "gone")
            await pilot.press("escape")
            assert isinstance(screen.app.screen, SearchScreen)
            await pilot.press("a")
            assert "배추는 0 배추는" in said(screen)

    @pytest.mark.campaign(part="app")
    async def test_leaving_the_app_does_not_wait_for_the_model(self, make: MakeApp, ollama: StandIn) -> None:
        hold = ollama.hold()
        app = make()
        async with asking(app) as (pilot, _screen):
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await pilot.press("ctrl+q")
        began = time.monotonic()
        app.wait_for_threads(3.0)
        assert time.monotonic() - began < 3.0
        assert app.return_code == 0
        hold.release()


class TestWithoutModel:
    @pytest.mark.campaign(part="app")
    async def test_the_scenes_are_shown_and_how_to_get_answers(
        self, make: MakeApp, runtime: Runtime, outside: Outside
    ) -> None:
        runtime.settings = replace(runtime.settings, llm=replace(runtime.settings.llm, hosts=()))
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert "There is no model to answer; these are the scenes." in said(screen)
            assert "OLLAMA" in said(screen).upper()
            assert len(rows(screen)) == SCENES
            assert screen.question.typed == QUESTION
            await press(pilot, "down", "down", "enter")
            assert [played["at_ms"] for played in outside.played] == [screen.page.dialogue.turns[0].sources[1].at_ms]

    @pytest.mark.campaign(part="app")
    async def test_once_there_is_one_the_same_question_is_answered(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.stop()
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert "There is no model to answer" in said(screen)
            assert "Start Ollama, then r asks again." in said(screen)
            ollama.start()
            ollama.answer(ANSWER)
            await pilot.press("r")
            await until(pilot, lambda: said(screen).startswith(f"❯ {QUESTION}\n배추는 40포기"))

    @pytest.mark.campaign(part="app")
    async def test_where_the_model_is_missing_one_key_offers_those_that_are_here(
        self, make: MakeApp, ollama: StandIn, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ollama.add(Model("writes:q4"))
        ollama.answer(ANSWER)
        runtime.settings.paths.config.write_text('[llm]\nmodel = "gone:q4"\n')  # it is read again with the choice,
        monkeypatch.setenv(HOSTS_VARIABLE, ollama.base)  # and the variable, which goes before the file
        async with asking(make()) as (pilot, screen):
            runtime.settings = replace(runtime.settings, llm=replace(runtime.settings.llm, model="gone:q4"))
            await ask(pilot, screen)
            assert "r chooses one of the models that are here, and asks again." in said(screen)
            assert "subtitle-rag" not in said(screen)
            await press(pilot, "r")
            dialog = pilot.app.screen
            assert isinstance(dialog, SettingDialog)
            assert {MODEL, "writes:q4"} == {str(option.prompt).strip() for option in dialog.choices.options}
            await press(pilot, "enter")
            await until(pilot, lambda: said(screen).startswith(f"❯ {QUESTION}\n배추는 40포기"))
            assert runtime.settings.llm.model in (MODEL, "writes:q4")

    @pytest.mark.campaign(part="app")
    async def test_a_failure_keeps_what_came_and_says_what_to_do(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer(Turn("배추는 40포기입니다 [1].", cut=True))
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert "배추는 40포기입니다 [1]." in said(screen)
            assert "\n! " in said(screen)

    @pytest.mark.campaign(part="app")
    async def test_nothing_found_leaves_the_question_to_be_changed(self, make: MakeApp) -> None:
        async with asking(make(), "zzzzqqqq") as (pilot, screen):
            await ask(pilot, screen)
            assert "No scenes found." in said(screen)
            assert screen.question.typed == "zzzzqqqq"
            assert rows(screen) == []


class TestHostileOutput:
    @pytest.mark.campaign(part="app")
    async def test_it_is_text_and_nothing_else(self, make: MakeApp, ollama: StandIn) -> None:
        hostile = (
            "[b]굵게[/b] [@click=app.quit]끝[/] \x1b[31m빨강\x1b[0m \u202e뒤집힌\x07 [link=file:///x]y[/link] [1]."
        )
        unbroken = "".join(chr(0xAC00 + 7 * at % 11_172) for at in range(3_000))
        ollama.answer(f"{hostile}\n\n{unbroken}")
        async with asking(make(), size=(80, 24)) as (pilot, screen):
            await ask(pilot, screen)
            for literal in ("[b]굵게[/b] [@click=app.quit]끝[/]", "[link=file:///x]y[/link]", unbroken):
                assert literal in said(screen)
            await press(pilot, "down", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup")
            shown = drawn_by(pilot.app)
            assert "[31m빨강" in shown
            assert not set("\x1b\x07\u202e") & set(shown)
            assert all(Content(line).cell_length == 80 for line in shown.splitlines())


class TestLoops:
    @pytest.mark.campaign(part="app")
    async def test_a_loop_is_said_and_asked_for_once_more_by_its_key(self, make: MakeApp, ollama: StandIn) -> None:
        ollama.answer("배추는 40포기입니다 [1]. " + "르메르 24FW 카라리스, " * 200, "소금입니다 [1].")
        async with asking(make()) as (pilot, screen):
            await ask(pilot, screen)
            assert "The model repeated itself without end" in said(screen)
            assert "r asks once more with another seed." in said(screen)
            assert said(screen).count("르메르 24FW 카라리스") == 1
            assert len(ollama.asked("chat")) == 1
            await pilot.press("r")
            await until(pilot, lambda: not screen.page.dialogue.running)
            assert [turn.text for turn in screen.page.dialogue.turns] == ["소금입니다 [1]."]
            assert len(ollama.asked("chat")) == 2
