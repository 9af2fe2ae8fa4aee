"""A stand-in for YouTube on loopback, used by the real extractor of yt-dlp.

    with stand_in() as youtube:
        youtube.add(Channel("UC" + "a" * 22, "@느린부엌", "느린 부엌", [Clip("slowcook001", "국수 삶기")]))

The JSON has only what yt-dlp reads; it proves nothing about the real site's responses.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from subtitle_rag.base.config.settings import YoutubeSettings
from tests.stand_ins.loopback import Hold, Loopback, Server
from tests.stand_ins.youtube_clips import Caption, Channel, Clip, Playlist, Site
from tests.stand_ins.youtube_pages import Listing, continuation_data, listing_data
from tests.stand_ins.youtube_player import VISITOR, Json, player, watch_data
from tests.stand_ins.youtube_requests import Asked, Rule, read_request
from tests.stand_ins.youtube_timedtext import Found, timedtext

__all__ = [
    "QUICK",
    "Asked",
    "BackingOff",
    "BetweenTracks",
    "BetweenVideos",
    "Caption",
    "Channel",
    "Clip",
    "Playlist",
    "StandIn",
    "stand_in",
]

QUICK = YoutubeSettings(pause=0, rest=0)
"""Settings of a reader without any pauses."""


class BetweenVideos(YoutubeSettings):
    """Pauses only between videos; between requests there are none, because tests cannot shorten them."""

    @property
    def request_pause_s(self) -> float:
        return 0

    @property
    def back_off_s(self) -> float:
        return 0


class BetweenTracks(YoutubeSettings):
    """Pauses of 3 s, only between requests for one video."""

    @property
    def request_pause_s(self) -> float:
        return 3


class BackingOff(YoutubeSettings):
    """Pauses only before a retry, 2 s at first."""

    @property
    def back_off_s(self) -> float:
        return 2


VARIABLE = "STAND_IN_YOUTUBE"
PLUGINS = Path(__file__).parent / "plugins"

_PLUGIN = "yt_dlp_plugins.extractor.stand_in_youtube"
_HTML = "text/html; charset=utf-8"
_JSON = "application/json; charset=UTF-8"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self._answer({})

    def do_HEAD(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}"))

    def _answer(self, sent: Json) -> None:
        stand_in = self.server.stand_in
        request = read_request(self.path, {name.lower(): value for name, value in self.headers.items()}, sent)
        rule = stand_in.note(request)
        if rule and rule.hold:
            rule.hold.wait()
        if rule and rule.close:
            return
        if request.kind == "media" and not rule:
            self._send_media(stand_in.media(request.video), request.headers.get("range", ""))
        elif rule and rule.cut is None and not rule.hold:
            self._send((rule.status, _HTML, rule.body), rule.headers, None)
        else:
            self._send(stand_in.answer(request), {}, rule.cut if rule else None)

    def _send(self, found: Found, headers: Mapping[str, str], cut: int | None) -> None:
        status, type, body = found
        self.send_response(status)
        for name, value in {"Content-Type": type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])

    def _send_media(self, media: bytes, span: str) -> None:
        """Send the requested range of bytes (RFC 9110, 14)."""
        first, _dash, last = span.removeprefix("bytes=").partition("-")
        start = int(first or 0)
        part = media[start : int(last) + 1 if last else None]
        headers = {"Accept-Ranges": "bytes"}
        if span:
            headers["Content-Range"] = f"bytes {start}-{start + len(part) - 1}/{len(media)}"
        with suppress(ConnectionError):  # ffmpeg disconnects once it has enough
            self._send((206 if span else 200 if media else 404, "video/mp4", part), headers, None)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: `StandIn.requests` has the requests."""


class StandIn(Loopback):
    """The server, to use in `with`; `stop` and `start` take it away and bring it back on the same port."""

    HANDLER = _Handler

    def __init__(self) -> None:
        super().__init__()
        self.site = Site()
        self.recordings: dict[str, Json] = {}
        """Recorded responses of the real player by video, sent to every client."""
        self.requests: list[Asked] = []
        self._rules: list[Rule] = []

    def stop(self) -> None:
        """Release all held requests, and refuse connections."""
        for rule in self._rules:
            if rule.hold:
                rule.hold.release()
        super().stop()

    def add(self, *things: Channel | Playlist | Clip) -> None:
        """Serve these from now on. A clip without a channel is in no list."""
        for thing in things:
            for clip in thing.clips if isinstance(thing, Channel) else [thing] if isinstance(thing, Clip) else []:
                clip.media_url = f"{self.base}/videoplayback/{clip.id}"
            if isinstance(thing, Channel):
                self.site.channels.append(thing)
            elif isinstance(thing, Playlist):
                self.site.playlists.append(thing)
            else:
                self.site.loose.append(thing)

    def count(self, kind: str | None = None) -> int:
        return len(self.asked(kind))

    def asked(self, kind: str | None = None) -> list[Asked]:
        with self._lock:
            return [each for each in self.requests if kind in (None, each.kind)]

    def clear(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self.requests.clear()

    def refuse(
        self,
        kind: str | None,
        status: int = 429,
        *,
        times: int | None = 1,
        after: int = 0,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        video: str | None = None,
        client: str | None = None,
        close: bool = False,
        cut: int | None = None,
    ) -> None:
        """Refuse the next requests.

        Args:
            kind: kind of request; None: all kinds, as if YouTube had blocked the address.
            status: status of the response.
            times: number of requests; None: all.
            after: number of requests that succeed first.
            headers: headers of the response.
            body: its body.
            video: only requests about this video.
            client: only requests by this player client.
            close: whether to end the connection without a response.
            cut: bytes to send of the usual body.
        """
        rule = Rule(kind, video, client, times, after, status, headers or {}, body, close, cut)
        with self._lock:
            self._rules.append(rule)

    def hold(self, kind: str, *, times: int | None = 1, after: int = 0) -> Hold:
        """Hold the next requests of this kind until they are released."""
        hold = Hold()
        with self._lock:
            self._rules.append(Rule(kind, None, None, times, after, hold=hold))
        return hold

    def forgive(self) -> None:
        """Remove all rules."""
        with self._lock:
            self._rules.clear()

    def note(self, request: Asked) -> Rule | None:
        with self._lock:
            self.requests.append(request)
            return next((rule for rule in self._rules if rule.takes(request)), None)

    def environment(self, home: Path) -> dict[str, str]:
        """Return variables for another process to use this server, without the user's yt-dlp settings."""
        path = os.pathsep.join(filter(None, [str(PLUGINS), os.environ.get("PYTHONPATH")]))
        folders = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
        return {VARIABLE: self.base, "PYTHONPATH": path, **folders}

    def media(self, id: str) -> bytes:
        clip = self.site.clip(id)
        return clip.media if clip else b""

    def answer(self, request: Asked) -> Found:
        answers: dict[str, Callable[[Asked], Found]] = {
            "tab": self._listing,
            "playlist": self._listing,
            "browse": self._browse,
            "watch": self._watch,
            "next": self._watch,
            "resolve": self._resolve,
            "player": self._player,
            "timedtext": lambda request: timedtext(self.site.clip(request.video), request.query),
            "config": lambda request: _page({}, {}, request.client),
        }
        if request.kind in answers:
            return answers[request.kind](request)
        return (204 if request.path == "/generate_204" else 404), _HTML, b""

    def _listing(self, request: Asked) -> Found:
        listing = Listing.of_path(self.site, request.path, request.query)
        if listing is None:
            return 404, _HTML, b"<html><title>404 Not Found</title></html>"
        if listing.tab == "live" and (clip := self._live_now(listing.id)):
            endpoint = {"currentVideoEndpoint": {"watchEndpoint": {"videoId": clip.id}}}
            return _page({**watch_data(clip, self.site.channel_of(clip)), **endpoint})
        return _page(listing_data(self.site, listing))

    def _live_now(self, channel_id: str) -> Clip | None:
        channel = self.site.channel(channel_id)
        return next((clip for clip in channel.clips if clip.state == "live"), None) if channel else None

    def _resolve(self, request: Asked) -> Found:
        listing = Listing.of_address(self.site, str(request.sent.get("url", "")))
        if listing is None:
            return _not_found()
        return _json({"responseContext": {}, "endpoint": {"browseEndpoint": listing.endpoint}})

    def _browse(self, request: Asked) -> Found:
        if token := request.sent.get("continuation"):
            return _json(continuation_data(self.site, token))
        data = listing_data(self.site, Listing.of_endpoint(request.sent))
        return _json(data) if data else _not_found()

    def _watch(self, request: Asked) -> Found:
        clip = self.site.clip(request.video)
        channel = self.site.channel_of(clip) if clip else None
        data = watch_data(clip, channel)
        if playlist := self.site.playlist(request.query.get("list", "")):
            url = {"commandMetadata": {"webCommandMetadata": {"url": f"/playlist?list={playlist.id}"}}}
            inline = {"playlistId": playlist.id, "title": playlist.title, "endpoint": url}
            data["contents"]["twoColumnWatchNextResults"]["playlist"] = {"playlist": inline}
        about = "made for kids" if clip and clip.kids else ""
        return _json(data) if request.kind == "next" else _page(data, self._player_answer(request), about=about)

    def _player(self, request: Asked) -> Found:
        return _json(self._player_answer(request))

    def _player_answer(self, request: Asked) -> Json:
        if request.video in self.recordings:
            return self.recordings[request.video]
        clip = self.site.clip(request.video)
        channel = self.site.channel_of(clip) if clip else None
        token = request.client in self.site.token_clients
        return player(clip, channel, request.client, account=request.account, token=token)


@contextmanager
def stand_in() -> Iterator[StandIn]:
    """Run a stand-in that yt-dlp uses in this process and in the processes it starts.

    The plugin stays loaded afterwards, but idle: it checks the environment at each request.
    """
    with StandIn() as youtube:
        _load_plugin()
        path = os.pathsep.join(filter(None, [str(PLUGINS), os.environ.get("PYTHONPATH")]))
        before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
        os.environ.update({VARIABLE: youtube.base, "PYTHONPATH": path})
        try:
            yield youtube
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _load_plugin() -> None:
    """Load the plugin, even if yt-dlp has already looked for plugins; leave out the user's own."""
    from yt_dlp.globals import all_plugins_loaded

    if _PLUGIN not in sys.modules:
        spec = spec_from_file_location(_PLUGIN, PLUGINS / f"{_PLUGIN.replace('.', '/')}.py")
        assert spec
        assert spec.loader
        sys.modules[_PLUGIN] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_PLUGIN])
    all_plugins_loaded.value = True


def _json(data: Json) -> Found:
    return 200, _JSON, json.dumps(data, ensure_ascii=False).encode()


def _not_found() -> Found:
    error = {"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}
    return 404, _JSON, json.dumps(error).encode()


def _page(data: Json, player_response: Json | None = None, client: str = "WEB", about: str = "") -> Found:
    """Return a page with the data in its scripts, but without a player script, so that none is requested."""
    context = {"clientName": client, "clientVersion": "2.20260708.00.00", "visitorData": VISITOR}
    config = {"INNERTUBE_CONTEXT": {"client": context}, "INNERTUBE_CLIENT_NAME": client}
    scripts = [f"ytcfg.set({_script(config)});", f"var ytInitialData = {_script(data)};"]
    if player_response is not None:
        scripts.append(f"var ytInitialPlayerResponse = {_script(player_response)};")
    html = "".join(f"<script>{script}</script>" for script in scripts)
    return 200, _HTML, f"<!DOCTYPE html><html><head></head><body>{html}<p>{about}</p></body></html>".encode()


def _script(data: Json) -> str:
    """Return JSON that cannot end the surrounding script element."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
