"""One real library of the sample captions, with its index host and Kiwi, shared by all tests of the app.

Nothing is ever played and no clipboard touched: the fixture `outside` stands where the programs of the desktop are.
"""

import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyperclip
import pytest
from textual import events
from textual.content import Content
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import WorkerCancelled

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.config.settings import LlmSettings, ModelSettings, Settings, YoutubeSettings
from subtitle_rag.base.domain.progress import Progress
from subtitle_rag.base.domain.values import Line, Video
from subtitle_rag.library.app_state import forget_searches
from subtitle_rag.runtime import Runtime
from subtitle_rag.search.query import Query
from subtitle_rag.search.scenes import Scene
from subtitle_rag.search.searcher import SearchResult
from subtitle_rag.sharing import player
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import jobs
from subtitle_rag.tui.keys import keymap
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.library.library_tables import VideoTable
from subtitle_rag.tui.screens.search import live_search
from subtitle_rag.tui.shared import failure_reasons
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.progress.stage import Stage, StageName
from subtitle_rag.tui.shared.rows.row_table import RowTable
from subtitle_rag.tui.shared.scenes import preview, result_pane
from subtitle_rag.workflows.requests import JobRequest
from tests.models.conftest import hub
from tests.stand_ins.youtube import StandIn
from tests.support.invented import end_hosts
from tests.support.tiny_models import encoder_folder, reranker_folder

__all__ = ["encoder_folder", "hub", "reranker_folder"]

SAMPLE = Path(str(files("subtitle_rag") / "sample"))

MakeApp = Callable[..., SubtitleApp]


class AppPilot(Pilot[object]):
    """What a pilot is to types: it has the app itself."""

    @property
    def app(self) -> SubtitleApp:
        return cast("SubtitleApp", super().app)


@dataclass
class Outside:
    """What the app did to the desktop."""

    played: list[dict[str, Any]] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)


@dataclass
class Answers:
    """A searcher that gives what it is told to, and remembers what it was asked."""

    answer: Callable[[Query], SearchResult | Iterator[SearchResult]]
    """The one result of a query, or its results one after the other."""
    asked: list[str] = field(default_factory=list)

    def stages(
        self, query: Query, *, limit: int = 20, stop: Callable[[], bool] = lambda: False, **_options: object
    ) -> Iterator[SearchResult]:
        self.asked.append(query.raw)
        answer = self.answer(query)
        yield from [answer] if isinstance(answer, SearchResult) else answer


OPENING_S = 60.0
PROMPT_S = 3.0
"""The longest that leaving may take; what is held there would take a minute."""
NOON = 1_795_230_000
"""2026-11-21 12:00 in Seoul."""


def without_models(settings: Settings) -> Settings:
    """Nobody is offered what these tests are not about."""
    return replace(settings, models=ModelSettings(encoder="", reranker=""))


@pytest.fixture(scope="session")
def sample_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    before = os.environ.get("SUBTITLE_RAG_HOST_LINGER")
    os.environ["SUBTITLE_RAG_HOST_LINGER"] = "0.5"
    yield home
    if before is None:
        del os.environ["SUBTITLE_RAG_HOST_LINGER"]
    else:
        os.environ["SUBTITLE_RAG_HOST_LINGER"] = before


@pytest.fixture(scope="session")
def shared(sample_home: Path) -> Iterator[Runtime]:
    settings = without_models(config.load(home=sample_home, language="en"))
    with Runtime(replace(settings, llm=LlmSettings(hosts=()))) as runtime:  # made before any test has its own home
        list(runtime.indexer.index([SAMPLE]))
        assert runtime.searcher  # built here, so that what a test puts in its place can be taken out again
        yield runtime
    end_hosts([settings.paths.index])


@pytest.fixture
def runtime(shared: Runtime) -> Iterator[Runtime]:
    """The shared runtime; what a test replaces of it, and what it writes of settings, is taken out again."""
    doors, settings = dict(shared.__dict__), shared.settings
    yield shared
    settings.paths.config.unlink(missing_ok=True)
    shared.__dict__.update(doors)
    shared.settings = settings
    forget_searches(shared.library)


@pytest.fixture
def app_of(runtime: Runtime) -> MakeApp:
    """Makes an app on the sample library; with `scenes`, every query is answered by these."""

    def make(language: str = "en", *, scenes: list[Scene] | None = None, **options: Any) -> SubtitleApp:
        runtime.settings = replace(runtime.settings, language=language)
        if scenes is not None:
            answers = Answers(lambda query: SearchResult(query, ("bm25",), tuple(scenes), {"retrieve": 1.0}))
            runtime.__dict__["searcher"] = answers
        return SubtitleApp(runtime, **options)

    return make


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime whose library holds nothing yet."""
    with Runtime(without_models(config.load(home=tmp_path, language="en"))) as runtime:
        yield runtime
    end_hosts([runtime.settings.paths.index])


@pytest.fixture
def unindexed(tmp_path: Path) -> Iterator[Runtime]:
    """A runtime on an empty library in which no index host is started: searches find nothing."""
    with Runtime(without_models(config.load(home=tmp_path, language="en"))) as runtime:
        runtime.__dict__["searcher"] = Answers(lambda query: SearchResult(query, (), (), {}))
        yield runtime


@pytest.fixture
def filled(empty: Runtime) -> Runtime:
    """A library of its own, with two of the sample's videos."""
    list(empty.indexer.index(sorted([*SAMPLE.glob("*sample-0001*"), *SAMPLE.glob("*sample-0002*")])))
    return empty


@pytest.fixture
def hasty(empty: Runtime, youtube: StandIn, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A runtime on an empty library that fetches without pauses."""
    monkeypatch.setattr(jobs, "COUNT_S", 0.05)
    empty.settings = replace(empty.settings, youtube=unpaced())
    return empty


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> Outside:
    seen = Outside()
    monkeypatch.setattr(player, "can_show", lambda: True)
    monkeypatch.setattr(player, "play", lambda name, **how: seen.played.append({"name": name, **how}))
    monkeypatch.setattr(pyperclip, "copy", seen.copied.append)
    return seen


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody types here: the pauses that are made for a typist are cut short."""
    monkeypatch.setattr(preview, "REST_S", 0.02)
    monkeypatch.setattr(preview, "TYPED_REST_S", 0.02)
    monkeypatch.setattr(result_pane, "DIM_S", 0.02)
    monkeypatch.setattr(live_search, "DEBOUNCE_S", 0.02)
    monkeypatch.setattr(live_search, "PAUSE_S", 0.02)


@pytest.fixture
def unhurried(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live search never comes by itself: only Enter searches."""
    monkeypatch.setattr(live_search.LiveSearch, "search_soon", lambda *_: None)


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where times are told, it is noon of one and the same day in Seoul."""
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    clock = SimpleNamespace(time=lambda: NOON, localtime=time.localtime, strftime=time.strftime)
    monkeypatch.setattr(failure_reasons, "time", clock)
    yield
    monkeypatch.undo()
    time.tzset()


def unpaced(rest: int = 1) -> YoutubeSettings:
    return YoutubeSettings(pause=0, rest=rest)


async def settle(pilot: Pilot[object]) -> None:
    """Wait until nothing is under way: no key, no message, no worker.

    The library begins to be opened after the first paint, which on a busy machine is after the first pause.
    """
    app, deadline = pilot.app, time.monotonic() + OPENING_S
    while isinstance(app, SubtitleApp) and not (app.context.opening.ready or app.search_screen.page.error):
        await pilot.pause(0.01)
        if time.monotonic() > deadline:
            break
    await pilot.pause()
    while isinstance(app, SubtitleApp) and (app.jobs.busy or app.key_router.waits):
        await pilot.pause(0.01)
        if time.monotonic() > deadline:
            break
    while running := [worker for worker in pilot.app.workers if not worker.is_finished]:
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete(running)
        await pilot.pause()
    await pilot.pause()


@asynccontextmanager
async def running(app: SubtitleApp, query: str = "", **options: Any) -> AsyncIterator[tuple[SubtitleApp, AppPilot]]:
    """The app and its pilot when nothing is under way, with the query typed."""
    async with app.run_test(**options) as plain:
        pilot = cast("AppPilot", plain)
        await settle(pilot)
        if query:
            await typed(pilot, query)
        yield app, pilot


@asynccontextmanager
async def left_promptly(app: SubtitleApp) -> AsyncIterator[tuple[SubtitleApp, AppPilot]]:
    """The app and its pilot; at the end it is left by its key, and nothing that hangs holds it."""
    async with running(app, size=(120, 40)) as (_, pilot):
        yield app, pilot
        began = time.monotonic()
        await pilot.press("ctrl+q")
        await pilot.pause()
    app.wait_for_threads(PROMPT_S)
    assert time.monotonic() - began < PROMPT_S
    assert app.return_code == 0


async def run_command(pilot: AppPilot, id: str) -> None:
    """Run a command as the command palette does."""
    node, binding = keymap.acts_of(pilot.app.screen)[id]
    await pilot.app.run_action(binding.action, node)
    await pilot.pause()


def index_sample(app: SubtitleApp) -> None:
    """Bring the sample's captions into the app's own library."""
    app.jobs.start(JobRequest((SAMPLE,)))


def toasts(app: SubtitleApp) -> list[str]:
    return [f"{toast.title} {toast.message}".strip() for toast in app._notifications]


def scene(number: int = 1, text: str = "치킨 소스에 찍어 먹어요", *, title: str = "제목", **changes: Any) -> Scene:
    """A scene of one line."""
    own = Scene(
        rank=number,
        id=f"00000000-0000-5000-8000-{number:012d}",
        video=Video(f"video-{number:05d}", title, "UC1", "채널", url="https://www.youtube.com/watch?v=x"),
        start_ms=60_000,
        end_ms=120_000,
        text=text,
        lines=(Line(0, 61_000),),
        highlights=((0, 2),),
        at_ms=61_000,
        score=1.0,
        scores={},
    )
    return replace(own, **changes)


def shown(app: SubtitleApp, selector: str) -> str:
    return str(app.search_screen.query_one(selector, Static).content)


def transcript_text(app: SubtitleApp) -> str:
    """The lines of the preview."""
    return app.search_screen.preview.transcript.text


def library_of(app: SubtitleApp) -> LibraryScreen:
    """The library, which is on top."""
    assert isinstance(app.screen, LibraryScreen)
    return app.screen


def titles(app: SubtitleApp) -> list[str]:
    """The titles that the library lists."""
    table = app.screen.query_one(VideoTable)
    return [row_cells(table, at)[0] for at in range(table.row_count)]


def row_cells(table: RowTable[Any], at: int) -> list[str]:
    """The uncut texts of a row."""
    parts = table.parts(table.values[at])
    return [clean(text) for text in (parts.left, parts.right) if text]


def hint(app: SubtitleApp) -> str:
    return str(app.search_screen.query_one("#top").border_subtitle or "")


def drawn_by(app: SubtitleApp) -> str:
    """The characters on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def at_once(app: SubtitleApp, *keys: str) -> None:
    """Keys as a terminal delivers them in one breath: none waits until the one before has been dealt with."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def press(pilot: Pilot[object], *keys: str) -> None:
    """Press keys one right after the other, and wait until nothing is under way."""
    await pilot.press(*keys)
    await settle(pilot)


async def press_each(pilot: Pilot[object], *keys: str) -> None:
    """Press keys, each when all is done that the one before began."""
    for key in keys:
        await press(pilot, key)


async def typed(pilot: AppPilot, text: str) -> None:
    """As if typed, in one go."""
    pilot.app.search_screen.query_line.insert_text_at_cursor(text)
    await settle(pilot)


async def until(pilot: Pilot[object], holds: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, pilot.app.screen._compositor.render_strips()
        await pilot.pause(0.02)


def stage(app: SubtitleApp, name: StageName) -> Any:
    """The progress of a stage; without any, one in no state."""
    return app.stages.get(name) or SimpleNamespace(state="", processed=0, progress=None)


def bar(app: SubtitleApp, stage: str) -> str:
    """The line about a stage on the screen; empty where it is not shown. In the library all lines about work."""
    if isinstance(app.screen, LibraryScreen):
        parts = border(app.screen.tables.videos, "subtitle"), str(app.screen.query_one("#failures", Static).content)
        return "\n".join(filter(None, parts))
    widget = app.screen.query_one(f"#{stage}", Static)
    return str(widget.content) if widget.display and widget.region else ""


def border(panel: Widget, part: str = "title") -> str:
    """The text in the border of a panel."""
    return Content.from_markup(getattr(panel, f"border_{part}") or "").plain


def field_note(app: SubtitleApp) -> str:
    """What the library says about the text of its field."""
    return border(library_of(app).field, "subtitle")


def commands(app: SubtitleApp) -> list[str]:
    return [command.title for command in app.get_system_commands(app.screen)]


def writing(**changes: Any) -> Stage:
    """Contexts that are being written."""
    return replace(Stage("contexts", "working", Progress("contexts", 6_310, 9_412)), **changes)
