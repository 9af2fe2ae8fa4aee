"""`search`, `show`, `open`: scenes and transcripts."""

import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from subtitle_rag import output, player
from subtitle_rag.captions.media import media
from subtitle_rag.commands import completing, json_option
from subtitle_rag.commands.query_options import after_option, before_option, channel_option, parse_query, video_option
from subtitle_rag.config import Settings
from subtitle_rag.domain import Chapter, Details, Track, Video, clock, parse_clock, watch_url
from subtitle_rag.errors import UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.library.app_state import PLAYER
from subtitle_rag.retrieval.query import tidy
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.retrieval.search import LEXICAL, RETRIEVERS, SearchResult
from subtitle_rag.runtime import Runtime

AROUND_MS = 60_000
CHAPTER_SLACK_MS = 5_000
"""Authors mark a chapter by the second, and a little late."""
DIGITS = {"bm25": 2, "fused": 4}
"""Decimals of a score; three for the others."""
PATIENCE_S = 1.0
"""Delay of the notice that a search is slow."""


@click.command("search", help=N_('Find scenes. "a phrase", -word, channel:NAME, after:2026-01-01, before:2026-12-31.'))
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
@click.option("--no-rerank", is_flag=True, help=N_("Leave the order as the retrievers make it."))
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
        is_empty = not result.scenes and not runtime.library.counts().videos
        trouble = [runtime.degraded_reason] if runtime.degraded_reason else []
    reasons = {error.code: error for _name, error in result.missing}
    failures = [output.error_entry(error) for error in (*trouble, *reasons.values())]
    for failure in failures:
        output.say_error(failure)
    lines = _result_lines(result, explain=explain)
    code = output.finish("search", output.Outcome(result_values(result), failures), lines, as_json=as_json)
    if not as_json:
        _say_hint(result, is_empty=is_empty)
    return code


def _result_lines(result: SearchResult, *, explain: bool) -> Iterator[str]:
    score_lines = _score_lines(result) if explain else []
    for at, scene in enumerate(result.scenes):
        yield from scene_lines(scene)
        yield from score_lines[at : at + 1]


def _say_hint(result: SearchResult, *, is_empty: bool) -> None:
    if not result.scenes:
        output.say(_("No scenes found. Fewer or shorter words find more."))
    elif result.more:
        output.say(_("There are more scenes; a larger --limit shows them."))
    if is_empty:
        output.say(
            _("The library is empty. subtitle-rag index FOLDER brings captions in, subtitle-rag demo shows a sample.")
        )


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
    }


def scene_lines(scene: Scene) -> Iterator[str]:
    """Yield a scene as text: the best line with its time, its video, its context and the link."""
    video = scene.video
    text, spans = _best_text(scene)
    where = " · ".join(filter(None, (video.channel, video.title, str(video.published or ""))))
    yield f"{scene.rank:>3}  {clock(scene.at_ms):>8}  {output.marked(text, spans)}"
    yield f"               {where}"
    if scene.context:
        context = _("Context: {text}").format(text=scene.context)
        yield f"               {context}"
    yield f"               {scene.jump_url or video.source or video.id}"


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


def _best_text(scene: Scene) -> tuple[str, list[tuple[int, int]]]:
    """Return the line to jump to with its successor, and the spans to highlight in them."""
    at = next(index for index, line in enumerate(scene.lines) if line.start_ms == scene.at_ms)
    start = scene.lines[at].offset
    end = scene.lines[at + 2].offset - 1 if at + 2 < len(scene.lines) else len(scene.text)
    spans = [(max(a, start) - start, min(b, end) - start) for a, b in scene.highlights if a < end and b > start]
    return scene.text[start:end], spans


@click.command("show", help=N_("Print a video's transcript, or the part of it around a time."))
@click.argument("video", shell_complete=completing.videos)
@click.option("--at", "at", metavar="TIME", help=N_("Only a minute on either side of this time (12:41)."))
@json_option
@click.pass_obj
def show_(settings: Settings, video: str, at: str | None, as_json: bool) -> int:
    centre = _time(at) if at else None
    with Runtime(settings) as runtime:
        row = _video(runtime, video)
        windows = runtime.library.windows_of(row.id)
        track = runtime.library.track(row.id)
        details = runtime.library.details(row.id)
    lines = [
        (start, text)
        for window in windows
        for start, text in window.spoken()
        if centre is None or abs(start - centre) <= AROUND_MS
    ]
    if not as_json:
        output.say(f"{row.title}\n{row.channel}")
        for warning in _track_warnings(track):
            output.say(warning)
    values = {
        "video": _video_values(row, track, details),
        "lines": [{"start": start / 1000, "text": text} for start, text in lines],
    }
    transcript = _transcript(lines, row.chapters if centre is None else ())
    return output.finish("show", output.Outcome(values), transcript, as_json=as_json)


def _transcript(lines: Sequence[tuple[int, str]], chapters: Sequence[Chapter]) -> Iterator[str]:
    """Yield the lines with their times, under the titles of their chapters."""
    pending = list(chapters)
    for number, (start, text) in enumerate(lines):
        while pending and pending[0].start_ms <= start + CHAPTER_SLACK_MS:
            if number:
                yield ""
            yield f"{' ' * 10}## {pending.pop(0).title}"
        yield f"{clock(start):>8}  {text}"


def _video_values(video: Video, track: Track | None, details: Details) -> dict[str, Any]:
    board = details.storyboard
    return {
        **video.values(),
        **output.fields(video, "duration_ms"),
        "kind": video.kind or None,
        "track": {"language": track.language, "kind": track.kind, "flag": track.flag or None} if track else None,
        "chapters": [output.fields(chapter, "start_ms title") for chapter in video.chapters],
        "description": details.description or None,
        "thumbnail": details.thumbnail,
        "storyboard": asdict(board) if board else None,
        "heatmap": [output.fields(part, "start_ms end_ms value") for part in details.heatmap],
    }


def _track_warnings(track: Track | None) -> Iterator[str]:
    if track and track.flag == "translated":
        yield _("These captions are a machine's translation.")
    if track and track.flag == "dub":
        yield _("These captions may be those of an automatic dub.")


@click.command("open", help=N_("Play a scene, or a video at a time: SCENE (its id) or VIDEO@TIME."))
@click.argument("target", metavar="SCENE|VIDEO@TIME", shell_complete=completing.videos)
@click.option(
    "--player", "name", shell_complete=completing.players, help=N_("browser, mpv, iina, vlc, or one from the config.")
)
@click.option("--print", "only_print", is_flag=True, help=N_("Only print the link."))
@json_option
@click.pass_obj
def open_(settings: Settings, target: str, name: str | None, only_print: bool, as_json: bool) -> int:
    with Runtime(settings) as runtime:
        video, at_ms = _video_and_time(runtime, target)
        player_name = name or player.default(
            settings.player.default, runtime.library.database.get_setting(PLAYER), settings.players
        )
    file = None if only_print else media(video)
    if video.url is None and file is None:
        raise UsageError("no_link", video=video.title)
    link = watch_url(video.id, at_ms) if video.url else None
    played = not only_print and _play(settings, player_name, video, at_ms, file, strict=name is not None)
    outcome = output.Outcome({"url": link, "at": at_ms / 1000, "played": played})
    return output.finish("open", outcome, [link or str(file)], as_json=as_json)


def _play(settings: Settings, name: str, video: Video, at_ms: int, file: Path | None, *, strict: bool) -> bool:
    """Play in this player; unless `strict`, fall back to another. Return False without a screen, if there is a link."""
    extra = settings.players
    if not player.can_show() and name in player.names(extra):
        if video.url is None:
            raise UsageError("no_screen", path=str(file))
        output.say(_("There is no screen to play on here; this is the link."))
        return False
    player.play(
        name if strict else player.choose(name, extra, link=video.url is not None, media=file is not None),
        watch_url=video.url,
        link=watch_url(video.id, at_ms) if video.url else None,
        at_ms=at_ms,
        lead_in=settings.player.lead_in,
        extra=extra,
        media=file,
        cache=settings.paths.cache,
    )
    return True


def _video_and_time(runtime: Runtime, target: str) -> tuple[Video, int]:
    """Return the video and the time in ms of `SCENE` or `VIDEO@TIME`."""
    name, separator, time = target.rpartition("@")
    if separator and name:
        return _video(runtime, name), _time(time)
    try:
        window = runtime.library.window(str(uuid.UUID(target)))
    except ValueError:
        window = None
    if window is None:
        return _shared_scene(runtime, target) or (_video(runtime, target), 0)
    return _video(runtime, window.video_id), window.start_ms


def _shared_scene(runtime: Runtime, target: str) -> tuple[Video, int] | None:
    """Return video and time of another library's scene in a shared index."""
    from subtitle_rag.retrieval.payload import read_payload

    try:
        id = str(uuid.UUID(target))
    except ValueError:
        return None
    payloads = runtime.index.shared_payloads([id]) if runtime.settings.qdrant.url else {}
    scene = read_payload(id, payloads[id]) if id in payloads else None
    return (scene.video, scene.window.start_ms) if scene else None


def _video(runtime: Runtime, name: str) -> Video:
    """Return the video with this id, or the only one with this in its title."""
    name = tidy(name)
    ids = runtime.library.find_videos(name)
    video = runtime.library.video(ids[0]) if len(ids) == 1 else None
    if video is None:
        raise UsageError("several_videos" if ids else "unknown_video", video=name)
    return video


def _time(text: str) -> int:
    try:
        return parse_clock(text)
    except (ValueError, OverflowError):
        raise UsageError("bad_time", value=text) from None
