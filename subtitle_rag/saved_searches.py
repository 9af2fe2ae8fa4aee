"""Saved searches: they are counted again after new videos, and looked at.

A new scene is one of a video whose captions came after the last look, in which all typed words are said, with their
context or by sound; what only resembles the words is no news.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from subtitle_rag.domain import SavedSearchCounted, UsageError
from subtitle_rag.i18n import n_
from subtitle_rag.retrieval.batches import split_batches
from subtitle_rag.retrieval.search.query import parse_query

if TYPE_CHECKING:
    from subtitle_rag.library import Library, SavedSearch
    from subtitle_rag.retrieval.search import Searcher

VIDEOS = 200
"""Videos that are looked through at once."""


def save_search(library: "Library", name: str, query: str) -> "SavedSearch":
    """Save a search: what comes from here on is new.

    Raises:
        UsageError: those of `parse_query`, and of `SavedSearchStore.save`.
    """
    return library.saved_searches.save(name, parse_query(query).raw)


def count_new(library: "Library", searcher: "Callable[[], Searcher]") -> Iterator[SavedSearchCounted]:
    """Look through the videos that came since the last count, and yield each saved search.

    The searcher is asked for where there are such videos. Raises the errors of `Searcher.stages` but those of a query
    whose filters name nothing any more: it has no new scenes.
    """
    searches = library.saved_searches.all()
    arrived = library.saved_searches.arrived() if searches else 0
    for search in searches:
        added = 0
        if search.counted < arrived:
            scenes = dict[str, int]()
            for videos in split_batches(library.saved_searches.arrivals(search.counted, arrived), VIDEOS):
                try:
                    scenes |= searcher().count_scenes(parse_query(search.query), videos)
                except UsageError:
                    break
            library.saved_searches.add_counts(search, arrived, scenes)
            added = sum(scenes.values())
        yield SavedSearchCounted(search.name, search.query, added, search.new + added)


def news_text(counted: "Iterable[SavedSearch | SavedSearchCounted]") -> str:
    """Return the new scenes of saved searches in one sentence; empty without any."""
    searches = [search for search in counted if search.new]
    total = sum(search.new for search in searches)
    if not total:
        return ""
    names = ", ".join(f"{search.name} {search.new}" for search in searches)
    return n_(
        "{n} new scene in saved searches: {names}", "{n} new scenes in saved searches: {names}", total, names=names
    )
