"""The settings screen: what it shows, what it writes into the config file, and what it leaves alone there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import HOSTS_VARIABLE, Settings
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.tui import _reread
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.navigation import LibrarySwitch
from subtitle_rag.tui.screens.settings.setting_dialog import SettingDialog
from subtitle_rag.tui.screens.settings.setting_rows import setting_row
from subtitle_rag.tui.screens.settings.settings_screen import SettingsScreen
from subtitle_rag.workflows.app_settings import NAMES
from tests.tui.conftest import (
    Answers,
    AppPilot,
    drawn_by,
    press_each,
    run_command,
    running,
    settle,
    toasts,
    without_models,
)

FILE = """# mine
unknown = 1 # kept

[player]
lead_in = 7 # few

[youtube]
pause = -1
"""


@pytest.fixture(params=["ko", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """An empty library with a config file that has mistakes and comments."""
    monkeypatch.delenv(HOSTS_VARIABLE)
    (tmp_path / "config.toml").write_text(FILE)
    settings = config.read(home=tmp_path, language="en").settings
    settings = without_models(replace(settings, llm=replace(settings.llm, hosts=())))
    with Runtime(settings) as runtime:
        runtime.__dict__["searcher"] = Answers(lambda query: SearchResult(query, (), (), {}))
        yield runtime


def path_of(runtime: Runtime) -> Path:
    return runtime.settings.paths.config


async def opened(pilot: AppPilot) -> SettingsScreen:
    await settle(pilot)
    await run_command(pilot, "app.settings")
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    return screen


async def choose(pilot: AppPilot, key: str) -> SettingsScreen:
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    at = screen.rows.index(key)
    assert at is not None, key
    screen.rows.cursor = at
    await settle(pilot)
    return screen


def row(screen: SettingsScreen, key: str) -> str:
    return setting_row(screen.rows.values_by_key[key], 110).plain.rstrip()


def told(pilot: AppPilot) -> str:
    return " ".join(toasts(pilot.app))


def remembers(runtime: Runtime) -> bool:
    return runtime.settings.search.remember


def note(screen: SettingsScreen) -> str:
    return str(screen.query_one("#settings-note", Static).content)


async def test_each_row_has_its_value_and_what_has_set_it(own: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS_VARIABLE, "http://127.0.0.1:9999")
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        screen = await opened(pilot)
        assert screen.rows.row_count == len(NAMES) == 14
        assert row(screen, "player.lead_in").split()[:4] == ["Start", "early,", "seconds", "7"]
        assert row(screen, "llm.hosts").split()[3] == "http://127.0.0.1:9999"
        assert row(screen, "llm.contexts").split()[:4] == ["AI", "descriptions", "ask", "once"]
        assert row(screen, "youtube.pause").endswith("! youtube.pause must be at least 0")
        assert setting_row(screen.rows.values_by_key["search.remember"], 60).plain.split() == [
            "Remember",
            "searches",
            "on",
        ]
        await choose(pilot, "player.lead_in")
        assert note(screen).splitlines()[1] == "Default: 2 · line 5"
        await choose(pilot, "llm.hosts")
        assert f"\nDefault: http://127.0.0.1:11434\n{HOSTS_VARIABLE} has set it" in note(screen)
        await choose(pilot, "language")
        await press_each(pilot, "enter")
        assert pilot.app.screen is screen
        assert "--language has set it for this run" in told(pilot)


@pytest.mark.campaign(part="app")
async def test_a_change_writes_its_line_alone_and_the_default_removes_it(own: Runtime) -> None:
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        await opened(pilot)
        screen = await choose(pilot, "player.lead_in")
        await press_each(pilot, "enter", "backspace", "1", "2", "enter")
        assert path_of(own).read_text() == FILE.replace("lead_in = 7", "lead_in = 12")
        assert own.settings.player.lead_in == 12
        assert note(screen) == "Saved: Start early, seconds – 12."
        await press_each(pilot, "d")
        assert path_of(own).read_text() == FILE.replace("lead_in = 7 # few", "# few")
        assert own.settings.player.lead_in == 2


@pytest.mark.campaign(part="app")
async def test_a_mistake_is_told_at_the_field_and_nothing_is_written(own: Runtime) -> None:
    async with running(SubtitleApp(own), size=(60, 20)) as (_, pilot):
        await opened(pilot)
        for key, typed, mistake in (
            ("player.lead_in", "-1", "! player.lead_in must be at least 0"),
            ("player.lead_in", "many", "! Enter a number, such as 2."),
            ("youtube.languages", "한국어", "! 한국어 is no language tag"),
            ("llm.hosts", "http://example.com", "! http://example.com is not this computer"),
            ("youtube.tabs", "all", "! youtube.tabs may hold videos, shorts, streams"),
        ):
            await choose(pilot, key)
            await press_each(pilot, "enter")
            dialog = pilot.app.screen
            assert isinstance(dialog, SettingDialog)
            dialog.text.replace_value(typed)
            await press_each(pilot, "enter")
            said = str(dialog.query_one("#setting-mistake", Static).content)
            assert pilot.app.screen is dialog, key
            assert said.startswith(mistake), said
            await press_each(pilot, "escape")
        assert path_of(own).read_text() == FILE


@pytest.mark.campaign(part="app")
async def test_what_another_process_wrote_meanwhile_is_not_overwritten(own: Runtime) -> None:
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        await opened(pilot)
        screen = await choose(pilot, "player.lead_in")
        other = FILE.replace("lead_in = 7", "lead_in = 9").replace("pause = -1", "pause = 5")
        path_of(own).write_text(other)
        await press_each(pilot, "enter", "backspace", "1", "enter")
        assert path_of(own).read_text() == other
        assert "has been changed in the config file meanwhile" in told(pilot)
        assert row(screen, "player.lead_in").split()[3] == "9"
        await choose(pilot, "youtube.languages")
        await press_each(pilot, "enter", *",en", "enter")
        assert 'languages = ["ko", "en"]' in path_of(own).read_text()


@pytest.mark.campaign(part="app")
async def test_a_theme_is_seen_while_it_is_chosen(own: Runtime) -> None:
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        await opened(pilot)
        await choose(pilot, "tui.theme")
        before = pilot.app.theme
        await press_each(pilot, "enter", "down", "down")
        tried = pilot.app.theme
        assert tried != before
        await press_each(pilot, "escape")
        assert pilot.app.theme == before
        await press_each(pilot, "enter", "down", "down", "enter")
        assert pilot.app.theme == tried
        assert f'[tui]\ntheme = "{tried}"' in path_of(own).read_text()
        await press_each(pilot, "d")
        assert "theme" not in path_of(own).read_text()


async def test_a_switch_is_turned_at_once_and_is_live(own: Runtime) -> None:
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        await opened(pilot)
        await choose(pilot, "search.remember")
        await press_each(pilot, "enter")
        assert not remembers(own)
        await press_each(pilot, "enter")
        assert remembers(own)
        assert "remember = true" in path_of(own).read_text()


@pytest.mark.campaign(part="app")
async def test_a_setting_of_the_start_waits_for_it_and_says_so(own: Runtime) -> None:
    path_of(own).write_text(FILE.replace("pause = -1", ""))
    async with running(SubtitleApp(own), size=(80, 24)) as (app, pilot):
        await opened(pilot)
        screen = await choose(pilot, "models.reranker")
        assert "when the app is opened again (r)" in note(screen)
        before = own.settings.models.reranker
        await press_each(pilot, "enter")
        dialog = pilot.app.screen
        assert isinstance(dialog, SettingDialog)
        dialog.text.replace_value("mine")
        dialog.text.focus()
        await press_each(pilot, "enter")
        assert 'reranker = "mine"' in path_of(own).read_text()
        assert own.settings.models.reranker == before
        await press_each(pilot, "r")
    assert app.return_value == LibrarySwitch(is_same=True)
    path_of(own).write_text(path_of(own).read_text().replace("unknown = 1 # kept", ""))
    assert reread(own.settings).models.reranker == "mine"


def reread(settings: Settings) -> Settings:
    return _reread(settings)


@pytest.mark.campaign(part="app")
async def test_a_broken_file_is_told_and_stays_as_it_is(own: Runtime) -> None:
    path_of(own).write_text("[search\n")
    async with running(SubtitleApp(own), size=(80, 24)) as (_, pilot):
        await opened(pilot)
        await choose(pilot, "player.lead_in")
        await press_each(pilot, "enter", "backspace", "backspace", "1", "enter")
        assert path_of(own).read_text() == "[search\n"
        assert "not in the form of TOML" in told(pilot)
        assert reread(own.settings) is own.settings


@pytest.mark.campaign(part="app")
async def test_the_palette_and_the_key_of_a_list_open_it(own: Runtime, language: str) -> None:
    own.settings = replace(own.settings, language=language)
    async with running(SubtitleApp(own), size=(80, 24)) as (app, pilot):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"ko": "화면: 설정", "en": "Go to: Settings"}[language] in titles
        await press_each(pilot, "escape", "escape", "comma")
        assert isinstance(pilot.app.screen, SettingsScreen)
        assert {"ko": "자막 언어", "en": "Caption languages"}[language] in drawn_by(app)
        await press_each(pilot, "escape")
        assert not isinstance(pilot.app.screen, SettingsScreen)
