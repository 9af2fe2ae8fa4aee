"""The overview of a video or channel: opened from everywhere, read in a thread, and each row opens its second."""

import pytest
from textual.widgets import Static

from subtitle_rag.answers.content_overview import ChannelOverview, OverviewTerm, VideoOverview
from subtitle_rag.base.domain.values import Video, watch_url
from subtitle_rag.library.summary_store import VideoSummary
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.overview.overview_rows import channel_rows, video_rows
from subtitle_rag.tui.screens.overview.overview_screen import OverviewScreen
from tests.tui.conftest import AppPilot, MakeApp, Outside, border, press, press_each, running, settle, toasts, typed

SUMMARY = "두 사람이 바삭골의 새 치킨을 먹습니다. 소스와 가루를 견줍니다."
HOSTILE = "[red]치킨[/]\x1b[2J\n둘째 줄"


def opened(app: SubtitleApp) -> OverviewScreen:
    assert isinstance(app.screen, OverviewScreen)
    return app.screen


def shown(screen: OverviewScreen) -> list[str]:
    return [str(screen.rows.get_option_at_index(at).prompt) for at in range(screen.rows.option_count)]


async def open_of_video(pilot: AppPilot) -> OverviewScreen:
    await typed(pilot, "치킨 소스")
    await press(pilot, "escape", "o")
    return opened(pilot.app)


@pytest.mark.campaign(part="app")
async def test_a_result_s_video_opens_and_its_rows_play_their_second(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), size=(100, 30)) as (app, pilot):
        await press(pilot, "escape", "o")
        assert type(app.screen).__name__ == "SearchScreen", "no video is chosen yet"
        await press(pilot, "slash")
        screen = await open_of_video(pilot)
        found = app.search_screen.scenes.value
        assert found
        assert found.video.title == border(screen.rows)
        assert not screen.query_one("#overview-summary").display, "no model has written one"
        rows = shown(screen)
        assert rows[0] == "Sections"
        assert rows[1].startswith("    0:00  신메뉴 소개  ")
        assert {"\nMost replayed", "\nKey terms", "\nNames"} <= set(rows)
        await press_each(pilot, "down", "ㅓ", "k", "enter")
        assert [played["at_ms"] for played in outside.played] == [90_535]
        await press(pilot, "ctrl+y", "c")
        assert outside.copied == [watch_url(found.video.id, 90_535)] * 2
        await press(pilot, "t")
        assert type(app.screen).__name__ == "TranscriptScreen"
        await press_each(pilot, "escape", "o")
        assert app.screen is screen, "it opens no second page of the same"
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "SearchScreen"


@pytest.mark.campaign(part="app")
async def test_titles_are_passed_over_and_a_click_opens_too(app_of: MakeApp, outside: Outside) -> None:
    async with running(app_of(), size=(100, 40)) as (_, pilot):
        screen = await open_of_video(pilot)
        title = shown(screen).index("\nMost replayed")
        await pilot.press(*["down"] * (title - 1))
        assert screen.rows.highlighted == title + 1
        await pilot.click("#overview-rows", offset=(5, title + 4))
        await settle(pilot)
        assert [played["at_ms"] for played in outside.played] == [165_240]


@pytest.mark.campaign(part="app")
async def test_a_row_can_be_marked(filled: Runtime) -> None:
    async with running(SubtitleApp(filled), size=(100, 30)) as (_, pilot):
        await open_of_video(pilot)
        await press(pilot, "down", "space")
        [mark] = filled.library.marks.all()
        assert mark.video_id == "sample-0001"
        assert mark.at_ms == 90_535


@pytest.mark.campaign(part="app")
async def test_a_channel_lists_its_videos_which_open_theirs(filled: Runtime, outside: Outside) -> None:
    filled.library.summaries.put(VideoSummary("sample-0001", SUMMARY, "m", "d", "p", 1, True, 1, 1, 1, 1))
    filled.library.sources.put_due(Video("due00000000", "아직 없는 영상", "UC9", "느린 부엌"))  # one more channel
    async with running(SubtitleApp(filled), size=(100, 40)) as (app, pilot):
        await press(pilot, "ctrl+l")
        assert isinstance(app.screen, LibraryScreen)
        app.screen.tables.channels.focus()
        await press(pilot, "o")
        assert toasts(app) == ["No video is chosen yet."]
        await press(pilot, "down", "o")
        screen = opened(app)
        assert border(screen.rows) == "느긋한 식탁 · 2 videos"
        rows = shown(screen)
        assert rows[0] == "Videos"
        assert rows[2].startswith("2024-03-22  바삭골 신메뉴")
        assert rows[2].endswith("\n            두 사람이 바삭골의 새 치킨을 먹습니다.")
        await pilot.press("c", "space")
        assert outside.copied == [], "a row of a video has no second"
        await press(pilot, "down", "enter")
        assert opened(app) is not screen
        summary = opened(app).query_one("#overview-summary", Static)
        assert (border(summary), str(summary.content)) == ("Summary", SUMMARY)
        await pilot.press("escape", "escape")
        assert isinstance(app.screen, LibraryScreen)


async def test_a_video_of_the_library_without_captions_says_so(filled: Runtime) -> None:
    filled.library.sources.put_due(Video("due00000000", "아직 없는 영상", "UC9", "느린 부엌"))
    async with running(SubtitleApp(filled), size=(100, 40)) as (app, pilot):
        app.push_screen(OverviewScreen(app.context, Video("due00000000", "아직 없는 영상", "UC9", "느린 부엌")))
        await settle(pilot)
        assert shown(opened(app)) == ["This library has no captions of this video."]
        await pilot.press("enter", "c", "j", "k", "t")
        assert toasts(app) == ["No video is chosen yet."]


def test_text_from_outside_is_no_markup() -> None:
    video = Video("v", HOSTILE, "c", HOSTILE)
    mention = OverviewTerm(HOSTILE, video, 1_000, 2)
    rows = [
        *video_rows(VideoOverview(video, HOSTILE, (), (mention,), (mention,), ())),
        *channel_rows(ChannelOverview("c", HOSTILE, ((video, HOSTILE),), (mention,), (mention,))),
    ]
    for row in rows:
        assert "\x1b" not in row.content.plain
        assert row.content.plain.replace("\n", "").isprintable()
    assert "[red]치킨[/][2J 둘째 줄" in rows[1].content.plain


def test_rows_without_anything_have_no_title() -> None:
    video = Video("v", "제목", "c", "채널")
    assert video_rows(VideoOverview(video, "", (), (), (), ())) == []
    assert channel_rows(ChannelOverview("c", "채널", (), (), ())) == []
