"""Playing a scene, and choosing what plays it."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from subtitle_rag.base.config.settings import PlayerSettings
from subtitle_rag.base.domain.values import Video
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.scenes import Scene
from subtitle_rag.sharing import player
from subtitle_rag.tui.keys.keymap import acts_of
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.shared.conversation import QuestionTurn
from subtitle_rag.tui.shared.messages import PlayersFound
from tests.tui.conftest import (
    AppPilot,
    MakeApp,
    Outside,
    drawn_by,
    press,
    run_command,
    running,
    scene,
    settle,
    toasts,
    typed,
    until,
)

LINK = "https://youtu.be/video-00001?t=61"


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """mpv and VLC are installed, and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("mpv", "vlc"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture(autouse=True)
def forgetful(shared: Runtime) -> Iterator[None]:
    yield
    with shared.library.database.write() as db:
        db.execute("DELETE FROM setting WHERE key = 'player'")


@pytest.fixture
def on_disk(tmp_path: Path) -> Scene:
    """A scene of a video that is a file, and nothing on the web."""
    folder = tmp_path / "비디오"
    folder.mkdir()
    (folder / "제목.mp4").write_bytes(b"")
    source = folder / "제목.ko.vtt"
    return scene(video=Video("file-1", "제목", "c", "채널", source=str(source)))


async def chooser(pilot: AppPilot) -> PlayerScreen:
    await typed(pilot, "치킨")
    await run_command(pilot, "scene.play-with")
    await until(pilot, lambda: isinstance(pilot.app.screen, PlayerScreen))
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, PlayerScreen)
    return screen


def rows(screen: PlayerScreen) -> list[str]:
    options = (screen.rows.get_option_at_index(at) for at in range(screen.rows.option_count))
    return [" ".join(str(option.prompt).split()) for option in options]


class TestChoosing:
    @pytest.mark.campaign(part="app")
    async def test_what_can_play_the_scene_is_listed_with_what_it_does(self, app_of: MakeApp, runtime: Runtime) -> None:
        runtime.settings = replace(runtime.settings, players={"내 것": ("mpv", "{url}"), "없는 것": ("none", "{url}")})
        async with running(app_of(scenes=[scene(title="[red]제목[/red]")]), size=(80, 24)) as (app, pilot):
            screen = await chooser(pilot)
            assert rows(screen) == [
                "1 browser opens in the browser ✓ default",
                "2 mpv plays the link · keeps its window",
                "3 내 것 plays the link · mpv",
            ]
            assert "1:01  [red]제목[/red]" in drawn_by(app)
            assert "Enter plays · Esc closes" in drawn_by(app)

    @pytest.mark.campaign(part="app")
    async def test_a_file_is_played_by_players_of_files(self, app_of: MakeApp, on_disk: Scene) -> None:
        async with running(app_of(scenes=[on_disk]), size=(120, 40)) as (_, pilot):
            screen = await chooser(pilot)
            assert rows(screen) == ["1 mpv plays the file · keeps its window", "2 vlc plays the file"]

    @pytest.mark.campaign(part="app")
    async def test_enter_plays_once_and_changes_nothing(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene(1), scene(2)])) as (_, pilot):
            await chooser(pilot)
            await press(pilot, "down", "enter")
            await press(pilot, "enter", "enter")
            assert [play["name"] for play in outside.played] == ["mpv", "browser"]
            assert {play["link"] for play in outside.played} == {LINK}

    @pytest.mark.campaign(part="app")
    async def test_a_digit_plays(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            screen = await chooser(pilot)
            await pilot.press("3", "0")
            assert pilot.app.screen is screen
            await press(pilot, "2")
            assert [play["name"] for play in outside.played] == ["mpv"]
            assert app.screen is app.search_screen

    @pytest.mark.campaign(part="app")
    async def test_it_closes_without_playing(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            await chooser(pilot)
            await press(pilot, "ㅓ", "escape")
            assert app.screen is app.search_screen
            assert not outside.played

    @pytest.mark.campaign(part="app")
    async def test_a_click_plays(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of(scenes=[scene()])) as (_, pilot):
            await chooser(pilot)
            await pilot.click("#players", offset=(5, 1))
            await settle(pilot)
            assert [play["name"] for play in outside.played] == ["mpv"]

    async def test_the_scenes_of_an_answer_have_it_too(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()])) as (app, pilot):
            screen = AnswerScreen(app.context)
            await app.push_screen(screen)
            assert not {"scene.play-with", "scene.mark", "scene.copy", "app.transcript"} & set(acts_of(screen))
            screen.page.dialogue.restart([QuestionTurn("?")])
            await run_command(pilot, "scene.play-with")
            await settle(pilot)
            assert toasts(app) == ["No scene is chosen yet."]
            screen.pane.find_scene = lambda: scene()  # type: ignore[method-assign]
            await run_command(pilot, "scene.play-with")
            await until(pilot, lambda: isinstance(app.screen, PlayerScreen))

    @pytest.mark.campaign(part="app")
    async def test_it_is_in_the_palette(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            [run] = [c.callback for c in app.get_system_commands(app.screen) if c.title == "Scene: Choose player"]
            await run()
            await until(pilot, lambda: isinstance(app.screen, PlayerScreen))
            await settle(pilot)  # its rows are there before the app closes


class TestFiles:
    @pytest.mark.campaign(part="app")
    async def test_enter_plays_a_file_in_the_first_player_that_can(
        self, app_of: MakeApp, outside: Outside, on_disk: Scene
    ) -> None:
        async with running(app_of(scenes=[on_disk]), "치킨") as (app, pilot):
            await press(pilot, "enter", "enter")
            [play] = outside.played
            assert (play["name"], play["link"], play["watch_url"]) == ("mpv", None, None)
            assert play["media"] == Path(str(on_disk.video.source)).with_name("제목.mp4")
            assert play["cache"] == app.settings.paths.cache

    @pytest.mark.campaign(part="app")
    async def test_the_default_plays_it_where_it_can(
        self, app_of: MakeApp, runtime: Runtime, outside: Outside, on_disk: Scene
    ) -> None:
        runtime.settings = replace(runtime.settings, player=PlayerSettings(default="vlc"))
        async with running(app_of(scenes=[on_disk]), "치킨") as (_, pilot):
            await press(pilot, "enter", "enter")
            assert [play["name"] for play in outside.played] == ["vlc"]

    @pytest.mark.campaign(part="app")
    async def test_without_a_player_of_files_it_is_told_what_helps(
        self, app_of: MakeApp, on_disk: Scene, programs: Path
    ) -> None:
        shutil.rmtree(programs)
        async with running(app_of(scenes=[on_disk]), "치킨", size=(120, 30)) as (app, pilot):
            await press(pilot, "enter", "enter")
            assert "no player of files is installed" in toasts(app)[0]
            assert "Install mpv or VLC" in toasts(app)[0]
            assert app.screen is app.search_screen


class TestWithoutAScreen:
    async def test_the_list_only_says_why_and_copies(
        self, app_of: MakeApp, outside: Outside, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(player, "can_show", lambda: False)
        async with running(app_of(scenes=[scene()]), size=(80, 24)) as (app, pilot):
            screen = await chooser(pilot)
            await settle(pilot)
            assert rows(screen) == []
            assert "There is no screen to play on here. This link is copied:" in drawn_by(app)
            assert LINK in drawn_by(app)
            assert app.clipboard == LINK
            assert toasts(app) == []  # the dialog says it
            await press(pilot, "1", "space", "down", "enter")
            assert app.screen is app.search_screen
            assert not outside.played

    async def test_a_file_has_no_link_to_copy(
        self, app_of: MakeApp, on_disk: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(player, "can_show", lambda: False)
        async with running(app_of(scenes=[on_disk]), "치킨", size=(120, 30)) as (app, pilot):
            await press(pilot, "enter", "enter")
            assert toasts(app)[0].startswith("There is no screen here to play")
            assert "제목.mp4" in toasts(app)[0]
            assert app.clipboard == ""


async def test_a_late_list_does_not_open_over_another_question(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()])) as (app, pilot):
        screen = await chooser(pilot)
        app.post_message(PlayersFound(scene(), (("browser", ""),), "browser"))
        await pilot.pause()
        assert app.screen is screen


async def test_the_scene_is_played_in_another_video_that_says_the_same(app_of: MakeApp, outside: Outside) -> None:
    copies = tuple(scene(number, title=f"{number}편") for number in (2, 3))
    async with running(app_of(scenes=[scene(1, copies=copies), scene(4)]), "치킨") as (app, pilot):
        await run_command(pilot, "scene.copies")
        assert "2편" in drawn_by(app)
        await press(pilot, "down", "enter")
        assert ["video-00003" in played["link"] for played in outside.played] == [True]
        await press(pilot, "enter", "j")
        assert not app.search_screen.check_action("scene", ("copies",))
