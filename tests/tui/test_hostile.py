"""Titles, captions and answers that others wrote, on every screen: nothing in them steers the terminal, is read as
markup, or moves what stands beside it."""

import unicodedata
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from rich.cells import cell_len
from textual.screen import Screen

from subtitle_rag.base.config.settings import LlmSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import Resting, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Chapter, Line, Track, Video
from subtitle_rag.captions.windows import RULE, cut_windows
from subtitle_rag.library.app_state import note_search
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.runtime import Runtime
from subtitle_rag.search import suggestions
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.search.suggestions import Suggestion
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.answer.answer_screen import AnswerScreen
from subtitle_rag.tui.screens.dialogs.help_screen import HelpScreen
from subtitle_rag.tui.screens.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.search.filter_screen import FilterScreen
from subtitle_rag.tui.shared.clean_text import clean, visible
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import leave_confirmation
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.messages import Jumped, PlayersFound
from subtitle_rag.tui.shared.progress.stage import Stage
from subtitle_rag.workflows.removing import RemovalTarget
from tests.stand_ins.ollama import Model, StandIn
from tests.support.searchable import spoken
from tests.tui.asking import MODEL, ask, on, opened
from tests.tui.conftest import (
    Answers,
    AppPilot,
    MakeApp,
    library_of,
    press,
    running,
    scene,
    settle,
    toasts,
    typed,
    until,
)

MARKUP = "[red]빨강[/] [@click=app.bell]종[/] [link=https://evil.example]줄[/link] [/] $text-error {0} %s"
HOSTILE = {
    "markup": MARKUP,
    "escapes": "\x1b[31m붉은\x1b]0;제목\x07 \x1b]8;;https://evil.example\x1b\\줄\x1b]8;;\x1b\\ \x9b2J\x90q\x9c\x1bc",
    "directions": "\u202e뒤집힌\u202c \u2066따로\u2069 \u200e\u200f\u061cעברית العربية \u2067\u2068",
    "marks": "치" + "\u0301\u0327\u20dd" * 300 + "킨 \u200b보\u200c이\u2060지\ufeff \u00ad않는\u034f",
    "joiners": "가\u200d나\u200d다 " * 40 + "ㅋ\u200d" * 99 + "끝\u200d",
    "emoji": "☎\ufe0f ❤\ufe0e 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇰🇷 1️⃣ 👍🏽 🏴\U000e0067\U000e007f",
    "spaces": "가\t나\n다\r\n라\0마\x0b바\x0c사\u2028아\u2029자\x85차\u00a0카\u3000타",
    "surrogate": "앞\ud83d가운데\udc00뒤",
    "line": "가나다 한글 " * 700,
    "word": "ㅋ" * 5_000,
    "widths": "ﾊﾝｸﾞﾙ ＡＢＣ￦ " + unicodedata.normalize("NFD", "찌개 값을 넓혔습니다") + " ㅤᄀ\u1160ퟰ",
}
WRITTEN = [name for name in HOSTILE if name != "surrogate"]
"""What SQLite can hold; captions with halves of characters do not come into a library."""
SIZES = [(80, 24), (120, 40)]
FOLLOWED = "https://www.youtube.com/@hostile"


def look(app: SubtitleApp, *, literal: str = "", where: str = "") -> str:
    """What is on the screen, which is sound: rows of its width, of characters that only show something, in styles that
    no text asked for. `literal` has to be seen as it is."""
    screen, lines = app.screen, []
    for strip in screen._compositor.render_strips():
        said = strip.text
        assert cell_len(said) <= strip.cell_length == screen.size.width, (where, said)
        steering = [hex(ord(c)) for c in said if unicodedata.category(c)[0] == "C" and c != "\u200d"]
        assert not steering, (where, steering, said[:120])
        lines.append(said)
        for segment in strip:
            style = segment.style
            assert style is None or not style.link, (where, segment)
            assert style is None or "bell" not in repr(style.meta), (where, segment)
    drawn = "\n".join(lines)
    assert literal in drawn, (where, drawn)
    return drawn


async def looked(pilot: AppPilot, kind: type[Screen[Any]], **options: str) -> str:
    """The same of a screen that is there now, when nothing is under way."""
    await settle(pilot)
    assert isinstance(pilot.app.screen, kind), pilot.app.screen
    return look(pilot.app, **options)


def scenes() -> list[Scene]:
    """A scene for every text, which is all that is outside text in it."""
    return [
        scene(
            number,
            text=f"{text} {text}",
            lines=(Line(0, 61_000), Line(len(text) + 1, 65_000)),
            highlights=((0, 9), (max(1, len(text) // 2), len(text) + 4)),
            video=Video(
                f"video-{number:05d}",
                text,
                text,
                text,
                url="https://x",
                published=date(2026, 5, 2),
                duration_ms=90_000,
                chapters=(Chapter(3_000, text),),
            ),
            context=text,
            overlap_before=text,
            overlap_after=text,
        )
        for number, text in enumerate([*HOSTILE.values(), ""], start=1)
    ]


@pytest.fixture
def filled(empty: Runtime) -> Runtime:
    """A library of its own, with a searchable video of a channel for every text, all of them followed as lists too."""
    library = empty.library
    for number, name in enumerate(WRITTEN):
        text = HOSTILE[name]
        video = Video(f"hostile{number:04d}", text, f"UC{number}", text, url="https://x", published=date(2026, 5, 2))
        own = cut_windows(video.id, spoken([[text[:2_000] or "말", "국수 삶는 법"]]))
        library.put_video(video, Track("ko", "manual", "vtt", name.encode(), name, 0), own, RULE)
        source = library.sources.follow(FOLLOWED + name, name=text, channel_id=f"UC{number}", options=SourceOptions())
        library.sources.put_listed(source.id, [video])
    for number, code in enumerate(("members_only", "caption_damaged", "bot_check")):
        failed = Video(f"failing{number:04d}", MARKUP, "UC0", MARKUP, url="https://x")
        library.sources.put_listed(1, [failed])
        library.sources.put_refused(failed, code, {"title": MARKUP, "reason": "\x1b[31m[red]\u202e왜"}, None)
    list(empty.indexer.rebuild())
    empty.settings = replace(empty.settings, llm=LlmSettings(hosts=(), model="[red]\x1b[31m\u202e:q4"))
    return empty


class TestText:
    """What all screens stand on."""

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥"),
            ("가\u200d나\u200d\u200d다", "가나다"),
            ("\u200d🌈 🌈\u200d", "🌈 🌈"),
            ("👩\u200d\u200b나", "👩나"),
        ],
    )
    def test_only_emoji_are_joined(self, text: str, kept: str) -> None:
        assert clean(text) == kept

    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_field_shows_as_many_characters_as_it_holds(self, name: str) -> None:
        shown = visible(HOSTILE[name])
        assert len(shown) == len(HOSTILE[name])
        assert all(c.isprintable() or c == "\u200d" for c in shown)
        assert visible("치킨 소스 👩\u200d👩") == "치킨 소스 👩\u200d👩"

    @pytest.mark.campaign(part="app")
    async def test_a_toast_covers_no_screen(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[]), size=(80, 24), notifications=True) as (app, pilot):
            app._handle_message(Jumped(scene(title=HOSTILE["word"]), "browser"))
            await settle(pilot)
            (told,) = toasts(app)
            assert told.startswith("Playing from 1:01: ㅋㅋ")
            assert told.endswith("ㅋ…")
            assert look(app).count("▌") < 16


class TestSearching:
    """The list, the preview, what plays a scene, and what is told of that."""

    @pytest.mark.parametrize("size", SIZES)
    async def test_list_and_preview(self, app_of: MakeApp, size: tuple[int, int]) -> None:
        async with running(app_of(scenes=scenes()), "치킨", size=size) as (app, pilot):
            for at, name in enumerate([*HOSTILE, ""]):
                app.search_screen.scenes.cursor = at
                await press(pilot, "enter", "ctrl+y")
                look(app, literal="[red]빨강[/]" if name == "markup" else "", where=name)
            app.search_screen.preview.scroll_end(animate=False)
            for each in app.search_screen.query("#transcript"):
                each.scroll_end(animate=False)
            await settle(pilot)
            look(app)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_players_and_toasts(self, app_of: MakeApp, runtime: Runtime, size: tuple[int, int]) -> None:
        app = app_of(scenes=[])
        missing = (("dense", AppError("model_damaged", name=MARKUP, reason="\x1b[31m\u202e")),)
        runtime.__dict__["searcher"] = Answers(
            lambda query: SearchResult(query, ("bm25",), tuple(scenes()), {}, missing=missing)
        )
        async with running(app, "치킨 빨강", size=size, notifications=True) as (_, pilot):
            look(app, literal="[red]빨강[/]")
            app.clear_notifications()
            for at, (name, text) in list(enumerate(HOSTILE.items()))[:: 1 if size[0] < 100 else 3]:
                app.search_screen.scenes.cursor = at
                offers = ((MARKUP, "plays the link"), (text, "plays the link"))
                app.push_screen(PlayerScreen(PlayersFound(scenes()[at], offers, MARKUP)))
                await looked(pilot, PlayerScreen, where=name, literal="[red]빨강" if len(text) < 1_000 else "")
                await pilot.press("escape")
                app._handle_message(Jumped(scenes()[at], MARKUP))
                await settle(pilot)
                look(app, where=name, literal="1:01: [red]빨강[/]" if name == "markup" else "")
                app.clear_notifications()

    @pytest.mark.campaign(part="app")
    async def test_chips_and_what_is_typed(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[scene()]), size=(80, 24)) as (app, pilot):
            for name in WRITTEN:
                text = HOSTILE[name].replace('"', " ")
                for query in (f'치킨 channel:"{text}" video:"{text}"', f"after:{text[:30]}", f'"{text}'):
                    app.search_screen.query_line.value = ""
                    app.search_screen.query_line.insert_text_at_cursor(query)
                    await settle(pilot)
                    look(app, where=name)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_last_searches_suggestions_and_what_finds_nothing(
        self, app_of: MakeApp, runtime: Runtime, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = [Suggestion("spelling", text, text, text, 3) for text in (MARKUP, *list(HOSTILE.values())[1:3])]
        monkeypatch.setattr(suggestions, "suggest_queries", lambda *_asked: found)
        async with running(app_of(scenes=[]), size=size) as (app, pilot):
            for name in WRITTEN:
                note_search(runtime.library, HOSTILE[name])
            app.search_screen.page.recent.read()
            await settle(pilot)
            look(app)
            for name in WRITTEN:
                await typed(pilot, HOSTILE[name])
                look(app, where=name, literal="with “[red]빨강[/]" if name == "widths" else "")
                app.search_screen.query_line.value = ""

    @pytest.mark.campaign(part="app")
    async def test_a_library_that_cannot_be_opened(self, app_of: MakeApp) -> None:
        async with running(app_of(scenes=[]), size=(80, 24)) as (app, pilot):
            for name in HOSTILE:
                error = AppError("library_damaged", path=HOSTILE[name], reason=HOSTILE[name])
                app.search_screen.page.fail(error)
                app.tell(error)
                await settle(pilot)
                look(app, where=name)
                app.clear_notifications()


class TestLibrary:
    """Tables, failures, filters, removals, a channel's settings and the job, of a library that is real."""

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_tables_filters_and_scenes(self, filled: Runtime, size: tuple[int, int]) -> None:
        async with running(SubtitleApp(filled), "국수", size=size) as (app, pilot):
            look(app)
            await pilot.press("escape", "f")
            await looked(pilot, FilterScreen)
            await pilot.press("pagedown", "pagedown")
            await looked(pilot, FilterScreen)
            await pilot.press(*"빨강")
            await looked(pilot, FilterScreen, literal="[red]빨강[/]")
            await press(pilot, "enter")
            look(app, literal="[red]빨강[/]")
            await pilot.press("escape", "f")
            await looked(pilot, FilterScreen)
            await pilot.press("escape", "ctrl+l", "tab")
            await looked(pilot, LibraryScreen, literal="[red]빨강[/]")
            library = library_of(app)
            for at in range(library.tables.channels.row_count):
                library.tables.channels.cursor = at
                await looked(pilot, LibraryScreen, where=str(at))
            await pilot.press("home", "tab")
            for at in range(library.tables.videos.row_count):
                library.tables.videos.cursor = at
                await looked(pilot, LibraryScreen, where=str(at))
            await pilot.press("f", "f1")
            await looked(pilot, HelpScreen)

    @pytest.mark.campaign(part="app")
    async def test_removals(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(80, 24), notifications=True) as (app, pilot):
            await press(pilot, "ctrl+l", "tab")
            library = library_of(app)
            states = [
                state for state in library.tables._channel_states if state.channel_id in ("UC0", "UC1", "UC2", "UC9")
            ]
            assert len(states) == 4
            for state in states:
                markup = "[red]빨강[/]" if state.channel_id == "UC0" else ""
                app.context.removals.ask(RemovalTarget(state.name, "", state.channel_id, state.sources))
                await until(
                    pilot, lambda: isinstance(app.screen, ConfirmScreen) and bool(app.screen.query("#confirm Static"))
                )
                await looked(pilot, ConfirmScreen, literal=markup)
                await pilot.press("left", "enter")
                await until(pilot, lambda: not app.removal_line and isinstance(app.screen, LibraryScreen))
                await looked(pilot, LibraryScreen, literal=f"Removed: {markup}")
            look(app)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.campaign(part="app")
    async def test_jobs_and_stages(self, unindexed: Runtime, size: tuple[int, int]) -> None:
        async with running(SubtitleApp(unindexed), size=size) as (app, pilot):
            for name in ("markup", "escapes", "word"):
                job = self.told(app, HOSTILE[name])
                app.push_screen(ConfirmScreen(leave_confirmation(2), app.exit, stops_job=True))
                await looked(pilot, ConfirmScreen, where=name)
                await pilot.press("escape")
                for shown in (job, replace(job, ended=True, stopped=True, resting=None)):
                    app.job = shown
                    await looked(pilot, type(app.screen), where=name)
                    await pilot.press("ctrl+l")  # the library is empty, and so it was seen first
                    await looked(pilot, type(app.screen), where=name)

    @staticmethod
    def told(app: SubtitleApp, text: str) -> Job:
        """A job that rests, after much that could not be read, beside work that failed."""
        details = {"title": text, "reason": text, "path": text, "languages": text}
        codes = ("members_only", "no_cues", "caption_damaged", "network")
        failures = tuple(VideoFailed(f"v{at}", text, code, details) for at, code in enumerate(codes))
        job = Job(text, True, Progress("captions", 6, 9, text), done=frozenset("ab"), new=2, failures=failures)
        error = AppError("model_damaged", name=text, reason=text)
        app.background.show(Stage("contexts", "working", Progress("contexts", 6, 9, text, activity=text)))
        app.background.show(Stage("vectors", "failed", Progress("vectors", 6, 9, text), error))
        app.job = job
        return job.after(Resting(0, "bot_check", {"title": text, "reason": text}, True))


class TestAnswers:
    """What a model writes, the scenes that it is given, and the answers that are kept."""

    @pytest.mark.campaign(part="app")
    @pytest.mark.parametrize("size", SIZES)
    async def test_answers_and_history(self, filled: Runtime, size: tuple[int, int]) -> None:
        names = ("markup", "escapes", "joiners", "word")
        with StandIn() as ollama:
            ollama.add(Model(MODEL))
            ollama.answer(*(f"{HOSTILE[name]} [1] [2]\n{HOSTILE[name][:200]} [9]." for name in names))
            filled.settings = on(ollama, filled)
            app = SubtitleApp(filled)
            app.background.paused.update(("contexts", "vectors"))
            async with running(app, size=size) as (_, pilot):
                screen = await opened(pilot, "국수")
                screen.question.value = ""
                for name in names:
                    await ask(pilot, screen, f"국수 {HOSTILE[name][:300]}")
                    markup = "[red]빨강[/]" if name == "markup" else ""
                    await looked(pilot, AnswerScreen, where=name, literal=markup)
                    for key in ("down", "pageup"):
                        await pilot.press(key)
                        await looked(pilot, AnswerScreen, where=f"{name} {key}")
                    await press(pilot, "a")
                    assert screen.question.has_focus
                await press(pilot, "tab")
                recent = screen.page.recent
                assert recent.has_focus
                for at in range(recent.option_count):
                    recent.highlighted = at
                    await looked(pilot, AnswerScreen, where=str(at))
                await press(pilot, "delete")
                await looked(pilot, ConfirmScreen)
                await pilot.press("escape", "enter")
                await looked(pilot, AnswerScreen)
