"""`show`, `open`: a video's transcript, and a scene in a player."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subtitle_rag import output
from subtitle_rag.captions import selection_notes
from subtitle_rag.commands.options import (
    complete_videos,
    completions,
    read_config,
    runtime_outcome,
    wants_json,
)
from subtitle_rag.commands.scene_arguments import (
    check_within,
    time_of,
    video_and_time,
)
from subtitle_rag.domain import Chapter, Details, Track, UsageError, Video, clock, named_text
from subtitle_rag.i18n import N_, _
from subtitle_rag.library import PLAYER, named_video

if TYPE_CHECKING:
    from subtitle_rag.commands.options import Completions
    from subtitle_rag.player import Launch
    from subtitle_rag.runtime import Runtime

AROUND_MS = 60_000
CHAPTER_SLACK_MS = 5_000
"""Authors mark a chapter by the second, and a little late."""


@click.command("show")
@click.argument("video", shell_complete=complete_videos)
@click.option("--at", "at", metavar="TIME", help=N_("Only a minute on either side of this time (12:41)."))
@runtime_outcome
def show_(runtime: "Runtime", video: str, at: str | None) -> output.Outcome:
    centre = time_of(at) if at else None
    if centre is None and "@" in video and runtime.library.video(video) is None:
        row, centre = video_and_time(runtime, video)
    else:
        row = named_video(runtime.library, video)
    check_within(row, centre or 0)
    windows = runtime.library.windows_of(row.id)
    track = runtime.library.track(row.id)
    details = runtime.library.details(row.id)
    spoken = [
        (line, text)
        for window in windows
        for line, (_start, text) in zip(window.lines, window.spoken(), strict=True)
        if centre is None or abs(line.start_ms - centre) <= AROUND_MS
    ]
    if not wants_json():
        output.say(f"{row.title}\n{row.channel}")
        for note in selection_notes(track.selection) if track and track.selection else ():
            output.say(note)
    values = {
        "video": _video_values(row, track, details),
        "lines": [
            {"start": line.start_ms / 1000, "speaker": line.speaker or None, "text": text} for line, text in spoken
        ],
    }
    lines = [(line.start_ms, named_text(line.speaker, text)) for line, text in spoken]
    transcript = _transcript(lines, row.chapters if centre is None else ())
    return output.Outcome(values, transcript)


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
        **output.fields(video, "duration_ms kind?"),
        "track": _track_values(track) if track else None,
        "chapters": [output.fields(chapter, "start_ms title") for chapter in video.chapters],
        **output.fields(details, "description? thumbnail"),
        "storyboard": asdict(board) if board else None,
        "heatmap": [output.fields(part, "start_ms end_ms value") for part in details.heatmap],
    }


def _complete_players(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete the built-in players, and those of the config."""
    from subtitle_rag import player

    return completions([(name, "") for name in player.names(read_config(ctx).settings.players)], incomplete)


def _track_values(track: Track) -> dict[str, Any]:
    selection = track.selection.values() if track.selection else None
    return {**output.fields(track, "language kind flag?"), "selection": selection}


@click.command("open")
@click.argument("target", metavar="NUMBER|SCENE|VIDEO@TIME", shell_complete=complete_videos)
@click.option(
    "--player", "name", shell_complete=_complete_players, help=N_("browser, mpv, iina, vlc, or one from the config.")
)
@click.option("--print", "only_print", is_flag=True, help=N_("Only print the link."))
@runtime_outcome
def open_(runtime: "Runtime", target: str, name: str | None, only_print: bool) -> output.Outcome:
    from subtitle_rag import player
    from subtitle_rag.captions import find_media

    video, at_ms = video_and_time(runtime, target)
    player_name = name or player.default(
        runtime.settings.player.default, runtime.library.database.get_setting(PLAYER), runtime.settings.players
    )
    file = None if only_print else find_media(video)
    if video.url is None and file is None:
        raise UsageError("no_link", video=video.title)
    link = video.link(at_ms)
    played = None if only_print else _play(runtime, player_name, video, at_ms, file, strict=name is not None)
    if played == player.BROWSER and link:
        link = player.earlier(link, at_ms, runtime.settings.player.lead_in)  # the one that was opened
    return output.Outcome({"url": link, "at": at_ms / 1000, "played": bool(played)}, [link or str(file)])


def _play(runtime: "Runtime", name: str, video: Video, at_ms: int, file: Path | None, *, strict: bool) -> str | None:
    """Play in this player; unless `strict`, fall back to another. Return its name; None without a screen."""
    from subtitle_rag import player

    settings = runtime.settings
    extra = settings.players
    can_play = player.can_open_links() if name == player.BROWSER else player.can_show()
    if not can_play and name in player.names(extra):
        if video.url is None:
            raise UsageError("no_screen", path=str(file))
        output.say(_("There is no screen to play on here; this is the link."))
        return None
    chosen = name if strict else player.choose(name, extra, link=video.url is not None, media=file is not None)
    launch = player.play(
        chosen,
        watch_url=video.url,
        link=video.link(at_ms),
        at_ms=at_ms,
        lead_in=settings.player.lead_in,
        extra=extra,
        media=file,
        cache=settings.paths.cache,
    )
    if launch is not None:
        say_if_loading(launch)
    return chosen


def say_if_loading(launch: "Launch") -> None:
    if launch.wait(launch.patience_s) == "loading":
        output.say(_("{player} is still loading the video.").format(player=launch.name))
