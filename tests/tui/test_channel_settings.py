"""A channel's settings: what is fetched of it, its names, and the model that writes its contexts."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from textual.widgets import Button, Checkbox, Select, Static

from subtitle_rag.config.settings import YoutubeSettings
from subtitle_rag.library.context_store import WindowSelection
from subtitle_rag.library.sources import FollowedSource, SourceOptions
from subtitle_rag.removing import RemovalTarget
from subtitle_rag.runtime import Runtime
from subtitle_rag.tui.app import SubtitleApp
from subtitle_rag.tui.controllers import background, stage_threads
from subtitle_rag.tui.screens.channel_screen import ChannelScreen
from subtitle_rag.tui.screens.library_screen import LibraryScreen
from tests.stand_ins.ollama import Model, StandIn
from tests.tui.conftest import SAMPLE, AppPilot, drawn_by, press, running, settle, toasts, until

NAME, OWN = "writer:q4", "own[b]:q4"
CHANNEL = "느긋한 식탁"


@pytest.fixture
def ollama() -> Iterator[StandIn]:
    with StandIn() as serving:
        serving.add(Model(NAME))
        serving.add(Model(OWN))
        yield serving


@pytest.fixture
def filled(empty: Runtime, ollama: StandIn, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """One video of eight windows of a channel that is followed, and an Ollama of two models."""
    monkeypatch.setattr(background, "SEARCH_AGAIN_S", 0.05)
    monkeypatch.setattr(stage_threads, "REPORT_S", 0.0)
    list(empty.indexer.index(sorted(SAMPLE.glob("*sample-0001*"))))
    llm = replace(empty.settings.llm, hosts=(ollama.base,), model=NAME)
    empty.settings = replace(empty.settings, llm=llm, youtube=YoutubeSettings(tabs=("videos", "streams")))
    return empty


def channel_of(runtime: Runtime) -> str:
    return runtime.library.channels()[0][0]


def follow(runtime: Runtime, options: SourceOptions | None = None) -> FollowedSource:
    url = "https://www.youtube.com/@느긋한식탁"
    return runtime.library.sources.follow(
        url, name=CHANNEL, channel_id=channel_of(runtime), options=options or SourceOptions()
    )


async def opened(pilot: AppPilot) -> ChannelScreen:
    await press(pilot, "f4")
    await press(pilot, "tab", "down", "e")
    screen = pilot.app.screen
    assert isinstance(screen, ChannelScreen), drawn_by(pilot.app)
    return screen


def ticked(screen: ChannelScreen) -> list[str]:
    return [str(box.id).removeprefix("tab-") for box in screen.query(Checkbox) if box.value]


def said(screen: ChannelScreen) -> str:
    return str(screen.query_one("#settings-said", Static).content)


async def save(pilot: AppPilot) -> None:
    pilot.app.screen.query_one("#save", Button).press()
    await settle(pilot)


class TestFetching:
    @pytest.mark.campaign(part="app")
    async def test_each_tab_to_fetch_is_within_the_screen(self, filled: Runtime) -> None:
        follow(filled)
        async with running(SubtitleApp(filled), size=(120, 24)) as (_, pilot):
            screen = await opened(pilot)
            for width in (120, 60, 40):
                await pilot.resize_terminal(width, 24)
                await settle(pilot)
                assert [0 < box.region.right <= width for box in screen.query(Checkbox)] == [True] * 3, width

    @pytest.mark.campaign(part="app")
    async def test_tabs_and_languages_are_those_that_are_followed(self, filled: Runtime) -> None:
        follow(filled, SourceOptions(languages=("ko", "en")))
        async with running(SubtitleApp(filled), size=(80, 24)) as (_, pilot):
            screen = await opened(pilot)
            assert ticked(screen) == ["videos", "streams"]
            assert screen.languages.value == "ko, en"

    @pytest.mark.campaign(part="app")
    async def test_what_is_changed_is_followed_from_now_on(self, filled: Runtime) -> None:
        follow(filled, SourceOptions(limit=5))
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot)
            assert app.focused is screen.query_one("#tab-videos")
            await pilot.press("space", "tab", "space")
            screen.languages.value = "ko,en , ko"
            await save(pilot)
            assert isinstance(app.screen, LibraryScreen)
            assert toasts(app)[-1] == "Saved. Ctrl+R reads its list again and fetches what is missing."
        (source,) = filled.library.sources.followed()
        assert source.options == SourceOptions(tabs=("shorts", "streams"), languages=("ko", "en"), limit=5)

    @pytest.mark.campaign(part="app")
    async def test_nothing_changed_changes_nothing(self, filled: Runtime) -> None:
        before = follow(filled)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            await opened(pilot)
            await save(pilot)
            assert toasts(app)[-1] == "Saved."
        assert filled.library.sources.followed() == [before]
        assert filled.library.contexts.models() == {}

    @pytest.mark.campaign(part="app")
    async def test_something_has_to_be_fetched(self, filled: Runtime) -> None:
        follow(filled)
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot)
            screen.languages.value = " ,"
            await save(pilot)
            assert said(screen) == "! Name a language of captions, for example: ko, en"
            for box in screen.query(Checkbox):
                box.value = False
            await save(pilot)
            assert said(screen) == "! Choose at least one of the kinds of videos."
            assert app.screen is screen

    @pytest.mark.campaign(part="app")
    async def test_a_channel_from_files_has_no_tabs(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot)
            assert not screen.query_one("#tabs").display
            assert not screen.query_one("#spoken").display
            assert app.focused is screen.model

    @pytest.mark.campaign(part="app")
    async def test_a_playlist_has_languages_alone(self, filled: Runtime) -> None:
        url = "https://www.youtube.com/playlist?list=PL" + "c" * 32
        filled.library.sources.follow(url, name="모음", channel_id=None, options=SourceOptions())
        async with running(SubtitleApp(filled), size=(120, 40)) as (_, pilot):
            screen = await opened(pilot)
            assert [part.display for part in screen.query("#tabs, #writer, #names, #propose")] == [False] * 4
            screen.languages.value = "en"
            await save(pilot)
        assert filled.library.sources.followed()[0].options.languages == ("en",)


class TestNames:
    @pytest.mark.campaign(part="app")
    async def test_names_are_kept_one_a_line(self, filled: Runtime) -> None:
        filled.library.contexts.put_glossary(channel_of(filled), ["다온"])
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot)
            assert screen.names.text == "다온\n"
            screen.names.focus()
            await pilot.press(*"은솔포", "enter", *"[b]은솔포")
            await save(pilot)
            assert toasts(app)[-1] == "Saved. Contexts written from now on will use these names."
        assert filled.library.contexts.glossary(channel_of(filled)) == ("다온", "은솔포", "[b]은솔포")

    @pytest.mark.campaign(part="app")
    async def test_proposals_come_after_what_is_there(self, filled: Runtime) -> None:
        filled.library.contexts.put_glossary(channel_of(filled), ["다온"])
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await opened(pilot)
            screen.query_one("#propose", Button).press()
            await until(pilot, lambda: "proposed" in said(screen))
            lines = screen.names.text.splitlines()
            assert lines[0] == "다온"
            assert len(lines) == len(set(lines)) > 1
            await until(pilot, lambda: app.focused is screen.names)  # Textual moves the focus a message later
        assert filled.library.contexts.glossary(channel_of(filled)) == ("다온",)  # not saved

    @pytest.mark.campaign(part="app")
    async def test_undo_in_the_names_brings_no_video_back(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            screen = await opened(pilot)
            app.context.removals.remove(RemovalTarget("비 오는 날", video=filled.library.videos()[0].video.id))
            await settle(pilot)
            screen.names.focus()
            await pilot.press(*"다온", "ctrl+z")
            assert screen.names.text == ""
            assert app.context.removals.removals.waiting


class TestModels:
    @pytest.mark.campaign(part="app")
    async def test_those_on_offer_and_those_that_are_here_can_be_chosen(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(120, 40)) as (_, pilot):
            screen = await opened(pilot)
            rows = {name: str(said) for said, name in screen.model._options}
            assert rows[""] == f"The usual one ({NAME})"
            assert rows[OWN] == f"{OWN} · ✓ here"
            assert any("GB, for 8GB" in row and "✓" not in row for row in rows.values())
            assert screen.model.value == ""

    @pytest.mark.campaign(part="app")
    async def test_another_model_writes_from_now_on_and_what_is_written_stays(
        self, filled: Runtime, ollama: StandIn
    ) -> None:
        with filled.writer() as writer:
            list(writer.run(WindowSelection(limit=3)))
        async with running(SubtitleApp(filled), size=(120, 40)) as (app, pilot):
            app.background.pause("contexts")
            await until(pilot, lambda: "contexts" not in app.background.runs)
            written = filled.library.contexts.counts().written
            screen = await opened(pilot)
            await press(pilot, "enter", "end", "enter")
            assert screen.model.value == OWN
            await save(pilot)
            assert filled.library.contexts.models() == {channel_of(filled): OWN}
            if written < 8:
                app.background.resume("contexts")
            await until(pilot, lambda: filled.library.contexts.counts().written == 8 and not app.background.runs)
        by = filled.library.contexts.by_model()[channel_of(filled)]
        assert by.get(NAME, 0) == written
        assert by.get(OWN, 0) == 8 - written
        assert f"{written} contexts by other models stay: subtitle-rag contexts redo --channel" in toasts(app)[-1]

    @pytest.mark.campaign(part="app")
    async def test_without_ollama_those_on_offer_are_listed(self, filled: Runtime) -> None:
        llm = replace(filled.settings.llm, hosts=("http://127.0.0.1:9",))
        filled.settings = replace(filled.settings, llm=llm)
        async with running(SubtitleApp(filled), size=(120, 40)) as (_, pilot):
            screen = await opened(pilot)
            assert len(screen.model._options) > 2
            assert isinstance(screen.model, Select)
            assert not any("✓" in str(said) for said, _name in screen.model._options)


class TestLeaving:
    @pytest.mark.campaign(part="app")
    async def test_a_key_of_another_screen_keeps_what_is_typed_and_ctrl_s_saves_it(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await opened(pilot)
            screen.names.focus()
            await press(pilot, *"다온", "f3")
            assert app.screen is screen
            assert said(screen).startswith("! Not saved yet.")
            await press(pilot, "!", "ctrl+s")
            assert isinstance(app.screen, LibraryScreen)
            assert toasts(app)[-1].startswith("Saved.")

    @pytest.mark.campaign(part="app")
    async def test_esc_asks_once_where_something_would_be_lost(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await opened(pilot)
            screen.names.focus()
            await press(pilot, *"다온", "escape")
            assert app.screen is screen
            assert said(screen) == "! Not saved yet. Press Esc again to discard the changes."
            await pilot.press("a", "escape")  # whoever goes on is asked again
            await settle(pilot)
            assert app.screen is screen
            await press(pilot, "escape")
            assert isinstance(app.screen, LibraryScreen)
        assert filled.library.contexts.glossary(channel_of(filled)) == ()

    @pytest.mark.campaign(part="app")
    async def test_esc_closes_an_open_list_first(self, filled: Runtime) -> None:
        async with running(SubtitleApp(filled), size=(80, 24)) as (app, pilot):
            screen = await opened(pilot)
            await pilot.press("enter")
            assert screen.model.expanded
            await press(pilot, "escape")
            assert app.screen is screen
            await press(pilot, "escape")
            assert isinstance(app.screen, LibraryScreen)

    @pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
    @pytest.mark.campaign(part="app")
    async def test_everything_is_seen(self, filled: Runtime, size: tuple[int, int]) -> None:
        follow(filled)
        filled.settings = replace(filled.settings, language="ko")
        async with running(SubtitleApp(filled), size=size) as (app, pilot):
            screen = await opened(pilot)
            for part in ("#tabs", "#languages", "#model", "#names", "#save", "#propose"):
                assert screen.query_one(part).region.height, part
                assert screen.region.contains_region(screen.query_one(part).region), part
            assert CHANNEL in drawn_by(app)
            assert f"({NAME})" in drawn_by(app)
            assert "[x]" in drawn_by(app)
            assert "[ ]" in drawn_by(app)
