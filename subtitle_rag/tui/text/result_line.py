"""The line beside the query: how many scenes there are, and how they were found."""

from typing import TYPE_CHECKING

from subtitle_rag.i18n import _, n_
from subtitle_rag.tui.state import clean
from subtitle_rag.tui.text import empty_states

if TYPE_CHECKING:
    from subtitle_rag.library import Counts
    from subtitle_rag.retrieval import SearchResult, Suggestion


def describe_result(result: "SearchResult", counts: "Counts | None", *, show_times: bool) -> str:
    scenes = len(result.scenes)
    line = n_("{n} scene", "{n} scenes", scenes).format(n=f"{scenes}+" if result.more else f"{scenes}")
    if stage := _stage(result):
        line += f" {stage}"
    if show_times:
        line += f" {sum(result.took_ms.values()):.0f}ms"
    if progress := empty_states.searchable_videos(counts):
        line += " · " + _("{done}/{all} videos").format(done=progress[0], all=progress[1])
    return line


def unknown_words_line(result: "SearchResult", suggestion: "Suggestion | None" = None) -> str:
    """Return the typed words that the library does not have, and a query to search instead.

    Empty without any, and on the page without scenes.
    """
    if not result.unknown_words or not result.scenes:
        return ""
    line = _("Not in this library: {words}").format(words=", ".join(map(clean, result.unknown_words)))
    if suggestion is not None:
        line += f" · → {clean(suggestion.query)}"
    return line


def _stage(result: "SearchResult") -> str:
    """Return the stage of the scenes' order in a few cells. Empty for a search of words alone."""
    stage = ""
    if result.reranked:
        stage = _("+reranked")
    elif len(result.retrievers) > 1:
        stage = _("+meaning")
    if result.rerank_progress and result.rerank_progress[1]:
        stage = _("+reranked") + " {}/{}".format(*result.rerank_progress)
    if result.missing:
        stage = f"{stage} !"
    elif not result.final:
        stage = f"{stage} …"
    return stage.strip()
