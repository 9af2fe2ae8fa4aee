"""How tests ask questions in the app."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from textual.content import Content
from textual.widgets import Static

from subtitle_rag.base.config.settings import Settings
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from tests.stand_ins.ollama import StandIn
from tests.tui.conftest import AppPilot, MakeApp, press, running, settle, typed, until

MODEL = "answer:q4"
QUESTION = "김장 배추 몇 포기 했어?"
ANSWER = "배추는 40포기입니다 [1]. 소금은 99바가지입니다 [2]. 모릅니다."


def without_contexts(runtime: Runtime, app_of: MakeApp, ollama: StandIn) -> MakeApp:
    """Makes an app on the sample library with an Ollama that only answers questions, and with no kept answers."""
    runtime.library.answers.forget()
    runtime.settings = on(ollama, runtime)

    def made(language: str = "en", **options: Any) -> SubtitleApp:
        app = app_of(language, **options)
        app.background.paused.update(("contexts", "vectors"))
        return app

    return made


def on(ollama: StandIn, runtime: Runtime) -> Settings:
    """The settings of a runtime with this Ollama."""
    own = runtime.settings
    return replace(own, llm=replace(own.llm, hosts=(ollama.base,), model=MODEL))


@asynccontextmanager
async def asking(
    app: SubtitleApp, question: str = QUESTION, *, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[AppPilot, AnswerScreen]]:
    """On the answer screen, with the question in its field."""
    async with running(app, size=size) as (_, pilot):
        yield pilot, await opened(pilot, question)


async def opened(pilot: AppPilot, question: str = QUESTION) -> AnswerScreen:
    await typed(pilot, question)
    await press(pilot, "escape", "a")
    assert isinstance(pilot.app.screen, AnswerScreen)
    return pilot.app.screen


async def ask(pilot: AppPilot, screen: AnswerScreen, question: str = "") -> None:
    """Ask, and wait for the end of the answer."""
    screen.question.focus()  # after an answer the keyboard is there
    screen.question.insert_text_at_cursor(question)
    await pilot.press("enter")
    await until(
        pilot,
        lambda: (
            screen.page.dialogue.turns
            and not screen.page.dialogue.running
            and screen.page.dialogue.next_question is None
        ),
    )
    await settle(pilot)


def said(screen: AnswerScreen) -> str:
    content = screen.query_one("#said", Static).content
    assert isinstance(content, Content)
    return content.plain


def said_by_style(screen: AnswerScreen, style: str) -> list[str]:
    """What is drawn in a style."""
    content = screen.query_one("#said", Static).content
    assert isinstance(content, Content)
    return [content.plain[span.start : span.end] for span in content.spans if style in str(span.style)]


def hint(screen: AnswerScreen) -> str:
    return str(screen.query_one("#top").border_subtitle or "")


def rows(screen: AnswerScreen) -> list[str]:
    """The scenes below the answer."""
    return [line for line in said(screen).splitlines() if re.match(r" *\[\d+\] ", line)]


def ids(screen: AnswerScreen) -> list[str]:
    return [source.scene for source in screen.pane.listed_turn.sources]
