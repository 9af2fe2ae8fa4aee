"""A video's transcript with a search field. It opens at the scene's line; Enter plays from the chosen line."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import BACK, COPY, DOWN, MARK, PLAY, PLAY_WITH, SWITCH, UP, command, worded
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.shared.content import channel_and_date
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.fields.text_field import QueryBar, TextField, after_typing
from subtitle_rag.tui.shared.messages import ActionFailed
from subtitle_rag.tui.shared.scenes.transcript_lines import TranscriptLines, video_lines
from subtitle_rag.tui.shared.scenes.transcript_list import TranscriptList
from subtitle_rag.tui.shared.spoken_lines import (
    Span,
    SpokenLines,
    VideoMoment,
    find_query_words,
    find_spoken,
    line_at,
    read_gap_lines,
    read_spoken_lines,
    scene_of_line,
)

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


class TranscriptScreen(BaseScreen):
    OPENED_BY = "open_transcript"
    AUTO_FOCUS = "#transcript"
    shows_videos = True
    FOOTER = "scene.play scene.mark scene.copy transcript.next-match app.search screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        worded(PLAY, sentence=N_("play from the line; from the field, go to the match first")),
        PLAY_WITH,
        worded(COPY, sentence=N_("copy the line with title, time and link")),
        MARK,
        command(
            "transcript.next-match",
            "n",
            "match(1)",
            N_("Next match"),
            N_("the next match, and after the last one the first"),
            system=True,
        ),
        SWITCH,
        worded(BACK, sentence=N_("field → lines → empty field → back")),
        worded(DOWN, sentence=N_("choose a line; from the field, the next match or the one before")),
        worded(UP, sentence=N_("choose a line; from the field, the next match or the one before")),
    ]

    text_field = getters.query_one("#words", TextField)
    query_bar = getters.query_one(QueryBar)
    lines = getters.query_one(TranscriptList)

    def __init__(self, context: AppContext, moment: VideoMoment) -> None:
        super().__init__(context)
        self._moment = moment
        self._lines: SpokenLines | None = None
        self._gaps: frozenset[int] = frozenset()
        """Lines that stand for speech without text."""
        self._matched: int | None = None
        """The line of the scene."""
        self._matches: dict[int, list[Span]] = {}
        """Matches of the text typed here, by line."""
        self._query_words: dict[int, list[Span]] = {}
        """Matches of the search that led here, by line."""

    def compose(self) -> ComposeResult:
        yield QueryBar(TextField(_("Search in this transcript"), id="words"), _("Transcript"))
        lines = TranscriptList()
        lines.add_class("panel")
        label_panel(lines, self._moment.video.title, channel_and_date(self._moment.video))
        yield lines
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_bar.set_prompt("/")
        self.query_bar.counter.say(_("reading…"))
        self.run_in_thread(
            self._read_transcript,
            ActionFailed,
            take=self._show_lines,
            group="transcript",
        )

    def _read_transcript(self) -> tuple[SpokenLines, frozenset[int], dict[int, list[Span]]]:
        library, video_id = self.context.runtime.library, self._moment.video.id
        speech, gaps = read_spoken_lines(library.windows_of(video_id)), read_gap_lines(library, video_id)
        lines = sorted([*speech, *gaps], key=lambda line: line[0])
        gap_lines = frozenset(at for at, line in enumerate(lines) if line in gaps)
        return lines, gap_lines, _without(gap_lines, find_query_words(lines, self._moment.query))

    def _show_lines(self, reading: tuple[SpokenLines, frozenset[int], dict[int, list[Span]]]) -> None:
        lines, self._gaps, self._query_words = reading
        self._lines = lines
        if self._moment.at_ms is not None and lines:
            self._matched = line_at(lines, self._moment.at_ms)
        self.lines.put(self._content, at=self._matched or 0)
        self._find()
        if not self._lines:
            self.query_bar.set_hint(_("This library has no captions of this video."))

    @property
    def _content(self) -> TranscriptLines:
        return video_lines(self._lines or (), self._marks, self._matched, self._gaps)

    @property
    def _marks(self) -> dict[int, list[Span]]:
        return self._matches if self.text_field.value.strip() else self._query_words

    @on(Input.Changed, "#words")
    def _find(self) -> None:
        """Mark the matches, and go to the first one at or after the cursor."""
        if self._lines is None:
            return
        self._matches = _without(self._gaps, find_spoken(self._lines, self.text_field.value))
        self.lines.mark(self._content)
        cursor = self.lines.cursor or 0
        if self._matches and cursor not in self._matches:
            self.lines.go_to(next((at for at in self._matches if at > cursor), next(iter(self._matches))))
        typed = bool(self.text_field.value.strip())
        self.query_bar.set_hint(_("No line says this.") if typed and not self._matches else "")
        self._count()

    def action_match(self, step: int) -> None:
        """Go to the next match, or the next word of the search; wraps around."""
        matches, cursor = list(self._marks)[::step], self.lines.cursor or 0
        if matches:
            self.lines.go_to(next((at for at in matches if step * (at - cursor) > 0), matches[0]))
            self._count()

    def _count(self) -> None:
        if self._matches:
            number = next((n for n, at in enumerate(self._matches, 1) if at == self.lines.cursor), None)
            text = f"{number}/{len(self._matches)}" if number else str(len(self._matches))
        else:
            text = n_("{n} line", "{n} lines", self.lines.row_count, n=f"{self.lines.row_count:,}")
        self.query_bar.counter.say(text)

    def label(self, id: str) -> str:
        if id == "app.search":
            return _("Find")
        return _("Lines") if id == "scene.play" and self.in_field else super().label(id)

    def action_copy(self) -> None:
        self.action_scene("copy_quote")

    def find_scene(self) -> "Scene | None":
        return scene_of_line(self._moment.video, *self.lines.line) if self.lines.line else None

    def action_play(self) -> None:
        after_typing(self, self._enter)

    def _enter(self) -> None:
        """Play the line. In the field only go to the lines: a late syllable may still change the matches."""
        if self.text_field.has_focus:
            self.lines.focus()
        else:
            self._play()

    @on(TranscriptList.DoubleClicked)
    def _play(self) -> None:
        self.action_scene("play")

    def action_move(self, lines: int) -> None:
        if self.text_field.has_focus and self._matches:
            self.action_match(lines)
        else:
            self.lines.move(lines)
            self._count()

    def action_switch(self) -> None:
        (self.lines if self.text_field.has_focus else self.text_field).focus()

    def action_back(self) -> None:
        if self.text_field.has_focus:
            self.lines.focus()
        elif self.text_field.value:
            self.text_field.value = ""
        else:
            self.dismiss()


def _without(lines: frozenset[int], marks: dict[int, list[Span]]) -> dict[int, list[Span]]:
    """Return the marks without those in `lines`."""
    return {at: spans for at, spans in marks.items() if at not in lines}
