"""Playback from a given second of a video, by links and players.

Players are command templates, never shell strings. They run in their own session without a terminal, so they neither
draw over the app nor end with it. A player gets the video file next to the captions, or else the link; browsers only
get links.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from subtitle_rag.base.domain.errors import AppError, UsageError
from subtitle_rag.base.i18n import _
from subtitle_rag.sharing.player import mpv
from subtitle_rag.sharing.player.launch import Launch, filled, installed_program, start

if TYPE_CHECKING:
    from subtitle_rag.base.config.settings import Settings

BROWSER = "browser"
MPV = "mpv"
COMMANDS: dict[str, tuple[str, ...]] = {
    MPV: mpv.COMMAND,
    # iina-cli reads the video from stdin unless it is a terminal
    "iina": ("iina-cli", "--no-stdin", "--mpv-start={seconds}", "{url}"),
    "vlc": ("vlc", "--start-time={seconds}", "{url}"),
}
"""Built-in players; `[players]` in the config adds to them and overrides them."""
FILES_ONLY = frozenset({"vlc"})
"""Built-in players that cannot open links: VLC's script for YouTube is often broken."""

TERMINAL_BROWSERS = frozenset({"elinks", "links", "links2", "lynx", "w3m", "www-browser"})

Templates = Mapping[str, Sequence[str]]
"""`[players]`: name → command."""


def can_show() -> bool:
    """Whether a player can open a window; not over SSH or without a display."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def can_open_links() -> bool:
    """Whether a browser can open a link. One in `BROWSER` needs no display, as in a forwarded editor."""
    return can_show() or bool(os.environ.get("BROWSER"))


def can_open_links_apart() -> bool:
    """Whether a browser can open a link outside this terminal."""
    if can_show():
        return True
    first = os.environ.get("BROWSER", "").split(os.pathsep)[0].split()
    return bool(first) and Path(first[0]).name not in TERMINAL_BROWSERS


def commands(extra: Templates) -> Templates:
    """Return the commands of all players by name, the config's before the built-in ones."""
    return {**COMMANDS, **extra}


def names(extra: Templates) -> list[str]:
    return [BROWSER, *dict.fromkeys((*COMMANDS, *commands(extra)))]


def installed(name: str, extra: Templates) -> bool:
    """Whether the player's program is installed; a browser is assumed to be."""
    template = commands(extra).get(name)
    return name == BROWSER or (template is not None and installed_program(template[0]) is not None)


def plays(name: str, extra: Templates, *, link: bool, media: bool) -> bool:
    """Whether the player can play a video with this link or file."""
    if name == BROWSER:
        return link
    return media or (link and (name not in FILES_ONLY or name in extra))


def usable(extra: Templates, *, link: bool, media: bool) -> list[str]:
    """Return the installed players for a video."""
    return [name for name in names(extra) if plays(name, extra, link=link, media=media) and installed(name, extra)]


def default(settings: "Settings") -> str:
    return settings.player.default or BROWSER


def choose(name: str, extra: Templates, *, link: bool, media: bool) -> str:
    """Return the player `name` if it can play a video, else the first usable one.

    Raises:
        UsageError: `no_file_player`.
    """
    if plays(name, extra, link=link, media=media):
        return name
    players = usable(extra, link=link, media=media)
    if not players:
        raise UsageError("no_file_player")
    return players[0]


def reuses(name: str, extra: Templates, cache: Path) -> bool:
    """Whether the player uses one window for all jumps; `cache` as for `play`."""
    return name == MPV and name not in extra and mpv.address(cache) is not None


def earlier(link: str, at_ms: int, lead_in: int) -> str:
    """Return the link to a video, `lead_in` seconds before `at_ms`."""
    return urlsplit(link)._replace(query=urlencode({"t": _seconds(at_ms, lead_in)})).geturl()


def _seconds(at_ms: int, lead_in: int) -> int:
    return max(0, at_ms // 1000 - lead_in)


def play(
    name: str,
    *,
    watch_url: str | None,
    link: str | None,
    at_ms: int,
    lead_in: int,
    extra: Templates,
    media: Path | None = None,
    cache: Path | None = None,
) -> Launch | None:
    """Play a video from `lead_in` seconds before `at_ms`.

    Args:
        name: the player.
        watch_url: the link for players, if any.
        link: the link for a browser, if any.
        at_ms: where the scene begins.
        lead_in: seconds to start before it.
        extra: the player commands of the config.
        media: the video's file, preferred to `watch_url`.
        cache: folder for the sockets of running players; without it each call opens a window.

    Returns:
        The started player, or None for a browser, which cannot be watched.

    Raises:
        UsageError: `no_player`, `player_unfit`.
        AppError: `player_failed`.
    """
    if name == BROWSER:
        import webbrowser

        if link is None:
            raise UsageError("player_unfit", player=BROWSER, reason=_("it opens only links, and the video has none"))
        address = earlier(link, at_ms, lead_in)
        if not webbrowser.open(address):
            raise AppError("player_failed", player=BROWSER, link=address, reason=_("no browser was found"))
        return None
    if not installed(name, extra):
        raise UsageError("no_player", player=name)
    if not plays(name, extra, link=watch_url is not None, media=media is not None):
        reason = _("it plays only files, and there is none beside the video's captions")
        raise UsageError("player_unfit", player=name, reason=reason)
    what, seconds = str(media or watch_url), _seconds(at_ms, lead_in)
    if name == MPV and name not in extra:
        return mpv.play(what, seconds, cache)
    return Launch(name, what, start(name, filled(commands(extra)[name], what, seconds)))


def play_all(clips: Sequence[mpv.Clip], cache: Path | None) -> Launch:
    """Play clips one after another, in mpv.

    Raises:
        UsageError: `no_player`.
    """
    if mpv.program() is None:
        raise UsageError("no_player", player=MPV)
    return mpv.play_all(clips, cache)
