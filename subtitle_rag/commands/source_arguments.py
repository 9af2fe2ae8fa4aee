"""Arguments and options of `index` and `sync`: paths, addresses, and sources by name."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from subtitle_rag import output
from subtitle_rag.captions import Source, read_typed, suffix_list
from subtitle_rag.domain import TABS, UsageError, tidy
from subtitle_rag.i18n import _
from subtitle_rag.library import SourceOptions
from subtitle_rag.retrieval.search.query import parse_day

if TYPE_CHECKING:
    from pathlib import Path

    from subtitle_rag.fetching import FetchRequest


def paths_and_requests(
    sources: Sequence[str], options: SourceOptions, playlist: bool | None
) -> "tuple[list[Path], list[FetchRequest]]":
    """Split into paths on the disk, and requests of addresses on YouTube; raises UsageError."""
    from subtitle_rag.fetching import FetchRequest

    paths: list[Path] = []
    requests: list[FetchRequest] = []
    for source in sources:
        named, addresses = read_typed(source)
        requests += [FetchRequest(_video_or_list(address, playlist), options) for address in addresses]
        if not addresses:
            if not named or not all(os.path.lexists(path) for path in named):
                raise UsageError("unsupported_source", source=tidy(source), formats=suffix_list())
            paths += named
    return paths, requests


def _video_or_list(source: Source, playlist: bool | None) -> Source:
    """Return the video, or the list in its link; None asks on a terminal."""
    if source.playlist is None:
        return source
    if playlist is None:
        if sys.stdin.isatty():
            question = _("The link names a video and the list {list}. Take the whole list?")
            playlist = output.confirm(question.format(list=source.playlist))
        else:
            output.say(_("Only the video is taken; --playlist takes the list {list}.").format(list=source.playlist))
    return Source("playlist", source.playlist) if playlist else replace(source, playlist=None)


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
