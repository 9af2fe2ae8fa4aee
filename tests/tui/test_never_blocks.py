"""Nothing waits for a file, SQLite, the index, a program or the network in the thread that draws and takes keys."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from subtitle_rag.base.hosting.host_client import Client
from subtitle_rag.library.connection import Database
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing import player
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from tests.stand_ins.youtube import Channel, Clip, StandIn
from tests.tui.conftest import AppPilot, MakeApp, Outside, index_sample, library_of, running, settle, until

ALWAYS = frozenset({"sqlite3.connect", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "webbrowser.open"})
"""Audit events of what may take long, wherever it is done."""
FILES = frozenset({"open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "os.rmdir"})
"""Those that count within the user's folders: a module of the program may be loaded when it is first needed."""


class Guard:
    """Notes what one thread does while it is armed."""

    def __init__(self) -> None:
        self.thread: int | None = None
        self.folders: tuple[str, ...] = ()
        self.caught: list[str] = []

    def note(self, what: str) -> None:
        if threading.get_ident() == self.thread:
            frames = (frame for frame in traceback.extract_stack() if "/subtitle_rag/" in frame.filename)
            self.caught.append(f"{what}: {' > '.join(f'{Path(f.filename).stem}.{f.name}' for f in frames)}")

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.thread is None or threading.get_ident() != self.thread:
            return
        path = str(arguments[0]) if event in FILES and arguments else ""
        if event in ALWAYS or path.startswith(self.folders or ("\0",)):
            self.note(f"{event} {arguments[:1]}")


GUARD = Guard()
sys.addaudithook(GUARD.audit)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch, outside: Outside) -> None:
    """Calls that go over connections which are open already, and waiting itself."""

    def watch(owner: object, name: str) -> None:
        called = getattr(owner, name)

        def noting(*arguments: Any, **options: Any) -> Any:
            GUARD.note(name)
            return called(*arguments, **options)

        monkeypatch.setattr(owner, name, noting)

    for owner, name in ((Database, "_db"), (Client, "call"), (player, "play"), (time, "sleep")):
        watch(owner, name)


@contextmanager
def armed(*folders: Path) -> Iterator[list[str]]:
    """What this thread does within, that it should leave to others."""
    GUARD.folders = tuple(str(folder) for folder in folders)
    GUARD.thread, GUARD.caught = threading.get_ident(), []
    try:
        yield GUARD.caught
    finally:
        GUARD.thread = None


async def press(pilot: AppPilot, *keys: str) -> None:
    """One after the other, each when all is done that the one before began."""
    for key in keys:
        await pilot.press(*key.split())
        await settle(pilot)


FLOWS: dict[str, tuple[str, ...]] = {
    "typing, moving, playing and copying": (
        *"소스 찍어 먹는".replace(" ", ""),
        "down down up",
        "pagedown",
        "enter",
        "enter",
        "ctrl+y",
        "tab",
        "j ㅓ k",
        "escape",
        "escape",
    ),
    "filters and settings": (*"치킨", "enter", "f", "escape", "comma", "escape"),
    "the transcript": (
        *(*"치킨", "tab tab", "down", "c", "enter", "t", "slash", *"치킨", "down", "enter", "enter"),
        *("escape", "escape"),
    ),
    "overviews": (
        *(*"치킨", "enter", "o", "down", "enter", "c", "escape", "t", "escape", "escape"),
        *("ctrl+l", "tab", "down", "o", "enter", "o", "escape", "escape", "escape"),
    ),
    "filters": (*"치킨", "enter", "f", *"채널", "down", "escape"),
    "marking and exporting": (
        *(*"치킨", "tab", "space", "space", "enter", "e", "tab", "down down", "ctrl+y", "m", "enter", "c", "f"),
        *("delete", "e", "escape", "escape"),
    ),
    "the library": ("ctrl+l", "tab", "down", "pagedown", "enter", "escape", "escape"),
    "a path and an address": ("ctrl+l", *"tests", "ctrl+u", *"youtu.be", "escape", "escape"),
    "syncing and stopping": ("ctrl+r", "ctrl+s", "ctrl+t", "ctrl+t"),
    "asking": (*"치킨", "escape", "a", "enter", "a", "down", "escape", "escape"),
    "help, checks and commands": ("f1", "escape", "escape", "question_mark", "escape", "ctrl+p", *"lib", "escape"),
    "settings": (
        *("escape", "comma", "down", "enter", "down", "enter", "d", "down", "enter", "escape", "d", "comma"),
        *("comma", "pagedown", "enter", "escape", "escape"),
    ),
    "leaving": (*"치킨", "ctrl+q"),
}


@pytest.mark.parametrize("flow", FLOWS.values(), ids=FLOWS.keys())
@pytest.mark.campaign(part="app")
async def test_no_flow_waits_in_the_event_loop(
    flow: tuple[str, ...], app_of: MakeApp, sample_home: Path, noted: None
) -> None:
    app = app_of()
    with armed(sample_home) as caught:
        async with running(app, size=(120, 40)) as (_, pilot):
            await press(pilot, *flow)
    assert caught == []


@pytest.mark.campaign(part="app")
async def test_a_first_run_with_files_and_a_theme_does_not_either(empty: Runtime, tmp_path: Path, noted: None) -> None:
    app = SubtitleApp(empty)
    with armed(tmp_path) as caught:
        async with running(app, size=(120, 40)) as (_, pilot):
            index_sample(app)
            await until(pilot, lambda: app.search_screen.page.counts and app.search_screen.page.counts.windows == 75)
            await settle(pilot)
            app.search_themes()
            await press(pilot, *"nord", "enter")
            assert app.theme == "nord"
    assert caught == []


@pytest.mark.campaign(part="app")
async def test_a_list_of_channels_does_not_either(
    hasty: Runtime, youtube: StandIn, tmp_path: Path, noted: None
) -> None:
    youtube.add(Channel("UC" + "a" * 22, "@a", "느린 부엌", [Clip("slowcook000", "국수")]))
    addresses = tmp_path / "list.txt"
    addresses.write_text("https://www.youtube.com/@a\nhttps://www.youtube.com/@b\n", encoding="utf-8")
    app = SubtitleApp(hasty)
    with armed(tmp_path) as caught:
        async with running(app, size=(120, 40)) as (_, pilot):
            library = library_of(app)
            library.field.path.value = str(addresses)
            await settle(pilot)
            await press(pilot, "enter")
            assert [type(screen) for screen in app.screen_stack[-1:]] == [ConfirmScreen]
            await press(pilot, "left", "enter")
            await until(pilot, lambda: app.search_screen.page.counts and app.search_screen.page.counts.videos)
    assert caught == []


async def test_the_guard_sees_what_it_is_there_for(app_of: MakeApp, sample_home: Path, noted: None) -> None:
    async with running(app_of()) as (app, _):
        with armed(sample_home) as caught:
            app.runtime.library.counts()
            app.runtime.host.count()
            (sample_home / "data" / "nothing").exists()
            list(os.scandir(sample_home / "data"))
            time.sleep(0)
    assert [what.split(":")[0].split(" ")[0] for what in caught] == ["_db", "call", "os.scandir", "sleep"]
