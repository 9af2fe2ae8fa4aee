"""The marked scenes, with notes and tags."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from subtitle_rag.i18n import N_, _, n_
from subtitle_rag.tui import dialogs
from subtitle_rag.tui.keys import bindings, closed_by, key
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.state import ExportSource, clean
from subtitle_rag.tui.text import MUTED, TIME_CELLS, heading, mark_confirmation, mark_label, time_head
from subtitle_rag.tui.widgets import KeyBar, Row, RowList

if TYPE_CHECKING:
    from subtitle_rag.library import Mark
    from subtitle_rag.retrieval.search.scenes import Scene
    from subtitle_rag.tui.controllers import AppContext
    from subtitle_rag.tui.state import MarkedScenes


class MarksScreen(BaseScreen):
    AUTO_FOCUS = "#marks"
    SHOWS_VIDEOS = True
    FOOTER_HIDDEN = BaseScreen.FOOTER_HIDDEN | {"app.transcript"}
    BINDINGS = bindings(
        "scene.play marks.play-all scene.play-with scene.mark marks.remove scene.export",
        "scene.copy scene.copy-markdown marks.tag screen.back",
    ) + closed_by("app.marks")
    FOOTER: ClassVar = {"scene.mark": N_("Note/tag"), "scene.export": N_("Export")}

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._tag: str | None = None
        """The tag of the listed marks; None lists all."""
        self.rows: RowList[Mark] = RowList("marks")

    def compose(self) -> ComposeResult:
        yield Static(id="marks-title", markup=False)
        yield self.rows
        yield KeyBar()

    def on_mount(self) -> None:
        self.show_marks()

    @property
    def _scenes(self) -> "MarkedScenes":
        return self.context.marks.scenes

    def show_marks(self) -> None:
        """List the marks, the newest first, after they were read or changed."""
        if self._tag not in self._scenes.tags:
            self._tag = None
        marks = [mark for mark in reversed(self._scenes.marks) if self._tag in (None, mark.tag)]
        with self.rows.prevent(RowList.Highlighted):
            self.rows.put({str(mark.id): mark for mark in marks}, self._row)
            self.rows.cursor = self.rows.cursor or 0
        self.has_scenes = bool(marks)
        self._show_title()
        self.refresh_bindings()

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_tag":
            return bool(self._scenes.tags)
        return super().allows(action, parameters)

    def _show_title(self) -> None:
        count = self.rows.row_count
        if not self._scenes.marks:
            text = _("No scene is marked. {key} marks the chosen scene of a search.").format(key=key("scene.mark"))
        else:
            text = n_("{n} marked scene", "{n} marked scenes", count)
        if self._tag:
            text = f"{text} · #{clean(self._tag)}"
        self.query_one("#marks-title", Static).update(heading(_("Marks"), text))

    def _row(self, mark: "Mark") -> Row:
        head = time_head(mark.at_ms)
        note = (f"   {clean(mark.note)}", "italic") if mark.note else ""
        where = " · ".join(filter(None, (clean(mark.channel), clean(mark.title))))
        lead = " " * TIME_CELLS + mark_label(mark.tag)
        return Content.assemble(head, clean(mark.line), note), Content.assemble(lead, (where, MUTED))

    def find_scene(self) -> "Scene | None":
        mark = self.rows.value
        return self._scenes.scene_of(mark) if mark else None

    @on(RowList.RowDoubleClicked)
    def action_play(self) -> None:
        self.action_scene("play")

    def action_play_all(self) -> None:
        if marks := self.rows.values:
            self.context.playback.play_all([self._scenes.scene_of(mark) for mark in marks])

    def action_remove(self) -> None:
        if mark := self.rows.value:
            remove = partial(self.context.marks.remove, mark)
            self.app.push_screen(dialogs.ConfirmScreen(mark_confirmation(mark.line, mark.note), remove))

    def action_export(self) -> None:
        scenes = tuple(self._scenes.scene_of(mark) for mark in self.rows.values)
        listed = ExportSource(f"#{self._tag}" if self._tag else _("Marks"), scenes, self._tag or "")
        scene = self.find_scene()
        one_scene = ExportSource(_("This scene"), (scene,) if scene else ())
        if scenes:
            self.scene_actions.export([listed, one_scene])

    def action_next_tag(self) -> None:
        """List the marks with the next tag, and after the last tag all."""
        tags = [None, *self._scenes.tags]
        self._tag = tags[(tags.index(self._tag) + 1) % len(tags)]
        self.show_marks()
