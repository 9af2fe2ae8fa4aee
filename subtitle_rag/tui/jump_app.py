"""The part of the app that plays scenes and copies their links."""

from typing import TYPE_CHECKING

from textual import on, work

from subtitle_rag import player
from subtitle_rag.domain import clock
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import _
from subtitle_rag.tui import messages
from subtitle_rag.tui.base_app import BaseApp
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from subtitle_rag.retrieval.scenes import Scene


class JumpApp(BaseApp):
    @work(thread=True, group="jump", exit_on_error=False)
    def jump(self, scene: "Scene") -> None:
        """Play a scene, or copy its link where nothing can be shown."""
        own = self.settings.player
        try:
            if scene.jump_url is None or scene.video.url is None:
                raise UsageError("no_link", video=clean(scene.video.title))
            if not player.can_show():
                self._copy(scene.jump_url, instead=True)
                return
            player.play(
                own.default,
                watch_url=scene.video.url,
                link=scene.jump_url,
                at_ms=scene.at_ms,
                lead_in=own.lead_in,
                extra=self.settings.players,
            )
            self.post_message(messages.Jumped(scene, own.default))
        except Exception as error:  # whatever a player throws, the app stays up
            self.post_message(messages.JumpFailed(told(error, self.settings.paths)))

    @work(thread=True, group="jump", exit_on_error=False)
    def copy_link(self, link: str) -> None:
        self._copy(link, instead=False)

    def _copy(self, link: str, *, instead: bool) -> None:
        """Into the clipboard of the machine that the user sits at: over SSH only the terminal reaches it."""
        arrived = False
        if player.can_show():
            try:
                import pyperclip

                pyperclip.copy(link)
                arrived = True
            except Exception:  # it throws whatever its helper programs do; the terminal is asked instead
                arrived = False
        self.post_message(messages.LinkCopied(link, arrived, instead))

    @on(messages.LinkCopied)
    def _link_copied(self, message: messages.LinkCopied) -> None:
        if not message.arrived:
            self.copy_to_clipboard(message.link)
        said = _("Nothing can be played here. Link copied: {link}") if message.instead else _("Link copied: {link}")
        self.notify(said.format(link=message.link), markup=False)

    @on(messages.Jumped)
    def _jumped(self, message: messages.Jumped) -> None:
        scene = message.scene
        said = _("Playing from {time}: {title}").format(time=clock(scene.at_ms), title=clean(scene.video.title))
        self.notify(said, markup=False)

    @on(messages.JumpFailed)
    def _jump_failed(self, message: messages.JumpFailed) -> None:
        self.tell(message.error)
