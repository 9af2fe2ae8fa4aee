"""The app: opens the library behind the first paint, keeps the one job, and jumps.

The doors (SQLite, the index's process, Kiwi) are used by worker threads alone. Workers post the messages of
`messages`; the handlers, here and in the screens, change what is seen. Opening is serialised, for `Runtime` builds
each door where it is first asked for.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.reactive import var

from subtitle_rag import i18n, player
from subtitle_rag.domain import clock
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.retrieval.query import parse
from subtitle_rag.tui import commands, jobs, messages, offer
from subtitle_rag.tui.answer_app import AnswerApp
from subtitle_rag.tui.errands import Errand, Queue, Run
from subtitle_rag.tui.failures import told
from subtitle_rag.tui.jobs import Job
from subtitle_rag.tui.search_screen import SearchScreen
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from textual.screen import Screen

    from subtitle_rag.retrieval.scenes import Scene
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.tui.library_screen import LibraryScreen

WARM_UP = "장면"
REPORT_S = 0.1
"""Least time between two reports of a job: every repaint can make an input method's window flicker."""
COUNT_S = 2.0
"""And between two looks at what it has changed in the library."""


class SubtitleApp(AnswerApp):
    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "subtitle-rag"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", N_("Help"), priority=True, id="app.help"),
        Binding("f2", "library", N_("Library"), priority=True, id="app.library"),
        Binding("ctrl+r", "sync", N_("New videos"), priority=True, id="library.sync"),
        Binding("ctrl+s", "stop", N_("Stop"), priority=True, id="library.stop"),
        Binding("ctrl+q", "leave", N_("Quit"), priority=True, id="app.quit"),
        Binding("ctrl+p", "command_palette", N_("Commands"), show=False, priority=True, id="app.commands"),
    ]

    job: var[Job | None] = var(None)

    def __init__(self, runtime: "Runtime", *, show_times: bool = True) -> None:
        """The app on an open or yet unopened `runtime`, which stays the caller's to close.

        `show_times=False` leaves out what differs from run to run, for pictures.
        """
        i18n.activate(runtime.settings.language)
        super().__init__(runtime)
        self.show_times = show_times
        self.ready = False
        """Searching is possible."""
        self._leaving = False
        self._followed = 0
        self._queue = Queue()
        self._run: Run | None = None
        self._latest: Job | None = None
        """The newest sums; `job` has those that are shown."""
        self._reported = 0.0
        self._report_due = self._count_due = False
        self._keys: tuple[bool | None, ...] = ()
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
                self.post_message(self._counted())
                # the first search reads the analyzer's model and the vocabulary, for about a second
                next(self.runtime.searcher.stages(parse(WARM_UP), limit=1))
            self.post_message(messages.SearchReady())
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(told(error, self.settings.paths)))

    def _counted(self) -> messages.LibraryOpened:
        library = self.runtime.library
        return messages.LibraryOpened(library.counts(), len(library.sources.followed()), offer.look(self.runtime))

    def _count(self) -> None:
        self._count_due = False
        self.look_up()

    @work(thread=True, group="count", exclusive=True, exit_on_error=False)
    def look_up(self) -> None:
        try:
            self.post_message(self._counted())
        except Exception as error:  # whatever a door throws, the app stays up
            self.post_message(messages.LibraryFailed(told(error, self.settings.paths)))

    @on(messages.LibraryOpened)
    def _library_opened(self, message: messages.LibraryOpened) -> None:
        self._followed = message.followed
        self.models_looked_up(message.offer)
        self.search_screen.library_opened(message.counts)
        self.show_keys()
        if library := self._library_screen():
            library.counts = message.counts
        elif message.counts.videos == 0 and self.job is None and self.screen is self.search_screen:
            self.action_library()

    @on(messages.SearchReady)
    def _search_ready(self) -> None:
        self.ready = True
        self.search_screen.search_ready()
        self.begin_all()

    @on(messages.LibraryFailed)
    def _library_failed(self, message: messages.LibraryFailed) -> None:
        if library := self._library_screen():
            library.dismiss()
        self.search_screen.library_failed(message.error)

    # --- the job ---

    def start(self, errand: Errand) -> bool:
        """Carry out an errand, or let it wait for its turn; False if it is under way or waits already."""
        added = self._queue.add(errand)
        if not added:
            self.notify(_("That is under way already."), markup=False)
        elif self.busy:
            self._show_job(self._latest)
        else:
            self._begin_next()
        return added

    @property
    def busy(self) -> bool:
        return self._queue.current is not None

    def _begin_next(self) -> None:
        errand = self._queue.next()
        if errand is not None:
            self._run = Run(errand, self.runtime, self._doors, self.post_message)
            self._show_job(errand.job())
            self._run.start()
        self.show_keys()

    def show_keys(self) -> None:
        """The footer is drawn anew only where a key came or went: every repaint can make it flicker."""
        keys = tuple(self.check_action(action, ()) for action in ("sync", "stop", "background"))
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    @on(messages.JobAdvanced)
    def _job_advanced(self, message: messages.JobAdvanced) -> None:
        before, job = self._latest, message.job
        first = job.searchable and not (before and before.searchable)
        if first:
            self._count()
            if library := self._library_screen():
                library.first_windows()
        elif before and (job.listed, job.taken, job.searchable) != (before.listed, before.taken, before.searchable):
            self._count_soon()
        if job.fetches and job.searchable > (before.searchable if before else 0):
            self.windows_came()
        self._show_job(job, now=bool(first or job.resting))

    def _show_job(self, job: Job | None, *, now: bool = True) -> None:
        """Show the sums of a job: at once, or when the last ones have stood for a moment."""
        if job is None:
            return
        stopping = not job.ended and self._run is not None and self._run.stop.is_set()
        self._latest = replace(job, waiting=len(self._queue.waiting), stopping=stopping)
        if now or time.monotonic() - self._reported > REPORT_S:
            self._report()
        elif not self._report_due:
            self._report_due = True
            self.set_timer(REPORT_S, self._report)

    def _report(self) -> None:
        self._report_due = False
        self._reported = time.monotonic()
        self.job = self._latest

    def _count_soon(self) -> None:
        """What a job changes in the library is looked up from time to time: a list can name thousands of videos."""
        if not self._count_due:
            self._count_due = True
            self.set_timer(COUNT_S, self._count)

    @on(messages.JobEnded)
    def _job_ended(self, message: messages.JobEnded) -> None:
        halted = message.stopped or (message.error is not None and not isinstance(message.error, UsageError))
        self._run = None
        if halted:
            self._queue.hold()
        self._queue.current = None
        job = replace(message.job, ended=True, stopped=halted, reason=message.error if halted else None)
        self._show_job(job)
        self._count()
        if library := self._library_screen():
            library.job_ended(job, message.error)
        self._tell_end(job, message)
        self.search_screen.search_now()
        self._begin_next()
        self.begin_all()

    def _tell_end(self, job: Job, message: messages.JobEnded) -> None:
        if message.stopped:
            self.notify(_("Stopped. What is done stays; ctrl+r goes on with the rest."), markup=False)
        elif message.error is None:
            self.notify(jobs.outcome(job), markup=False)
        elif self._queue.waiting or not self._library_screen():  # the next job takes the library's place for it
            self.tell(message.error)

    def action_sync(self) -> None:
        """Go on with what was stopped; else look for new videos, and for those whose time to be asked for has come."""
        if self._queue.held:
            self._queue.release()
            if self.busy:
                self._show_job(self._latest)
            else:
                self._begin_next()
        else:
            self.start(Errand())

    def action_stop(self) -> None:
        if self._run:
            self._run.stop.set()
            self._show_job(self._latest)

    def exit(self, *arguments: Any, **options: Any) -> None:
        self._let_go()
        super().exit(*arguments, **options)

    def on_unmount(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        if self._run:
            self._run.stop.set()
        self.halt_runs()

    def await_job(self, seconds: float) -> None:
        """Give a job that was told to stop so long to put down what it holds."""
        if self._run and self._run.is_alive():
            self._run.join(seconds)
        self.await_runs()

    # --- the background ---

    @property
    def offer_seen(self) -> bool:
        return self.search_screen.idle if self.screen is self.search_screen else self.screen is self._library_screen()

    def search_again(self) -> None:
        self.search_screen.search_again()

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
        if action == "sync":
            counts = self.search_screen.counts
            known = self._followed or self._queue.held or (counts and (counts.due or counts.failed))
            return bool(known) and not self.search_screen.failed
        if action == "stop":
            return self._run is not None
        return super().check_action(action, parameters)

    def action_help(self) -> None:
        from subtitle_rag.tui.help_screen import HelpScreen

        self.push_screen(HelpScreen())

    def action_library(self) -> None:
        self.open_library()

    def open_library(self, typed: str = "") -> None:
        """Show the library, with this in its field."""
        from subtitle_rag.tui.library_screen import LibraryScreen

        if self.screen is self.search_screen:  # it may be called from anywhere
            self.push_screen(LibraryScreen(self.search_screen.counts, typed))
            self.look_again()

    def _library_screen(self) -> "LibraryScreen | None":
        from subtitle_rag.tui.library_screen import LibraryScreen

        return next((screen for screen in self.screen_stack if isinstance(screen, LibraryScreen)), None)

    def action_leave(self) -> None:
        if not self.busy or self._leaving:
            self.exit()
            return
        self._leaving = True
        said = _("A job is running. Press again to stop it and leave; it goes on next time.")
        if self._queue.waiting:
            said += " " + _("What waits for it is not kept.")
        self.notify(said, markup=False, severity="warning")

    def action_command_palette(self) -> None:
        commands.open_palette(self)

    def search_themes(self) -> None:
        commands.open_themes(self)

    def get_system_commands(self, screen: "Screen[object]") -> Iterable[SystemCommand]:
        yield from commands.entries(self, screen)
