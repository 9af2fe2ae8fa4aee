"""The app: opens the library behind the first paint, keeps the one job, and jumps.

The doors (SQLite, the index's process, Kiwi) are used by worker threads alone. Workers post the messages of
`messages`; the handlers, here and in the screens, change what is seen. Opening is serialised, for `Runtime` builds
each door where it is first asked for.
"""

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.worker import get_current_worker

from subtitle_rag import i18n, player
from subtitle_rag.domain import clock
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.query import parse
from subtitle_rag.tui import commands, jobs, messages
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.jobs import Job
from subtitle_rag.tui.search_screen import SearchScreen
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.retrieval.search import Scene
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.library_screen import LibraryScreen

WARM_UP = "장면"
REPORT_S = 0.1
"""Least time between two reports of a job: every repaint can make an input method's window flicker."""


class SubtitleApp(App[object]):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", N_("Help"), priority=True, id="app.help"),
        Binding("f2", "library", N_("Library"), priority=True, id="app.library"),
        Binding("ctrl+q", "leave", N_("Quit"), priority=True, id="app.quit"),
        Binding("ctrl+p", "command_palette", N_("Commands"), show=False, priority=True, id="app.commands"),
    ]

    job: var[Job | None] = var(None)

    def __init__(self, runtime: "Runtime", *, show_times: bool = True) -> None:
        """The app on an open or yet unopened `runtime`, which stays the caller's to close.

        `show_times=False` leaves out what differs from run to run, for pictures.
        """
        i18n.activate(runtime.settings.language)
        super().__init__()
        self.runtime = runtime
        self.settings = runtime.settings
        self.show_times = show_times
        self.ready = False
        """Searching is possible."""
        self._doors = threading.Lock()
        self._leaving = False
        self.search_screen = SearchScreen()

    def get_default_screen(self) -> "Screen[None]":
        return self.search_screen

    def on_mount(self) -> None:
        if self.settings.tui.theme in self.available_themes:
            self.theme = self.settings.tui.theme
        self.call_after_refresh(self._open)

    # --- the library ---

    def reopen(self) -> None:
        """Try again to open what could not be opened."""
        self._open()

    @work(thread=True, group="open", exclusive=True, exit_on_error=False)
    def _open(self) -> None:
        try:
            with self._doors:
                self.post_message(messages.LibraryOpened(self.runtime.library.counts()))
                # the first search reads models and the vocabulary, for about a second
                self.runtime.searcher.search(parse(WARM_UP), limit=1)
            self.post_message(messages.SearchReady())
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(told(error, self.settings.paths)))

    @work(thread=True, group="count", exclusive=True, exit_on_error=False)
    def _count(self) -> None:
        try:
            self.post_message(messages.LibraryOpened(self.runtime.library.counts()))
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(told(error, self.settings.paths)))

    @on(messages.LibraryOpened)
    def _library_opened(self, message: messages.LibraryOpened) -> None:
        self.search_screen.library_opened(message.counts)
        if library := self._library_screen():
            library.counts = message.counts
        elif message.counts.videos == 0 and self.job is None and self.screen is self.search_screen:
            self.action_library()

    @on(messages.SearchReady)
    def _search_ready(self) -> None:
        self.ready = True
        self.search_screen.search_ready()

    @on(messages.LibraryFailed)
    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self._library_screen():
            library.dismiss()
        self.search_screen.library_failed(message.error)

    # --- the job ---

    def index(self, sources: list[Path]) -> None:
        """Index caption files and folders, one job at a time."""
        if self.job is not None and not self.job.ended:
            self.notify(_("A job is already running; only one can run at a time."), markup=False)
            return
        self.job = Job(", ".join(clean(str(source)) for source in sources))
        self._index(sources, self.job)

    @work(thread=True, group="index", exit_on_error=False)
    def _index(self, sources: list[Path], job: Job) -> None:
        worker = get_current_worker()
        began = last = time.monotonic()
        failure: AppError | None = None
        try:
            with self._doors:
                indexer = self.runtime.indexer
            for event in indexer.index(sources):
                now = time.monotonic()
                searchable = job.searchable
                job = job.after(event, now - began)
                if worker.is_cancelled:  # what is done stays; the next run goes on
                    return
                if now - last > REPORT_S or job.searchable > searchable:
                    last = now
                    self.post_message(messages.JobAdvanced(job))
        except Exception as error:  # whatever a door throws, the app stays up
            failure = told(error, self.settings.paths)
        self.post_message(messages.JobEnded(job, failure))

    @on(messages.JobAdvanced)
    def _job_advanced(self, message: messages.JobAdvanced) -> None:
        first = self.job is not None and not self.job.searchable and message.job.searchable > 0
        self.job = message.job
        if first:
            self._count()
            if library := self._library_screen():
                library.first_windows()

    @on(messages.JobEnded)
    def _job_ended(self, message: messages.JobEnded) -> None:
        self.job = jobs.ended(message.job)
        self._count()
        if library := self._library_screen():
            library.job_ended(self.job, message.error)
        if message.error is None:
            self.notify(jobs.outcome(message.job), markup=False)
            self.search_screen.search_now()
        elif not library:
            self.tell(message.error)

    # --- jumping ---

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

    def tell(self, error: AppError) -> None:
        """A toast with the failure and what to do."""
        self.notify(clean(error.hint), title=clean(error.message), markup=False, severity="warning", timeout=8)

    # --- keys and commands ---

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Help and library do not open over themselves: their own screens bind the same keys to close."""
        if action == "help":
            return not self.screen.is_modal
        if action == "library":
            return self.screen is self.search_screen
        return super().check_action(action, parameters)

    def action_help(self) -> None:
        from subtitle_rag.tui.help_screen import HelpScreen

        self.push_screen(HelpScreen())

    def action_library(self) -> None:
        from subtitle_rag.tui.library_screen import LibraryScreen

        if self.screen is self.search_screen:  # it may be called from anywhere
            self.push_screen(LibraryScreen(self.search_screen.counts))

    def _library_screen(self) -> "LibraryScreen | None":
        from subtitle_rag.tui.library_screen import LibraryScreen

        return next((screen for screen in self.screen_stack if isinstance(screen, LibraryScreen)), None)

    def action_leave(self) -> None:
        running = self.job is not None and not self.job.ended
        if running and not self._leaving:
            self._leaving = True
            said = _("A job is running. Press again to stop it and leave; it goes on next time.")
            self.notify(said, markup=False, severity="warning")
        else:
            self.exit()

    def action_command_palette(self) -> None:
        commands.open_palette(self)

    def search_themes(self) -> None:
        commands.open_themes(self)

    def get_system_commands(self, screen: "Screen[object]") -> Iterable[SystemCommand]:
        yield from commands.entries(self, screen)
