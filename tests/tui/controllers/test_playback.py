"""What plays, opens and copies, without an app."""

from pathlib import Path

import pytest

from subtitle_rag.base.config import settings as config
from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.runtime import Runtime
from subtitle_rag.sharing import player
from subtitle_rag.sharing.player.launch import Launch, LaunchState
from subtitle_rag.sharing.player.mpv import Clip
from subtitle_rag.tui.controllers.playback import LaunchWatch, PlaybackController
from subtitle_rag.tui.shared.messages import ActionFailed, Jumped, TextCopied, VideoOpened
from tests.tui.conftest import Outside, scene
from tests.tui.fake_app import FakeApp

PAGE = "https://youtu.be/abcdefghijk?t=0"


@pytest.fixture
def app() -> FakeApp:
    return FakeApp()


@pytest.fixture
def playback(app: FakeApp, tmp_path: Path) -> PlaybackController:
    return PlaybackController(app, Runtime(config.load(home=tmp_path, language="en")))


class TestVideo:
    """The page of a video, from the library."""

    def test_it_opens_in_the_browser_of_this_machine(
        self, app: FakeApp, playback: PlaybackController, outside: Outside
    ) -> None:
        playback.open_video("abcdefghijk", "제목")
        assert [(one["name"], one["link"]) for one in outside.played] == [(player.BROWSER, PAGE)]
        [opened] = app.posted
        assert isinstance(opened, VideoOpened)
        playback.video_opened(opened)
        assert app.toasts == ["Opened in the browser: 제목"]

    def test_without_a_screen_its_link_is_copied(
        self, app: FakeApp, playback: PlaybackController, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(player, "can_show", lambda: False)
        playback.open_video("abcdefghijk", "제목")
        assert app.posted == [TextCopied(PAGE, f"Nothing can be played here. Link copied: {PAGE}", arrived=False)]
        [copied] = app.posted
        assert isinstance(copied, TextCopied)
        playback.text_copied(copied)
        assert app.copied == [PAGE]

    @pytest.mark.parametrize(("browser", "opens"), [("/opt/editor/open-there", True), ("w3m", False)])
    def test_a_named_browser_needs_no_screen_unless_it_would_draw_over_the_app(
        self,
        app: FakeApp,
        playback: PlaybackController,
        outside: Outside,
        monkeypatch: pytest.MonkeyPatch,
        browser: str,
        opens: bool,
    ) -> None:
        monkeypatch.setattr(player, "can_show", lambda: False)
        monkeypatch.setenv("BROWSER", browser)
        playback.open_video("abcdefghijk", "제목")
        playback.play(scene())
        assert [one["name"] for one in outside.played] == [player.BROWSER, player.BROWSER] * opens
        assert [type(message) for message in app.posted] == ([VideoOpened, Jumped] if opens else [TextCopied] * 2)


class StubLaunch(Launch):
    """A player that goes through these states; None is a failure."""

    def __init__(self, *states: LaunchState | None, patience_s: float) -> None:
        self.name, self.link, self.patience_s = "mpv", PAGE, patience_s
        self._states = list(states)

    def wait(self, seconds: float) -> LaunchState:
        state = self._states.pop(0)
        if state is None:
            raise AppError("player_failed", player=self.name, link=self.link, reason="HTTP Error 403")
        return state


class TestLaunch:
    @pytest.mark.parametrize(
        ("launch", "toasts", "codes"),
        [
            (StubLaunch("playing", patience_s=5), ["Playing from 1:01: title 1"], []),
            (StubLaunch(None, patience_s=5), [], ["player_failed"]),
            (StubLaunch("loading", "playing", patience_s=5), ["mpv is still loading 1:01: title 1"], []),
            (StubLaunch("loading", None, patience_s=5), ["mpv is still loading 1:01: title 1"], ["player_failed"]),
            (StubLaunch("playing", None, patience_s=1), ["Playing from 1:01: title 1"], ["player_failed"]),
            (StubLaunch("replaced", patience_s=5), [], []),
        ],
    )
    def test_only_a_player_that_plays_is_a_success(
        self,
        app: FakeApp,
        playback: PlaybackController,
        outside: Outside,
        monkeypatch: pytest.MonkeyPatch,
        launch: StubLaunch,
        toasts: list[str],
        codes: list[str],
    ) -> None:
        monkeypatch.setattr(player, "play", lambda _name, **_how: launch)
        monkeypatch.setattr(LaunchWatch, "start", LaunchWatch.run)
        playback.play(scene(title="title 1"))
        for message in app.posted:
            if isinstance(message, Jumped):
                playback.played(message)
        assert app.toasts == toasts
        assert [message.error.code for message in app.posted if isinstance(message, ActionFailed)] == codes


def test_scenes_play_one_after_another_from_their_files_or_links(
    app: FakeApp, playback: PlaybackController, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[list[Clip]] = []

    def play_all(clips: list[Clip], _cache: Path) -> Launch:
        played.append(clips)
        raise UsageError("no_player", player="mpv")

    monkeypatch.setattr(player, "play_all", play_all)
    playback.play_all([scene(), scene(2, video=Video("file-2", "파일", "", "")), scene(3)])
    assert [(clip.what, clip.start_ms, clip.end_ms) for clip in played[0]] == [
        ("https://www.youtube.com/watch?v=x", 61_000, 120_000)
    ] * 2
    monkeypatch.setattr(player, "can_show", lambda: False)
    playback.play_all([scene()])
    playback.play_all([scene(2, video=Video("file-2", "파일", "", ""))])
    codes = [message.error.code for message in app.posted if isinstance(message, ActionFailed)]
    assert codes == ["no_player", "no_screen", "no_playable_scene"]
    assert len(played) == 1
    playback.played(Jumped(scene(), "mpv", count=3))
    assert app.toasts == ["Playing 3 scenes in mpv."]
