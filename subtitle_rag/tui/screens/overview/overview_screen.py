"""The overview of a video or channel: its summary, and rows that open a scene or a video."""

from typing import TYPE_CHECKING, ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.keys.commands import BACK, COPY, DOWN, MARK, PLAY, PLAY_WITH, UP, worded
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.overview.overview_rows import OverviewRow, channel_rows, video_rows
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import channel_and_date
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.messages import ActionFailed
from subtitle_rag.tui.shared.spoken_lines import VideoMoment, scene_of_line

if TYPE_CHECKING:
    from subtitle_rag.answers.content_overview import ChannelOverview, OverviewSubject, VideoOverview
    from subtitle_rag.search.scenes import Scene


class OverviewScreen(BaseScreen):
    OPENED_BY = "open_overview"
    AUTO_FOCUS = "#overview-rows"
    shows_videos = True
    FOOTER = "scene.play scene.mark app.transcript scene.copy screen.back app.help"
    BINDINGS: ClassVar[list[BindingType]] = [
        worded(PLAY, sentence=N_("play from the second of the row; a video of a channel opens its own overview")),
        PLAY_WITH,
        COPY,
        MARK,
        BACK,
        DOWN,
        UP,
    ]

    rows = getters.query_one("#overview-rows", OptionList)

    def __init__(self, context: AppContext, subject: "OverviewSubject") -> None:
        super().__init__(context)
        self._subject = subject
        self._rows: list[OverviewRow] = []

    def compose(self) -> ComposeResult:
        yield Static(id="overview-summary", classes="panel", markup=False)
        yield OptionList(id="overview-rows", classes="panel", markup=False, compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        label_panel(self.rows, "" if isinstance(self._subject, str) else self._subject.title, _("reading…"))
        self._summary.display = False
        self.run_in_thread(self._read, ActionFailed, take=self._show_overview, group="overview")

    @property
    def _summary(self) -> Static:
        return self.query_one("#overview-summary", Static)

    def _read(self) -> "VideoOverview | ChannelOverview":
        from subtitle_rag.answers.content_overview import read_overview

        runtime = self.context.runtime
        return read_overview(runtime.library, self._subject, runtime.words)

    def _show_overview(self, overview: "VideoOverview | ChannelOverview") -> None:
        from subtitle_rag.answers.content_overview import VideoOverview

        if isinstance(overview, VideoOverview):
            self._rows = video_rows(overview)
            label_panel(self.rows, overview.video.title, channel_and_date(overview.video))
            label_panel(self._summary, _("Summary"))
            self._summary.update(Content(clean(overview.summary)))
            self._summary.display = bool(overview.summary)
        else:
            self._rows = channel_rows(overview)
            n = len(overview.videos)
            title = n_("{title} · {n} video", "{title} · {n} videos", n, title=overview.name, n=f"{n:,}")
            label_panel(self.rows, title)
        self.rows.add_options([Option(row.content, disabled=row.video is None) for row in self._rows])
        if self._rows:
            self.rows.highlighted = 1
        elif isinstance(overview, VideoOverview):
            self.rows.add_option(Option(_("This library has no captions of this video."), disabled=True))
        self.refresh_bindings()

    @property
    def _row(self) -> OverviewRow | None:
        highlighted = self.rows.highlighted
        return self._rows[highlighted] if highlighted is not None and highlighted < len(self._rows) else None

    def find_scene(self) -> "Scene | None":
        row = self._row
        if row is None or row.video is None or row.at_ms is None:
            return None
        return scene_of_line(row.video, row.at_ms, row.words)

    @property
    def chosen_moment(self) -> VideoMoment | None:
        row = self._row
        return VideoMoment(row.video, row.at_ms) if row and row.video else None

    @on(OptionList.OptionSelected)
    def action_play(self) -> None:
        row = self._row
        if scene := self.find_scene():
            self.context.playback.play(scene)
        elif row and row.video:
            self.app.push_screen(OverviewScreen(self.context, row.video))

    def action_move(self, rows: int) -> None:
        (self.rows.action_cursor_down if rows > 0 else self.rows.action_cursor_up)()

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "scene":
            return self.find_scene() is not None
        return super().allows(action, parameters)

    def label(self, id: str) -> str:
        is_video = id == "scene.play" and self._row is not None and self._row.at_ms is None
        return _("Overview") if is_video else super().label(id)

    @on(OptionList.OptionHighlighted)
    def _row_changed(self) -> None:
        self.refresh_bindings()
