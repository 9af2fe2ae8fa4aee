"""The sample library in the app."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from textual.widgets import Static

from subtitle_rag import tui
from subtitle_rag.base.config.settings import LlmSettings, Settings
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.library import app_state
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui import app as app_module
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers.background import BackgroundController
from subtitle_rag.tui.navigation import LibrarySwitch
from subtitle_rag.tui.screens.library.library_text import field_line
from subtitle_rag.tui.shared.source_field import FieldCheck
from tests.support.cases import cases
from tests.tui.conftest import drawn_by, press, running, toasts
from tests.tui.fake_app import FakeApp


@pytest.fixture
def sample(unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """The sample, without its captions."""
    monkeypatch.setattr("subtitle_rag.workflows.sample_library.fill", lambda _runtime: None)
    unindexed.settings = replace(unindexed.settings, is_sample=True)
    return unindexed


async def test_an_address_is_refused_in_the_sample_and_goes_with_its_user_to_their_library(sample: Runtime) -> None:
    async with running(SubtitleApp(sample), size=(100, 30)) as (app, pilot):
        library = app.library
        assert library is not None
        library.field.path.value = "@느린부엌"
        await press(pilot, "enter")
        assert not app.jobs.busy
        assert "Ctrl+D opens your own library" in str(library.failures.content)
        await pilot.press("ctrl+d")
    assert app.return_value == LibrarySwitch("@느린부엌")


@pytest.mark.campaign(part="app")
async def test_every_screen_of_the_sample_is_marked(sample: Runtime) -> None:
    async with running(SubtitleApp(sample), size=(100, 30)) as (app, pilot):
        await pilot.press("escape")
        for keys in ((), ("escape", "a"), ("escape", "escape", "comma"), ("escape", "ctrl+l")):
            await press(pilot, *keys)
            assert str(app.screen.query_one("#sample-mark", Static).content).startswith("Sample library: invented")
            assert "Sample library: invented" in drawn_by(app)


async def test_the_users_library_opens_with_the_address_that_came_along(unindexed: Runtime) -> None:
    async with running(SubtitleApp(unindexed, address="@느린부엌"), size=(100, 30)) as (app, _):
        library = app.library
        assert library is not None
        assert library.field.path.value == "@느린부엌"
        assert not app.screen.query("#sample-mark")


def test_the_sample_gets_vectors_and_no_contexts(unindexed: Runtime) -> None:
    settings = unindexed.settings
    models = replace(settings.models, encoder="BAAI/bge-m3")
    llm = LlmSettings(hosts=("http://127.0.0.1:1",))
    unindexed.settings = replace(settings, llm=llm, models=models, is_sample=True)
    background = BackgroundController(FakeApp(), unindexed)
    background.begin_all()
    assert list(background.runs) == ["vectors"]
    background.halt()


async def test_no_row_of_the_sample_is_removed(filled: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subtitle_rag.workflows.sample_library.fill", lambda _runtime: None)
    filled.settings = replace(filled.settings, is_sample=True)
    async with running(SubtitleApp(filled), size=(100, 30)) as (app, pilot):
        await press(pilot, "ctrl+l")
        library = app.library
        assert library is not None
        await press(pilot, "tab", "down")
        assert library.tables.has_focus
        await press(pilot, "d")
        assert app.screen is library
        assert any("Ctrl+D opens your own library" in toast for toast in toasts(app)), toasts(app)
        assert len(filled.library.videos()) == 2


@cases(
    "check",
    [
        FieldCheck("source", sources=(parse_address("https://www.youtube.com/@slowkitchen"),)),
        FieldCheck("source", sources=(parse_address("https://youtu.be/dQw4w9WgXcQ"),)),
        FieldCheck("files", files=3),
        FieldCheck("files", files=3, more=True),
    ],
)
def test_the_field_of_the_sample_offers_the_users_library_and_no_import(check: FieldCheck) -> None:
    assert "Enter" in field_line(check)
    line = field_line(check, is_sample=True)
    assert "Enter" not in line
    assert "Ctrl+D opens your own library" in line


def test_the_other_library_opens_after_a_switch(unindexed: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[bool, str, tuple[str, ...]]] = []
    ends = iter([LibrarySwitch(), LibrarySwitch("@느린부엌"), None])

    class FakeSubtitleApp:
        return_code = 0
        key_router = SimpleNamespace(waiting=["치"])

        def __init__(self, runtime: Runtime, *, address: str, typed: tuple[str, ...]) -> None:
            self.settings: Settings = runtime.settings
            opened.append((runtime.settings.is_sample, address, typed))

        def run(self) -> LibrarySwitch | None:
            return next(ends)

        def wait_for_threads(self, _seconds: float) -> None:
            pass

    monkeypatch.setattr(app_module, "SubtitleApp", FakeSubtitleApp)
    monkeypatch.setattr(app_state, "theme_at", lambda _path: "")
    assert tui.run(unindexed.settings) == 0
    assert opened == [(False, "", ()), (True, "", ("치",)), (False, "@느린부엌", ("치",))]
