"""The part of the app that plays scenes and copies their links.

Where the app is shown in a browser (`is_web`), its own machine is not the viewer's: links go to the viewer's browser
and clipboard, and players, which would open here, are not offered.
"""

import logging
from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import get_current_worker

from subtitle_rag import player
from subtitle_rag.domain import clock
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _
from subtitle_rag.library.preferred import prefer_player, preferred_player
from subtitle_rag.tui import messages
from subtitle_rag.tui.base_app import BaseApp
from subtitle_rag.tui.state.clean_text import clean
from subtitle_rag.tui.threads import to_app_error

if TYPE_CHECKING:
    from pathlib import Path

    from subtitle_rag.retrieval.scenes import Scene

logger = logging.getLogger(__name__)


class JumpApp(BaseApp):
    _chosen_player = ""
    """Chosen in this run: comes before what the config and the library name."""

    @work(thread=True, group="jump", exit_on_error=False)
    def jump(self, scene: "Scene", name: str = "") -> None:
        """Play a scene in the player `name`, or in the default one; copy its link where nothing can be shown."""
        try:
            file = self._file(scene)
            if self.is_web:
                self.post_message(messages.Jumped(scene, player.BROWSER))
            elif player.can_show():
                self._play(scene, name, file)
            else:
                self._copy_instead(scene, file)
        except Exception as error:  # whatever a player throws, the app stays up
            self.post_message(messages.JumpFailed(to_app_error(error, self.settings.paths)))

    def _file(self, scene: "Scene") -> "Path | None":
        """The video's file, where it is here and can be played here. Raises UsageError without a link too."""
        from subtitle_rag.captions.media import media

        file = None if self.is_web else media(scene.video)
        if scene.jump_url is None and file is None:
            raise UsageError("no_link", video=clean(scene.video.title))
        return file

    def _play(self, scene: "Scene", name: str, file: "Path | None") -> None:
        extra = self.settings.players
        has_link = scene.jump_url is not None
        chosen = name or player.choose(self._default_player(), extra, link=has_link, media=file is not None)
        player.play(
            chosen,
            watch_url=scene.video.url,
            link=scene.jump_url,
            at_ms=scene.at_ms,
            lead_in=self.settings.player.lead_in,
            extra=extra,
            media=file,
            cache=self.settings.paths.cache,
        )
        self.post_message(messages.Jumped(scene, chosen))

    @on(messages.Jumped)
    def _jumped(self, message: messages.Jumped) -> None:
        scene = message.scene
        if self.is_web and scene.jump_url:
            self.open_url(player.earlier(scene.jump_url, scene.at_ms, self.settings.player.lead_in))
        said = _("Playing from {time}: {title}").format(time=clock(scene.at_ms), title=clean(scene.video.title))
        self.notify(said, markup=False)

    @on(messages.JumpFailed)
    def _jump_failed(self, message: messages.JumpFailed) -> None:
        self.tell(message.error)

    # --- the players ---

    def _default_player(self) -> str:
        """In a worker: the player that is asked first."""
        if self.is_web:
            return player.BROWSER
        if self._chosen_player:
            return self._chosen_player
        remembered = preferred_player(self.runtime.library)
        return player.default(self.settings.player.default, remembered, self.settings.players)

    @work(thread=True, group="players", exclusive=True, exit_on_error=False)
    def choose_player(self, scene: "Scene") -> None:
        """Let somebody choose what plays a scene, among what can do so here."""
        worker = get_current_worker()
        try:
            file = self._file(scene)
            names: list[str] = []
            if self.is_web:
                names = [player.BROWSER]
            elif player.can_show():
                link, extra = scene.jump_url is not None, self.settings.players
                names = player.usable(extra, link=link, media=file is not None)
                if not names:
                    raise UsageError("no_file_player")
            else:
                self._copy_instead(scene, file)
            found = messages.PlayersFound(scene, tuple((n, self._what(n, file)) for n in names), self._default_player())
            if not worker.is_cancelled:  # else another scene's are asked for
                self.post_message(found)
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.JumpFailed(to_app_error(error, self.settings.paths)))

    def _what(self, name: str, file: "Path | None") -> str:
        """What a player does with a scene."""
        if name == player.BROWSER:
            return _("opens the link")
        extra = self.settings.players
        said = [_("plays the file") if file else _("plays the link")]
        if player.reuses(name, extra, self.settings.paths.cache):
            said.append(_("keeps its window"))
        if name in extra and extra[name][0] != name:
            said.append(clean(extra[name][0]))
        return " · ".join(said)

    @on(messages.PlayersFound)
    def _players_found(self, message: messages.PlayersFound) -> None:
        from subtitle_rag.tui.dialogs.player_screen import PlayerScreen

        def play(name: str | None) -> None:
            if name:
                self.jump(message.scene, name)

        if not self.screen.is_modal:
            self.push_screen(PlayerScreen(message), play)

    def prefer_player(self, name: str) -> None:
        """Have a player asked first: in this run and, unless the config names another one, from then on."""
        self._chosen_player = name
        self._remember_player(name)

    @work(thread=True, group="players", exclusive=True, exit_on_error=False)
    def _remember_player(self, name: str) -> None:
        try:
            if not self.settings.player.default:
                prefer_player(self.runtime.library, name)
            self.post_message(messages.PlayerPreferred(name))
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.JumpFailed(to_app_error(error, self.settings.paths)))

    @on(messages.PlayerPreferred)
    def _player_preferred(self, message: messages.PlayerPreferred) -> None:
        configured = self.settings.player.default
        if configured in ("", message.name):
            said = _("{player} plays from here on.").format(player=message.name)
        else:
            said = _("{player} plays until you quit: the config names {configured}.")
            said = said.format(player=message.name, configured=configured)
        self.notify(clean(said), markup=False)

    # --- links ---

    @work(thread=True, group="jump", exit_on_error=False)
    def copy_link(self, link: str) -> None:
        self._copy(link, instead=False)

    def _copy_instead(self, scene: "Scene", file: "Path | None") -> None:
        """Where nothing can be played. Raises UsageError where there is no link either."""
        if scene.jump_url is None:
            raise UsageError("no_screen", path=clean(str(file)))
        self._copy(scene.jump_url, instead=True)

    def _copy(self, link: str, *, instead: bool) -> None:
        """Into the clipboard of the machine that the user sits at: over SSH only the terminal reaches it, and in a
        browser only the browser."""
        arrived = False
        if player.can_show() and not self.is_web:
            try:
                import pyperclip

                pyperclip.copy(link)
                arrived = True
            except Exception:  # it throws whatever its helper programs do; the terminal is asked instead
                logger.info("the clipboard's program failed", exc_info=True)
                arrived = False
        self.post_message(messages.LinkCopied(link, arrived, instead))

    @on(messages.LinkCopied)
    def _link_copied(self, message: messages.LinkCopied) -> None:
        if not message.arrived:
            self.copy_to_clipboard(message.link)
        said = _("Nothing can be played here. Link copied: {link}") if message.instead else _("Link copied: {link}")
        self.notify(said.format(link=message.link), markup=False)
