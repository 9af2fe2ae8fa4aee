"""The field to add captions, and the line that explains its text."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.widgets import Input, Static

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.address_lists import read_address_list
from subtitle_rag.captions.formats import suffix_list
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.screens.library.library_text import beginning, blocked, field_line, shortfalls
from subtitle_rag.tui.screens.library.row_actions import RowActions
from subtitle_rag.tui.shared import messages
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import Rows, failure_rows, paragraphs
from subtitle_rag.tui.shared.dialogs.confirm_screen import ConfirmScreen
from subtitle_rag.tui.shared.dialogs.confirmations import list_confirmation
from subtitle_rag.tui.shared.fields.panel import label_panel
from subtitle_rag.tui.shared.fields.text_field import SourceInput
from subtitle_rag.tui.shared.jobs.job import Job
from subtitle_rag.tui.shared.jobs.job_lines import sample_refusal
from subtitle_rag.tui.threads import run_in_thread
from subtitle_rag.workflows.requests import JobRequest, listed_sources

if TYPE_CHECKING:
    from subtitle_rag.captions.addresses import Source
    from subtitle_rag.workflows.checks import Check
    from subtitle_rag.workflows.requests import ListedSources


class FailureLines(Static):
    """Failures of the last job and the background work, or why the field's text was refused."""

    def __init__(self) -> None:
        super().__init__(id="failures", markup=False)
        self.display = False
        self._job_rows: Rows = []
        self._notices: Rows = []

    def show_job(self, job: Job | None) -> None:
        self._job_rows = shortfalls(job) if job else []
        self._draw()

    def show_error(self, error: AppError) -> None:
        self._job_rows = failure_rows(error)
        self._draw()

    def show_notices(self, notices: Sequence[str]) -> None:
        if list(notices) != self._notices:
            self._notices = list(notices)
            self._draw()

    def _draw(self) -> None:
        rows = [*self._job_rows, *self._notices]
        self.display = bool(rows)
        self.update(paragraphs(rows))


BLOCKING = ("terminal", "disk", "kiwi", "qdrant", "yt-dlp")
"""Checks whose failure prevents fetching captions or searching; none uses the network."""


class Beginning(Static):
    """The page of an empty library: how to begin, and what prevents it, if anything."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(id="beginning", markup=False)
        self._app_context = context
        self._has_begun = False

    def begin(self) -> None:
        """Show how to begin, and run the checks once (not for pictures, which must be reproducible)."""
        if self._has_begun:
            return
        self._has_begun = True
        self.update(paragraphs(beginning()))
        if self._app_context.show_times:
            run_in_thread(self, self._find_block, lambda _error: None, take=self._show_block, group="block")

    def _find_block(self) -> "Check | None":
        names = [name for name in BLOCKING if name != "qdrant" or self._app_context.settings.qdrant.url]
        return next((check for check in map(self._app_context.probe, names) if check.severity == "error"), None)

    def _show_block(self, check: "Check | None") -> None:
        if check:
            self.update(paragraphs([*beginning(), "", *blocked(check)]))


class LibraryField(Vertical):
    def __init__(self, context: AppContext, row_actions: RowActions, failures: FailureLines) -> None:
        self.path = SourceInput(_("Address of a channel, playlist or video, or a folder of captions"), id="path")
        super().__init__(self.path, id="field", classes="panel")
        self.context = context
        self._row_actions = row_actions
        self._failures = failures
        self._is_refused = False
        """Whether the failure line is about the field's text."""
        self.names_lists = False
        """Whether the video address in the field also names a list."""
        self.is_query = False
        """Whether the text last read is words, which Enter searches for."""
        self.say("")

    # --- what the text means ---

    @on(Input.Changed)
    def _path_changed(self) -> None:
        self.say("")
        self._set_names_lists(False)
        if self._is_refused:
            self._is_refused = False
            self._failures.show_job(self.context.app.job)

    @on(messages.FieldChecked)
    def _field_checked(self, message: messages.FieldChecked) -> None:
        if message.typed == self.path.value:
            self.is_query = message.check.kind == "words"
            self.say(clean(field_line(message.check, is_sample=self.context.settings.is_sample)))
            self._set_names_lists(message.check.names_lists)

    def _set_names_lists(self, names_lists: bool) -> None:
        if names_lists != self.names_lists:
            self.names_lists = names_lists
            self.refresh_bindings()

    @property
    def act(self) -> str:
        """The effect of Enter, in a word."""
        return _("Search") if self.is_query else _("Import")

    def say(self, line: str) -> None:
        """Show a line in the field's border until its text changes."""
        label_panel(self, self.act, line)

    # --- the text is taken ---

    @on(messages.FieldTaken)
    def _field_taken(self, message: messages.FieldTaken) -> None:
        check = message.check
        if check.kind == "words":
            return  # the screen's
        if check.kind == "nothing":
            self.say(_("Type or paste an address or the path of a folder first."))
        elif check.refusal:
            self._refuse(check.refusal)
        elif self.context.settings.is_sample:
            self._refuse(sample_refusal())
        elif check.kind == "missing":
            self._refuse(UsageError("unsupported_source", source=message.typed, formats=suffix_list()))
        elif check.kind == "list":
            self.path.value = ""
            self._read_list(check.paths[0])
        elif check.films and not check.files and not check.more:
            self._row_actions.offer_listening(message.typed, lambda: self._start(message))
        else:
            self._start(message)

    def _start(self, message: messages.FieldTaken) -> None:
        """Start a job for the field's text."""
        check = message.check
        self._failures.show_job(None)
        requests = [JobRequest(sources=(source,)) for source in check.sources] or [JobRequest(check.paths)]
        for request in requests:
            self.context.jobs.start(request)
        if message.typed == self.path.value:
            self.path.value = ""

    def _refuse(self, error: AppError) -> None:
        """Show why the field's text was refused, until it changes."""
        self._failures.show_error(error)
        self._is_refused = True

    # --- lists of addresses ---

    def _read_list(self, path: Path) -> None:
        """Ask whether to fetch everything in a list of addresses."""
        library = self.context.runtime.library
        run_in_thread(
            self,
            lambda: listed_sources(library, [read_address_list(path)]),
            messages.ActionFailed,
            take=self._ask_for_list,
            group="list",
        )

    def _ask_for_list(self, listed: "ListedSources") -> None:
        if not listed.sources:
            self.context.app.notify(" ".join(listed.notes()), markup=False)
            return
        question = list_confirmation(listed)
        self.app.push_screen(ConfirmScreen(question, partial(self._fetch, listed.sources)))

    def _fetch(self, sources: "Sequence[Source]") -> None:
        for source in sources:
            self.context.jobs.start(JobRequest(sources=(source,)))
