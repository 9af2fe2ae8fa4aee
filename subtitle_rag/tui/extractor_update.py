"""The update of yt-dlp, which ages within weeks: the offer, and the thread that brings it."""

import logging
import threading
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING, ClassVar

from subtitle_rag.i18n import _
from subtitle_rag.installation.aging import EXTRACTOR, extractor_age
from subtitle_rag.tui import background
from subtitle_rag.tui.background import Progress
from subtitle_rag.tui.keys import key
from subtitle_rag.tui.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.message import Message

    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExtractorUpdate(Progress):
    """The installed release, and how far a newer one has come."""

    version: str = ""
    days: int = 0
    has_failed: bool = False

    @property
    def can_start(self) -> bool:
        return self.state in ("offered", "failed")


def find_update(runtime: "Runtime") -> ExtractorUpdate | None:
    """The update that is due; None where none is. Reads the library, so call it from a worker thread."""
    failures = runtime.library.failure_details("yt_dlp_outdated")
    try:
        age = extractor_age(str(details.get("version", "")) for details in failures)
    except PackageNotFoundError:  # an installer is just changing it
        return None
    return (
        ExtractorUpdate("offered", version=age.version, days=age.days, has_failed=age.has_failed)
        if age.is_due
        else None
    )


def line(update: ExtractorUpdate | None) -> str:
    """What the library says of it; empty where there is nothing to tell."""
    match update:
        case ExtractorUpdate(state="offered", has_failed=True):
            said = _(
                "YouTube has answered in a way that yt-dlp {version} does not understand: {key} brings the newest one."
            )
        case ExtractorUpdate(state="offered"):
            said = _("yt-dlp {version} is {days} days old and may soon fail: {key} brings the newest one.")
        case ExtractorUpdate(state="working" | "asking"):
            return _("Bringing the newest yt-dlp…")
        case ExtractorUpdate(state="failed", error=error) if error:
            said = clean(f"! {error.message} {error.hint}  ").replace("{", "{{").replace("}", "}}")
            said += _("{key} tries again")
        case _:
            return ""
    assert update is not None
    return said.format(version=update.version, days=update.days, key=key("packages.update"))


class ExtractorUpdateRun(background.Run[ExtractorUpdate]):
    """Brings the newest yt-dlp into this program's own environment; all other packages stay as they are."""

    stage: ClassVar[background.Stage] = "update"

    def __init__(self, runtime: "Runtime", doors: threading.Lock, post: "Callable[[Message], object]") -> None:
        super().__init__(runtime, doors, post)
        self._progress = ExtractorUpdate("working")

    def _work(self) -> None:
        from subtitle_rag.captions.session import forget_extractor
        from subtitle_rag.installation.run import PackageInstaller

        before = extractor_age()
        self._progress = replace(self._progress, version=before.version, days=before.days)
        self._report(now=True)
        installer = PackageInstaller(self._runtime.settings.paths.cache, self._stop_work)
        with closing(installer.upgrade(EXTRACTOR)) as events:
            for _event in events:
                self._report()
        forget_extractor()
        after = extractor_age()
        self._progress = replace(self._progress, taken=int(after.version != before.version), version=after.version)
