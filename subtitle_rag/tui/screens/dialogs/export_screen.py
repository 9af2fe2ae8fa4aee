"""Dialog to export scenes to a file or the clipboard, with a preview."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import COPY, SWITCH
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED
from subtitle_rag.tui.shared.dialogs.dialog import ListDialog, framed
from subtitle_rag.tui.shared.fields.text_field import TextField, after_typing
from subtitle_rag.tui.shared.messages import ActionFailed
from subtitle_rag.tui.shared.scenes.export_source import ExportSource, export_text, file_name, with_suffix
from subtitle_rag.tui.threads import run_in_thread

if TYPE_CHECKING:
    from subtitle_rag.sharing.export_formats import ExportText

FORMATS = {
    "md": "Markdown",
    "txt": N_("Text"),
    "csv": N_("Table (CSV)"),
    "jsonl": "JSON Lines",
    "anki": N_("Anki cards"),
    "srt": N_("Subtitles (SRT)"),
    "vtt": N_("Subtitles (VTT)"),
}
"""Labels of the formats by name, in the order of the list."""
MOST_LINES = 200
"""Most lines of the preview."""
MOST_CHARACTERS = 500
"""Most characters per line of the preview."""


class ExportScreen(ListDialog[None]):
    AUTO_FOCUS = "#export-path"
    BINDINGS: ClassVar[list[BindingType]] = [
        COPY,
        SWITCH,
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]

    path = getters.query_one("#export-path", TextField)
    page = getters.query_one("#export-preview", VerticalScroll)

    def __init__(self, context: AppContext, sources: Sequence[ExportSource]) -> None:
        """Offer the scenes of `sources`, at least one."""
        super().__init__()
        self.context = context
        self._sources = sources
        self.source = sources[0]
        self._export: ExportText | None = None
        self._replaceable: Path | None = None
        """The file that another Enter overwrites."""

    def compose(self) -> ComposeResult:
        with framed(Vertical(id="export"), _("Export"), self._keys()):
            yield Static(id="export-source", markup=False)
            with Horizontal(id="export-choice"):
                formats = (Option(Content(_(title)), id=name) for name, title in FORMATS.items())
                yield OptionList(*formats, id="export-formats", markup=False, compact=True)
                with VerticalScroll(id="export-preview", can_focus=False):
                    yield Static(id="export-text", markup=False)
            yield Static(id="export-note", markup=False)
            yield TextField(_("file"), id="export-path")

    def _keys(self) -> str:
        text = _("{save} writes the file · {copy} copies · {close} closes")
        return text.format(save=key("screen.enter"), copy=key("scene.copy"), close=key("screen.back"))

    def on_mount(self) -> None:
        self.rows.can_focus = False
        self.rows.highlighted = 0
        self._take_source(self.source)

    # --- scenes and format ---

    @property
    def format(self) -> str:
        option = self.rows.highlighted_option
        return option.id if option and option.id else next(iter(FORMATS))

    def action_switch(self) -> None:
        at = (self._sources.index(self.source) + 1) % len(self._sources)
        self._take_source(self._sources[at])

    def _take_source(self, source: ExportSource) -> None:
        before = file_name(self.source, _("Scenes"), self.format)
        self.source = source
        if self.path.value in ("", before):  # the user has typed no other file name
            self.path.replace_value(file_name(source, _("Scenes"), self.format))
        self._show_source()
        self._read()

    def _show_source(self) -> None:
        parts: list[Content] = []
        for source in self._sources:
            count = len(source.scenes)
            text = clean(source.name) if count == 1 else f"{clean(source.name)} ({count})"
            parts.append(Content.styled(f" {text} ", "reverse" if source is self.source else MUTED))
        if len(parts) > 1:
            parts.insert(0, Content.styled(key("screen.switch"), "bold"))
        self.query_one("#export-source", Static).update(Content(" ").join(parts))

    def action_page(self, pages: int) -> None:
        self.page.scroll_relative(y=pages * max(1, self.page.size.height - 1), animate=False, force=True)

    @on(OptionList.OptionHighlighted)
    def _format_chosen(self) -> None:
        self.path.replace_value(with_suffix(self.path.value, self.format, tuple(FORMATS)))
        self._read()

    @on(Input.Changed, "#export-path")
    def _renamed(self) -> None:
        self._replaceable = None

    # --- the text ---

    def _read(self) -> None:
        self._export = None
        marks, source, name = self.context.marks.scenes, self.source, self.format

        run_in_thread(
            self,
            lambda: export_text(self.context.runtime.library, source, marks, name),
            lambda error: self.call_later(self._show_failure, source, name, error),
            take=partial(self._show_text, source, name),
            group="export-text",
            exclusive=True,
        )

    def _is_awaited(self, source: ExportSource, format: str) -> bool:
        """Return whether scenes and format are still chosen; the user may have changed them meanwhile."""
        return (source, format) == (self.source, self.format)

    def _show_text(self, source: ExportSource, format: str, export: "ExportText") -> None:
        if not self._is_awaited(source, format):
            return
        self._export = export
        lines = export.text.splitlines()
        excerpt = [clean(line[:MOST_CHARACTERS]) for line in lines[:MOST_LINES]]
        if more := len(lines) - len(excerpt):
            excerpt.append(n_("… {n} more line", "… {n} more lines", more, n=f"{more:,}"))
        self._draw_text(Content("\n".join(excerpt)))
        size = n_("{n} scene", "{n} scenes", export.scenes)
        lines_text = n_("{n} line", "{n} lines", len(lines), n=f"{len(lines):,}")
        self._note(f"{size} · {lines_text}")

    def _show_failure(self, source: ExportSource, format: str, error: AppError) -> None:
        if self._is_awaited(source, format):
            self._draw_text(Content(""))
            self._note(clean(error.message))

    def _draw_text(self, text: Content) -> None:
        self.query_one("#export-text", Static).update(text)
        self.page.scroll_home(animate=False, force=True)

    def _note(self, text: str) -> None:
        self.query_one("#export-note", Static).update(Content(text))

    # --- the end ---

    def action_copy(self) -> None:
        if self._export:
            self.context.playback.copy_text(
                self._export.text, _("Text copied: {format}").format(format=_(FORMATS[self.format]))
            )
            self.dismiss()

    def action_take(self) -> None:
        after_typing(self, self._save)

    def _save(self) -> None:
        export, typed = self._export, self.path.value.strip()
        if not export:
            return
        if not typed:
            self._note(_("Name a file first."))
            return
        write = partial(_write, typed, export, self._replaceable)
        run_in_thread(self, write, ActionFailed, take=self._written, group="export-file", exclusive=True)

    def _written(self, result: tuple[Path, bool]) -> None:
        path, is_written = result
        if not is_written:
            self._replaceable = path
            text = _("{path} is there already. {key} again replaces it.")
            self._note(text.format(path=clean(str(path)), key=key("screen.enter")))
            return
        count = self._export.scenes if self._export else 0
        text = n_("{n} scene: {path}", "{n} scenes: {path}", count, path=clean(str(path)))
        self.app.notify(text, markup=False)
        self.dismiss()


def _write(typed: str, export: "ExportText", replaceable: Path | None) -> tuple[Path, bool]:
    """Write the file, unless it exists and is not `replaceable`. Return its path, and whether it was written."""
    from subtitle_rag.sharing.export_formats import write_export

    path = Path(typed).expanduser().absolute()
    if os.path.lexists(path) and path != replaceable:
        return path, False
    write_export(path, export)
    return path, True
