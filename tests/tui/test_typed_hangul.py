"""Words typed where no field has the focus: no letter of theirs removes anything."""

import pytest

from subtitle_rag.domain import Answer, Evidence
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.dialogs.confirm_screen import ConfirmScreen
from tests.tui.conftest import Outside, at_once, press, running, settle

WORDS = ("오늘 이야기", "오늘", "오", "ㅇ", "ㅇㅇ", "dd")
"""ㅇ is the key of D, which asks for a removal."""
PLACES = {
    "channels": ("f4", "tab"),
    "channel": ("f4", "tab", "down"),
    "videos": ("f4", "tab", "tab"),
    "marks": ("ctrl+l",),
    "answers": ("f3", "tab"),
}


def owned(library: Library) -> object:
    """What a removal takes."""
    return [state.video for state in library.videos()], library.marks.all(), library.answers.latest()


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_word_removes_nothing(filled: Runtime, outside: Outside, place: str, words: str) -> None:
    library = filled.library
    video = library.videos()[0].video
    library.marks.add(video, 0, 5_000, 0, "소스")
    library.answers.put(Answer("물음?", "답입니다.", "m:q4", Evidence("search", ())), "ask1")
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        before = owned(library)
        await press(pilot, *PLACES[place])
        at_once(app, *("space" if letter == " " else letter for letter in words))
        await settle(pilot)
        assert owned(library) == before
        if words == "ㅇ" and place != "channels":
            assert isinstance(app.screen, ConfirmScreen)
            assert app.focused is app.screen.query_one("#keep")
        await press(pilot, "enter")
        assert owned(library) == before
