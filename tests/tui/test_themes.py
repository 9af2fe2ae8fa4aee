"""Themes: Textual's, the one that is remembered, and what is refused."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Offset
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets._toast import Toast

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import Settings, TuiSettings
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.library.app_state import THEME, theme_at
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui import themes
from subtitle_rag.tui.app import SubtitleApp
from tests.tui.conftest import MakeApp, press, running, scene, settle, until

ROOT = Path(__file__).parents[2]


def loaded(home: Path, text: str) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text, encoding="utf-8")
    return config.load()


def refusal(home: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        themes.check(loaded(home, text))
    assert caught.value.code == "bad_config"
    assert caught.value.details["path"] == str(home / "config.toml")
    return str(caught.value.details["reason"])


class TestChecking:
    def test_what_cannot_be_is_named_with_the_nearest(self, isolated_home: Path) -> None:
        reason = refusal(isolated_home, "tui.theme = 'drakula'")
        assert reason == "tui.theme: there is no theme drakula (did you mean dracula?)"

    @pytest.mark.campaign(part="app")
    def test_the_app_does_not_begin_with_an_unknown_theme(self, tmp_path: Path) -> None:
        (tmp_path / "config.toml").write_text("tui.theme = 'drakula'")
        command = [sys.executable, "-m", "subtitle_rag", "--home", str(tmp_path), "--language", "en"]
        run = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
        done = subprocess.run(
            [sys.executable, "-c", run, *command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert done.returncode == 2
        assert "did you mean dracula?" in done.stdout.decode()
        assert "\x1b[?1049h" not in done.stdout.decode()


class TestInTheApp:
    @pytest.mark.parametrize("name", ["textual-light", "solarized-light", "ansi-dark", "ansi-light"])
    @pytest.mark.campaign(part="app")
    async def test_every_theme_draws_a_search(self, runtime: Runtime, app_of: MakeApp, name: str) -> None:
        runtime.settings = replace(runtime.settings, tui=TuiSettings(theme=name))
        async with running(app_of(scenes=[scene()]), "치킨") as (app, _):
            assert app.theme == name
            assert app.export_screenshot()

    async def test_sixteen_colours_show_the_chosen_row_and_notices_on_any_terminal(
        self, runtime: Runtime, app_of: MakeApp
    ) -> None:
        runtime.settings = replace(runtime.settings, tui=TuiSettings(theme="ansi-dark"))
        async with running(app_of(scenes=[scene(1), scene(2)]), "치킨", notifications=True) as (app, pilot):
            scenes = app.search_screen.scenes
            app.notify("새 소식", markup=False)
            await settle(pilot)

            def style_at(widget: Widget, row: int) -> Style:
                return app.screen.get_style_at(*(widget.content_region.offset + Offset(2, row)))

            toast = style_at(app.screen.query_one(Toast), 0)
            assert "default" not in {toast.color and toast.color.name, toast.bgcolor and toast.bgcolor.name}
            for _focus in ("field", "list"):
                assert style_at(scenes, 1).reverse
                assert not style_at(scenes, 4).reverse
                await pilot.press("tab")
            await press(pilot, "escape", "f")
            chosen = style_at(app.screen.query_one(OptionList), 0)
            assert "default" not in {chosen.color and chosen.color.name, chosen.bgcolor and chosen.bgcolor.name}

    @pytest.mark.campaign(part="app")
    async def test_the_theme_that_is_chosen_is_remembered(self, empty: Runtime) -> None:
        async with running(SubtitleApp(empty)) as (app, pilot):
            assert theme_at(empty.settings.paths.library) == ""
            app.theme = "nord"
            await until(pilot, lambda: theme_at(empty.settings.paths.library) == "nord")

    @pytest.mark.campaign(part="app")
    async def test_it_is_there_from_the_first_paint_unless_the_config_names_one(self, empty: Runtime) -> None:
        for named, begun in (("", "nord"), ("dracula", "dracula")):
            empty.settings = replace(empty.settings, tui=TuiSettings(theme=named))
            app = SubtitleApp(empty)
            app.first_theme = "nord"
            async with app.run_test() as pilot:
                assert app.theme == begun
                await settle(pilot)
                assert theme_at(empty.settings.paths.library) == ""

    @pytest.mark.campaign(part="app")
    async def test_a_remembered_theme_that_is_no_more_is_passed_over(self, empty: Runtime) -> None:
        app = SubtitleApp(empty)
        app.first_theme = "gone"
        async with running(app):
            assert app.theme == themes.DARK


class TestRemembering:
    def test_it_is_read_without_opening_the_library(self, tmp_path: Path) -> None:
        path = tmp_path / "이 곳?" / "library.db"
        assert theme_at(path) == ""
        assert not path.parent.exists()
        path.parent.mkdir()
        library = Library(path)
        assert theme_at(path) == ""
        library.database.put_setting(THEME, "nord")
        library.database.put_setting(THEME, "dracula")
        assert theme_at(path) == "dracula"
        library.close()

    @pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
    def test_a_library_that_cannot_be_read_names_none(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "library.db"
        path.write_bytes(content)
        assert theme_at(path) == ""
        assert path.read_bytes() == content


async def test_sixteen_colours_are_those_of_the_terminal_unless_another_theme_is_chosen(app_of: MakeApp) -> None:
    """Rich makes red of the footer's orange there."""
    app = app_of(scenes=[scene()])
    app.console._color_system = ColorSystem.STANDARD
    async with running(app, size=(80, 24)):
        assert app.theme == themes.SIXTEEN_COLOURS
    assert themes.theme_at_start(app.settings, "nord", "standard") == "nord"
    assert themes.theme_at_start(app.settings, "", "256") == themes.DARK


async def test_the_mark_of_the_sample_can_be_read_in_the_terminals_colours(app_of: MakeApp, runtime: Runtime) -> None:
    app = app_of(scenes=[scene()])
    runtime.settings = replace(runtime.settings, is_sample=True)
    async with running(app, size=(80, 24)) as (_, pilot):
        app.theme = themes.SIXTEEN_COLOURS
        await settle(pilot)
        strip = app.screen._compositor.render_strips()[0]
        styles = [part.style for part in strip if "Sample" in part.text and part.style]
        assert styles
        assert all(style.reverse or style.color != style.bgcolor for style in styles)
