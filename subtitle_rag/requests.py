"""What a user asks to index: a text, typed, pasted or given as an argument, as files and sources on YouTube."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from subtitle_rag.captions import Source, read_typed, suffix_list
from subtitle_rag.domain import UsageError, tidy


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Caption files or folders, and sources on YouTube."""

    paths: tuple[Path, ...] = ()
    sources: tuple[Source, ...] = ()


def parse_request(texts: Iterable[str], wants_list: Callable[[Source], bool] = lambda _source: False) -> IndexRequest:
    """Return what these texts name. `wants_list` tells whether a video's link means the list that it names, too.

    Raises:
        UsageError: `unsupported_source` for what is neither, `unsupported_url`.
    """
    paths: list[Path] = []
    sources: list[Source] = []
    for text in texts:
        paths_of_text, addresses = read_typed(text)
        sources += [video_or_list(address, wants_list) for address in addresses]
        if not addresses:
            if not paths_of_text or not all(os.path.lexists(path) for path in paths_of_text):
                raise UsageError("unsupported_source", source=tidy(text), formats=suffix_list())
            paths += paths_of_text
    return IndexRequest(tuple(paths), tuple(dict.fromkeys(sources)))


def video_or_list(source: Source, wants_list: Callable[[Source], bool]) -> Source:
    """Return a source as it is, but for a video's link that names a list: the list, or the video alone."""
    if source.playlist is None:
        return source
    return Source("playlist", source.playlist) if wants_list(source) else replace(source, playlist=None)
