"""What holds everywhere: help, commands, bindings, quick starting, pictures of the screens."""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.widgets import Input, Static

from subtitle_rag.base.domain.events import Resting, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Line, Video
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.library.store import Library
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.scenes import Scene
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.search.search_screen import SearchScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.jobs.job import Job
from tests.tui.conftest import (
    NOON,
    AppPilot,
    MakeApp,
    Outside,
    commands,
    drawn_by,
    press,
    running,
    scene,
    settle,
    typed,
    until,
)

ROOT = Path(__file__).parents[2]


class TestHelp:
    @pytest.mark.parametrize(("language", "word"), [("en", "without this word"), ("ko", "이 말이 없는 장면")])
    async def test_f1_tells_keys_and_query_and_closes_again(self, app_of: MakeApp, language: str, word: str) -> None:
        async with running(app_of(language)) as (app, pilot):
            await pilot.press("f1")
            assert isinstance(app.screen, HelpScreen)
            text = str(app.screen.query_one(Static).content)
            for told in (word, "Ctrl+Q", "Ctrl+L"):
                assert told in text
            await pilot.press("escape")
            assert isinstance(app.screen, SearchScreen)
            assert app.search_screen.query_line.has_focus
            await pilot.press("f1", "f1")
            assert isinstance(app.screen, SearchScreen)


class TestKeys:
    @pytest.mark.campaign(part="app")
    async def test_the_footer_speaks_korean(self, app_of: MakeApp) -> None:
        async with running(app_of("ko"), size=(120, 30)) as (app, _):
            descriptions = [hint.description for hint in app.screen.query_one(KeyBar).hints]
            assert descriptions == ["검색", "보관함", "선택", "메뉴", "명령", "도움말", "끝내기"]

    @pytest.mark.campaign(part="app")
    async def test_the_palette_offers_what_applies_in_korean(self, app_of: MakeApp) -> None:
        async with running(app_of("ko", scenes=[scene()]), "치킨") as (app, pilot):
            titles = [command.title for command in app.get_system_commands(app.screen)]
            assert "장면: 복사" in titles
            await press(pilot, "ctrl+p")
            assert isinstance(app.screen, CommandPalette)
            assert app.screen.query_one(Input).placeholder == "명령 찾기"
            await pilot.press("escape")

    async def test_the_palette_plays_the_chosen_scene(self, app_of: MakeApp, outside: Outside) -> None:
        async with running(app_of("ko"), "치킨 소스") as (app, pilot):
            assert app.search_screen.query_line.has_focus
            await press(pilot, "ctrl+p", *"장면: 재생")
            await until(pilot, lambda: drawn_by(app).count("장면: 재생") == 2)  # in the field, and in the list
            await press(pilot, "enter")
            assert app.screen is app.search_screen
            assert len(outside.played) == 1

    async def test_the_palette_plays_nothing_where_there_is_no_scene(self, app_of: MakeApp) -> None:
        async with running(app_of("ko")) as (app, _):
            assert not [title for title in commands(app) if "재생" in title]

    async def test_the_palette_says_in_korean_that_nothing_matches(self, app_of: MakeApp) -> None:
        async with running(app_of("ko")) as (app, pilot):
            await press(pilot, "ctrl+p", *"없는명령")
            await until(pilot, lambda: "맞는 명령이 없습니다" in drawn_by(app))

    async def test_the_open_palette_lists_what_the_page_below_allows(self, app_of: MakeApp) -> None:
        async with running(app_of()) as (app, pilot):
            titles = [command.title for command in app.get_system_commands(app.screen)]
            await press(pilot, "ctrl+p")
            assert isinstance(app.screen, CommandPalette)
            below: Any = app.search_screen
            assert [command.title for command in app.get_system_commands(below)] == titles

    @pytest.mark.campaign(part="app")
    async def test_themes_change_under_a_list_of_scenes(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
            for theme in ("textual-light", "ansi-dark", "dracula"):
                app.theme = theme
                await settle(pilot)
                assert app.search_screen.scenes.row_count == 1


class TestStarting:
    @pytest.mark.parametrize(
        ("module", "absent"),
        [
            ("subtitle_rag.tui", ("textual", "sqlite3")),
            ("subtitle_rag.tui.app", ("kiwipiepy", "qdrant_edge", "sqlite3", "pyperclip")),
        ],
    )
    def test_nothing_heavy_is_imported(self, module: str, absent: tuple[str, ...]) -> None:
        code = f"import sys, {module}; sys.exit(sum(name in sys.modules for name in {absent!r}))"
        assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0

    @pytest.mark.campaign(part="app")
    def test_the_kitty_protocol_is_switched_off_before_textual_is_imported(self, tmp_path: Path) -> None:
        code = """
import os, sys
from subtitle_rag import tui
from subtitle_rag.base.config import settings as config
import subtitle_rag.runtime
class Stop(Exception): ...
class Runtime:
    def __init__(self, settings):
        import textual.constants
        print(textual.constants.DISABLE_KITTY_KEY)
        raise Stop
subtitle_rag.runtime.Runtime = Runtime
settings = config.load(home=sys.argv[1])
try:
    tui.run(settings)
except Stop:
    pass
"""
        command = [sys.executable, "-c", code, str(tmp_path)]
        assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip() == "True"


class TestPictures:
    """The interface is English here, so that a better Korean sentence changes no picture; the captions are Korean."""

    SAID = (
        "초벌로 튀긴 치킨을 소스에 푹 찍어 먹으면",
        "자 이제 소스를 만들어 볼게요",
        "[웃음] >> 치킨은 식어도 맛있거든요",
        "x" * 200 + " 치킨",
    )

    @pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
    def test_scenes(self, app_of: MakeApp, snap_compare: Any, size: tuple[int, int]) -> None:
        async def search(pilot: AppPilot) -> None:
            await settle(pilot)
            await typed(pilot, "소스 치킨")
            await press(pilot, "down")

        scenes = [self.drawn(number, said) for number, said in enumerate(self.SAID * 4)]
        app = app_of(scenes=scenes, show_times=False)
        assert snap_compare(app, terminal_size=size, run_before=search)

    @pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
    @pytest.mark.usefixtures("noon")
    @pytest.mark.campaign(part="app")
    def test_library(self, unindexed: Runtime, snap_compare: Any, size: tuple[int, int]) -> None:
        """What is there, what waits, what was refused and when it is asked for again; and a job that rests."""

        async def rest(pilot: AppPilot) -> None:
            await settle(pilot)
            await app.run_action("open_library")
            job = Job("느린 부엌", fetches=True).after(Progress("captions", len(self.REFUSED), 9))
            for number, code in enumerate(self.REFUSED):
                details = {"title": f"{number}편", "reason": "JSON", "languages": "ko"}
                job = job.after(VideoFailed(f"v{number}", f"{number}편", code, details))
            app.job = job.after(Resting(NOON + 3_600, "bot_check", {"title": "[b]국수[/b]", "reason": ""}, True))
            await settle(pilot)

        self.fill(unindexed.library)
        app = SubtitleApp(unindexed, show_times=False)
        assert snap_compare(app, terminal_size=size, run_before=rest)

    REFUSED = ("members_only", "no_captions", "upcoming", "caption_damaged")

    def fill(self, library: Library) -> None:
        videos = [
            Video(f"noodles{number:04d}", title, "UC1", "느린 부엌", url="https://x", published=date(2026, 5, 2))
            for number, title in enumerate(
                ("국수 [red]삶기[/red]", "아주 " * 30, "뒤집힌 \u202e제목", *map(str, range(9)))
            )
        ]
        channel = "https://www.youtube.com/@x"
        followed = library.sources.follow(channel, name="느린 부엌", channel_id="UC1", options=SourceOptions())
        library.sources.put_listed(followed.id, videos)
        for video, code in zip(videos, self.REFUSED, strict=False):
            again = {"members_only": None, "upcoming": NOON + 7_500}.get(code, NOON + 10 * 86_400)
            library.sources.put_refused(video, code, {"title": video.title, "reason": "", "languages": "ko"}, again)

    @staticmethod
    def drawn(number: int, said: str) -> Scene:
        text = f"앞에서 한 말 {said} 뒤에 한 말"
        marks = sorted((found.start(), found.end()) for found in re.finditer("치킨|소스", text))
        starts = (0, 8, 8 + len(said) + 1)
        return scene(
            number,
            text,
            title=f"바삭한 이야기 {number}편",
            lines=tuple(Line(offset, 3_590_000 + 5_000 * at) for at, offset in enumerate(starts)),
            at_ms=3_595_000,
            highlights=tuple(marks),
            overlap_before="그 앞의 장면에서 한 말",
        )
