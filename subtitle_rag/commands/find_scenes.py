"""`search`: scenes with their scores."""

import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import click

from subtitle_rag import output
from subtitle_rag.commands.options import (
    QueryCommand,
    after_option,
    before_option,
    channel_option,
    json_option,
    parse_query,
    video_option,
)
from subtitle_rag.config import Settings
from subtitle_rag.domain import clock
from subtitle_rag.errors import AppError
from subtitle_rag.i18n import N_, _
from subtitle_rag.library.app_state import put_found_scenes
from subtitle_rag.retrieval.highlights import Span
from subtitle_rag.retrieval.reasons import REASONS, RELATED
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.retrieval.search import LEXICAL, RETRIEVERS, SearchResult
from subtitle_rag.runtime import Runtime
from subtitle_rag.terminal_text import line_text

logger = logging.getLogger(__name__)

DIGITS = {"bm25": 2, "fused": 4}
"""Decimals of a score; three for the others."""
RELATED_WORDS = 3
"""Related words in a scene's reason."""
PATIENCE_S = 1.0
"""Delay of the notice that a search is slow."""


@click.command(
    "search",
    cls=QueryCommand,
    help=N_('Find scenes. "a phrase", -word, channel:NAME, after:2026-01-01, before:2026-12-31.'),
)
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 200), help=N_("Show at most this many scenes (default 20)."))
@channel_option
@video_option
@after_option
@before_option
@click.option(
    "--kind", "kinds", metavar="KIND", multiple=True, help=N_("Only videos of this kind: video, short, stream.")
)
@click.option("--retrievers", metavar="NAMES", help=N_("Which of bm25, dense and sparse to ask, with commas."))
@click.option("--no-rerank", is_flag=True, help=N_("Keep the order of the retrievers."))
@click.option("--explain", is_flag=True, help=N_("Show each scene's rank and score by retriever."))
@json_option
@click.pass_obj
def search_(
    settings: Settings,
    query: Sequence[str],
    limit: int | None,
    channel: Sequence[str],
    video: Sequence[str],
    after: str | None,
    before: str | None,
    kinds: Sequence[str],
    retrievers: str | None,
    no_rerank: bool,
    explain: bool,
    as_json: bool,
) -> int:
    query_ = parse_query(" ".join(query), channel, video, after, before, kinds)
    names = [name.strip() for name in retrievers.split(",")] if retrievers is not None else None
    with Runtime(settings) as runtime:
        runtime.preload()
        with _slow_search_notice():
            result = runtime.searcher.search(
                query_, limit=limit or settings.search.limit, retrievers=names, rerank=not no_rerank
            )
        if settings.search.remember:
            _note_scenes(runtime, result)
        is_empty = not result.scenes and not runtime.library.counts().videos
        trouble = [runtime.degraded_reason] if runtime.degraded_reason else []
    reasons = {error.code: error for _name, error in result.missing}
    failures = [output.error_entry(error) for error in (*trouble, *reasons.values())]
    for failure in failures:
        output.say_error(failure)
    lines = _result_lines(result, explain=explain)
    outcome = output.Outcome(result_values(result), failures)
    return output.finish("search", outcome, lines, as_json=as_json, notes=_hints(result, is_empty=is_empty))


def _note_scenes(runtime: Runtime, result: SearchResult) -> None:
    """Note the scenes for `open NUMBER`. A library that cannot be written still answers searches."""
    try:
        put_found_scenes(runtime.library, [(scene.id, scene.at_ms) for scene in result.scenes])
    except AppError:
        logger.info("the scenes of the search are not remembered", exc_info=True)


def _result_lines(result: SearchResult, *, explain: bool) -> Iterator[str]:
    score_lines = _score_lines(result) if explain else []
    for at, scene in enumerate(result.scenes):
        yield from scene_lines(scene)
        yield from score_lines[at : at + 1]


def _hints(result: SearchResult, *, is_empty: bool) -> Iterator[str]:
    if not result.scenes:
        yield _("No scenes found. Fewer or shorter words find more.")
    elif result.more:
        yield _("There are more scenes; a larger --limit shows them.")
    if is_empty:
        yield _("The library is empty. subtitle-rag index FOLDER imports captions, subtitle-rag demo shows a sample.")


@contextmanager
def _slow_search_notice() -> Iterator[None]:
    """Say on a terminal why a search is slow."""
    text = _("Still searching. The first search loads what later ones have at hand.")
    timer = threading.Timer(PATIENCE_S, output.say, [text])
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def result_values(result: SearchResult) -> dict[str, Any]:
    """Return a search's result as `--json` has it."""
    return {
        "query": result.query.raw,
        **output.fields(result, "retrievers reranked"),
        "took_ms": dict(result.took_ms),
        "more": result.more,
        "scenes": [_scene_values(scene) for scene in result.scenes],
    }


def _scene_values(scene: Scene) -> dict[str, Any]:
    return {
        "rank": scene.rank,
        "scene": scene.id,
        "video": scene.video.values(),
        **output.fields(scene, "start_ms end_ms url"),
        "jump": {"at": scene.at_ms / 1000, "url": scene.jump_url},
        **output.fields(scene, "text context highlights score"),
        "scores": {
            name: {"rank": s.rank, "score": s.score} if name in RETRIEVERS else s.score
            for name, s in scene.scores.items()
        },
        "related": [list(span) for span in sorted(scene.related)],
        **output.fields(scene, "title_highlights reason"),
    }


def scene_lines(scene: Scene) -> Iterator[str]:
    """Yield a scene as text: the best line with its time, its video and the reason, its context and the link."""
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


def _reason(scene: Scene) -> str:
    """Return what the scene was found by; empty if its speech has the typed words."""
    if scene.reason != "related":
        return _(REASONS[scene.reason]) if scene.reason in REASONS else ""
    words = dict.fromkeys(scene.text[start:end] for start, end in sorted(scene.related))
    return _(RELATED).format(words=", ".join(islice(words, RELATED_WORDS)))


def _score_lines(result: SearchResult) -> list[str]:
    """Return a line per scene: rank and score by retriever, fusion and reranker."""
    columns = {name: name for name in result.retrievers}
    if columns.keys() - set(LEXICAL):
        columns["fused"] = _("fused")
    if result.reranked:
        columns["rerank"] = _("reranked")
    rows = []
    for scene in result.scenes:
        cells = []
        for name, title in columns.items():
            entry = scene.scores.get(name)
            cells += (
                [f"{title} #{entry.rank}", f"{entry.score:.{DIGITS.get(name, 3)}f}"] if entry else [f"{title} –", ""]
            )
        rows.append([*cells, f"{clock(scene.start_ms)}–{clock(scene.end_ms)}", scene.id])
    right = frozenset(range(1, 2 * len(columns), 2))
    return [f"               {line}" for line in output.table(rows, right=right)] if rows else []


def _best_text(scene: Scene) -> tuple[str, list[Span], list[Span]]:
    """Return the line to jump to with its successor, and its spans of typed words and of variants."""
    at = next(index for index, line in enumerate(scene.lines) if line.start_ms == scene.at_ms)
    start = scene.lines[at].offset
    end = scene.lines[at + 2].offset - 1 if at + 2 < len(scene.lines) else len(scene.text)
    typed: list[Span] = []
    related: list[Span] = []
    for a, b in scene.highlights:
        if a < end and b > start:
            (related if (a, b) in scene.related else typed).append((max(a, start) - start, min(b, end) - start))
    return scene.text[start:end], typed, related
