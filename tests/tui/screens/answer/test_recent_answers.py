"""Earlier answers in the app, and what else the answer screen has to do with: contexts, commands, keys, its looks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from textual.command import CommandPalette

from subtitle_rag.base.domain.answer_values import Answer, AnswerRequest, Evidence
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import background
from subtitle_rag.tui.screens.answer import answer_page
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.shared import answer_lines
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from tests.stand_ins.ollama import Model, StandIn
from tests.tui.asking import ANSWER, MODEL, QUESTION, ask, asking, on, opened, said, without_contexts
from tests.tui.conftest import SAMPLE, AppPilot, MakeApp, Outside, press, run_command, running, settle, stage, until


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        serving.add(Model(MODEL))
        yield serving


@pytest.fixture
def make(runtime: Runtime, app_of: MakeApp, ollama: StandIn) -> MakeApp:
    return without_contexts(runtime, app_of, ollama)


def put_answer(runtime: Runtime, question: str) -> None:
    runtime.library.answers.put(Answer(question, "답입니다.", MODEL, Evidence("search", ())), "ask1")


class TestRecentAnswers:
    """The last answers, on the page before the first question."""

    def listed(self, screen: AnswerScreen) -> list[str]:
        return [str(option.prompt).split("  ")[0] for option in screen.page.recent.options]

    async def test_an_earlier_answer_is_read_again_and_jumped_from(
        self, make: MakeApp, ollama: StandIn, outside: Outside
    ) -> None:
        ollama.answer(ANSWER, "치킨입니다 [1].")
        async with asking(make()) as (pilot, screen):
            assert not screen.page.recent.display
            await ask(pilot, screen)
            at = screen.page.dialogue.turns[0].citations[0].at_ms
            await run_command(pilot, "app.ask")
            await until(pilot, lambda: self.listed(screen) == [QUESTION])
            await ask(pilot, screen, "소스 치킨")
            await run_command(pilot, "app.ask")
            await until(pilot, lambda: self.listed(screen) == ["소스 치킨", QUESTION])
            await press(pilot, "down", "down", "enter")
            assert pilot.app.screen is screen
            assert screen.pane.has_focus
            assert said(screen).startswith(f"❯ {QUESTION}\n배추는 40포기입니다 [1]. 소금은")
            assert "? [2] Not in this scene: 99" in said(screen)
            await press(pilot, "down", "enter")
            assert [played["at_ms"] for played in outside.played] == [at]
            ollama.answer("새로 찾은 답입니다 [1].")
            await ask(pilot, screen, "배추")
            assert len(ollama.asked("chat")[-1].messages) == 2

    async def test_the_last_ten_are_listed(self, make: MakeApp, runtime: Runtime, ollama: StandIn) -> None:
        app = make()
        for number in range(12):
            put_answer(runtime, f"질문 {number}")
        async with asking(app, "") as (pilot, screen):
            await until(pilot, lambda: len(self.listed(screen)) == 10)
            assert self.listed(screen)[0] == "질문 11"
            await press(pilot, "tab")
            assert screen.page.recent.has_focus
            await press(pilot, "tab")
            assert screen.question.has_focus

    @pytest.mark.parametrize("key", ["delete", "d", "ㅇ"])
    async def test_one_is_deleted_after_a_yes(self, make: MakeApp, runtime: Runtime, ollama: StandIn, key: str) -> None:
        app = make()
        for question in ("하나", "둘"):
            put_answer(runtime, question)
        async with asking(app, "") as (pilot, screen):
            await until(pilot, lambda: self.listed(screen) == ["둘", "하나"])
            await press(pilot, "down", "down", key)
            assert type(pilot.app.screen_stack[-1]) is ConfirmScreen
            await press(pilot, "enter")  # the harmless button
            assert len(runtime.library.answers.latest()) == 2
            await press(pilot, key)
            await press(pilot, "left", "enter")
            await until(pilot, lambda: self.listed(screen) == ["둘"])
            assert [kept.question for kept in runtime.library.answers.latest()] == ["둘"]
            await press(pilot, key)
            await press(pilot, "left", "enter")
            await until(pilot, lambda: not screen.page.recent.display)
            assert screen.question.has_focus

    async def test_a_word_typed_into_the_list_deletes_nothing(self, make: MakeApp, runtime: Runtime) -> None:
        app = make()
        put_answer(runtime, "하나")
        async with asking(app, "") as (pilot, screen):
            await until(pilot, lambda: self.listed(screen) == ["하나"])
            await press(pilot, "tab", *"오늘 이야기", "enter")
            assert "하나" in [kept.question for kept in runtime.library.answers.latest()]


class TestBesideTheRest:
    @pytest.mark.campaign(part="app")
    async def test_contexts_wait_while_a_question_is_answered_and_go_on_after_it(
        self, empty: Runtime, ollama: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(background, "QUIET_S", 0.05)
        list(empty.indexer.index(sorted([*SAMPLE.glob("*sample-0001*"), *SAMPLE.glob("*sample-0002*")])))
        own = on(ollama, empty)
        empty.settings = replace(own, llm=replace(own.llm, contexts="always"))
        writing, answering = ollama.hold(), ollama.hold()
        async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
            await until(pilot, writing.arrived.is_set)
            screen = await opened(pilot, "소스 치킨")
            await pilot.press("enter")
            await until(pilot, answering.arrived.is_set)
            context, answer = ollama.asked("chat")
            assert context.ended.wait(5)
            assert context.outcome == "gone"
            assert answer.messages[-1]["content"].startswith("소스 치킨")
            assert stage(app, "contexts").state == "paused"
            answering.release()
            await until(pilot, lambda: not screen.page.dialogue.running)
            await until(pilot, lambda: stage(app, "contexts").state == "done")
            assert len(ollama.asked("chat")) > 10

    @pytest.mark.campaign(part="app")
    async def test_the_palette_opens_it_and_offers_what_it_can(self, make: MakeApp) -> None:
        async with running(make()) as (app, pilot):
            titles = {command.title: command for command in app.get_system_commands(app.screen)}
            app.call_later(titles["Go to: Ask"].callback)
            await settle(pilot)
            assert isinstance(app.screen, AnswerScreen)
            current: Any = app.screen
            offered = {command.title for command in app.get_system_commands(current)}
            assert {"Go to: Ask", "Ask: All captions"} <= offered
            await pilot.press("ctrl+p")
            assert isinstance(app.screen, CommandPalette)


class TestPictures:
    """What it looks like."""

    @pytest.mark.campaign(part="app")
    @pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
    def test_answer(
        self,
        make: MakeApp,
        ollama: StandIn,
        snap_compare: Any,
        monkeypatch: pytest.MonkeyPatch,
        size: tuple[int, int],
    ) -> None:
        monkeypatch.setattr(answer_lines, "short_moment", lambda *_times: "12:00")

        async def run(pilot: AppPilot) -> None:
            await settle(pilot)
            screen = await opened(pilot)
            await ask(pilot, screen)
            await press(pilot, "down", "down")

        ollama.answer(ANSWER + " 김장값은 1억 2천만 원입니다.")
        assert snap_compare(make(show_times=False), terminal_size=size, run_before=run)

    @pytest.mark.campaign(part="app")
    @pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
    def test_reading(
        self,
        make: MakeApp,
        ollama: StandIn,
        snap_compare: Any,
        monkeypatch: pytest.MonkeyPatch,
        size: tuple[int, int],
    ) -> None:
        monkeypatch.setattr(answer_page, "READING_TICK_S", 3_600.0)
        hold = ollama.hold()

        async def run(pilot: AppPilot) -> None:
            await settle(pilot)
            screen = await opened(pilot)
            await pilot.press("enter")
            await until(pilot, hold.arrived.is_set)
            await until(pilot, lambda: screen.page.dialogue.turns[0].request)
            turn = screen.page.dialogue.turns[0]
            turn.request, turn.request_s = AnswerRequest(12_400, attempt=2), 72.4
            screen.pane.draw()
            await settle(pilot)

        assert snap_compare(make("ko", show_times=False), terminal_size=size, run_before=run)
