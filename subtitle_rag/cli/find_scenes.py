"""`search`: scenes with their scores."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import AppError
from subtitle_rag.base.domain.values import clock, named_text, pick_json, place_json
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.base.terminal_text import line_text
from subtitle_rag.cli.options import QueryCommand, QueryFilters, query_filters, retrievers_option, runtime_outcome
from subtitle_rag.cli.renewal import renew_index

if TYPE_CHECKING:
    from subtitle_rag.library.rows import Counts
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.search.highlights import Span
    from subtitle_rag.search.scenes import Scene
    from subtitle_rag.search.searcher import SearchResult
    from subtitle_rag.search.suggestions import Suggestion

logger = logging.getLogger(__name__)

PATIENCE_S = 0.3
"""Seconds to wait for the rerankers to load before the first results are shown."""


@click.command("search", cls=QueryCommand)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 200), help=N_("Show at most this many scenes (default 20)."))
@query_filters
@click.option(
    "--kind", "kinds", metavar="KIND", multiple=True, help=N_("Only videos of this kind: video, short, stream.")
)
@retrievers_option
@click.option("--no-rerank", is_flag=True, help=N_("Keep the order of the retrievers."))
@click.option(
    "--rerank-depth",
    type=click.IntRange(1, 150),
    metavar="N",
    help=N_("Have the reranker read the best N scenes, up to 150 (default: as many as it reads in two seconds)."),
)
@click.option(
    "--explain", is_flag=True, help=N_("Show each scene's rank and score by retriever, and how much each decides.")
)
@runtime_outcome
def search_(
    runtime: "Runtime",
    query: Sequence[str],
    limit: int | None,
    filters: QueryFilters,
    kinds: Sequence[str],
    retrievers: str | None,
    no_rerank: bool,
    rerank_depth: int | None,
    explain: bool,
) -> output.Outcome:
    runtime.preload()
    from subtitle_rag.search import reranking

    parsed = filters.query(" ".join(query), kinds)
    names = [name.strip() for name in retrievers.split(",")] if retrievers is not None else None
    renew_index(runtime, is_search=True)
    stages = runtime.searcher.stages(
        parsed,
        limit=limit or runtime.settings.search.limit,
        retrievers=names,
        rerank=not no_rerank,
        budget=reranking.RerankBudget(rerank_depth) if rerank_depth else None,
        counted=True,
    )
    so_far: list[SearchResult] = []
    with output.early_answer(lambda: _early_lines(so_far), PATIENCE_S):
        for result in stages:
            so_far[:] = [result]
    [result] = so_far
    problem = _note_scenes(runtime, result) if runtime.settings.search.remember else None
    return _scenes_outcome(runtime, result, problem, explain=explain)


def _scenes_outcome(
    runtime: "Runtime", result: "SearchResult", problem: AppError | None, *, explain: bool
) -> output.Outcome:
    """Return the scenes, with suggestions and hints; `problem` is why the search could not be remembered."""
    is_empty = not result.scenes and not runtime.library.counts().videos
    from subtitle_rag.search.suggestions import suggest_queries

    suggested: list[Suggestion] = []
    if not is_empty and not (result.scenes and result.has_known_word):
        suggested = suggest_queries(runtime.searcher, runtime.library, result.query.raw)
    reasons = {error.code: error for _name, error in result.missing}
    suggestions = list(map(asdict, suggested))
    counts = runtime.library.counts()
    hints = [*_hints(result, suggested, is_empty=is_empty), *_waiting_lines(counts)]
    if problem and result.scenes:
        numbers = _("open and marks cannot name these scenes by number. {reason}")
        hints.append(numbers.format(reason=problem.message))
    others = {"suggestions": suggestions, "period": _period_values(result), "waiting": counts.waiting}
    return output.Outcome(
        result_values(result) | others,
        _result_lines(result, explain=explain),
        hints,
        errors=list(reasons.values()),
        exit_code=output.ExitCode.DONE,
    )


def _note_scenes(runtime: "Runtime", result: "SearchResult") -> AppError | None:
    """Save the scenes for `open NUMBER`; return the error if that fails, since the search itself has succeeded."""
    from subtitle_rag.library.app_state import FoundScene, put_found_scenes

    try:
        scenes = [FoundScene(scene.id, scene.at_ms, scene.start_ms, scene.end_ms) for scene in result.scenes]
        put_found_scenes(runtime.library, scenes)
    except AppError as error:
        logger.info("the scenes of the search are not remembered", exc_info=True)
        return error
    return None


def _result_lines(result: "SearchResult", *, explain: bool) -> Iterator[str]:
    """Yield the scenes as text."""
    from subtitle_rag.search import reasons as search_reasons
    from subtitle_rag.search.place_counts import counts_text
    from subtitle_rag.search.searcher import shares_text

    score_lines = _score_lines(result) if explain else []
    if result.counts and result.scenes:
        yield counts_text(result.counts)
    if explain and result.shares:
        yield _("What decides the fused score: {shares}").format(shares=shares_text(result.shares))
    for at, scene in enumerate(result.scenes):
        yield from scene_lines(scene)
        if explain and not search_reasons.is_borrowed(scene.words) and scene.words:
            yield f"               {search_reasons.words_reason(scene.words)}"
        yield from score_lines[at : at + 1]


def _hints(result: "SearchResult", suggested: Sequence["Suggestion"], *, is_empty: bool) -> Iterator[str]:
    from subtitle_rag.korean.lexical import initials_sentence
    from subtitle_rag.search import query as search_query
    from subtitle_rag.search.searcher import undated_sentence
    from subtitle_rag.search.suggestions import suggestion_reason

    query = result.query
    if not result.scenes and (
        query.channels or query.videos or query.after or query.before or query.kinds or query.speakers
    ):
        yield _("No scenes found within these filters. Fewer filters or words find more.")
    elif not result.scenes:
        yield _("No scenes found. Fewer or shorter words find more.")
    elif result.more:
        yield _("There are more scenes; a larger --limit shows them.")
    if result.unknown_words and not is_empty:
        yield _("Not in this library: {words}").format(words=", ".join(result.unknown_words))
    if initials := initials_sentence(result.unknown_words):
        yield initials
    if result.undated:
        yield undated_sentence(result.undated)
    if offer := search_query.offer_period(result.query.raw):
        yield offer.sentence
        yield _("Search: {query}").format(query=offer.query)
    for suggestion in suggested:
        yield suggestion_reason(suggestion)
        if suggestion.query != suggestion.instead:
            yield _("Search: {query}").format(query=suggestion.query)
    if is_empty:
        yield _("The library is empty. subtitle-rag index FOLDER imports captions, subtitle-rag demo shows a sample.")


def _waiting_lines(counts: "Counts") -> Iterator[str]:
    """Say what is not searchable yet, as left by an interrupted run."""
    if waiting := counts.waiting:
        yield n_(
            "{n} window is not searchable yet: subtitle-rag sync makes it so.",
            "{n} windows are not searchable yet: subtitle-rag sync makes them so.",
            waiting,
        )


def _early_lines(so_far: Sequence["SearchResult"]) -> Iterator[str]:
    """Yield why the search is slow, and the scenes found so far."""
    yield _("Still searching. The first search takes longer: models are being loaded.")
    for result in so_far:
        for scene in result.scenes:
            yield from scene_lines(scene)


def result_values(result: "SearchResult") -> dict[str, Any]:
    """Return a search's result for `--json`."""
    return {
        "query": result.query.raw,
        **pick_json(
            result, "retrievers", "reranked", "unknown_words", "undated", "shares", "took_ms", "counts", "more"
        ),
        "floors": dict(zip(("floor", "strict"), result.floors, strict=True)) if result.floors else None,
        "scenes": [_scene_values(scene) for scene in result.scenes],
    }


def _period_values(result: "SearchResult") -> dict[str, str | None] | None:
    """Return the date filter that words of the query may mean."""
    from subtitle_rag.search import query as search_query

    offer = search_query.offer_period(result.query.raw)
    if offer is None:
        return None
    days = {"after": offer.after, "before": offer.before}
    texts = {name: day.isoformat() if day else None for name, day in days.items()}
    return {"typed": offer.typed, **texts, "query": offer.query}


def _scene_values(scene: "Scene") -> dict[str, Any]:
    from subtitle_rag.search import parts

    return {
        "rank": scene.rank,
        **_place_values(scene),
        **pick_json(scene, "text", "sentence", "speakers", "context", "highlights", "score"),
        "scores": {
            name: {"rank": s.rank, "score": s.score} if name in parts.SEARCH_PARTS else s.score
            for name, s in scene.scores.items()
        },
        "related": [list(span) for span in sorted(scene.related)],
        **pick_json(scene, "title_highlights", "reason", "words"),
        "copies": list(map(_place_values, scene.copies)),
    }


def _place_values(scene: "Scene") -> dict[str, Any]:
    return {"scene": scene.id, **place_json(scene.video, scene.start_ms, scene.end_ms, scene.at_ms)}


def scene_lines(scene: "Scene") -> Iterator[str]:
    """Yield a scene as text: its best line with time, the video and the reason, the context, and the link."""
    from subtitle_rag.search import reasons as search_reasons

    video = scene.video
    text, spans, related = _best_text(scene)
    title = output.marked(video.title, scene.title_highlights)
    where = " · ".join(filter(None, (video.channel, title, str(video.published or ""), _reason(scene))))
    yield f"{scene.rank:>3}  {clock(scene.at_ms):>8}  {output.marked(text, spans, related)}"
    yield f"               {where}"
    if scene.context:
        context = _("Context: {text}").format(text=scene.context)
        yield f"               {context}"
    yield f"               {scene.jump_url or line_text(video.source or video.id)}"
    if scene.copies:
        yield f"               {search_reasons.copies_sentence(len(scene.copies))}"
    for copy in scene.copies:
        where = " · ".join((clock(copy.at_ms), line_text(copy.video.title), copy.jump_url or copy.video.id))
        yield f"                 {where}"


def _reason(scene: "Scene") -> str:
    """Return which typed words the scene says, and what else it matched by; empty if it says them all."""
    from subtitle_rag.search import reasons as search_reasons

    if search_reasons.is_borrowed(scene.words):
        return search_reasons.words_reason(scene.words)
    return _(search_reasons.REASONS[scene.reason]) if scene.reason in search_reasons.REASONS else ""


def _score_lines(result: "SearchResult") -> list[str]:
    """Return one line per scene: rank and score by retriever, fusion and reranker."""
    from subtitle_rag.search import fusion, parts

    columns = {name: name for name in result.retrievers}
    if columns.keys() - set(parts.LEXICAL):
        columns["fused"] = _("fused")
    if result.reranked:
        columns["rerank"] = _("reranked")
    rows = []
    for scene in result.scenes:
        cells = []
        for name, title in columns.items():
            rank, score = fusion.score_cells(name, scene.scores.get(name))
            cells += [f"{title} {rank}", score]
        rows.append([*cells, f"{clock(scene.start_ms)}–{clock(scene.end_ms)}", scene.id])
    right = frozenset(range(1, 2 * len(columns), 2))
    return [f"               {line}" for line in output.table(rows, right=right)] if rows else []


def _best_text(
    scene: "Scene",
) -> "tuple[str, list[Span], list[Span]]":
    """Return the best sentence, and where the typed words and their variants are in it."""
    start, end = scene.sentence
    typed: list[Span] = []
    related: list[Span] = []
    for a, b in scene.highlights:
        if a < end and b > start:
            (related if (a, b) in scene.related else typed).append((max(a, start) - start, min(b, end) - start))
    if speaker := scene.lines[scene.best_line].speaker:
        shift = len(named_text(speaker, ""))
        typed, related = ([(a + shift, b + shift) for a, b in spans] for spans in (typed, related))
        return named_text(speaker, scene.text[start:end]), typed, related
    return scene.text[start:end], typed, related
