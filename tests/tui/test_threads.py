"""Work in threads: what comes of it is a message, whatever happens."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import App
from textual.message import Message

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.log_file import logging_to
from subtitle_rag.tui.threads import run_in_thread
from tests.tui.conftest import until


@dataclass
class Done(Message):
    value: str


@dataclass
class Failed(Message):
    error: AppError


class Working(App[object]):
    def __init__(self) -> None:
        super().__init__()
        self.ends: list[Message] = []

    def work(self, work: Callable[[], str], *, exclusive: bool = False) -> None:
        run_in_thread(self, lambda: Done(work()), Failed, group="work", exclusive=exclusive)

    @on(Done)
    @on(Failed)
    def _ended(self, message: Message) -> None:
        self.ends.append(message)


def broken() -> str:
    raise ValueError("x")


def refused() -> str:
    raise UsageError("no_screen", path="x")


async def test_what_it_returns_and_what_it_raises_are_posted(tmp_path: Path) -> None:
    app = Working()
    with logging_to(tmp_path, "app") as log:
        async with app.run_test() as pilot:
            for work in (lambda: "value", refused, broken):
                app.work(work)
                before = len(app.ends)
                await until(pilot, lambda before=before: len(app.ends) > before)  # type: ignore[misc]
    done, refusal, failure = app.ends
    assert done == Done("value")
    assert isinstance(refusal, Failed)
    assert refusal.error.code == "no_screen"
    assert isinstance(failure, Failed)
    assert failure.error.code == "unexpected"
    assert failure.error.details == {"reason": "ValueError: x", "log": log.path}


async def test_a_result_is_taken_in_the_event_loop_and_a_failure_is_posted() -> None:
    app = Working()
    taken: list[tuple[str, int]] = []

    def take(value: str) -> None:
        taken.append((value, threading.get_ident()))

    async with app.run_test() as pilot:
        for work in (lambda: "value", refused):
            run_in_thread(app, work, Failed, take=take, group="work")
        await until(pilot, lambda: taken and app.ends)
    assert taken == [("value", threading.get_ident())]
    assert [type(end) for end in app.ends] == [Failed]


async def test_what_was_overtaken_posts_nothing() -> None:
    app, go_on = Working(), threading.Event()

    def slow() -> str:
        go_on.wait(10)
        return "old"

    async with app.run_test() as pilot:
        app.work(slow, exclusive=True)
        app.work(lambda: "new", exclusive=True)
        await until(pilot, lambda: app.ends)
        go_on.set()
        await until(pilot, lambda: all(worker.is_finished for worker in app.workers))
        await pilot.pause()
    assert app.ends == [Done("new")]
