"""Plays scenes, opens videos and copies links."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from subtitle_rag.base.config.settings import Settings
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import clock, watch_url
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.sharing import player
from subtitle_rag.sharing.player.launch import WATCH_S, Launch
from subtitle_rag.tui.controllers.app_port import AppPort
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.messages import (
    ActionFailed,
    Jumped,
    PlayersFound,
    TextCopied,
    VideoOpened,
)
from subtitle_rag.tui.shared.scenes.export_source import playable_clips, scene_markdown
from subtitle_rag.tui.threads import AppThread, to_app_error

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.scenes import Scene

logger = logging.getLogger(__name__)
LOADING_S = 60.0
"""Longest wait for a player to play or fail, for example on a slow connection."""


class PlaybackController:
    def __init__(self, app: AppPort, runtime: "Runtime") -> None:
        self._app = app
        self._runtime = runtime

    @property
    def _settings(self) -> Settings:
        return self._runtime.settings

    # --- playing ---

    def play(self, scene: "Scene", name: str = "") -> None:
        """Play a scene in the player `name` or the default one. Without a display or `BROWSER`, copy its link."""
        self._app.run_in_thread(lambda: self._play(scene, name), ActionFailed, group="jump")

    def _play(self, scene: "Scene", name: str) -> Message | None:
        file = self._file(scene)
        has_link = scene.jump_url is not None
        if not player.can_show():
            if not self._has_only_browser(scene):
                return self._copy_instead(scene, file)
            name = player.BROWSER
        extra = self._settings.players
        default = player.default(self._settings)
        player_name = name or player.choose(default, extra, link=has_link, media=file is not None)
        launch = player.play(
            player_name,
            watch_url=scene.video.url,
            link=scene.jump_url,
            at_ms=scene.at_ms,
            lead_in=self._settings.player.lead_in,
            extra=extra,
            media=file,
            cache=self._settings.paths.cache,
        )
        if launch is None:
            return Jumped(scene, player_name)
        LaunchWatch(self._runtime, self._app.post_message, launch, scene).start()
        return None

    def play_all(self, scenes: "Sequence[Scene]") -> None:
        """Play scenes one after another in mpv, each from its start to its end."""
        self._app.run_in_thread(lambda: self._play_all(scenes), ActionFailed, group="jump")

    def _play_all(self, scenes: "Sequence[Scene]") -> None:
        parts = playable_clips(self._runtime.library, scenes)
        if not parts:
            raise UsageError("no_playable_scene")
        if not player.can_show():
            raise UsageError("no_screen", path=clean(parts[0].what))
        launch = player.play_all(parts, self._settings.paths.cache)
        LaunchWatch(self._runtime, self._app.post_message, launch, scenes[0], len(parts)).start()

    def _file(self, scene: "Scene") -> Path | None:
        """Return the video's file if it can be played here. Raises UsageError if there is no link either."""
        from subtitle_rag.captions.films import find_media

        file = find_media(scene.video)
        if scene.jump_url is None and file is None:
            raise UsageError("no_link", video=clean(scene.video.title))
        return file

    def played(self, message: Jumped) -> None:
        scene = message.scene
        template = (
            _("{player} is still loading {time}: {title}") if message.is_loading else _("Playing from {time}: {title}")
        )
        name = clean(message.player)
        sentence = template.format(time=clock(scene.at_ms), title=clean(scene.video.title), player=name)
        if message.count > 1 and not message.is_loading:
            sentence = n_(
                "Playing {n} scene in {player}.", "Playing {n} scenes in {player}.", message.count, player=name
            )
        self._app.notify(sentence, markup=False)

    # --- a video's page ---

    def open_video(self, video_id: str, title: str) -> None:
        """Open a video's page in the browser. Without a display or `BROWSER`, copy its link."""
        self._app.run_in_thread(lambda: self._open_video(watch_url(video_id), title), ActionFailed, group="open-video")

    def _open_video(self, link: str, title: str) -> Message:
        if not player.can_open_links_apart():
            return TextCopied(link, _copied_instead(link), arrived=False)
        player.play(player.BROWSER, watch_url=link, link=link, at_ms=0, lead_in=0, extra={})
        return VideoOpened(link, title)

    def video_opened(self, message: VideoOpened) -> None:
        self._app.notify(_("Opened in the browser: {title}").format(title=clean(message.title)), markup=False)

    # --- the players ---

    def find_players(self, scene: "Scene") -> None:
        """Find the players for a scene. Posts `PlayersFound`."""
        self._app.run_in_thread(lambda: self._find_players(scene), ActionFailed, group="players", exclusive=True)

    def _find_players(self, scene: "Scene") -> PlayersFound:
        file = self._file(scene)
        names: list[str] = []
        if self._has_only_browser(scene):
            names = [player.BROWSER]
        elif player.can_show():
            link, extra = scene.jump_url is not None, self._settings.players
            names = player.usable(extra, link=link, media=file is not None)
            if not names:
                raise UsageError("no_file_player")
        else:
            self._app.post_message(replace(self._copy_instead(scene, file), sentence=""))
        return PlayersFound(
            scene, tuple((name, self._success_sentence(name, file)) for name in names), player.default(self._settings)
        )

    def _has_only_browser(self, scene: "Scene") -> bool:
        """Whether there is no display but `BROWSER` opens links, as in an editor over SSH."""
        return not player.can_show() and scene.jump_url is not None and player.can_open_links_apart()

    def _success_sentence(self, name: str, file: Path | None) -> str:
        """Return the toast after starting a player."""
        if name == player.BROWSER:
            return _("opens in the browser")
        extra = self._settings.players
        parts = [_("plays the file") if file else _("plays the link")]
        if player.reuses(name, extra, self._settings.paths.cache):
            parts.append(_("keeps its window"))
        if name in extra and extra[name][0] != name:
            parts.append(clean(extra[name][0]))
        return " · ".join(parts)

    # --- the clipboard ---

    def copy_scene_link(self, scene: "Scene") -> None:
        if scene.jump_url:
            self.copy_text(scene.jump_url, _("Link copied: {link}").format(link=scene.jump_url))
        else:
            self._app.tell(UsageError("no_link", video=scene.video.title))

    def _copy_instead(self, scene: "Scene", file: Path | None) -> TextCopied:
        """Copy the link instead of playing. Raises UsageError if there is none."""
        if scene.jump_url is None:
            raise UsageError("no_screen", path=clean(str(file)))
        return self._copied(scene.jump_url, _copied_instead(scene.jump_url))

    def copy_text(self, text: str, sentence: str) -> None:
        """Copy a text, and show `sentence` in a toast."""
        self._app.run_in_thread(lambda: self._copied(text, sentence), ActionFailed, group="jump")

    def _copied(self, text: str, sentence: str) -> TextCopied:
        return TextCopied(text, sentence, self._arrives(text))

    def copy_markdown(self, scene: "Scene", note: str, tag: str) -> None:
        """Copy a scene as Markdown, with its video, lines, context and links."""

        def copy() -> TextCopied:
            text = scene_markdown(self._runtime.library, scene, note, tag)
            return self._copied(text, _("Scene copied as Markdown."))

        self._app.run_in_thread(copy, ActionFailed, group="jump")

    def _arrives(self, text: str) -> bool:
        """Copy to the clipboard with a program, and return whether one did. Over SSH only the terminal can."""
        if not player.can_show():
            return False
        try:
            import pyperclip

            pyperclip.copy(text)
        except Exception:  # its helper programs can fail in any way; the terminal copies instead
            logger.info("the clipboard's program failed", exc_info=True)
            return False
        return True

    def text_copied(self, message: TextCopied) -> None:
        if not message.arrived:
            self._app.copy_to_clipboard(message.text)
        if message.sentence:
            self._app.notify(message.sentence, markup=False)


def _copied_instead(link: str) -> str:
    return _("Nothing can be played here. Link copied: {link}").format(link=link)


class LaunchWatch(AppThread):
    """Posts `Jumped` once the player plays, and `ActionFailed` if it fails, even later."""

    def __init__(
        self,
        runtime: "Runtime",
        post: Callable[[Message], object],
        launch: Launch,
        scene: "Scene",
        count: int = 1,
    ) -> None:
        """Watch a player.

        Args:
            runtime: The runtime.
            post: Receives the messages.
            launch: The started player.
            scene: The scene that it plays, or the first of several.
            count: Number of scenes played in sequence.
        """
        super().__init__("launch-watch", runtime, post)
        self._launch = launch
        self._scene = scene
        self._count = count

    def run(self) -> None:
        try:
            state = self._launch.wait(self._launch.patience_s)
            if state == "replaced":
                return
            self._post(Jumped(self._scene, self._launch.name, is_loading=state == "loading", count=self._count))
            if state == "loading":
                self._launch.wait(LOADING_S)
            elif self._launch.patience_s < WATCH_S:
                self._launch.wait(WATCH_S - self._launch.patience_s)
        except Exception as error:  # no player may end the app
            self._post(ActionFailed(to_app_error(error)))
