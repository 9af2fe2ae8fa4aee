"""The commands on the rows of the library's tables."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import SILENT
from subtitle_rag.base.i18n import _
from subtitle_rag.tui.controllers.context import AppContext
from subtitle_rag.tui.screens.library.library_text import is_silent
from subtitle_rag.tui.shared import messages
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.jobs.removal import LibraryRow
from subtitle_rag.workflows.requests import JobRequest

if TYPE_CHECKING:
    from subtitle_rag.workflows.pipeline import ListeningOffer


ROW_ACTIONS = ("listen", "again", "open_video", "remove")
"""The actions of `RowActions`."""


class RowActions:
    """Retries, opens, listens to or removes the row under the cursor."""

    def __init__(self, context: AppContext) -> None:
        self._context = context

    def can_run(self, action: str, row: LibraryRow) -> bool:
        """Return whether an action can be done on the row."""
        video, channel = row.video, row.channel
        match action:
            case "listen":
                return is_silent(video) if video else bool(channel and SILENT.intersection(channel.failures))
            case "again":
                is_askable = bool(video and (video.video.url or video.video.source))
                return bool(is_askable and video and video.failure not in (None, "film_no_captions") and not video.due)
            case "open_video":
                return bool(video and video.video.url)
        return row.removal_target is not None

    def run(self, action: str, row: LibraryRow) -> None:
        video, channel = row.video, row.channel
        if action == "listen" and (video or channel):
            self.offer_listening(video.video.id if video else channel.name if channel else "")
        elif action == "again" and video:
            source, url = video.video.source, video.video.url or ""
            request = JobRequest((Path(source),)) if source else JobRequest.of_address(url)
            if self._context.jobs.start(request):
                title = clean(video.video.title)
                self._context.app.notify(_("Requested again: {title}").format(title=title), markup=False)
        elif action == "open_video" and video:
            self._context.playback.open_video(video.video.id, video.video.title)
        elif action == "remove" and (target := row.removal_target):
            self._context.removals.ask(target)

    def offer_listening(self, name: str, otherwise: Callable[[], object] | None = None) -> None:
        """Ask whether to transcribe the named videos, with an estimate. If all have captions, call `otherwise`."""
        from subtitle_rag.workflows import pipeline

        def take(offer: "ListeningOffer") -> None:
            if offer.plan.videos or otherwise is None:
                self._context.app.post_message(messages.ListeningOffered(offer))
            else:
                otherwise()

        self._context.app.run_in_thread(
            lambda: pipeline.offer_listening(self._context.runtime, [name]),
            messages.ActionFailed,
            take=take,
            group="listening",
        )
