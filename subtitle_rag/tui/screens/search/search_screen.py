"""The first screen: a query and its scenes. Enter moves from the field to the scenes, and plays there."""

from functools import partial
from typing import TYPE_CHECKING, ClassVar, get_args

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from subtitle_rag.base.i18n import N_, _
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
    SWITCH,
    UP,
    command,
    worded,
)
from subtitle_rag.tui.screens.base_screen import BaseScreen
from subtitle_rag.tui.screens.search.search_page import PageContent, SearchPage
from subtitle_rag.tui.shared.fields.footer import KeyBar
from subtitle_rag.tui.shared.fields.text_field import TextField, after_typing
from subtitle_rag.tui.shared.progress.stage import StageName
from subtitle_rag.tui.shared.progress.status_bars import JobBar, LineBar, StageBar
from subtitle_rag.tui.shared.scenes.export_source import ExportSource
from subtitle_rag.tui.shared.scenes.grouped_scenes import GroupedSceneList
from subtitle_rag.tui.shared.scenes.preview import Preview
from subtitle_rag.tui.shared.scenes.result_pane import WIDE, ResultPane
from subtitle_rag.tui.shared.scenes.scene_list import SceneList
from subtitle_rag.tui.shared.scenes.transcript_list import TranscriptList
from subtitle_rag.tui.shared.spoken_lines import VideoMoment, read_surroundings

if TYPE_CHECKING:
    from subtitle_rag.search.scenes import Scene


class SearchScreen(BaseScreen):
    """Search, list and preview. Keys act on the preview's transcript while it has the focus, else on the list."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012 - Textual declares it so
    AUTO_FOCUS = "#query"
    FOOTER = "scene.play scene.mark app.transcript app.ask scene.export app.library app.help"
    FIELD_FOOTER = "scene.play app.library list.down screen.back app.commands app.help app.quit"
    MENU = "app.ask app.library app.marks app.settings app.search list.down app.help app.quit"
    """The footer if there are no scenes and no field has the focus."""
    BINDINGS: ClassVar[list[BindingType]] = [
        PLAY,
        MARK,
        EXPORT,
        COPY,
        COPY_MARKDOWN,
        PLAY_WITH,
        command(
            "scene.copies",
            "",
            "scene('copies')",
            N_("Same words elsewhere"),
            N_("play the scene in another video that says the same"),
        ),
        command("scene.preview", "p", "toggle_preview", N_("Preview"), N_("show or hide the preview")),
        command(
            "search.refine",
            "",
            "refine",
            N_("Rerank with AI"),
            N_("rerank up to 150 scenes with AI; press again to stop"),
        ),
        FILTER,
        worded(SWITCH, sentence=N_("query → list → transcript")),
        worded(BACK, sentence=N_("query → list → empty query")),
        DOWN,
        UP,
    ]

    def __init__(self, context: AppContext) -> None:
        self.query_line = TextField(_("What was said in the scene?"), id="query")
        self.scenes = GroupedSceneList(lambda scene: context.marks.scenes.tag_of(scene))
        self.preview = Preview(self.scenes, partial(read_surroundings, context.runtime))
        self.results = ResultPane(self.query_line, self.scenes, self.preview)
        super().__init__(context)
        self.page = SearchPage(context, self.results)
        self._selects_on_return = False
        """Whether to select the query on return from another page, so that typing replaces it."""

    def compose(self) -> ComposeResult:
        yield self.page
        yield JobBar()
        yield LineBar("other-run", "other_run_line")
        yield from (StageBar(name) for name in get_args(StageName))
        yield KeyBar()

    def on_mount(self) -> None:
        self.watch(self.page, "content", self._page_drawn)
        self.watch(self.app, "job", self.query_one(JobBar).show)

    def _page_drawn(self, content: PageContent) -> None:
        self.query_one("#offer").set_class(content == "welcome", "-calm")
        if self.lists_scenes and self.focused is None:
            self.scenes.focus()
        self.refresh_bindings()

    @property
    def footer_ids(self) -> list[str]:
        if self.lists_scenes:
            return [id for id in super().footer_ids if id != "screen.back" or not self.in_field]
        ids = (self.FIELD_FOOTER if self.in_field else self.MENU).split()
        return [id for id in ids if id != "list.down" or self.page.ready_queries.display]

    @property
    def lists_scenes(self) -> bool:
        return self.page.content == "scenes"

    def label(self, id: str) -> str:
        """Return other labels for keys that leave the field."""
        if id == "scene.play" and self.in_field:
            return _("Search")
        if id == "list.down":
            return _("Scenes") if self.lists_scenes else _("Choose")
        if id == "screen.back" and self.in_field:
            return _("Menu")
        return super().label(id)

    @property
    def shows_videos(self) -> bool:
        return self.lists_scenes

    @property
    def chosen_moment(self) -> VideoMoment | None:
        scene, result = self.preview.line_scene or self.preview.scene, self.results.result
        return VideoMoment(scene.video, scene.at_ms, result.lexical if result else None) if scene else None

    def find_scene(self) -> "Scene | None":
        return self.results.find_scene()

    @on(events.ScreenSuspend)
    def _left(self) -> None:
        # checked now, since the user may return before the event is handled
        self._selects_on_return = self.app.screen is not self and isinstance(self.app.screen, BaseScreen)

    @on(events.ScreenResume)
    def _returned(self) -> None:
        """Select the query after return from another page, so that typing replaces it."""
        if self._selects_on_return and self.query_line.has_focus:
            self.query_line.select_all()
        self._selects_on_return = False

    def begin_query(self, text: str) -> None:
        """Put the beginning of a query into the field, for the user to continue."""
        self._selects_on_return = False
        self.set_focus(self.query_line)  # from the list, where letters are commands
        self.query_line.replace_value(text)

    def take_query(self) -> str:
        """Empty the field and return its text."""
        typed = self.query_line.value
        self.query_line.value = ""
        return typed

    # --- keys ---

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if (action, parameters) == ("scene", ("copies",)):
            return bool((scene := self.scenes.value) and scene.copies)
        if action in ("scene", "copy", "toggle_preview", "refine"):
            return self.lists_scenes
        if action == "export":
            return self.lists_scenes or bool(self.context.marks.scenes.marks)
        return super().allows(action, parameters)

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        self.results.fit(event.size.width)

    def action_toggle_preview(self) -> None:
        after_typing(self, self.results.toggle)

    def action_switch(self) -> None:
        self.results.focus_next()

    def action_filter(self) -> None:
        self.page.choose_filters()

    def action_refine(self) -> None:
        after_typing(self, self.page.toggle_refinement)

    @on(TranscriptList.DoubleClicked)
    @on(SceneList.RowDoubleClicked)
    def action_play(self) -> None:
        after_typing(self, self._enter)

    def _enter(self) -> None:
        """In the field, search and go to the scenes. In the list, play."""
        if self.in_field or not self.lists_scenes:
            self.page.enter()
        elif scene := self.page.chosen_scene():
            self.scene_actions.run("play", scene)

    def action_scene(self, command: str) -> None:
        """Run a command on the scene. If it copies the link, store the query as a recent search."""
        if scene := self.find_scene():
            if command == "copy_link" and scene.jump_url:
                self.page.recent.note(self.query_line.typed)
            self.scene_actions.run(command, scene)

    def action_copy(self) -> None:
        """Copy the scene's link; in the transcript, the line with its source."""
        if line := self.preview.line_scene:
            self.scene_actions.copy_quote(line)
        else:
            super().action_copy()

    def action_export(self) -> None:
        """Export the scene, the results or the marks."""
        result = self.results.result if self.results.text is not None else None
        scene = self.scenes.value if result else None
        sources = (
            ExportSource(_("This scene"), (scene,) if scene else ()),
            ExportSource(_("Results"), result.scenes if result else (), self.results.text or ""),
            self.scene_actions.marks_source(),
        )
        self.scene_actions.export(sources)

    def action_back(self) -> None:
        """Go back one step: from the field to the scenes, or to the menu if there are none; then clear the field."""
        if self.page.stop_refinement() or self.results.uncover() or self.results.leave_transcript():
            return
        if not self.in_field:
            self.query_line.focus()
            self.query_line.value = ""
        elif self.page.ready_queries.leave():
            return
        elif self.lists_scenes:
            self.scenes.focus()
        else:
            self.set_focus(None)

    def action_move(self, rows: int) -> None:
        """Move through the scenes, leaving the field, or through the ready queries."""
        queries, scenes = self.page.ready_queries, self.scenes
        if rows < 0 and queries.highlighted_choice is None and self.in_field and self.page.can_restore:
            self.page.restore()
        elif queries.display:
            queries.move(rows)
        elif rows < 0 and scenes.has_focus and not scenes.cursor:
            self.query_line.focus()
        else:
            if rows > 0 and self.in_field and self.lists_scenes and not self.results.covers_list:
                scenes.focus()
            self.results.moving_rows.move(rows)

    @on(GroupedSceneList.SceneOpened)
    def _scene_opened(self) -> None:
        self.results.open_preview()
