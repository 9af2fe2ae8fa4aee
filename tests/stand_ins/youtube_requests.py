"""Requests received by the YouTube stand-in, and rules for the next ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.stand_ins.loopback import Hold
from tests.stand_ins.youtube_player import Json

_API = {"browse": "browse", "player": "player", "next": "next", "navigation/resolve_url": "resolve"}

_CONFIGS = {
    "/tv": "TVHTML5",
    "m.youtube.com": "MWEB",
    "music.youtube.com": "WEB_REMIX",
    "studio.youtube.com": "WEB_CREATOR",
}


@dataclass(frozen=True)
class Asked:
    """One request.

    `kind`: tab, playlist, browse, watch, next, resolve, player, timedtext, config, image, media or other. A config is
    another player's page, from which yt-dlp reads the settings.
    """

    kind: str
    path: str
    query: dict[str, str]
    video: str = ""
    client: str = ""
    host: str = ""
    headers: dict[str, str] = field(default_factory=dict)  # names in lower case
    sent: Json = field(default_factory=dict)  # the JSON of a POST

    @property
    def account(self) -> bool:
        """Whether the client is logged in."""
        return "LOGIN_INFO" in self.headers.get("cookie", "")


@dataclass
class Rule:
    """Rule for the next requests of a kind."""

    kind: str | None  # None: every kind
    video: str | None
    client: str | None
    times: int | None  # None: for ever
    after: int = 0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    close: bool = False
    cut: int | None = None
    hold: Hold | None = None

    def takes(self, request: Asked) -> bool:
        """Whether it applies to this request, which then counts as one of its uses."""
        if self.kind not in (None, request.kind) or self.times == 0:
            return False
        if self.video not in (None, request.video) or self.client not in (None, request.client):
            return False
        if self.after:
            self.after -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True


def read_request(target: str, headers: dict[str, str], sent: Json) -> Asked:
    """Parse a request from its target, headers (names in lower case) and JSON."""
    parts = urlsplit(target)
    path, query = unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True))
    host = headers.get("host", "")
    client = str(sent.get("context", {}).get("client", {}).get("clientName", ""))
    kind, video = "tab", ""
    if path.startswith("/youtubei/v1/"):
        kind, video = _API.get(path.removeprefix("/youtubei/v1/"), "other"), str(sent.get("videoId", ""))
    elif path == "/api/timedtext":
        kind, video = "timedtext", query.get("v", "")
    elif path.startswith("/videoplayback/"):
        kind, video = "media", path.removeprefix("/videoplayback/")
    elif path == "/watch":
        kind, video, client = "watch", query.get("v", ""), "WEB"
    elif path.startswith("/embed/"):
        kind, video, client = "config", path.removeprefix("/embed/"), "WEB_EMBEDDED_PLAYER"
    elif (place := "/tv" if path == "/tv" else host if path == "/" else "") in _CONFIGS:
        kind, client = "config", _CONFIGS[place]
    elif path == "/playlist":
        kind = "playlist"
    elif path in ("/", "/generate_204"):
        kind = "other"
    return Asked(kind, path, query, video, client, host, headers, sent)
