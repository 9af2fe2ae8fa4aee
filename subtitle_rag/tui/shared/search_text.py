"""A search in words: the line next to the query, and the page that replaces an empty list."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subtitle_rag.base.domain.errors import UNUSABLE_INDEX, AppError, UsageError
from subtitle_rag.base.domain.values import clock
from subtitle_rag.base.i18n import _, n_
from subtitle_rag.search.query import parse_query
from subtitle_rag.tui.keys.keymap import key
from subtitle_rag.tui.shared.clean_text import clean
from subtitle_rag.tui.shared.content import MUTED, Rows, short_name
from subtitle_rag.tui.shared.progress import model_lines
from subtitle_rag.tui.shared.progress.stage import Stages

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.search.query import PeriodOffer
    from subtitle_rag.search.searcher import SearchResult
    from subtitle_rag.search.suggestions import Suggestion

NAME = "subtitle_rag"


def failure(error: AppError) -> Rows:
    """Return the page for a library that failed to open."""
    hint, retry = clean(error.hint), _("{key} tries again, {quit} leaves.")
    if error.code in UNUSABLE_INDEX:
        hint = _("A new one is made from the library, in seconds or minutes; nothing is fetched.")
        retry = _("{key} makes it, {quit} leaves.")
    retry = retry.format(key=key("library.sync"), quit=key("app.quit"))
    checks = _("{key} checks what is there and what is missing.").format(key=key("app.checks"))
    return [(f"! {clean(error.message)}", "bold"), "", hint, "", (retry, MUTED), (checks, MUTED)]


def welcome(counts: "Counts | None", indexing: str = "", *, recents: bool = False, choices: bool = False) -> Rows:
    """Return the page for an empty query: the library's size, obstacles, and the title above ready searches."""
    name = (NAME, "bold")
    if counts is None:
        return [name, "", (_("Opening the library…"), MUTED)]
    if not counts.videos:
        beginning = _("{library} opens the library, which brings captions in; {sample} shows a sample.")
        beginning = beginning.format(library=key("app.library"), sample=key("library.sample"))
        return [name, "", _("The library is empty."), beginning]
    rows: Rows = [name, (n_("{n} video", "{n} videos", counts.videos, n=f"{counts.videos:,}"), MUTED), ""]
    if progress := so_far(counts, indexing):
        rows += [progress, ""]
    if choices:
        rows += [(_("Recent searches (↓ chooses)") if recents else _("Try one of these (↓ chooses)"), MUTED), ""]
    return rows


def place_label(title: str, at_ms: int) -> str:
    """Return the row that continues at the last place played."""
    return _("Play on: {title} {time}").format(title=short_name(title), time=clock(at_ms))


def news(counts: "Counts | None", stages: Stages, new_videos: int) -> Rows:
    """Return the lines below the searches: new videos, and what a model could add."""
    if counts is None or not counts.videos:
        return []
    lines = [n_("{n} new video since the last time", "{n} new videos since the last time", new_videos)]
    rows: Rows = ["", *(lines if new_videos else [])]
    if offer := model_lines.offer_line(stages):
        rows += ["", (offer, MUTED)]
    return rows


def no_scenes(
    typed: str, counts: "Counts | None", suggested: Sequence[object] | None = None, indexing: str = ""
) -> Rows:
    """Return the page for a query without scenes. `suggested` queries follow; None until they are known.

    A library that is empty or still opening has no suggestions.
    """
    if counts is None or not counts.videos:
        return welcome(counts)
    sentence = _("No scene for “{query}”.")
    if progress := so_far(counts, indexing):
        sentence = _("No scene for “{query}” so far.")
    rows: Rows = [(sentence.format(query=typed), "bold"), *([progress] if progress else []), ""]
    from subtitle_rag.korean.lexical import initials_sentence

    if initials := initials_sentence(typed.split()):
        rows += [initials, ""]
    if suggested:
        return [*rows, (_("Queries with results (↓ chooses)"), MUTED)]
    return rows if suggested is None else rows + tips(typed)


def tips(typed: str, suggested: int = 0) -> Rows:
    """Return general tips, without the first `suggested` ones, which suggested queries replace."""
    from subtitle_rag.search.suggestions import MAX_SUGGESTIONS

    rows: Rows = []
    try:
        query = parse_query(typed)
    except UsageError:
        return rows
    if query.channels or query.videos or query.after or query.before or query.excluded or query.phrases:
        rows.append(_("· Take away a filter, a quotation mark or a -word."))
    else:
        rows.append(_("· Try another spelling, or another word for the same thing."))
    rows.append(_("· Try fewer or shorter words, just as they would be spoken."))
    return rows[suggested:MAX_SUGGESTIONS]


def searchable_videos(counts: "Counts | None") -> tuple[int, int] | None:
    """Return (searchable videos, all videos) while some are due; else None."""
    if not counts or not counts.due:
        return None
    obtainable = counts.videos - counts.failed
    return obtainable - counts.due, obtainable


def so_far(counts: "Counts | None", indexing: str = "") -> str:
    """Return how much is searchable while the index is built; empty once everything is."""
    if part := searchable_videos(counts):
        done, all_of_them = (f"{n:,}" for n in part)
        return _("Indexing: {done} of {all} videos can be searched so far.").format(done=done, all=all_of_them)
    if counts and counts.searchable < counts.windows:
        done, all_of_them = f"{counts.searchable:,}", f"{counts.windows:,}"
        return _("Indexing: {done} of {all} scenes can be searched so far.").format(done=done, all=all_of_them)
    return indexing


def result_title(result: "SearchResult") -> str:
    """Return the number of scenes and videos found; without any, an uncounted title."""
    count, videos = sum(result.scenes_by_video.values()), len(result.scenes_by_video)
    if not count:
        return _("Scenes")
    in_videos = n_("in {n} video", "in {n} videos", videos, n=f"{videos:,}")
    n = f"{count:,}+" if result.is_cut else f"{count:,}"
    return n_("Scenes · {n} place {videos}", "Scenes · {n} places {videos}", count, n=n, videos=in_videos)


def result_note(result: "SearchResult", counts: "Counts | None") -> str:
    """Return how the scenes were ordered, and how much of a growing library is searchable."""
    parts = [_stage(result)]
    if progress := searchable_videos(counts):
        parts.append(_("{done}/{all} videos").format(done=progress[0], all=progress[1]))
    return " · ".join(filter(None, parts))


def notice_line(
    result: "SearchResult", suggestion: "Suggestion | None" = None, period: "PeriodOffer | None" = None
) -> str:
    """Return notes on a search: unknown words, a better query, an offered filter by date, and undated videos."""
    parts: list[str] = []
    if result.unknown_words and result.scenes:
        parts.append(_("Not in this library: {words}").format(words=", ".join(map(clean, result.unknown_words))))
        if suggestion is not None:
            parts.append(f"→ {clean(suggestion.query)}")
    if period is not None:
        parts.append(period.sentence)
    if result.undated:
        from subtitle_rag.search.searcher import undated_sentence

        parts.append(undated_sentence(result.undated))
    return " · ".join(parts)


def _stage(result: "SearchResult") -> str:
    """Return the stage of the order in a few cells; empty for a search by words alone."""
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
