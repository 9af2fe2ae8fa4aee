"""The library's tables, whose rows can be taken out, brought back and set."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from subtitle_rag.i18n import N_
from subtitle_rag.tui.screens.library_tables import LibraryTables
from subtitle_rag.tui.state.removal import RemovalTarget
from subtitle_rag.tui.widgets.channel_table import name

if TYPE_CHECKING:
    from subtitle_rag.library.overview import ChannelState
    from subtitle_rag.tui.context import AppContext

EDITS = ("remove", "settings")
"""Actions that depend on the row under the cursor."""


class EditableTables(LibraryTables):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "d,ㅇ,delete",
            "remove",
            N_("Remove"),
            id="library.remove",
            tooltip=N_("take the video or the channel out of the library"),
        ),
        Binding(
            "e,ㄷ",
            "settings",
            N_("Settings"),
            id="channel.settings",
            tooltip=N_("the channel's tabs, languages, names and model"),
        ),
        Binding("z,ㅋ", "app.undo_removal", N_("Undo"), show=False, id="library.bring-back"),
    ]

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._edits: tuple[bool | None, ...] = ()

    def show_deeds(self) -> None:
        super().show_deeds()
        edits = tuple(self.check_action(action, ()) for action in EDITS)
        if edits != self._edits:
            self._edits = edits
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove":
            return self._target is not None
        if action == "settings":
            return self._set_channel is not None
        return super().check_action(action, parameters)

    @property
    def _target(self) -> RemovalTarget | None:
        """What is under the cursor of the table that has the focus."""
        if video := self.chosen_video:
            return RemovalTarget(video.video.title, video=video.video.id)
        channel = self.chosen_channel if self.channels.has_focus else None
        return RemovalTarget(name(channel), "", channel.channel_id, channel.sources) if channel else None

    def action_remove(self) -> None:
        if target := self._target:
            self.context.removals.remove(target)

    @property
    def _set_channel(self) -> "ChannelState | None":
        """The channel or playlist under the cursor, or that of the video there."""
        if video := self.chosen_video:
            id = video.video.channel_id
            return next((state for state in self._channels if state.channel_id == id), None)
        return self.chosen_channel if self.channels.has_focus else None

    def action_settings(self) -> None:
        if channel := self._set_channel:
            from subtitle_rag.tui.screens.channel_screen import ChannelScreen

            self.app.push_screen(ChannelScreen(self.context, replace(channel, name=name(channel))))
