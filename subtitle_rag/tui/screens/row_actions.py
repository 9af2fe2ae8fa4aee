"""The commands on a row of the library: retry, open, fetch, remove; and the pause of all work."""

from pathlib import Path
from typing import TYPE_CHECKING

from subtitle_rag.captions import parse_address
from subtitle_rag.i18n import _
from subtitle_rag.tui.state import JobRequest, clean

if TYPE_CHECKING:
    from subtitle_rag.tui.context import AppContext
    from subtitle_rag.tui.state import LibraryRow

COMMANDS = ("video.retry", "video.open", "channel.sync", "library.pause", "library.remove")


class RowActions:
    def __init__(self, context: "AppContext") -> None:
        self._context = context

    def can_run(self, command: str, row: "LibraryRow") -> bool:
        """Return whether a command of `COMMANDS` can be run on the row."""
        video, channel = row.video, row.channel
        match command:
            case "video.retry":
                return bool(video and video.failure and not video.due and (video.video.url or video.video.source))
            case "video.open":
                return bool(video and video.video.url)
            case "channel.sync":
                return bool(channel and channel.urls)
            case "library.remove":
                return row.removal_target is not None
        return self.is_working or self._context.background.can_toggle or self._is_stopped

    def run(self, command: str, row: "LibraryRow") -> None:
        video, channel = row.video, row.channel
        if command == "library.pause":
            self._pause_or_resume()
        elif command == "video.retry" and video:
            request = JobRequest((Path(video.video.source),)) if video.video.source else _of(video.video.url or "")
            if self._context.jobs.start(request):
                title = clean(video.video.title)
                self._context.app.notify(_("Requested again: {title}").format(title=title), markup=False)
        elif command == "video.open" and video:
            self._context.playback.open_video(video.video.id, video.video.title)
        elif command == "channel.sync" and channel:
            for url in channel.urls:
                self._context.jobs.start(_of(url))
        elif command == "library.remove" and (target := row.removal_target):
            self._context.removals.remove(target)

    @property
    def is_working(self) -> bool:
        """Whether a job or the background runs, which can be paused."""
        return self._context.jobs.busy or self._context.background.is_active

    @property
    def _is_stopped(self) -> bool:
        job = self._context.app.job
        return job is not None and job.stopped

    def _pause_or_resume(self) -> None:
        """Stop the job and pause the background; or resume both."""
        context = self._context
        if self.is_working:
            context.jobs.stop()
            if context.background.is_active:
                context.toggle_background()
            return
        if self._is_stopped:
            context.jobs.sync()
        if context.background.can_toggle:
            context.toggle_background()


def _of(url: str) -> JobRequest:
    return JobRequest(source=parse_address(url))
