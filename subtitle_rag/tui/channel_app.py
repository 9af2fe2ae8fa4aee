"""The part of the app that has a channel's settings changed, and does what follows from that."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _
from subtitle_rag.tui import messages
from subtitle_rag.tui.removal_app import RemovalApp
from subtitle_rag.tui.state.clean_text import clean

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState


class ChannelApp(RemovalApp):
    def set_channel(self, channel: "ChannelState") -> None:
        """Show what is set for a channel or a playlist."""
        from subtitle_rag.tui.screens.channel_screen import ChannelScreen

        self.push_screen(ChannelScreen(channel))

    def channel_saved(self, message: messages.ChannelSaved) -> None:
        self.notify(clean(" ".join([_("Saved."), *message.told])), markup=False, timeout=8)
        self.look_up()
        if not message.model:
            return
        if "contexts" in self._runs and "contexts" not in self._paused:  # the run under way asks the models of before
            self._pause("contexts")
            self._go_on("contexts")
        else:
            self.begin("contexts")
