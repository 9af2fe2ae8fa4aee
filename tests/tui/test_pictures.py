"""What the screens look like, feature by feature, on a small and on a usual terminal.

All that is shown is fixed: no clock, no path, no machine. The interface is English but for two pictures, so that a
better Korean sentence changes few; the captions are Korean.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pytest
from rich.color import ColorSystem

from subtitle_rag.base.config.settings import LlmSettings, YoutubeSettings
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.events import Resting, VideoFailed
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Chapter, Line, Video
from subtitle_rag.library.app_state import note_search
from subtitle_rag.library.mark_store import Mark, MarkStore
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.library.store import Library
from subtitle_rag.library.summary_store import SummaryStore
from subtitle_rag.runtime import Runtime
from subtitle_rag.search import suggestions
from subtitle_rag.search.fusion import RetrieverScore
from subtitle_rag.search.parts import RETRIEVERS
from subtitle_rag.search.query import Query
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.search.suggestions import Suggestion
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.checks.check_list import CheckList
from subtitle_rag.tui.screens.dialogs.player_screen import PlayerScreen
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import leave_confirmation
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.messages import PlayersFound
from subtitle_rag.tui.shared.progress.stage import Stage
from subtitle_rag.workflows import checks as doctor
from subtitle_rag.workflows.checks import Check
from tests.tui.conftest import (
    NOON,
    Answers,
    AppPilot,
    MakeApp,
    press,
    press_each,
    run_command,
    scene,
    settle,
    typed,
    until,
)

pytestmark = pytest.mark.usefixtures("noon")

Picture = Callable[..., bool]

SAID = (
    "초벌로 튀긴 치킨을 소스에 푹 찍어 먹으면 정말 맛있어요",
    "자 이제 소스를 만들어 볼게요",
    "치킨은 식어도 맛있거든요",
    "소스가 손에 다 묻었네",
)
CHICKEN = Video(
    "chicken0000",
    "바삭골 신메뉴를 다 먹어 봤습니다",
    "UC1",
    "느린 부엌",
    url="https://www.youtube.com/watch?v=chicken0000",
    published=date(2026, 5, 2),
    duration_ms=1_260_000,
    chapters=tuple(Chapter(at * 240_000, f"{at}부") for at in range(5)),
)
SOUP = replace(CHICKEN, id="soup0000000", title="비 오는 날의 국수", channel_id="UC2", channel="숲길", chapters=())
SCORES = {
    "bm25": RetrieverScore(12, 11.2),
    "dense": RetrieverScore(1, 0.634),
    "sparse": RetrieverScore(3, 0.412),
    "fused": RetrieverScore(2, 0.0325),
    "rerank": RetrieverScore(1, 0.912),
}


def scenes() -> list[Scene]:
    """Eight scenes of two videos, each with what was said around it."""
    found = []
    for number in range(8):
        said = SAID[number % len(SAID)]
        text = f"앞에서 한 말이고요 {said} 그래서 뒤에 한 말"
        starts = (0, 11, 11 + len(said) + 1)
        begin = 60_000 + number * 140_000
        marks = sorted((text.index(word), text.index(word) + 2) for word in ("치킨", "소스") if word in text)
        found.append(
            scene(
                number + 1,
                text,
                video=SOUP if number in (2, 5) else CHICKEN,
                lines=tuple(Line(offset, begin + 5_000 * at) for at, offset in enumerate(starts)),
                start_ms=begin,
                end_ms=begin + 55_000,
                at_ms=begin + 5_000,
                highlights=tuple(marks),
                overlap_before="그 앞의 장면에서 한 말",
                overlap_after="그 뒤의 장면에서 한 말",
                context="두 사람이 새로 나온 치킨을 여러 소스에 찍어 먹으며 맛을 견주는 장면"
                if number % 2 == 0
                else None,
                scores=SCORES,
            )
        )
    return found


@pytest.fixture
def found(app_of: MakeApp, runtime: Runtime) -> MakeApp:
    """Makes an app in which every query is answered by all retrievers and the reranker."""

    def make(language: str = "en", *, of: list[Scene] | None = None) -> SubtitleApp:
        own = tuple(scenes() if of is None else of)

        def answer(query: Query) -> SearchResult:
            return SearchResult(query, RETRIEVERS, own, {"retrieve": 1.0}, reranked=True)

        app = app_of(language, show_times=False)
        runtime.__dict__["searcher"] = SimpleNamespace(
            stages=Answers(answer).stages, places=lambda *_asked: (), search=lambda query, **_how: answer(query)
        )
        return app

    return make


@pytest.fixture
def library(unindexed: Runtime) -> Runtime:
    """A library of two channels and a list, whose videos wait or were refused."""
    unindexed.settings = replace(
        unindexed.settings,
        youtube=YoutubeSettings(tabs=("videos", "streams")),
        llm=LlmSettings(hosts=(), model="writer:q4"),
    )
    fill(unindexed.library)
    return unindexed


def fill(library: Library) -> None:
    for number, (name, titles) in enumerate(
        {
            "느린 부엌": ("국수 삶는 날", "아주 긴 제목 " * 8, "김장 배추 마흔 포기", "[red]치킨[/red]", "된장찌개"),
            "숲길": ("캠핑 텐트 치기", "비 오는 숲"),
        }.items()
    ):
        videos = [
            Video(
                f"video{number}{at:05d}", title, f"UC{number}", name, url="https://x", published=date(2026, 5, 2 + at)
            )
            for at, title in enumerate(titles)
        ]
        url = f"https://www.youtube.com/@channel{number}"
        source = library.sources.follow(
            url, name=name, channel_id=f"UC{number}", options=SourceOptions(languages=("ko",))
        )
        library.sources.put_listed(source.id, videos)
        if number == 0:
            library.contexts.put_glossary("UC0", ("다온", "은솔포"))
            for video, (code, again) in zip(videos[1:], REFUSED.items(), strict=False):
                details = {"title": video.title, "reason": "403", "languages": "ko"}
                library.sources.put_refused(video, code, details, again)
    mixed = library.sources.follow(
        "https://www.youtube.com/playlist?list=PL1", name="모음", channel_id=None, options=SourceOptions()
    )
    library.sources.put_listed(mixed.id, [], ["video000000", "video100000"])


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a model's request stands still."""
    monkeypatch.setattr("subtitle_rag.base.domain.progress.time", SimpleNamespace(monotonic=lambda: 72.0))


WRITING = Progress("contexts", 3_102, 9_412, "국수 삶는 날", rate=2.1, left_s=3_000.0)
READING = replace(WRITING, activity="자막 12,400토큰을 읽는 중, 약 8:20", since=0.0)


REFUSED = {"members_only": None, "caption_damaged": NOON + 7_500, "no_captions": NOON + 10 * 86_400}
QUERY = "소스 치킨"
FETCHED = Progress("captions", 37, 128, rate=37 / 600, left_s=1_500.0)
JOB = Job("느린 부엌", True, FETCHED, Progress("windows", 9_000, 9_412), new=37)


@pytest.fixture(params=[(80, 24), (120, 40)], ids=["narrow", "wide"])
def picture(request: pytest.FixtureRequest, snap_compare: Callable[..., bool]) -> Picture:
    """Compares what an app looks like, after a query, keys and an act, with what it is to look like."""

    def compare(
        app: SubtitleApp, *keys: str, query: str = "", act: Callable[[AppPilot], Awaitable[object]] | None = None
    ) -> bool:
        async def run(pilot: AppPilot) -> None:
            await settle(pilot)
            if query:
                await typed(pilot, query)
            await press_each(pilot, *keys)
            if act:
                await act(pilot)
                await settle(pilot)

        return snap_compare(app, terminal_size=request.param, run_before=run)

    return compare


class TestSearch:
    """Scenes, and the chosen one beside them with its context, its timeline and its words."""

    @pytest.mark.parametrize("language", ["en", "ko"])
    @pytest.mark.campaign(part="app")
    def test_scenes(self, found: MakeApp, picture: Picture, language: str) -> None:
        app = found(language)
        assert picture(app, "down", "down", "up", "up", query=QUERY)

    @pytest.mark.usefixtures("frozen")
    def test_the_bar_of_a_long_prompt(self, found: MakeApp, picture: Picture) -> None:
        async def work(pilot: AppPilot) -> None:
            pilot.app.background.show(Stage("contexts", "working", READING))

        assert picture(found("ko"), query=QUERY, act=work)

    def test_chips(self, found: MakeApp, picture: Picture) -> None:
        assert picture(found(), query='channel:"느린 부엌" kind:short after:2026-01-01 소스')


class TestTranscript:
    """All lines of a video, with search in them."""

    def test_words_are_found(self, app_of: MakeApp, picture: Picture) -> None:
        async def search(pilot: AppPilot) -> None:
            pilot.app.screen.query_one("#videos").focus()
            await press(pilot, "t")
            await pilot.press(*"그래", "enter")

        assert picture(app_of(show_times=False), "ctrl+l", act=search)


class TestOverview:
    """What a video or channel is about."""

    SUMMARY = "두 사람이 바삭골의 새 치킨을 집에서 먹어 봅니다. 소스와 가루를 견주고, 식은 치킨도 먹습니다."

    @pytest.fixture(autouse=True)
    def summarised(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(SummaryStore, "of", lambda _store, ids: {"sample-0001": self.SUMMARY})

    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_of_a_video(self, app_of: MakeApp, picture: Picture, language: str) -> None:
        assert picture(app_of(language, show_times=False), "escape", "o", "down", query="치킨 소스")

    def test_of_a_channel(self, app_of: MakeApp, picture: Picture) -> None:
        async def look(pilot: AppPilot) -> None:
            pilot.app.screen.query_one("#channels").focus()
            await press(pilot, "down", "o")

        assert picture(app_of(show_times=False), "ctrl+l", act=look)


class TestCalm:
    """The page that stands where no scenes are: last searches, and what finds something."""

    def test_last_searches(self, found: MakeApp, runtime: Runtime, picture: Picture) -> None:
        for text in ('"찍어 먹" -광고', "캠핑 텐트", "채널:느린 치킨 소스"):
            note_search(runtime.library, text)

        assert picture(found(), "down", "down")

    @pytest.mark.campaign(part="app")
    def test_suggestions(self, found: MakeApp, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
        told = [
            Suggestion("spelling", "치킨 소스", "치킹", "치킨", 12),
            Suggestion("filter", "치킹 소스", "after:2030-01-01", scenes=1),
        ]
        monkeypatch.setattr(suggestions, "suggest_queries", lambda *_asked: told)

        assert picture(found(of=[]), "down", query="치킹 소스 after:2030-01-01")


class TestLibrary:
    """Channels, playlists and their videos."""

    def test_channels(self, library: Runtime, picture: Picture) -> None:
        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", "tab", "down")


class TestStages:
    """A job, and what is done beside it, in four bars."""

    @pytest.mark.campaign(part="app")
    def test_all_four(self, library: Runtime, picture: Picture) -> None:
        async def work(pilot: AppPilot) -> None:
            app = pilot.app
            app.job = JOB
            app.background.show(Stage("contexts", "working", WRITING))
            app.background.show(Stage("vectors", "working", Progress("vectors", 0, 9_412, "BAAI/bge-m3")))

        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", act=work)

    @pytest.mark.usefixtures("frozen")
    def test_a_long_prompt_is_read(self, library: Runtime, picture: Picture) -> None:
        async def work(pilot: AppPilot) -> None:
            pilot.app.background.show(Stage("contexts", "working", READING))

        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", act=work)

    def test_a_rest(self, library: Runtime, picture: Picture) -> None:
        async def work(pilot: AppPilot) -> None:
            rest = Resting(NOON + 3_600, "bot_check", {"title": "국수 삶는 날", "reason": ""}, True)
            pilot.app.job = JOB.after(rest)

        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", act=work)


class TestFailures:
    """What did not come, why, and what can be done about it."""

    @pytest.mark.campaign(part="app")
    def test_a_video(self, library: Runtime, picture: Picture) -> None:
        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", "tab", "down", "enter", "f")

    def test_a_job(self, library: Runtime, picture: Picture) -> None:
        async def work(pilot: AppPilot) -> None:
            codes = ("members_only", "no_captions", "caption_damaged")
            details = {"title": "된장찌개", "reason": "JSON", "languages": "ko"}
            failures = tuple(VideoFailed(f"v{at}", "된장찌개", code, details) for at, code in enumerate(codes))
            reason = AppError("network", title="느린 부엌", reason="timed out")
            pilot.app.job = replace(JOB, failures=failures, ended=True, stopped=True, reason=reason)

        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", act=work)


class TestOnboarding:
    """A library with nothing in it."""

    def test_nothing_there(self, unindexed: Runtime, picture: Picture) -> None:
        assert picture(SubtitleApp(unindexed, show_times=False))


class TestChecks:
    """Every check as it ended, and what mends it."""

    FOUND = (
        Check("kiwi", "warning", "Its model is slow to load here.", "Leave it as it is."),
        Check("ollama", "warning", "Nobody answers at the address. Search works without it.", "Optional: ollama.com"),
        Check("cookies", "error", "The file of cookies is not there.", "Name another one in the settings."),
    )

    def test_some_are_wanting(self, unindexed: Runtime, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
        wanting = {check.name: check for check in self.FOUND}
        monkeypatch.setattr(
            doctor, "probe", lambda name, *_doors: wanting.get(name, Check(name, "ok", "as it should be"))
        )

        async def look(pilot: AppPilot) -> None:
            await run_command(pilot, "app.checks")
            checks = pilot.app.screen.query_one(CheckList)
            await until(pilot, lambda: not checks.busy)

        assert picture(SubtitleApp(unindexed, show_times=False), act=look)


class TestRemoval:
    """A channel that is to leave: what is asked."""

    @pytest.mark.campaign(part="app")
    def test_the_question(self, library: Runtime, picture: Picture) -> None:
        assert picture(SubtitleApp(library, show_times=False), "ctrl+l", "tab", "down", "d")


class TestPlayers:
    """What can play a scene here."""

    def test_some(self, found: MakeApp, picture: Picture) -> None:
        async def choose(pilot: AppPilot) -> None:
            offers = (("browser", "opens the link"), ("mpv", "plays the link · keeps its window"))
            pilot.app.push_screen(PlayerScreen(PlayersFound(scenes()[0], offers, "browser")))

        assert picture(found(), query=QUERY, act=choose)


class TestMarks:
    """Marked scenes, and what is written of them."""

    MARKED = (
        Mark(1, "chicken0000", 60_000, 115_000, 65_000, CHICKEN.title, "느린 부엌", CHICKEN.url, SAID[0], "", "", NOON),
        Mark(2, "soup0000000", 340_000, 395_000, 345_000, SOUP.title, "숲길", None, SAID[2], "국물 맛", "국수", NOON),
    )

    @pytest.fixture(autouse=True)
    def marked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(MarkStore, "all", lambda _store: list(self.MARKED))

    def test_they_are_listed(self, found: MakeApp, picture: Picture) -> None:
        assert picture(found(), "escape", "m", query=QUERY)

    @pytest.mark.campaign(part="app")
    def test_note_and_tag(self, found: MakeApp, picture: Picture) -> None:
        async def edit(pilot: AppPilot) -> None:
            scenes = pilot.app.search_screen.scenes
            while not (scenes.value and scenes.value.video == SOUP and scenes.value.start_ms == 340_000):
                assert scenes.cursor != scenes.row_count - 1
                await press(pilot, "down")
            await press(pilot, "space")

        assert picture(found("ko"), "enter", query=QUERY, act=edit)

    @pytest.mark.campaign(part="app")
    def test_the_text_of_an_export(self, found: MakeApp, picture: Picture) -> None:
        assert picture(found(), "tab", "e", "down", query=QUERY)


class TestHelp:
    """The keys of the place where the focus is."""

    def test_of_the_query(self, found: MakeApp, picture: Picture) -> None:
        assert picture(found(), "f1")


class TestLeaving:
    """The one question before the app ends."""

    def test_the_question(self, found: MakeApp, picture: Picture) -> None:
        async def leave(pilot: AppPilot) -> None:
            app = pilot.app
            app.job = JOB
            app.push_screen(ConfirmScreen(leave_confirmation(2), app.exit, stops_job=True))

        assert picture(found(), act=leave)


class TestSettings:
    """The settings of the config file, and the question for a value."""

    def test_list(self, library: Runtime, picture: Picture) -> None:
        library.settings = replace(library.settings, language="ko")
        assert picture(SubtitleApp(library, show_times=False), "escape", "comma")

    @pytest.mark.campaign(part="app")
    def test_mistake(self, library: Runtime, picture: Picture) -> None:
        assert picture(SubtitleApp(library, show_times=False), "escape", "comma", *("down",) * 7, "enter", "s", "enter")


@pytest.mark.campaign(part="app")
class TestFewColours:
    """Scenes and settings in the terminal's own sixteen colours, and without any."""

    @pytest.fixture(params=["sixteen", "none"])
    def made(self, request: pytest.FixtureRequest, found: MakeApp, monkeypatch: pytest.MonkeyPatch) -> SubtitleApp:
        if request.param == "none":
            monkeypatch.setenv("NO_COLOR", "1")
        app = found()
        if request.param == "sixteen":
            app.console._color_system = ColorSystem.STANDARD
        return app

    def test_scenes(self, made: SubtitleApp, picture: Picture) -> None:
        assert picture(made, query=QUERY)

    def test_settings(self, made: SubtitleApp, picture: Picture) -> None:
        assert picture(made, "escape", "comma", "down")
