"""`open`: a scene in a player."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from subtitle_rag.base import output
from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import Video
from subtitle_rag.base.i18n import N_, _
from subtitle_rag.cli.options import complete_videos, completions, read_config, runtime_outcome
from subtitle_rag.cli.scene_arguments import video_and_time

if TYPE_CHECKING:
    from subtitle_rag.cli.options import Completions
    from subtitle_rag.runtime import Runtime
    from subtitle_rag.sharing.player.launch import Launch


def _complete_players(ctx: click.Context, _param: click.Parameter, incomplete: str) -> "Completions":
    """Complete the built-in players, and the ones in the config."""
    from subtitle_rag.sharing import player

    return completions([(name, "") for name in player.names(read_config(ctx).settings.players)], incomplete)


@click.command("open")
@click.argument("target", metavar="NUMBER|SCENE|VIDEO@TIME", shell_complete=complete_videos)
@click.option(
    "--player", "name", shell_complete=_complete_players, help=N_("browser, mpv, iina, vlc, or one from the config.")
)
@click.option("--print", "only_print", is_flag=True, help=N_("Only print the link."))
@runtime_outcome
def open_(runtime: "Runtime", target: str, name: str | None, only_print: bool) -> output.Outcome:
    from subtitle_rag.captions.films import find_media
    from subtitle_rag.sharing import player

    video, at_ms = video_and_time(runtime, target)
    player_name = name or player.default(runtime.settings)
    file = None if only_print else find_media(video)
    if video.url is None and file is None:
        raise UsageError("no_link", video=video.title)
    link = video.link(at_ms)
    played = None if only_print else _play(runtime, player_name, video, at_ms, file, strict=name is not None)
    if played == player.BROWSER and link:
        link = player.earlier(link, at_ms, runtime.settings.player.lead_in)  # start as early as the opened link does
    return output.Outcome({"url": link, "at": at_ms / 1000, "played": bool(played)}, [link or str(file)])


def _play(runtime: "Runtime", name: str, video: Video, at_ms: int, file: Path | None, *, strict: bool) -> str | None:
    """Play a video in a player.

    Args:
        runtime: has the settings.
        name: name of the player.
        video: the video.
        at_ms: where to start.
        file: its film, if it is on this computer.
        strict: whether to refuse any other player.

    Returns:
        The name of the player, or None without a screen.
    """
    from subtitle_rag.sharing import player

    settings = runtime.settings
    extra = settings.players
    can_play = player.can_open_links() if name == player.BROWSER else player.can_show()
    if not can_play and name in player.names(extra):
        if video.url is None:
            raise UsageError("no_screen", path=str(file))
        output.say(_("There is no screen to play on here; this is the link."))
        return None
    player_name = name if strict else player.choose(name, extra, link=video.url is not None, media=file is not None)
    launch = player.play(
        player_name,
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
    return player_name


def say_if_loading(launch: "Launch") -> None:
    if launch.wait(launch.patience_s) == "loading":
        output.say(_("{player} is still loading the video.").format(player=launch.name))
