"""What is typed or pasted where no field has the focus: text for a field, of which no letter is a command."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from subtitle_rag.base.domain.answer_values import Answer, Evidence
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers.library_opening import LibraryOpening
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.navigation import LibrarySwitch
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.messages import LibraryOpened
from tests.tui.conftest import (
    OPENING_S,
    AppPilot,
    Outside,
    at_once,
    library_of,
    press,
    press_each,
    running,
    settle,
    until,
)

WORDS = ("오늘 이야기", "오", "ㅇㅇ", "ㅇㅗㄴㅡㄹ", "ㅂr보 3개", "마lㅣ크", "ᄋ\u1169ᆫ", "얘,쟤")
"""ㅇ is the key of D, which asks for a removal."""
LETTERS = ("ㅇ", "dd")
PLACES = {
    "scenes": ("치", "킨", "tab"),
    "preview": ("치", "킨", "tab", "tab"),
    "videos": ("ctrl+l", "tab", "tab"),
    "marks": ("치", "킨", "tab", "m"),
    "answers": ("escape", "a", "down"),
    "transcript": ("치", "킨", "tab", "t"),
    "overview": ("치", "킨", "tab", "o"),
    "menu": ("escape",),
    "settings": ("치", "킨", "tab", "comma"),
}


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that keys run, but those of the field with the focus."""
    run: list[str] = []
    run_action = SubtitleApp.run_action

    async def record(app: SubtitleApp, action: Any, default_namespace: Any = None, *rest: Any) -> bool:
        done = await run_action(app, action, default_namespace, *rest)
        if done and not isinstance(default_namespace, Input):
            run.append(str(action))
        return done

    monkeypatch.setattr(SubtitleApp, "run_action", record)
    return run


@pytest.fixture
def library(filled: Runtime) -> Library:
    """A library with a mark and an answer."""
    library = filled.library
    library.marks.add(library.videos()[0].video, 0, 5_000, 0, "소스")
    library.answers.put(Answer("물음?", "답입니다.", "m:q4", Evidence("search", ())), "ask1")
    return library


def owned(library: Library) -> object:
    """What a removal takes."""
    return [state.video for state in library.videos()], library.marks.all(), library.answers.latest()


async def go_to(pilot: AppPilot, place: str) -> None:
    """Go to a place where no field has the focus."""
    await press_each(pilot, *PLACES[place])
    assert not isinstance(pilot.app.focused, Input)


def type_at_once(app: SubtitleApp, words: str) -> None:
    for character in words:
        app.post_message(events.Key("space" if character == " " else character, character))


@pytest.mark.parametrize(
    ("place", "words"), [*((place, WORDS[0]) for place in PLACES), *(("videos", words) for words in WORDS[1:])]
)
async def test_a_word_goes_to_the_field_whole_and_runs_no_command(
    filled: Runtime, library: Library, outside: Outside, commands: list[str], place: str, words: str
) -> None:
    before = owned(library)
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await go_to(pilot, place)
        commands.clear()
        type_at_once(app, words)
        await settle(pilot)
        assert commands == []
        assert isinstance(app.focused, Input)
        assert app.focused.value.removeprefix("치킨") == words
    assert owned(library) == before


@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize("place", ["videos", "marks", "answers"])
async def test_a_letter_by_itself_asks_before_it_removes(
    filled: Runtime, library: Library, outside: Outside, place: str, letters: str
) -> None:
    before = owned(library)
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await go_to(pilot, place)
        type_at_once(app, letters)
        await settle(pilot)
        assert owned(library) == before
        assert isinstance(app.screen, ConfirmScreen)
        assert app.focused is app.screen.query_one("#keep")
        await press(pilot, "enter")
    assert owned(library) == before


async def test_a_letter_that_is_taken_back_is_no_command(filled: Runtime, library: Library) -> None:
    """Keyboards of telephones send each step of a syllable: its letter, the deletion of that, the syllable."""
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await go_to(pilot, "videos")
        at_once(app, "ㅇ", "backspace", "오", "backspace", "온")
        await settle(pilot)
        assert isinstance(app.focused, Input)
        assert app.focused.value == "온"


async def test_a_letter_of_the_users_own_keys_is_typed_into_a_field(filled: Runtime) -> None:
    filled.settings = replace(filled.settings, keys={"scene.mark": "n"})
    async with running(SubtitleApp(filled), "치킨", size=(120, 40)) as (app, pilot):
        await press(pilot, "n")
        assert app.search_screen.query_line.value == "치킨n"
    keymap.activate({})


ADDRESS = "https://youtu.be/noodles0000"
FIELDS = {
    "query": (),
    "question": ("escape", "a"),
    "words": ("치", "킨", "tab", "t", "slash"),
    "path": ("ctrl+l",),
}


@pytest.mark.parametrize("place", [*PLACES, *FIELDS])
async def test_a_pasted_address_goes_to_the_field_of_the_library(
    filled: Runtime, library: Library, commands: list[str], place: str
) -> None:
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await press_each(pilot, *{**PLACES, **FIELDS}[place])
        commands.clear()
        app.post_message(events.Paste(f" {ADDRESS}\n"))
        await settle(pilot)
        assert commands == []
        assert library_of(app).field.path.value == ADDRESS
        assert library_of(app).field.path.has_focus


@pytest.mark.parametrize("field", ["query", "question"])
async def test_a_typed_address_goes_there_with_enter(filled: Runtime, field: str) -> None:
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await press_each(pilot, *FIELDS[field])
        type_at_once(app, ADDRESS)
        await press(pilot, "enter")
        assert library_of(app).field.path.value == ADDRESS
        assert app.search_screen.query_line.value == ""


@pytest.mark.parametrize("place", PLACES)
async def test_a_pasted_text_goes_to_the_field_with_all_its_lines(
    filled: Runtime, library: Library, commands: list[str], place: str
) -> None:
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await go_to(pilot, place)
        commands.clear()
        app.post_message(events.Paste("오늘은\n\n  국수 \r\n"))
        await settle(pilot)
        assert commands == []
        assert isinstance(app.focused, Input)
        assert app.focused.value.removeprefix("치킨").replace('"', "") == "오늘은 국수"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The library opens once this is set."""
    gate, count = threading.Event(), LibraryOpening._count

    def wait(opening: LibraryOpening) -> LibraryOpened:
        gate.wait(OPENING_S)
        return count(opening)

    monkeypatch.setattr(LibraryOpening, "_count", wait)
    return gate


async def test_what_is_typed_before_an_empty_library_opens_is_in_its_field(
    unindexed: Runtime, gate: threading.Event
) -> None:
    app = SubtitleApp(unindexed)
    async with app.run_test(size=(120, 40)) as pilot:
        type_at_once(app, "바지 사")
        await until(pilot, lambda: app.search_screen.query_line.value == "바지 사")
        type_at_once(app, "이즈")
        gate.set()
        await settle(pilot)
        assert library_of(app).field.path.value == "바지 사이즈"
        assert app.search_screen.query_line.value == ""


@pytest.mark.parametrize("key", ["ctrl+d", "ctrl+@"])
async def test_the_sample_opens_by_its_key_pressed_before_the_library_is_there(
    unindexed: Runtime, gate: threading.Event, key: str
) -> None:
    app = SubtitleApp(unindexed)
    async with app.run_test(size=(120, 40)) as pilot:
        at_once(app, key, "치", "킨")
        await pilot.pause()
        assert app.key_router.waits
        gate.set()
        await until(pilot, lambda: app.return_value)
        app.post_message(events.Key("집", "집"))
    assert app.return_value == LibrarySwitch()
    async with running(SubtitleApp(unindexed, typed=app.key_router.waiting), size=(120, 40)) as (app, _pilot):
        assert library_of(app).field.path.value == "치킨집"


async def test_enter_before_the_library_is_there_searches_and_keys_of_commands_go_on(
    filled: Runtime, gate: threading.Event
) -> None:
    app = SubtitleApp(filled)
    async with app.run_test(size=(120, 40)) as pilot:
        at_once(app, *"국수", "ctrl+j", "ctrl+l", *"오늘")
        await until(pilot, lambda: app.screen is not app.search_screen and not app.key_router.waits)
        gate.set()
        await settle(pilot)
        assert library_of(app).field.path.value == "오늘"
        assert app.search_screen.query_line.value == "국수"
        assert app.search_screen.results.text == "국수"


async def test_a_screen_that_opens_gets_what_follows_its_key(filled: Runtime) -> None:
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await press(pilot, *"국수")
        await press(pilot, "tab")  # to the scenes, which are there
        at_once(app, "t", "/", *"소금", "escape", "l", *"오늘")
        await settle(pilot)
        assert library_of(app).field.path.value == "오늘"


async def test_a_page_without_a_field_gives_what_follows_its_key_to_the_search(filled: Runtime) -> None:
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        await press(pilot, *"국수")
        await press(pilot, "tab")  # to the scenes, which are there
        for _ in range(3):  # the events of leaving and of coming back overtake each other
            at_once(app, "comma")
            type_at_once(app, "오늘 이야기")
            await settle(pilot)
            assert app.search_screen.query_line.value == "오늘 이야기"
            await press(pilot, "tab")
