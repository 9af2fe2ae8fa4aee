"""The library's channels and playlists: what their rows tell, and how they narrow the table of videos below."""

from dataclasses import replace

import pytest
from textual.app import App, ComposeResult

from subtitle_rag.base import i18n
from subtitle_rag.base.domain.values import Video
from subtitle_rag.captions.addresses import parse_address
from subtitle_rag.library.overview import ChannelState
from subtitle_rag.library.sources import SourceOptions
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.screens.library.library_screen import LibraryScreen
from subtitle_rag.tui.screens.library.library_tables import ChannelTable
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.query_filters import in_video
from subtitle_rag.workflows.requests import JobRequest
from tests.stand_ins.youtube import Channel, Clip, Playlist, StandIn
from tests.tui.conftest import (
    AppPilot,
    MakeApp,
    drawn_by,
    library_of,
    press,
    row_cells,
    running,
    settle,
    titles,
    toasts,
    unpaced,
    until,
)
from tests.tui.test_youtube import KITCHEN, clips, kitchen

SECOND = "UC" + "b" * 22


@pytest.fixture(autouse=True)
def english() -> None:
    i18n.activate("en")


@pytest.fixture
def followed(unindexed: Runtime) -> Runtime:
    """A library in which nothing is fetched yet: two channels with three videos each, and a list of one of each."""
    unindexed.settings = replace(unindexed.settings, youtube=unpaced())
    sources = unindexed.library.sources
    for channel, name in (("UC" + "a" * 22, "느린 부엌"), (SECOND, "[red]숲길[/]")):
        url = f"https://www.youtube.com/channel/{channel}"
        own = sources.follow(url, name=name, channel_id=channel, options=SourceOptions())
        sources.put_listed(own.id, [video(name, number, channel) for number in range(3)])
    mixed = sources.follow(
        "https://www.youtube.com/playlist?list=PL1", name="모음", channel_id=None, options=SourceOptions()
    )
    sources.put_listed(mixed.id, [], ["느린 부엌0000"[-11:], "[red]숲길[/]0000"[-11:]])
    return unindexed


def video(name: str, number: int, channel: str) -> Video:
    id = f"{name}{number:04d}"[-11:]
    return Video(id, f"{name} {number}편", channel, name, url=f"https://www.youtube.com/watch?v={id}")


class Shown(App[None]):
    def compose(self) -> ComposeResult:
        yield ChannelTable()


def state(number: int, **changes: object) -> ChannelState:
    own = ChannelState(f"channel {number}", f"채널 {number}", "channel", f"UC{number}", videos=9, windows=1_234, done=9)
    return replace(own, **changes)  # type: ignore[arg-type]


def names(table: ChannelTable) -> list[str]:
    return [row_cells(table, at)[0] for at in range(table.row_count)]


async def opened(pilot: AppPilot, app: SubtitleApp) -> LibraryScreen:
    """The library with the cursor in its channels."""
    await settle(pilot)
    await press(pilot, "ctrl+l", "tab")
    assert library_of(app).tables.channels.has_focus
    return library_of(app)


async def test_one_followed_channel_has_a_row_and_what_has_no_overview_offers_none(unindexed: Runtime) -> None:
    channel = "UC" + "a" * 22
    sources = unindexed.library.sources
    url = f"https://www.youtube.com/channel/{channel}"
    own = sources.follow(url, name="느린 부엌", channel_id=channel, options=SourceOptions())
    sources.put_listed(own.id, [video("느린 부엌", 1, channel)])
    async with running(SubtitleApp(unindexed), size=(120, 40)) as (app, pilot):
        screen = await opened(pilot, app)

        def offered() -> set[str]:
            return {hint.id for hint in screen.query_one(KeyBar).hints}

        assert names(screen.tables.channels) == ["All videos", "느린 부엌"]
        assert offered().isdisjoint({"app.overview", "list.remove"})
        await press(pilot, "down")
        assert {"app.overview", "list.remove", "library.sync"} <= offered()


async def test_a_narrow_table_leaves_its_room_to_the_titles(filled: Runtime) -> None:
    filled.library.sources.put_due(Video("due00000000", "아직 없는 영상", "UC9", "느린 부엌"))  # one more channel
    async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
        screen = await opened(pilot, app)
        await settle(pilot)
        assert "느긋한 식탁 · 2024-" in drawn_by(app)
        for width, date in ((80, "2024-03-22"), (60, "")):
            await pilot.resize_terminal(width, 20)
            await until(pilot, lambda width=width: app.screen.size.width == width)  # type: ignore[misc]
            await settle(pilot)
            assert {row_cells(screen.tables.videos, at)[-1] for at in range(3)} & {"2024-03-22"} == {date} - {""}
            assert "느긋한 식탁 ·" not in drawn_by(app)


class TestRows:
    async def test_the_first_row_stands_for_all_and_the_cursor_stays_on_its_channel(self) -> None:
        app = Shown()
        async with app.run_test(size=(120, 20)) as pilot:
            table = app.query_one(ChannelTable)
            table.show([state(1), state(2), state(3, kind="playlist", name="모음")])
            await pilot.pause()
            assert names(table) == ["All videos", "채널 1", "채널 2", "Playlist: 모음"]
            assert row_cells(table, 0) == ["All videos", "18"]
            assert called(table.channel) == ""
            table.cursor = 2
            table.show([state(0), state(1), state(2)])
            await pilot.pause()
            assert called(table.channel) == "채널 2"

    @pytest.mark.parametrize(
        ("changes", "said", "alarm"),
        [
            ({}, "9", False),
            ({"due": 91}, "+91  9", False),
            ({"failures": {"members_only": 4}}, "9", False),
            ({"failures": {"members_only": 4, "network": 2}, "due": 1}, "! 2  +1  9", True),
        ],
    )
    async def test_a_row_counts_what_fails_what_is_due_and_what_is_there(
        self, changes: dict[str, object], said: str, alarm: bool
    ) -> None:
        async with Shown().run_test(size=(120, 20)) as pilot:
            parts = pilot.app.query_one(ChannelTable).parts(state(1, **changes))
            assert (parts.right, parts.is_alarm) == (said, alarm)


class TestNarrowing:
    @pytest.mark.campaign(part="app")
    async def test_the_chosen_channel_or_list_narrows_the_videos(self, followed: Runtime) -> None:
        async with running(SubtitleApp(followed), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot, app)
            assert called(screen.tables.channels.channel) == ""
            assert len(titles(app)) == 6
            assert names(screen.tables.channels) == ["All videos", "[red]숲길[/]", "느린 부엌", "Playlist: 모음"]
            await pilot.press("down")
            assert titles(app) == [f"[red]숲길[/] {number}편" for number in range(3)]
            assert "[red]숲길[/] · 3 videos" in drawn_by(app)
            await pilot.press("down", "down")
            await pilot.pause()
            assert called(screen.tables.channels.channel) == "모음"
            assert len(titles(app)) == 2
            await pilot.press("home")
            await pilot.pause()
            assert len(titles(app)) == 6

    @pytest.mark.parametrize("key", ["enter", "right"])
    @pytest.mark.parametrize("size", [(120, 40), (80, 24), (80, 18)])
    @pytest.mark.campaign(part="app")
    async def test_enter_goes_into_its_videos_and_escape_comes_back(
        self, followed: Runtime, size: tuple[int, int], key: str
    ) -> None:
        async with running(SubtitleApp(followed), size=size) as (app, pilot):
            screen = await opened(pilot, app)
            await pilot.press("down", "down", key)
            await pilot.pause()
            assert screen.tables.videos.has_focus
            assert screen.tables.row.video
            assert screen.tables.row.video.video.title == "느린 부엌 0편"
            await pilot.press("left" if key == "right" else "escape")
            await pilot.pause()
            assert screen.tables.channels.has_focus
            assert screen.tables.channels.region
            await pilot.press("escape")
            assert screen.field.path.has_focus

    @pytest.mark.campaign(part="app")
    async def test_enter_on_a_video_has_scenes_of_it_alone_looked_for(self, app_of: MakeApp) -> None:
        async with running(app_of("ko"), size=(120, 40)) as (app, pilot):
            await press(pilot, "ctrl+l")
            videos = library_of(app).tables.videos
            videos.focus()
            videos.cursor = [state.video.id for state in videos.values].index("sample-0001")
            chosen = videos.value
            assert chosen
            await press(pilot, "enter")
            assert app.screen is app.search_screen
            line = app.search_screen.query_line
            assert line.value == f'영상:"{chosen.video.title}" '
            assert line.has_focus
            await pilot.press(*"치킨")
            await until(pilot, lambda: app.search_screen.results.text and app.search_screen.scenes.value)
            assert app.search_screen.results.text == f'영상:"{chosen.video.title}" 치킨'
            scene = app.search_screen.scenes.value
            assert scene
            assert scene.video.id == chosen.video.id

    @pytest.mark.parametrize(
        ("title", "said"),
        [
            ("국수 삶기", 'video:"국수 삶기"'),
            ('그는 "네"라고', "video:abcdefghijk"),
            ("「심야식당」 국수", "video:abcdefghijk"),
            ("🍜🍜", "video:abcdefghijk"),
            ("가" * 5_000, "video:abcdefghijk"),
        ],
    )
    def test_a_title_that_no_filter_can_hold_gives_way_to_the_id(self, title: str, said: str) -> None:
        assert in_video("abcdefghijk", title) == said


class TestDoing:
    @pytest.mark.campaign(part="app")
    async def test_u_looks_for_new_videos_of_the_chosen_channel_alone(
        self, unindexed: Runtime, youtube: StandIn, empty: Runtime
    ) -> None:
        second = Channel(SECOND, "@second", "둘째", clips(1, "seconds"))
        first = kitchen(*clips(1))
        youtube.add(first, second)
        empty.settings = replace(empty.settings, youtube=unpaced())
        async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
            for address in (KITCHEN, "@second"):
                app.jobs.start(JobRequest(sources=(parse_address(address),)))
                await settle(pilot)
            screen = await opened(pilot, app)
            first.clips.insert(0, Clip("brandnew000", "새 국수"))
            second.clips.insert(0, Clip("brandnew001", "새 둘째"))
            await pilot.press("down")
            await pilot.pause()
            assert called(screen.tables.channels.channel) == "느린 부엌"
            await press(pilot, "ㅕ")
            assert toasts(app)[-1] == "1 new video can be searched now."
            assert empty.library.video("brandnew000")
            assert empty.library.video("brandnew001") is None
            await until(pilot, lambda: "새 국수" in titles(app))

    @pytest.mark.campaign(part="app")
    async def test_a_list_is_looked_at_by_its_own_address(self, empty: Runtime, youtube: StandIn) -> None:
        list_id = "PL" + "c" * 32
        youtube.add(kitchen(*clips(2)), Playlist(list_id, "모음", clips(2)))
        empty.settings = replace(empty.settings, youtube=unpaced())
        async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(f"https://www.youtube.com/playlist?list={list_id}"),)))
            await settle(pilot)
            screen = await opened(pilot, app)
            assert names(screen.tables.channels) == ["All videos", "Playlist: 모음", "느린 부엌"]
            youtube.clear()
            await press(pilot, "down", "u")
            assert toasts(app)[-1] == "There is nothing new."
            assert youtube.count() > 0

    @pytest.mark.campaign(part="app")
    async def test_x_stops_the_job_and_u_goes_on_with_it(self, empty: Runtime, youtube: StandIn) -> None:
        youtube.add(kitchen(*clips(3)))
        hold = youtube.hold("timedtext", after=1)
        empty.settings = replace(empty.settings, youtube=unpaced())
        async with running(SubtitleApp(empty), size=(120, 40)) as (app, pilot):
            app.jobs.start(JobRequest(sources=(parse_address(KITCHEN),)))
            await until(pilot, lambda: app.screen is app.search_screen and hold.arrived.is_set())
            await pilot.press("ctrl+l")
            await until(
                pilot, lambda: isinstance(app.screen, LibraryScreen) and library_of(app).tables.videos.row_count
            )
            await pilot.press("tab")
            assert library_of(app).tables.has_focus
            await until(pilot, lambda: footer(app, "x") == "Stop", 5)
            await pilot.press("x")
            hold.release()
            await until(pilot, lambda: not app.jobs.busy)
            await settle(pilot)
            assert app.job
            assert app.job.stopped
            assert empty.library.counts().searchable < 3
            await until(pilot, lambda: not footer(app, "x"), 5)
            await press(pilot, "u")
            assert empty.library.counts().searchable == 3

    @pytest.mark.campaign(part="app")
    async def test_letters_typed_into_the_field_do_nothing_else(self, followed: Runtime) -> None:
        async with running(SubtitleApp(followed), size=(120, 40)) as (app, pilot):
            await press(pilot, "ctrl+l")
            await press(pilot, *"ruf v")
            assert library_of(app).field.path.value == "ruf v"
            assert not app.jobs.busy
            assert not {"r", "f", "y", "d"} & set(app.screen.active_bindings)

    @pytest.mark.campaign(part="app")
    async def test_the_footer_ends_with_help_and_has_its_keys_in_eighty_columns(self, followed: Runtime) -> None:
        async with running(SubtitleApp(followed), size=(80, 24)) as (app, pilot):
            await opened(pilot, app)
            await pilot.press("down")
            await pilot.pause()
            footer = drawn_by(app).splitlines()[-1].split()
            assert footer[:2] == ["Enter", "Open"]
            assert footer[-2:] == ["?", "Help"]
            assert {"u", "Esc"} <= set(footer)


def called(channel: ChannelState | None) -> str:
    return channel.name if channel else ""


def footer(app: SubtitleApp, key: str) -> str:
    return next((hint.description for hint in app.screen.query_one(KeyBar).hints if hint.key == key), "")
