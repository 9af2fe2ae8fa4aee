"""Saved searches in the app: saved, told of, opened and forgotten by one key and its list."""

from pathlib import Path

import pytest
from textual.widgets import Static

from subtitle_rag import pipeline
from subtitle_rag.requests import JobRequest
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.saved_search_screen import SavedSearchScreen
from subtitle_rag.tui.state.query_filters import of_videos
from tests.tui.conftest import press, running, shown, toasts

CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:05.000\n만두를 소스에 찍어요\n"


def bring(runtime: Runtime, folder: Path, name: str) -> None:
    """Another process brings captions."""
    path = folder / f"{name}.ko.vtt"
    path.write_text(CAPTIONS, encoding="utf-8")
    list(pipeline.read_captions(runtime, JobRequest((path,))))


def listed(app: SubtitleApp) -> list[tuple[str, str]]:
    screen = app.screen
    assert isinstance(screen, SavedSearchScreen)
    return [(first.plain, second.plain.strip()) for first, second in screen.rows.rows.values()]


@pytest.mark.campaign(part="app")
async def test_a_search_is_saved_by_one_key_told_of_opened_and_forgotten(filled: Runtime, tmp_path: Path) -> None:
    async with running(SubtitleApp(filled, show_times=False), "만두 소스", size=(100, 30)) as (app, pilot):
        await press(pilot, "ctrl+right_square_bracket")
        assert listed(app) == [("Save this search", "만두 소스")]
        await press(pilot, "enter")
        assert listed(app) == [("만두 소스", "")]
        assert any("Saved." in each for each in toasts(app))
        await pilot.press("ctrl+right_square_bracket")
        assert app.screen is app.search_screen

        bring(filled, tmp_path, "새로운 만두")
        app.context.opening.count_saved()
        await press(pilot, "escape")
        assert "1 new scene in saved searches (Ctrl+])" in shown(app, "#notice")

        await press(pilot, "ctrl+right_square_bracket")
        assert listed(app) == [("만두 소스   1 new scene", "")]
        await press(pilot, "enter")
        assert app.search_screen.query_line.typed.replace("video", "영상") == '영상:"새로운 만두" 만두 소스'
        assert app.search_screen.scenes.row_count == 1

        await press(pilot, "ctrl+right_square_bracket")
        assert listed(app)[1] == ("만두 소스", "")
        await press(pilot, "down", "w")
        assert app.search_screen.query_line.typed == "만두 소스"
        await press(pilot, "ctrl+right_square_bracket", "d")
        assert listed(app) == [("Save this search", "만두 소스")]
        assert filled.library.saved_searches.all() == []


async def test_news_of_a_saved_search_are_seen_before_the_last_search(filled: Runtime, tmp_path: Path) -> None:
    filled.library.saved_searches.save("소스", "소스")
    bring(filled, tmp_path, "만두")
    list(pipeline.count_saved(filled))
    async with running(SubtitleApp(filled, show_times=False), size=(100, 30)) as (app, _):
        assert app.search_screen.query_line.typed == ""
        assert "1 new scene in saved searches" in shown(app, "#notice")


async def test_an_empty_list_says_how_to_begin(filled: Runtime) -> None:
    async with running(SubtitleApp(filled, show_times=False), size=(80, 24)) as (app, pilot):
        await press(pilot, "ctrl+right_square_bracket")
        assert "No search is saved yet" in str(app.screen.query_one("#saved-title", Static).content)
        await pilot.press("enter", "d", "w")
        assert isinstance(app.screen, SavedSearchScreen)


def test_a_search_is_narrowed_by_titles_in_the_place_of_its_own_videos() -> None:
    assert of_videos("국수", {}) == "국수"
    assert of_videos('video:"다른 것" kind:short 국수', {"a": "만두", "b": '소"스'}) in (
        "video:만두 video:b kind:short 국수",
        "영상:만두 영상:b kind:short 국수",
    )
