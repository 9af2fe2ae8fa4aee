"""The update of yt-dlp, which ages within weeks."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

from subtitle_rag.installation import extractor_age
from subtitle_rag.tui.state.stage_progress import StageProgress

if TYPE_CHECKING:
    from subtitle_rag.runtime import Runtime


@dataclass(frozen=True, slots=True)
class ExtractorUpdate(StageProgress):
    """The installed release, and the progress of its update."""

    version: str = ""
    days: int = 0
    has_failed: bool = False

    @property
    def can_start(self) -> bool:
        return self.state in ("offered", "failed")


def find_update(runtime: "Runtime") -> ExtractorUpdate | None:
    """Return the due update, or None. Reads the library: for worker threads."""
    failures = runtime.library.failure_details("yt_dlp_outdated")
    try:
        age = extractor_age(failures)
    except PackageNotFoundError:  # an installer is just changing it
        return None
    if not age.is_due:
        return None
    return ExtractorUpdate("offered", version=age.version, days=age.days, has_failed=age.has_failed)
