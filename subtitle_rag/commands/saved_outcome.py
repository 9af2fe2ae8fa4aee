"""`search --save`, `--saved` and `--forget`, and the new scenes of saved searches after `index` and `sync`."""

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output, saved_searches
from subtitle_rag.domain import AppError, UsageError, tidy
from subtitle_rag.i18n import _, n_
from subtitle_rag.terminal_text import line_text

if TYPE_CHECKING:
    from subtitle_rag.domain import SavedSearchCounted
    from subtitle_rag.library import SavedSearch
    from subtitle_rag.retrieval.search import SearchResult
    from subtitle_rag.runtime import Runtime

logger = logging.getLogger(__name__)


def count_and_announce(runtime: "Runtime") -> "list[SavedSearchCounted]":
    """Count the saved searches after a run, and announce what it brought where the settings say so.

    A failure is logged: the captions are there, and the next count finds the same scenes.
    """
    from subtitle_rag import announcing, pipeline

    try:
        counted = list(pipeline.count_saved(runtime))
    except AppError:
        logger.info("saved searches were not counted", exc_info=True)
        return []
    if runtime.settings.search.announce and any(search.added for search in counted):
        announcing.announce(saved_searches.news_text(counted))
    return counted


def values(search: "SavedSearch | SavedSearchCounted") -> dict[str, Any]:
    return {"name": search.name, "query": search.query, "new": search.new}


def result_values(search: "SavedSearch", result: "SearchResult") -> dict[str, Any]:
    """Return a search that was run, with the numbers of its scenes that are new."""
    return {**values(search), "new_ranks": [each.rank for each in result.scenes if each.video.id in search.videos]}


def list_outcome(runtime: "Runtime") -> output.Outcome:
    """List the saved searches with their new scenes."""
    from subtitle_rag import pipeline

    counted = list(pipeline.count_saved(runtime))
    rows = [
        (line_text(each.name), n_("{n} new scene", "{n} new scenes", each.new), line_text(each.query))
        for each in counted
    ]
    notes = [] if rows else [_("No search is saved. subtitle-rag search --save NAME QUERY saves one.")]
    return output.Outcome({"saved": [values(each) for each in counted]}, output.table(rows), notes)


def forget_outcome(runtime: "Runtime", name: str) -> output.Outcome:
    """Forget a saved search. Raises UsageError `unknown_search`."""
    if not runtime.library.saved_searches.forget(name):
        raise UsageError("unknown_search", name=tidy(name))
    return output.Outcome({"forgotten": tidy(name)}, notes=[_("Forgotten: {name}").format(name=line_text(tidy(name)))])


def find_counted(runtime: "Runtime", name: str) -> "SavedSearch":
    """Return a saved search with its newest count. Raises UsageError `unknown_search`."""
    from subtitle_rag import pipeline

    for _search in pipeline.count_saved(runtime):
        pass
    saved_search = runtime.library.saved_searches.find(name)
    if saved_search is None:
        raise UsageError("unknown_search", name=tidy(name))
    return saved_search


def notes(search: "SavedSearch", *, is_saved: bool) -> Iterator[str]:
    """Yield what to know of a search that was saved or run."""
    if is_saved:
        sentence = _("Saved as {name}. What comes from here on is new: subtitle-rag search --saved {name}")
        yield sentence.format(name=line_text(search.name))
    elif search.new:
        sentence = n_("{n} scene is new since the last look.", "{n} scenes are new since the last look.", search.new)
        yield sentence


def no_news_outcome(search: "SavedSearch") -> output.Outcome:
    sentence = _("No new scene of {name} since the last look.").format(name=line_text(search.name))
    return output.Outcome({"saved": values(search), "scenes": []}, notes=[sentence])


def check_arguments(
    query: Sequence[str], save: str | None, saved: str | None, forget: str | None, *, new: bool
) -> None:
    """Raise click.UsageError for what does not go together."""
    if forget is not None and (query or save is not None or saved is not None):
        raise click.UsageError(_("--forget takes the name of a saved search and nothing else."))
    if saved is not None and (query or save is not None):
        raise click.UsageError(_("--saved runs the search as it was saved: leave the query out."))
    if new and not saved:
        raise click.UsageError(_("--new shows the new scenes of a saved search: it needs --saved NAME."))
    if saved is None and forget is None and not query:
        context = click.get_current_context()
        argument = next(param for param in context.command.params if param.name == "query")
        raise click.MissingParameter(ctx=context, param=argument)
