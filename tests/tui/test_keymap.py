"""The user's own keys: what may be bound, what is refused and why, and that every mouth names the key in force."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.korean.keyboard import JAMO_BY_KEY
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.keys.commands import COMMANDS
from subtitle_rag.tui.keys.keymap import check, in_force
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from subtitle_rag.tui.shared import search_text
from subtitle_rag.tui.shared.jobs import job_lines
from subtitle_rag.tui.shared.jobs.job import Job
from tests.tui.conftest import MakeApp, Outside, press, running, scene, settle, typed

ROOT = Path(__file__).parents[2]
FILE = Path("config.toml")


@pytest.fixture(autouse=True)
def own_keys() -> Iterator[None]:
    """Keys are in force for a whole process: none of a test's stay."""
    yield
    keymap.activate({})


def refusal(keymap: dict[str, str]) -> str:
    with pytest.raises(UsageError) as caught:
        check(keymap, FILE)
    assert caught.value.code == "bad_config"
    assert caught.value.details["path"] == str(FILE)
    return str(caught.value.details["reason"])


class TestReading:
    def test_ids_may_stand_in_quotes_or_as_tables(self, isolated_home: Path) -> None:
        isolated_home.mkdir()
        file = isolated_home / "config.toml"
        file.write_text('[keys]\n"app.library" = "f10,ctrl+b"\nscene.copy = "ctrl+e"\n[keys.list]\npage-down="ctrl+v"')
        expected = {"app.library": "f10,ctrl+b", "scene.copy": "ctrl+e", "list.page-down": "ctrl+v"}
        assert config.load().keys == expected
        file.write_text("[keys]\napp.library = 3")
        with pytest.raises(UsageError, match=re.escape("keys.app.library must be text in quotation marks")):
            config.load()


class TestWhatIsRefused:
    def test_an_unknown_id_is_named_with_the_nearest(self) -> None:
        assert refusal({"scene.plya": "f10"}) == ("there is no setting keys.scene.plya (did you mean keys.scene.play?)")

    @pytest.mark.parametrize(
        ("key", "why"),
        [
            ("", "no key is named"),
            ("pagedwn", "there is no key pagedwn (did you mean pagedown?)"),
            ("f2,strg+b", "there is no key strg+b"),
            ("ctrl+h", "a terminal cannot tell Ctrl+H from Backspace"),
            ("ctrl+i", "a terminal cannot tell Ctrl+I from Tab"),
            ("Ctrl+M", "a terminal cannot tell Ctrl+M from Enter"),
            ("f9", "F9 belongs to the input method that types Hangul"),
            ("ctrl+space", "Ctrl+Space belongs to the input method"),
            ("alt+b", "Alt+B writes a symbol"),
            ("b", "b is needed for typing"),
            ("space", "Space is needed for typing"),
            ("backspace", "Backspace is needed for typing"),
        ],
    )
    def test_keys_that_cannot_be_are_told_with_the_reason(self, key: str, why: str) -> None:
        told = refusal({"app.quit": key})
        assert told.startswith("keys.app.quit: ")
        assert why in told

    @pytest.mark.parametrize(
        ("keymap", "both"),
        [
            ({"scene.copy": "f1"}, ("app.help", "scene.copy")),
            ({"scene.copy": "tab"}, ("scene.copy", "screen.switch")),
            ({"list.down": "ctrl+y"}, ("list.down", "scene.copy")),
            ({"transcript.next-match": "j"}, ("list.down", "transcript.next-match")),
            ({"app.library": "a"}, ("app.ask", "app.library")),
            ({"list.up": "Q", "list.down": "ㅃ"}, ("list.up", "list.down")),
        ],
    )
    def test_one_key_for_two_things_of_one_place_names_both(
        self, keymap: dict[str, str], both: tuple[str, str]
    ) -> None:
        told = refusal(keymap)
        assert "is the key of both" in told
        assert all(id in told for id in both)

    @pytest.mark.parametrize(
        "keymap",
        [
            {},
            {"list.down": "up", "list.up": "down"},
            {"app.library": "a", "app.ask": "l"},
            {"list.down": "b"},
            {"search.filter": "v"},
            {"scene.copy": "v"},
            {"scene.copies": "!"},
        ],
    )
    def test_what_does_not_meet_may_share(self, keymap: dict[str, str]) -> None:
        check(keymap, FILE)
        assert in_force() == {}

    @pytest.mark.campaign(part="app")
    def test_the_app_does_not_begin_and_says_why(self, tmp_path: Path) -> None:
        """On a terminal of its own: the refusal stands on it as plain text, and no screen was drawn over it."""
        (tmp_path / "config.toml").write_text('[keys]\n"app.librery" = "f10"')
        command = [sys.executable, "-m", "subtitle_rag", "--home", str(tmp_path), "--language", "en"]
        run = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
        done = subprocess.run(
            [sys.executable, "-c", run, *command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        said = done.stdout.decode()
        assert done.returncode == 2, said
        assert "there is no setting keys.app.librery (did you mean keys.app.library?)" in " ".join(said.split())
        assert "\x1b[?1049h" not in said
        assert "Traceback" not in said


class TestInForce:
    def test_a_letter_brings_the_hangul_of_its_key(self) -> None:
        keymap.activate({"list.down": "n"})
        assert keymap.keys("list.down") == ("n", "ㅜ")

    @pytest.mark.parametrize(
        ("key", "said"),
        [
            *(("ctrl+r", "Ctrl+R"), ("F10", "F10"), ("enter", "Enter"), ("escape", "Esc"), ("?", "?")),
            *(("pageup", "PgUp"), ("y", "y"), ("shift+tab", "Shift+Tab"), ("ctrl+pageup", "Ctrl+PgUp"), ("up", "↑")),
        ],
    )
    def test_keys_are_spoken_as_they_are_printed(self, key: str, said: str) -> None:
        keymap.activate({"library.sync": key})
        assert keymap.key("library.sync") == said
        keymap.activate({"library.sync": said})  # what is printed may be written into the config
        assert keymap.key("library.sync") == said

    def test_footers_and_sentences_write_keys_alike(self, app_of: MakeApp) -> None:
        app = app_of()
        for id, command in COMMANDS.items():
            names = {app.get_key_display(command.with_key(name)) for name in keymap.keys(id)}
            assert keymap.key(id) in names or not names
        assert keymap.key("app.checks") == "Ctrl+P Checks", "what has no key is found by its name"

    def test_sentences_name_the_key_in_force(self) -> None:
        stopped = Job("채널", ended=True, stopped=True)
        assert job_lines.job_line(stopped).endswith("Ctrl+R resumes")
        keymap.activate({"library.sync": "f10"})
        assert job_lines.job_line(stopped).endswith("F10 resumes")
        assert "F10 tries again" in str(search_text.failure(UsageError("empty_query")))

    @pytest.mark.campaign(part="app")
    async def test_another_key_opens_and_closes_and_stands_in_the_footer(
        self, runtime: Runtime, app_of: MakeApp
    ) -> None:
        runtime.settings = replace(runtime.settings, keys={"app.library": "f10,ctrl+b"})
        async with running(app_of(), size=(120, 40)) as (app, pilot):
            footer = {one.binding.id: key for key, one in app.screen.active_bindings.items()}
            assert footer["app.library"] in ("f10", "ctrl+b")
            await pilot.press("ctrl+l")
            assert isinstance(app.screen, SearchScreen)
            for key in ("f10", "ctrl+b"):
                await pilot.press(key)
                assert isinstance(app.screen, LibraryScreen)
                await settle(pilot)
                await pilot.press("escape")
                assert isinstance(app.screen, SearchScreen)
            await pilot.press("f1")
            assert isinstance(app.screen, HelpScreen)
            await pilot.pause()
            text = str(app.screen.query_one("#keys", Static).content)
            assert re.search(r"F10 Ctrl\+B +library: videos", text)
            assert "Ctrl+L" not in text

    @pytest.mark.campaign(part="app")
    async def test_another_letter_moves_the_list_in_both_modes_of_the_keyboard(
        self, runtime: Runtime, app_of: MakeApp, outside: Outside
    ) -> None:
        runtime.settings = replace(runtime.settings, keys={"list.down": "b", "scene.play": "ctrl+e"})
        async with running(app_of(scenes=[scene(number) for number in range(1, 4)]), size=(120, 40)) as (app, pilot):
            await typed(pilot, "치킨")
            await press(pilot, "tab", "b", "ㅠ")
            assert app.search_screen.scenes.cursor == 2
            await press(pilot, "ctrl+e")
            assert len(outside.played) == 1
            await pilot.press("j")
            assert app.search_screen.query_line.value == "치킨j"


def test_every_key_of_the_app_may_be_written_as_it_is() -> None:
    """What nobody could bind by hand must not be bound by us either."""
    keymap.declarations()
    for id, command in COMMANDS.items():
        for key in keymap.keys(id):
            assert not keymap._fault(key, command), id
            if key in JAMO_BY_KEY:
                assert JAMO_BY_KEY[key] in keymap.keys(id), id


def test_about_thirty_five_commands_have_keys_and_the_palette_has_every_act() -> None:
    declarations = keymap.declarations()
    with_keys = [id for id in declarations if keymap.own_keys(COMMANDS[id])]
    assert len(with_keys) <= 40
    assert [id for id in declarations if id not in with_keys and COMMANDS[id].system] == []
    assert not [id for id in with_keys for key in keymap.keys(id) if re.fullmatch(r"f\d+", key) and key != "f1"]


EDITING = frozenset({"ctrl+a", "ctrl+e", "ctrl+k", "ctrl+u", "ctrl+w"})


def test_keys_that_edit_a_field_as_in_a_shell_are_no_commands() -> None:
    keymap.declarations()
    assert {id: keymap.keys(id) for id in COMMANDS if EDITING & set(keymap.keys(id))} == {}


def test_every_command_works_somewhere_and_has_words() -> None:
    assert keymap.declarations().keys() == COMMANDS.keys()
    assert [id for id, command in COMMANDS.items() if not (command.description and command.tooltip)] == []


def test_the_app_finds_its_bindings_by_the_ids_that_sentences_name(app_of: MakeApp) -> None:
    """Each `key("…")` of the sources names a binding that is there."""
    named = set()
    for file in (ROOT / "subtitle_rag" / "tui").rglob("*.py"):
        named |= set(re.findall(r'\bkey\("([^"]+)"\)', file.read_text()))
    assert named
    assert named <= set(COMMANDS)
    assert isinstance(app_of(), SubtitleApp)
