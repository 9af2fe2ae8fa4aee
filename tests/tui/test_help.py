"""F1: the keys of the place where the focus is come first, and none that the footer shows is missing."""

import pytest
from textual.screen import Screen
from textual.widgets import Static

from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.text import key_help
from subtitle_rag.tui.widgets.library_tables import ChannelTable
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, press, running, scene


async def helped(pilot: AppPilot, app: SubtitleApp) -> str:
    await pilot.press("f1")
    await pilot.pause()
    assert isinstance(app.screen, HelpScreen)
    return str(app.screen.query_one("#keys", Static).content)


def shown(screen: Screen[object]) -> dict[str, str]:
    """What the footer has on this screen: key → id."""
    found = screen.active_bindings.items()
    return {key: one.binding.id for key, one in found if one.binding.show and one.binding.id}


PLACES = {
    "query": ("", (), "Search"),
    "list": ("치킨", ("tab",), "In the list"),
    "library": ("", ("f4",), "Library"),
    "answers": ("", ("f3",), "Answers"),
}
"""What is typed and which keys are pressed to come there, and what its keys are headed by."""


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "wide"])
@pytest.mark.parametrize(("query", "keys", "title"), PLACES.values(), ids=PLACES)
@pytest.mark.campaign(part="app")
async def test_help_begins_with_the_place_and_has_every_key_of_the_footer(
    app_of: MakeApp, query: str, keys: tuple[str, ...], title: str, size: tuple[int, int]
) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), query, size=size) as (app, pilot):
        await press(pilot, *keys)
        footer = shown(app.screen)
        assert len(footer) >= 3
        text = await helped(pilot, app)
        assert text.startswith(title)
        words = text.replace("\n", " ").split()
        for key, id in footer.items():
            if not "ㄱ" <= key <= "ㅣ":  # one sentence at the end tells of these
                assert keymap.key_text(key) in words, (key, id)
            assert key_help.key_meaning(id).split()[0] in words, id
        assert "Everywhere" in text
        assert ("channel:table" in text) == (title in ("Search", "In the list", "Answers"))
        assert title in drawn_by(app)


OWN_KEYS = [
    ("f4", "Ctrl+L", "take the whole list", "marked scenes"),
    ("f4", "F4", "back to the screen before", "library: videos"),
    ("ctrl+l", "Ctrl+L", "back to the screen before", "marked scenes"),
    ("f6", "F6", "back to the screen before", "what is installed"),
]
"""What opens a screen, a key of its own, what it does there, and what it does elsewhere."""


@pytest.mark.campaign(part="app")
async def test_a_key_that_a_screen_has_for_its_own_has_one_meaning(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene(1)]), size=(120, 40)) as (app, pilot):
        elsewhere = await helped(pilot, app)
        for opening, key, meaning, replaced in OWN_KEYS:
            assert replaced in elsewhere
            await press(pilot, "escape", opening)
            text = await helped(pilot, app)
            assert [meaning in line for line in text.splitlines() if key in line.split()] == [True], (opening, key)
            assert replaced not in text, (opening, key)
            await press(pilot, "escape", "escape")
            assert app.screen is app.search_screen


@pytest.mark.campaign(part="app")
async def test_no_line_of_it_is_wider_than_its_box(app_of: MakeApp) -> None:
    for width in (60, 80, 120):
        async with running(app_of("ko"), size=(width, 24)) as (app, pilot):
            await helped(pilot, app)
            page = app.screen.query_one("#keys", Static)
            room = page.size.width
            assert page.size.height == str(page.content).count("\n") + 1, "a line was wrapped by the widget"
            assert room > 30


def test_whatever_is_bound_is_told(app_of: MakeApp) -> None:
    app_of()
    for id, command in COMMANDS.items():
        assert key_help.key_meaning(id), id
        assert command.footer, id


def test_screens_have_words_of_their_own_for_commands_that_are_there() -> None:
    app_screens = {kind for kinds in keymap.declarations().values() for kind in kinds}
    own = {id for kind in app_screens for id in (*getattr(kind, "MEANINGS", {}), *getattr(kind, "FOOTER", {}))}
    assert own
    assert own <= COMMANDS.keys()


def test_a_key_has_one_row_and_a_meaning_has_one_row() -> None:
    rows = key_help.key_rows(ChannelTable)
    assert ("Enter →", "the channel's videos") in rows
    assert "Choose" not in [meaning for _names, meaning in rows]
    keys = [key for names, _meaning in rows for key in names.split()]
    assert len(set(keys)) == len(keys)


def test_keys_told_together_are_told_once() -> None:
    from subtitle_rag.tui.screens.search_screen import SearchScreen

    rows = dict(key_help.key_rows(SearchScreen))
    assert rows["↓ Ctrl+N j ↑ k"] == "choose a row, from a field too"
    assert len([told for told in rows.values() if told == "choose a row, from a field too"]) == 1
