"""The process that holds a library's lock."""

from typing import TYPE_CHECKING

from subtitle_rag.base.i18n import _
from subtitle_rag.library.app_state import run_progress
from subtitle_rag.library.connection import is_locked_elsewhere

if TYPE_CHECKING:
    from subtitle_rag.library.store import Library


def other_run_sentence(library: "Library") -> str:
    """Describe the progress of another process that is indexing or fetching; empty if there is none."""
    folder = library.path.parent
    if not (is_locked_elsewhere(folder, "library") or is_locked_elsewhere(folder, "youtube")):
        return ""
    counts, files = library.counts(), run_progress(library)
    if counts.due:
        videos = counts.videos - counts.failed
        files = videos - counts.due, videos
    done, all_of_them = files or (counts.searchable, counts.windows)
    sentence = _("Indexing in another window")
    return f"{sentence} {done:,}/{all_of_them:,}" if all_of_them else sentence
