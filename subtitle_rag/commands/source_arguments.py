"""Arguments and options of `index` and `sync`: paths, addresses, and sources by name."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from subtitle_rag import output
from subtitle_rag.captions import Source
from subtitle_rag.domain import TABS, UsageError
from subtitle_rag.i18n import _
from subtitle_rag.library import SourceOptions
from subtitle_rag.requests import parse_request
from subtitle_rag.retrieval.search.query import parse_day

if TYPE_CHECKING:
    from pathlib import Path

    from subtitle_rag.fetching import FetchRequest


def paths_and_requests(
    sources: Sequence[str], options: SourceOptions, playlist: bool | None
) -> "tuple[tuple[Path, ...], list[FetchRequest]]":
    """Return the paths on the disk, and requests of the addresses on YouTube; `playlist` None asks on a terminal."""
    from subtitle_rag.fetching import FetchRequest

    request = parse_request(sources, _wants_list if playlist is None else lambda _source: bool(playlist))
    return request.paths, [FetchRequest(source, options) for source in request.sources]


def _wants_list(source: Source) -> bool:
    """Ask on a terminal whether the list that a video's link names is meant; else say how to take it."""
    if sys.stdin.isatty():
        question = _("The link names a video and the list {list}. Take the whole list?")
        return output.confirm(question.format(list=source.playlist))
    output.say(_("Only the video is taken; --playlist takes the list {list}.").format(list=source.playlist))
    return False


def source_options(
    lang: str, limit: int | None, since: str | None, match: str | None, tabs: str | None, translated: bool
) -> SourceOptions:
    """Parse the options about a source; raises UsageError."""
    from subtitle_rag.fetching import compile_pattern

    tab_names = _split(tabs or "")
    for tab in tab_names:
        if tab not in TABS:
            raise UsageError("unknown_tab", name=tab, known=", ".join(TABS))
    first_day = parse_day("since", since) if since is not None else None
    return SourceOptions(
        tab_names, _split(lang), translated, limit, first_day, compile_pattern(match).pattern if match else None
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
