"""Transcripts: the one of the preview by Tab, and all lines of a video by t, with search in them."""

import pytest

from subtitle_rag.base.domain.values import Cue, SpeechGap, watch_url
from subtitle_rag.captions.heard_tracks import heard_track
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.transcript.transcript_screen import TranscriptScreen
from tests.tui.conftest import MakeApp, Outside, press, running, scene, settle, toasts, typed


def opened(app: SubtitleApp) -> TranscriptScreen:
    assert isinstance(app.screen, TranscriptScreen)
    return app.screen


@pytest.mark.campaign(part="app")
async def test_tab_reaches_the_lines_beside_the_list(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), "치킨 소스", size=(120, 40)) as (app, pilot):
        lines = app.search_screen.preview.transcript
        video = app.search_screen.scenes.value.video  # type: ignore[union-attr]
        await settle(pilot)
        await pilot.press("tab", "tab")
        assert lines.has_focus
        first = lines.line
        await pilot.press("down", "down", "up")
        assert lines.line
        assert lines.line > first  # type: ignore[operator]
        at_ms, words = lines.line
        assert app.search_screen.scenes.cursor == 0
        await press(pilot, "enter")
        assert [played["at_ms"] for played in outside.played] == [at_ms]
        await press(pilot, "c", "ㅊ", "ctrl+y")
        assert len(outside.copied) == 3
        assert len(set(outside.copied)) == 1
        assert outside.copied[0].startswith(f"“{words}”\n{video.title} · {video.channel} · ")
        assert outside.copied[0].endswith(watch_url(video.id, at_ms))
        assert toasts(app)[-1] == "Quote copied, with its source."
        await pilot.press("escape")
        assert app.search_screen.scenes.has_focus
        await pilot.press("tab", "tab")
        assert app.search_screen.query_line.has_focus
        await pilot.press("tab", "tab", "맛")
        assert app.search_screen.query_line.value == "치킨 소스맛"


@pytest.mark.campaign(part="app")
async def test_the_whole_transcript_opens_at_the_scene_and_is_searched(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), size=(100, 30)) as (app, pilot):
        await press(pilot, "escape", "t")
        assert app.screen is app.search_screen, "no video is chosen yet"
        await typed(pilot, "치킨 소스")
        found = app.search_screen.scenes.value
        assert found
        assert app.search_screen.scenes.has_focus  # which took the keyboard over, as nothing else had it
        await press(pilot, "t")
        screen = opened(app)
        assert screen.lines.line
        assert screen.lines.line[0] == found.at_ms
        assert screen.lines.has_focus
        assert found.video.title in str(screen.lines.border_title)
        await press(pilot, "소", "스")
        assert screen.text_field.has_focus
        matches = [at for at, (_start, text) in enumerate(screen._lines or ()) if "소스" in text]
        assert len(matches) > 1
        first = screen.lines.cursor
        assert first in matches
        await pilot.press("down")
        assert screen.lines.cursor in {*matches} - {first}
        await press(pilot, "up", "enter")
        assert (screen.lines.cursor, screen.lines.has_focus, outside.played) == (first, True, [])
        await press(pilot, "n", "enter", "c")
        assert [played["at_ms"] for played in outside.played] == [screen.lines.line[0]]
        assert "소스" in outside.copied[0].split("\n")[0]
        await press(pilot, "slash", "없", "는", "말")
        assert str(screen.query_bar.border_subtitle) == "! No line says this."
        await pilot.press("escape", "escape")
        assert screen.text_field.value == ""
        await pilot.press("escape")
        assert app.screen is app.search_screen


async def test_a_video_of_the_library_opens_at_its_beginning(app_of: MakeApp) -> None:
    async with running(app_of(), size=(120, 40)) as (app, pilot):
        await press(pilot, "ctrl+l")
        assert isinstance(app.screen, LibraryScreen)
        app.screen.tables.videos.focus()
        await pilot.pause()
        await press(pilot, "t")
        assert opened(app).lines.cursor == 0


async def test_a_scene_of_a_video_that_the_library_lacks_has_no_transcript(app_of: MakeApp) -> None:
    async with running(app_of(scenes=[scene()]), "치킨") as (app, pilot):
        await press(pilot, "escape", "t")
        assert str(opened(app).query_bar.border_subtitle) == "! This library has no captions of this video."


async def test_the_words_of_the_search_are_marked_and_gone_through(app_of: MakeApp) -> None:
    async with running(app_of(), "소스", size=(100, 30)) as (app, pilot):
        await press(pilot, "escape", "t")
        screen = opened(app)
        lines = screen.lines
        said = [at for at, (_start, text) in enumerate(lines._content.lines) if "소스" in text]
        assert len(said) > 1
        for at in said:
            words = lines._content.words(at)
            assert any("소스" in words.plain[span.start : span.end] for span in words.spans)
        begun = lines.cursor or 0
        await pilot.press("n")
        assert lines.cursor == next((at for at in said if at > begun), said[0])
        await press(pilot, "slash", *"치킨")
        assert all(
            "소스" not in lines._content.words(at).plain[s.start : s.end]
            for at in said
            for s in lines._content.words(at).spans
        )


async def test_speech_that_was_not_understood_has_a_line_that_no_search_finds(
    app_of: MakeApp, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = heard_track([Cue(0, 2_000, "처음 말")], [SpeechGap(3_000, 83_000, "loop")], "ko", "reader", "read")
    monkeypatch.setattr(runtime.library, "track", lambda _video_id: heard)
    async with running(app_of(), "치킨 소스", size=(100, 30)) as (app, pilot):
        await press(pilot, "escape", "t")
        screen = opened(app)
        gap = "[1 min 20 s was not understood here. The model repeated itself here.]"
        assert (3_000, gap) in (screen._lines or ())
        assert gap in screen.lines.text
        screen.text_field.value = "understood"
        await settle(pilot)
        assert screen._matches == {}
