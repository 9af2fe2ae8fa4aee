"""The library's empty state and its one field: what it accepts, what it says, and how it leads to searching."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.events import Found, IndexEvent, IndexReport, VideoDone, VideoFailed, WindowsIndexed
from subtitle_rag.base.domain.values import Cue, Details, Video
from subtitle_rag.captions.heard_tracks import heard_track
from subtitle_rag.library.connection import busy_error
from subtitle_rag.listening.listening_plan import ListeningPlan, estimate_listening
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_tables import VideoTable
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.workflows import pipeline
from subtitle_rag.workflows.pipeline import ListeningOffer
from subtitle_rag.workflows.requests import JobRequest
from tests.support.heard import MODEL, use_reader, write_wav
from tests.tui.conftest import (
    SAMPLE,
    AppPilot,
    MakeApp,
    border,
    drawn_by,
    field_note,
    index_sample,
    library_of,
    press,
    running,
    settle,
    toasts,
    until,
)


def said(app: SubtitleApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


async def paste(pilot: AppPilot, text: str) -> None:
    app = pilot.app
    library_of(app).field.path.value = text
    await settle(pilot)


class Steps:
    """An indexer that takes a step when it is told to."""

    def __init__(self, *events: IndexEvent | Exception) -> None:
        self.events = events
        self.go = threading.Semaphore(0)

    def index(self, sources: Sequence[Path], **_options: Any) -> Iterator[IndexEvent]:
        for event in self.events:
            assert self.go.acquire(timeout=10)
            if isinstance(event, Exception):
                raise event
            yield event

    def recut(self) -> Iterator[IndexEvent]:
        yield from ()


class TestEmpty:
    @pytest.mark.campaign(part="app")
    async def test_it_begins_here_and_the_first_captions_lead_to_the_search(self, empty: Runtime) -> None:
        async with running(SubtitleApp(empty), size=(120, 30)) as (app, pilot):
            assert said(app, "#beginning").startswith("Nothing to search yet")
            assert library_of(app).field.path.has_focus
            index_sample(app)
            await settle(pilot)
            assert app.screen is app.search_screen
            assert toasts(app) == ["9 videos can be searched now."]
            await press(pilot, *"치킨 소스")
            assert app.search_screen.scenes.row_count
            await press(pilot, "ctrl+l")
            assert library_of(app).query_one(VideoTable).row_count == 9

    @pytest.mark.campaign(part="app")
    async def test_a_typed_folder_is_counted_and_enter_indexes_it(self, empty: Runtime, tmp_path: Path) -> None:
        folder = tmp_path / "내 자막"
        folder.mkdir()
        for file in SAMPLE.glob("*sample-0001*"):
            shutil.copy(file, folder)
        (folder / "망가짐.srt").write_text("자막이 아닌 글", encoding="utf-8")
        async with running(SubtitleApp(empty)) as (app, pilot):
            await paste(pilot, f"'{folder}'")
            assert field_note(app) == "✓ 2 caption files; Enter indexes them"
            await press(pilot, "enter")
            assert app.screen is app.search_screen
            assert toasts(app) == ["1 video can be searched now. ! 1 failed"]

    @pytest.mark.campaign(part="app")
    async def test_what_cannot_be_indexed_is_told_while_typing(self, unindexed: Runtime) -> None:
        async with running(SubtitleApp(unindexed)) as (app, pilot):
            for typed, answer in (
                ("https://example.com/watch?v=dQw4w9WgXcQ", "! https://example.com/watch?v=dQw4w9WgXcQ is not"),
                ("/없는/곳", "… nothing there yet"),
                ("@느린부엌/shorts", "✓ channel @느린부엌 · shorts; Enter"),
                ("", ""),
            ):
                await paste(pilot, typed)
                assert field_note(app).startswith(answer)
                assert bool(field_note(app)) == bool(answer)

    @pytest.mark.campaign(part="app")
    async def test_enter_on_a_path_that_is_not_there_says_so_here(self, unindexed: Runtime) -> None:
        async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
            await paste(pilot, "/없는/[b]곳")
            await press(pilot, "enter")
            assert "/없는/[b]곳" in said(app, "#failures")
            await paste(pilot, "https://www.youtube.com/@느린부엌")
            assert field_note(app).startswith("✓ channel")
            assert said(app, "#failures") == "", "the refusal is of a text that is no longer there"

    @pytest.mark.campaign(part="app")
    async def test_films_without_captions_offer_listening_with_their_length(
        self, unindexed: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_reader(monkeypatch, tmp_path / "heard.log")
        unindexed.models.settings = replace(unindexed.models.settings, speech=MODEL)
        film = write_wav(tmp_path / "films" / "국수 삶기.wav")
        async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
            await paste(pilot, str(film.parent))
            assert field_note(app).startswith("✓ 1 film or sound file; Enter")
            await press(pilot, "enter")
            assert isinstance(app.screen, ConfirmScreen)
            text = "\n".join(str(line.content) for line in app.screen.query(Static))
            assert "1 video without captions: 3 min 20 s of sound, about 3 min 20 s of listening" in text

    @pytest.mark.campaign(part="app")
    async def test_a_film_with_captions_inside_is_indexed(
        self, unindexed: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (film := tmp_path / "국수.mkv").touch()
        plan = ListeningPlan()
        offer = ListeningOffer(plan, estimate_listening(unindexed.library, (), "reader"), "reader", 0)
        monkeypatch.setattr(pipeline, "offer_listening", lambda *_texts: offer)
        async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
            started: list[JobRequest] = []
            monkeypatch.setattr(library_of(app).context.jobs, "start", started.append)
            await paste(pilot, str(film))
            await press(pilot, "enter")
            assert started == [JobRequest((film,))]
            assert library_of(app).field.path.value == ""


class TestJobs:
    @pytest.mark.campaign(part="app")
    async def test_searching_opens_with_the_first_windows_while_the_job_goes_on(self, unindexed: Runtime) -> None:
        steps = Steps(Found(2), VideoDone("a", "가", "new", 8), WindowsIndexed(8), VideoDone("b", "나", "new", 8))
        unindexed.__dict__["indexer"] = steps
        async with running(SubtitleApp(unindexed), size=(120, 30)) as (app, pilot):
            index_sample(app)
            for _step in range(3):
                steps.go.release()
            while app.screen is not app.search_screen:
                await pilot.pause()
            bar = str(app.screen.query_one("#job", Static).content)
            assert "Videos 1/2" in bar
            assert "Windows 8/16" in bar
            await pilot.press("ctrl+q")
            assert app.is_running
            assert type(app.screen_stack[-1]) is ConfirmScreen
            await pilot.press("escape")
            steps.go.release()
            await settle(pilot)
            assert not app.screen.query_one("#job").display

    @pytest.mark.campaign(part="app")
    async def test_the_same_job_is_not_begun_twice_and_another_one_waits(
        self, unindexed: Runtime, tmp_path: Path
    ) -> None:
        steps = Steps(Found(1), IndexReport())
        unindexed.__dict__["indexer"] = steps
        async with running(SubtitleApp(unindexed), size=(120, 30)) as (app, pilot):
            index_sample(app)
            index_sample(app)
            await pilot.pause()
            assert toasts(app) == ["This is already running or waiting."]
            library_of(app).field.path.value = str(tmp_path)
            await pilot.press("enter")
            while library_of(app).field.path.value:
                await pilot.pause()
            assert "Searching for captions in" in drawn_by(app)
            await pilot.press("ctrl+q")
            assert "1 job waits for it." in drawn_by(app)
            await pilot.press("escape")
            for _step in range(4):
                steps.go.release()
            await settle(pilot)
            assert toasts(app)[-1] == "0 videos can be searched now."

    @pytest.mark.campaign(part="app")
    async def test_a_job_that_cannot_be_met_is_told_and_the_next_one_begins(
        self, unindexed: Runtime, tmp_path: Path
    ) -> None:
        unindexed.__dict__["indexer"] = steps = Steps(UsageError("no_caption_files", path="/tmp/[b]x", formats=".srt"))
        async with running(SubtitleApp(unindexed), size=(120, 30)) as (app, pilot):
            for name in ("하나", "둘"):
                app.jobs.start(JobRequest((tmp_path / name,)))
            steps.go.release()
            while not toasts(app):
                await pilot.pause()
            assert "No caption files in /tmp/[b]x." in toasts(app)[0]
            assert app.jobs.busy
            assert said(app, "#detail").endswith("둘")
            steps.go.release()
            await settle(pilot)
            assert "No caption files in /tmp/[b]x." in said(app, "#failures")

    @pytest.mark.campaign(part="app")
    async def test_failures_are_listed_with_their_reasons(self, unindexed: Runtime) -> None:
        failure = VideoFailed("x", "제목", "no_cues", {"path": "[red]a.srt"})
        steps = Steps(Found(1), failure, IndexReport(failed=1, failures=[failure]))
        unindexed.__dict__["indexer"] = steps
        async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
            index_sample(app)
            for _step in range(3):
                steps.go.release()
            await settle(pilot)
            assert said(app, "#failures").count("a.srt") == 1
            assert "! [red]a.srt is a caption file without a single spoken line." in said(app, "#failures")

    @pytest.mark.campaign(part="app")
    async def test_a_busy_library_says_who_holds_it(self, unindexed: Runtime) -> None:
        steps = Steps(busy_error(Path("/tmp/x"), "library"))
        unindexed.__dict__["indexer"] = steps
        async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
            index_sample(app)
            steps.go.release()
            await settle(pilot)
            assert "Another subtitle-rag is indexing" in said(app, "#failures")
            assert app.job
            assert app.job.ended


async def test_a_library_page_that_comes_before_the_first_frame_opens_the_library(
    app_of: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SubtitleApp, "call_after_refresh", lambda *_arguments: True)
    async with app_of().run_test(size=(100, 30)) as pilot:
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "All videos" in drawn_by(pilot.app))  # type: ignore[arg-type]


async def test_a_library_that_is_being_opened_is_not_said_to_be_empty(
    app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    counts = runtime.library.counts
    monkeypatch.setattr(runtime.library, "counts", lambda: (gate.wait(), counts())[1])
    app = app_of()
    async with app.run_test(size=(100, 30)) as pilot:
        try:
            await pilot.press("ctrl+l")
            await until(pilot, lambda: "Opening the library…" in drawn_by(app))
            assert "Nothing to search yet" not in drawn_by(app)
            assert "look around" not in drawn_by(app)
        finally:
            gate.set()
        await until(pilot, lambda: "All videos" in drawn_by(app))


class TestFull:
    @pytest.mark.campaign(part="app")
    async def test_it_lists_the_videos_and_escape_returns(self, app_of: MakeApp) -> None:
        async with running(app_of("ko"), size=(100, 30)) as (app, pilot):
            await press(pilot, "ctrl+l")
            table = library_of(app).query_one(VideoTable)
            assert border(table) == "모든 영상 · 9편"
            await pilot.press("tab", "tab")
            assert table.has_focus
            await pilot.press("escape", "escape", "escape")
            assert app.screen is app.search_screen


@pytest.mark.campaign(part="app")
async def test_a_video_that_was_heard_says_by_which_model(unindexed: Runtime) -> None:
    video = Video("file-heard", "국수", "films", "films", source="/films/국수.wav")
    track = heard_track([Cue(0, 2_000, "육수부터 끓여요")], [], "ko", "small@1", "int8")
    list(unindexed.indexer.add(video, track, Details()))
    async with running(SubtitleApp(unindexed), size=(100, 30)) as (app, pilot):
        await press(pilot, "ctrl+l")
        library_of(app).query_one(VideoTable).focus()
        await settle(pilot)
        assert said(app, "#detail") == "Transcribed on this machine by small@1."


async def test_words_follow_a_chosen_video_though_the_library_was_opened_from_the_scenes(app_of: MakeApp) -> None:
    async with running(app_of(), "치킨", size=(110, 34)) as (app, pilot):
        await press(pilot, "tab")
        assert app.search_screen.scenes.has_focus
        await press(pilot, "l")
        await press(pilot, "tab", "tab", "enter")
        assert app.search_screen.query_line.has_focus
        await press(pilot, "t")
        assert app.search_screen.query_line.value.endswith(" t")


async def test_down_goes_from_the_words_in_the_field_to_the_videos_that_they_name(app_of: MakeApp) -> None:
    async with running(app_of(), size=(110, 34)) as (app, pilot):
        await press(pilot, "ctrl+l", *"오일장", "down")
        tables = library_of(app).tables
        assert tables.videos.has_focus
        assert tables.videos.row_count == 1
        await press(pilot, "down", "k")
        assert tables.videos.has_focus
        await press(pilot, "enter")
        assert app.search_screen.query_line.value.startswith("video:")


@pytest.mark.parametrize("size", [(120, 40), (60, 20)])
async def test_words_in_the_field_narrow_the_tables_and_enter_searches_for_them(
    app_of: MakeApp, size: tuple[int, int]
) -> None:
    async with running(app_of(), size=size) as (app, pilot):
        await press(pilot, "ctrl+l")
        screen = library_of(app)
        tables = screen.tables
        rows = tables.videos.row_count, tables.channels.row_count
        await paste(pilot, "오일장 느긋한")
        named = [f"{state.video.title} {state.video.channel}" for state in tables.videos.values]
        assert 0 < len(named) < rows[0]
        assert all("오일장" in name and "느긋한" in name for name in named)
        assert field_note(app) == "Enter searches for these words"
        await paste(pilot, "없는 말")
        assert (tables.videos.row_count, tables.channels.row_count) == (0, 1)
        assert field_note(app) == "No title or channel has these words; Enter searches for them"
        await paste(pilot, "")
        assert (tables.videos.row_count, tables.channels.row_count) == rows
        await paste(pilot, "오일장 느긋한")
        await press(pilot, "enter")
        assert app.screen is app.search_screen
        assert app.search_screen.query_line.value == "오일장 느긋한"
        assert app.search_screen.results.text == "오일장 느긋한"


@pytest.mark.parametrize("query", ["A/S 센터", "치킨.srt", "naver.com/abc"])
async def test_words_that_only_look_like_a_file_are_searched_for(app_of: MakeApp, query: str) -> None:
    async with running(app_of()) as (app, pilot):
        await press(pilot, "ctrl+l")
        await paste(pilot, query)
        await press(pilot, "enter")
        assert app.screen is app.search_screen
        assert app.search_screen.results.text == query


async def test_the_footer_and_the_border_name_what_enter_will_do(app_of: MakeApp) -> None:
    async with running(app_of("ko"), size=(110, 34)) as (app, pilot):
        await press(pilot, "ctrl+l")
        for text, enter, back in (
            ("", "가져오기", "검색"),
            ("양념 치킨", "검색", "뒤로"),
            ("@없는채널", "가져오기", "검색"),
        ):
            await paste(pilot, text)
            named = {each.id: each.description for each in app.screen.query_one(KeyBar).hints}
            assert (named["screen.enter"], named["screen.back"]) == (enter, back)
            assert border(library_of(app).field) == enter
