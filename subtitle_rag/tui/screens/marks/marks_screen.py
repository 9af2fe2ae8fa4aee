"""The marked scenes, with notes and tags."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input

from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import (
    BACK,
    COPY,
    COPY_MARKDOWN,
    DOWN,
    EXPORT,
    FILTER,
    MARK,
    PLAY,
    PLAY_WITH,
    REMOVE,
    UP,
    command,
    worded,
)
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, TIME_CELLS, mark_label, time_head
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import mark_confirmation
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.fields.text_field import QueryBar, TextField, after_typing
from subtitle_rag.tui.shared.rows.row_list import Row, RowList
from subtitle_rag.tui.shared.scenes.export_source import ExportSource
from subtitle_rag.tui.shared.scenes.marked_scenes import MarkedScenes

if TYPE_CHECKING:
    from subtitle_rag.library.mark_store import Mark
    from subtitle_rag.search.scenes import Scene


class MarksScreen(BaseScreen):
    OPENED_BY = "open_marks"
    AUTO_FOCUS = "#marks"
    shows_videos = True
    FOOTER = "scene.play scene.mark app.transcript scene.export list.remove screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        PLAY,
        command(
            "marks.play-all", "", "play_all", N_("Play all"), N_("play the listed scenes one after another in mpv")
        ),
        PLAY_WITH,
        worded(MARK, N_("Note/tag"), MARK.tooltip),
        worded(REMOVE, sentence=N_("remove the mark; the scene stays in the library")),
        EXPORT,
        COPY,
        COPY_MARKDOWN,
        worded(FILTER, sentence=N_("only the marks with one tag; again: the next tag, then all")),
        BACK,
        DOWN,
        UP,
    ]

    text_field = getters.query_one("#marks-words", TextField)
    query_bar = getters.query_one(QueryBar)

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self._tag: str | None = None
        """The tag of the listed marks; None lists all."""
        self.rows: RowList[Mark] = RowList("marks")
        self.rows.add_class("panel")

    def compose(self) -> ComposeResult:
        yield QueryBar(TextField(_("Search in the marks"), id="marks-words"), _("Find"))
        yield self.rows
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_bar.set_prompt("/")
        self.show_marks()

    @property
    def _scenes(self) -> MarkedScenes:
        return self.context.marks.scenes

    def show_marks(self) -> None:
        """List the marks, newest first, after they or the field's words have changed."""
        if self._tag not in self._scenes.tags:
            self._tag = None
        words = self.text_field.typed.casefold().split()
        tagged = [mark for mark in reversed(self._scenes.marks) if self._tag in (None, mark.tag)]
        marks = [mark for mark in tagged if all(word in _said(mark) for word in words)]
        with self.rows.prevent(RowList.Highlighted):
            self.rows.put({str(mark.id): mark for mark in marks}, self._row)
            self.rows.cursor = self.rows.cursor or 0
        self.query_bar.set_hint(_("No mark has these words.") if tagged and not marks else "")
        self._show_title()
        self.refresh_bindings()

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remove" and self.text_field.has_focus:  # in the field, its keys delete letters
            return False
        if action == "filter":
            return bool(self._scenes.tags)
        if action in ("play", "play_all", "scene", "remove", "export"):
            return self.rows.row_count > 0
        return super().allows(action, parameters)

    @property
    def footer_ids(self) -> list[str]:
        return super().footer_ids if self.in_field or self.rows.row_count else ["screen.back", "app.help"]

    def label(self, id: str) -> str:
        return _("Marks") if id == "scene.play" and self.in_field else super().label(id)

    def _show_title(self) -> None:
        count = self.rows.row_count
        title = n_("Marks · {n} scene", "Marks · {n} scenes", count, n=f"{count:,}")
        none = _("No scene is marked. {key} marks the chosen scene of a search.").format(key=key("scene.mark"))
        title = f"{title} · #{clean(self._tag)}" if self._tag else title
        label_panel(self.rows, title, "" if self._scenes.marks else none)

    def _row(self, mark: "Mark") -> Row:
        head = time_head(mark.at_ms)
        note = (f"   {clean(mark.note)}", "italic") if mark.note else ""
        where = " · ".join(filter(None, (clean(mark.channel), clean(mark.title))))
        lead = " " * TIME_CELLS + mark_label(mark.tag)
        return Content.assemble(head, clean(mark.line), note), Content.assemble(lead, (where, MUTED))

    def find_scene(self) -> "Scene | None":
        mark = self.rows.value
        return self._scenes.scene_of(mark) if mark else None

    @on(Input.Changed, "#marks-words")
    def _words_changed(self) -> None:
        self.show_marks()

    def action_play(self) -> None:
        after_typing(self, self._enter)

    def _enter(self) -> None:
        """Play the mark. In the field only go to the list: a late syllable may still change the filter."""
        if self.text_field.has_focus:
            self.rows.focus()
        else:
            self._play()

    @on(RowList.RowDoubleClicked)
    def _play(self) -> None:
        self.action_scene("play")

    def action_move(self, rows: int) -> None:
        self.rows.move(rows)

    def action_back(self) -> None:
        if self.text_field.has_focus:
            self.rows.focus()
        elif self.text_field.value:
            self.text_field.value = ""
        else:
            self.dismiss()

    def action_play_all(self) -> None:
        if marks := self.rows.values:
            self.context.playback.play_all([self._scenes.scene_of(mark) for mark in marks])

    def action_remove(self) -> None:
        if mark := self.rows.value:
            remove = partial(self.context.marks.remove, mark)
            self.app.push_screen(ConfirmScreen(mark_confirmation(mark.line, mark.note), remove))

    def action_export(self) -> None:
        scenes = tuple(self._scenes.scene_of(mark) for mark in self.rows.values)
        listed = ExportSource(f"#{self._tag}" if self._tag else _("Marks"), scenes, self._tag or "")
        scene = self.find_scene()
        one_scene = ExportSource(_("This scene"), (scene,) if scene else ())
        if scenes:
            self.scene_actions.export([listed, one_scene])

    def action_filter(self) -> None:
        """Filter by the next tag; after the last tag, list all."""
        tags = [None, *self._scenes.tags]
        self._tag = tags[(tags.index(self._tag) + 1) % len(tags)]
        self.show_marks()


def _said(mark: "Mark") -> str:
    """Return the text of a mark that the filter searches."""
    return " ".join((mark.line, mark.note, mark.tag, mark.title, mark.channel)).casefold()
