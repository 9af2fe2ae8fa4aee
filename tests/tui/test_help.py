"""F1: the acts of the footer come first, then what else works here and everywhere."""

import pytest
from textual.widgets import Static

from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.keys.commands import DOWN, PLAY_WITH
from subtitle_rag.tui.keys.keymap import key_rows
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from tests.tui.conftest import AppPilot, MakeApp, drawn_by, press, running, scene


async def helped(pilot: AppPilot, app: SubtitleApp) -> str:
    await pilot.press("f1")
    await pilot.pause()
    assert isinstance(app.screen, HelpScreen)
    return str(app.screen.query_one("#keys", Static).content)


PLACES = {
    "query": ("", ()),
    "list": ("치킨", ("enter",)),
    "library": ("", ("ctrl+l",)),
    "answers": ("치킨", ("enter", "a")),
}
"""What is typed, and which keys are pressed to come there."""


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "wide"])
@pytest.mark.parametrize(("query", "keys"), PLACES.values(), ids=PLACES)
@pytest.mark.campaign(part="app")
async def test_help_begins_with_the_footer_and_has_what_else_works(
    app_of: MakeApp, query: str, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with running(app_of(scenes=[scene(1), scene(2)]), query, size=size) as (app, pilot):
        await press(pilot, *keys)
        footer = app.screen.query_one(KeyBar).hints
        assert 3 <= len(footer) <= 7
        text = await helped(pilot, app)
        here, _more = text.split("\n\n", 1)
        rows = [line.split() for line in here.splitlines()[1:] if not line.startswith(" " * 4)]
        assert [hint.key_label in row for hint, row in zip(footer, rows, strict=False)] == [True] * len(footer)
        assert "Everywhere" in text
        assert ("channel:table" in text) == (keys != ("ctrl+l",))
        assert "Here" in drawn_by(app)


async def test_arrows_are_named_by_what_they_do_on_the_page(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene(1)]), "치킨") as (app, pilot):
        assert "← back to the list" in " ".join((await helped(pilot, app)).split())
        await press(pilot, "escape", "ctrl+l")
        library = " ".join((await helped(pilot, app)).split())
        assert "→ to the videos of the channel" in library
        assert "← back to the channels" in library
        await press(pilot, "escape", "escape", "enter", "t")
        assert isinstance(app.screen, TranscriptScreen)
        assert "←" not in await helped(pilot, app)


@pytest.mark.campaign(part="app")
async def test_keys_of_other_pages_are_left_out_where_they_do_nothing(app_of: MakeApp) -> None:
    def everywhere(text: str) -> list[str]:
        return [line.split()[0] for line in text.split("Everywhere\n")[1].split("\n\n")[0].splitlines()]

    async with running(app_of(scenes=[scene(1)]), "치킨") as (app, pilot):
        in_field = await helped(pilot, app)
        assert "In a field, letters are text; Esc leaves it." in in_field
        assert {"o", "m", ","} <= set(everywhere(in_field))
        assert "Ctrl+S" not in in_field  # nothing is running
        await press(pilot, "escape", "enter", "comma")
        settings = await helped(pilot, app)
        assert "letters are text" not in settings
        assert not {"t", "o", ","} & set(everywhere(settings))


@pytest.mark.campaign(part="app")
async def test_no_line_of_it_is_wider_than_its_box(app_of: MakeApp) -> None:
    for width in (60, 80, 120):
        async with running(app_of("ko"), size=(width, 24)) as (app, pilot):
            await helped(pilot, app)
            page = app.screen.query_one("#keys", Static)
            room = page.size.width
            assert page.size.height == str(page.content).count("\n") + 1, "a line was wrapped by the widget"
            assert room > 30


def test_rows_leave_out_letters_of_hangul_and_what_has_no_key() -> None:
    assert key_rows([DOWN, PLAY_WITH]) == [("↓ j", "the next row; from a field, into the list")]
