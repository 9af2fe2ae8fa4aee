"""`search`, `show`, `open`."""

import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from subtitle_rag import output, player
from subtitle_rag.captions.media import media
from subtitle_rag.commands import completing, json_option
from subtitle_rag.config import Settings
from subtitle_rag.domain import Chapter, Details, Track, Video, clock, parse_clock, watch_url
from subtitle_rag.errors import AppError, UsageError
from subtitle_rag.i18n import N_, _
from subtitle_rag.library.app_state import PLAYER
from subtitle_rag.retrieval.query import Query, day, kind_named, parse, tidy
from subtitle_rag.retrieval.scenes import Scene
from subtitle_rag.retrieval.search import LEXICAL, RETRIEVERS, SearchResult
from subtitle_rag.runtime import Runtime

AROUND_MS = 60_000
CHAPTER_SLACK_MS = 5_000
"""Authors mark a chapter by the second, and a little late."""
DIGITS = {"bm25": 2, "fused": 4}
"""After the point, of a score; three of the others."""
PATIENCE_S = 1.0
"""After which somebody at a terminal is told what a search waits for."""


@click.command("search", help=N_('Find scenes. "a phrase", -word, channel:NAME, after:2026-01-01, before:2026-12-31.'))
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 200), help=N_("Show at most this many scenes (default 20)."))
@click.option(
    "--channel", multiple=True, shell_complete=completing.channels, help=N_("Only channels whose name holds this.")
)
@click.option(
    "--video",
    multiple=True,
    shell_complete=completing.videos,
    help=N_("Only this video: its id, or a part of its title."),
)
@click.option("--after", metavar="DATE", help=N_("Only videos published on this day or later."))
@click.option("--before", metavar="DATE", help=N_("Only videos published on this day or earlier."))
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
    asked = _narrowed(parse(" ".join(query)), channel, video, after, before, kinds)
    names = [name.strip() for name in retrievers.split(",")] if retrievers is not None else None
    shown = limit or settings.search.limit
    with Runtime(settings) as runtime:
        runtime.preload()
        with _patience():
            found = runtime.searcher.search(asked, limit=shown, retrievers=names, rerank=not no_rerank)
        empty = not found.scenes and not runtime.library.counts().videos
        trouble = [runtime.trouble] if runtime.trouble else []
    failures = [output.error_entry(error) for error in (*trouble, *_told(found))]
    for failure in failures:
        output.say_error(failure)
    if as_json:
        output.envelope("search", output.Outcome(result_values(found), failures))
        return 0
    explained = _explained(found) if explain else []
    for at, scene in enumerate(found.scenes):
        for line in (*scene_lines(scene), *explained[at : at + 1]):
            output.data(line)
    _say_rest(found, empty=empty)
    return 0


def _say_rest(found: SearchResult, *, empty: bool) -> None:
    if not found.scenes:
        output.say(_("No scenes found. Fewer or shorter words find more."))
    elif found.more:
        output.say(_("There are more scenes; a larger --limit shows them."))
    if empty:
        output.say(
            _("The library is empty. subtitle-rag index FOLDER brings captions in, subtitle-rag demo shows a sample.")
        )


@contextmanager
def _patience() -> Iterator[None]:
    """Tell somebody at a terminal what a slow search waits for."""
    said = _("Still searching. The first search loads what later ones have at hand.")
    timer = threading.Timer(PATIENCE_S, output.say, [said])
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _told(found: SearchResult) -> list[AppError]:
    """Why retrievers or the reranker had no part in the result, each reason once."""
    return list({error.code: error for _name, error in found.missing}.values())


def _narrowed(
    asked: Query,
    channel: Sequence[str],
    video: Sequence[str],
    after: str | None,
    before: str | None,
    kinds: Sequence[str],
) -> Query:
    """The query with the options' filters added to its own."""
    return replace(
        asked,
        channels=(*asked.channels, *map(tidy, channel)),
        videos=(*asked.videos, *map(tidy, video)),
        after=asked.after if after is None else day("after", after),
        before=asked.before if before is None else day("before", before),
        kinds=(*asked.kinds, *map(kind_named, kinds)),
    )


def result_values(found: SearchResult) -> dict[str, Any]:
    """A search's result as `--json` tells it; times in seconds."""
    return {
        "query": found.query.raw,
        "retrievers": list(found.retrievers),
        "reranked": found.reranked,
        "took_ms": dict(found.took_ms),
        "more": found.more,
        "scenes": [_scene_values(scene) for scene in found.scenes],
    }


def _scene_values(scene: Scene) -> dict[str, Any]:
    return {
        "rank": scene.rank,
        "scene": scene.id,
        "video": scene.video.values(),
        "start": scene.start_ms / 1000,
        "end": scene.end_ms / 1000,
        "url": scene.url,
        "jump": {"at": scene.at_ms / 1000, "url": scene.jump_url},
        "text": scene.text,
        "context": scene.context,
        "highlights": [list(span) for span in scene.highlights],
        "score": scene.score,
        "scores": {
            name: {"rank": s.rank, "score": s.score} if name in RETRIEVERS else s.score
            for name, s in scene.scores.items()
        },
    }


def scene_lines(scene: Scene) -> Iterator[str]:
    """A scene as a person reads it: the best line with its time, where it is from, and the link."""
    video = scene.video
    text, spans = best_text(scene)
    where = " · ".join(filter(None, (video.channel, video.title, str(video.published or ""))))
    yield f"{scene.rank:>3}  {clock(scene.at_ms):>8}  {output.marked(text, spans)}"
    yield f"               {where}"
    if scene.context:
        context = _("Context: {text}").format(text=scene.context)
        yield f"               {context}"
    yield f"               {scene.jump_url or video.source or video.id}"


def _explained(found: SearchResult) -> list[str]:
    """A line for each scene: where every retriever, the fusion and the reranker placed it, and its own score."""
    columns = {name: name for name in found.retrievers}
    if columns.keys() - set(LEXICAL):
        columns["fused"] = _("fused")
    if found.reranked:
        columns["rerank"] = _("reranked")
    rows = []
    for scene in found.scenes:
        cells = []
        for name, title in columns.items():
            own = scene.scores.get(name)
            cells += [f"{title} #{own.rank}", f"{own.score:.{DIGITS.get(name, 3)}f}"] if own else [f"{title} –", ""]
        rows.append([*cells, f"{clock(scene.start_ms)}–{clock(scene.end_ms)}", scene.id])
    right = frozenset(range(1, 2 * len(columns), 2))
    return [f"               {line}" for line in output.table(rows, right=right)] if rows else []


def best_text(scene: Scene) -> tuple[str, list[tuple[int, int]]]:
    """The line to jump to and the one after it, with the spans to mark in them."""
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
    around = _time(at) if at else None
    with Runtime(settings) as runtime:
        known = _video(runtime, video)
        windows = runtime.library.windows_of(known.id)
        track = runtime.library.track(known.id)
        details = runtime.library.details(known.id)
    lines = [
        (start, text)
        for window in windows
        for start, text in window.spoken()
        if around is None or abs(start - around) <= AROUND_MS
    ]
    if as_json:
        result = {
            "video": _described(known, track, details),
            "lines": [{"start": start / 1000, "text": text} for start, text in lines],
        }
        output.envelope("show", output.Outcome(result))
        return 0
    output.say(f"{known.title}\n{known.channel}")
    for warning in _doubts(track):
        output.say(warning)
    for line in _transcript(lines, known.chapters if around is None else ()):
        output.data(line)
    return 0


def _transcript(lines: Sequence[tuple[int, str]], chapters: Sequence[Chapter]) -> Iterator[str]:
    """The lines with their times, under the titles of their chapters."""
    coming = list(chapters)
    for number, (start, text) in enumerate(lines):
        while coming and coming[0].start_ms <= start + CHAPTER_SLACK_MS:
            if number:
                yield ""
            yield f"{' ' * 10}## {coming.pop(0).title}"
        yield f"{clock(start):>8}  {text}"


def _described(video: Video, track: Track | None, details: Details) -> dict[str, Any]:
    board = details.storyboard
    return {
        **video.values(),
        "duration": video.duration_ms / 1000 if video.duration_ms is not None else None,
        "kind": video.kind or None,
        "track": {"language": track.language, "kind": track.kind, "flag": track.flag or None} if track else None,
        "chapters": [{"start": chapter.start_ms / 1000, "title": chapter.title} for chapter in video.chapters],
        "description": details.description or None,
        "thumbnail": details.thumbnail,
        "storyboard": asdict(board) if board else None,
        "heatmap": [{"start": h.start_ms / 1000, "end": h.end_ms / 1000, "value": h.value} for h in details.heatmap],
    }


def _doubts(track: Track | None) -> Iterator[str]:
    """What a reader should know about where the words come from."""
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
        video, at_ms = _place(runtime, target)
        asked = name or player.default(
            settings.player.default, runtime.library.database.get_setting(PLAYER), settings.players
        )
    file = None if only_print else media(video)
    if video.url is None and file is None:
        raise UsageError("no_link", video=video.title)
    link = watch_url(video.id, at_ms) if video.url else None
    playing = not only_print and _played(settings, asked, video, at_ms, file, strict=name is not None)
    if as_json:
        output.envelope("open", output.Outcome({"url": link, "at": at_ms / 1000, "played": playing}))
    else:
        output.data(link or str(file))
    return 0


def _played(settings: Settings, asked: str, video: Video, at_ms: int, file: Path | None, *, strict: bool) -> bool:
    """Play it in the player that is asked for or, unless `strict`, in another one where that one cannot; False where
    there is no screen and a link is as good."""
    extra = settings.players
    if not player.can_show() and asked in player.names(extra):
        if video.url is None:
            raise UsageError("no_screen", path=str(file))
        output.say(_("There is no screen to play on here; this is the link."))
        return False
    player.play(
        asked if strict else player.choose(asked, extra, link=video.url is not None, media=file is not None),
        watch_url=video.url,
        link=watch_url(video.id, at_ms) if video.url else None,
        at_ms=at_ms,
        lead_in=settings.player.lead_in,
        extra=extra,
        media=file,
        cache=settings.paths.cache,
    )
    return True


def _place(runtime: Runtime, target: str) -> tuple[Video, int]:
    """The video and the time in ms that `SCENE` or `VIDEO@TIME` names."""
    name, separator, time = target.rpartition("@")
    if separator and name:
        return _video(runtime, name), _time(time)
    try:
        window = runtime.library.window(str(uuid.UUID(target)))
    except ValueError:
        window = None
    if window is None:
        return _elsewhere(runtime, target) or (_video(runtime, target), 0)
    return _video(runtime, window.video_id), window.start_ms


def _elsewhere(runtime: Runtime, target: str) -> tuple[Video, int] | None:
    """The place of a scene that another library has put into the index of both."""
    from subtitle_rag.retrieval.foreign import foreign_from

    try:
        id = str(uuid.UUID(target))
    except ValueError:
        return None
    payloads = runtime.index.foreign([id]) if runtime.settings.qdrant.url else {}
    made = foreign_from(id, payloads[id]) if id in payloads else None
    return (made.video, made.window.start_ms) if made else None


def _video(runtime: Runtime, name: str) -> Video:
    """The video of this id, or the only one whose title holds this."""
    name = tidy(name)
    found = runtime.library.find_videos(name)
    video = runtime.library.video(found[0]) if len(found) == 1 else None
    if video is None:
        raise UsageError("several_videos" if found else "unknown_video", video=name)
    return video


def _time(text: str) -> int:
    try:
        return parse_clock(text)
    except (ValueError, OverflowError):
        raise UsageError("bad_time", value=text) from None
