"""Parser of a user's input as a channel, playlist or video on YouTube.

The input itself is never passed on. A `Source` holds only ids and names that passed the
checks here, and its address is written anew on www.youtube.com, so that no other host can be reached through it.
Letters that merely look like YouTube's, ports, user names and second redirects are refused, never repaired.
"""

import re
import string
import unicodedata
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit

from subtitle_rag.captions.formats import caption_suffixes
from subtitle_rag.domain import TABS, UsageError, nfc

Kind = Literal["channel", "playlist", "video"]

MAX_LENGTH = 4096  # characters of an address
MAX_NAME = 100  # characters of a handle, a channel's name or the words of a search

SITE = "https://www.youtube.com"
_MAIN_HOSTS = {"youtube.com", "www.youtube.com", "m.youtube.com"}
_SHORT_HOSTS = {"youtu.be", "www.youtu.be"}
_EMBED_HOSTS = {"youtube-nocookie.com", "www.youtube-nocookie.com"}

_LISTINGS = frozenset({*TABS, "playlists", "podcasts", "releases", "courses"})
_PAGES = frozenset({"about", "channels", "community", "featured", "home", "join", "membership", "posts", "store"})
_KNOWN_TABS = _LISTINGS | _PAGES | {"live", "search"}

_RESERVED_WORDS = """
    about account browse c channel clip e embed explore feed feeds get_video_info hashtag iframe_api index live logout
    movies oembed oops playlist results s search shared shorts signin source storefront t trending upload user v w watch
    watch_popup
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())
"""First words of a path which yt-dlp never reads as a channel's name, unless a letter or digit follows."""

_PAGE_WORDS = """
    activate ads apps artists attribution_link channels community create_channel creators gaming getpremium
    howyoutubeworks intl jobs kids learning library live_chat live_stream music my_videos new news paid_memberships
    player playables podcasts post premium press profile redirect reporthistory sports tv verify videos watch_videos yt
"""
_SITE_PAGES = frozenset(_PAGE_WORDS.split())
"""Pages of YouTube itself that stand where an old channel's bare name can stand too."""

_VIDEO_ID = re.compile(r"(?!videoseries|live_stream)[A-Za-z0-9_-]{11}")
_CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{22}")
_PLAYLIST_ID = re.compile(r"(?:PL|UU|FL|EC|PU|OLAK5uy_)[A-Za-z0-9_-]{10,100}")
"""Public lists with an end: no mixes (`RD…`, `UL…`), no lists of a signed-in user (`WL`, `LL`)."""

_LONG_ID = re.compile(
    r"(?:UC|FL|UU(?:[A-Z]{2})?)[A-Za-z0-9_-]{22}|PL(?:[0-9A-F]{16}|[A-Za-z0-9_-]{32})|OLAK5uy_[A-Za-z0-9_-]{33}"
)
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]+://|(?://)?(?:[a-z0-9-]+\.)*(?:youtube(?:-nocookie)?\.com|youtu\.be)(?=[/?#:]|\Z)",
    re.IGNORECASE,
)

_AT = ("@", "＠")
_EDGES = string.whitespace + "\"'`<>“”‘’«»‹›「」『』〈〉《》\u00a0\u3000\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FULL_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(94)}


@dataclass(frozen=True, slots=True)
class Source:
    """One place on YouTube.

    `key` is a channel's `@handle` (lower case), `UC…` id, `c/name`, `user/name` or old bare `name`; a playlist's id; a
    video's id. `tabs` are those that a channel's address named, as people read them (`search?query=김치 찌개`);
    empty means the user's choice. `playlist` is the list that a video's link named as well: only the user knows which
    was meant, and it is no part of `url`.
    """

    kind: Kind
    key: str
    tabs: tuple[str, ...] = ()
    playlist: str | None = None

    @property
    def url(self) -> str:
        """The canonical address, percent-encoded; it names a tab only where `tabs` is exactly one."""
        if self.kind != "channel":
            return f"{SITE}/watch?v={self.key}" if self.kind == "video" else f"{SITE}/playlist?list={self.key}"
        path = f"channel/{self.key}" if _CHANNEL_ID.fullmatch(self.key) else self.key
        url = f"{SITE}/{quote(path, safe='@/')}"
        if len(self.tabs) == 1:
            tab, mark, words = self.tabs[0].partition("?query=")
            url += f"/{quote(tab, safe='')}{mark}{quote(words, safe='')}"
        return url


def looks_like_address(text: str) -> bool:
    """Whether `text` is meant for the web and not for the disk; `parse` may still refuse it.

    Yes: whatever has a scheme and `://`; a host of YouTube with or without a path; `@handle`, alone or with one of a
    channel's tabs; a bare channel or playlist id of the length that such ids have.
    No: `@name.vtt` and its like; a bare video id, since eleven letters are as good a folder (`my-captions`). `parse`
    takes bare ids of all kinds, so whoever finds nothing on the disk by such a name can still ask it. Folders named
    after a channel's id or handle exist too: a path that is there, or that begins with `./`, should go first.
    """
    text = nfc(text[:MAX_LENGTH]).strip(_EDGES)
    if text.startswith(_AT):
        name, slash, tab = text.partition("?")[0].partition("/")
        is_page = not slash or tab.rstrip("/").lower() in _KNOWN_TABS | {""}
        return is_page and _handle(unquote(name)) is not None and not name.lower().endswith(caption_suffixes())
    return bool(_ADDRESS.match(text) or _LONG_ID.fullmatch(text))


def parse_address(text: str) -> Source:
    """Return the source that a text names: an address of YouTube in any of its forms, an `@handle`, or a bare id.

    A live broadcast's tab counts as the streams; a tab that lists no videos as the channel itself. A mix beside a
    video's id is dropped.

    Raises:
        UsageError: `unsupported_url`, for everything else.
    """
    try:
        source = _read(text, unwrap=True)
    except ValueError:  # urllib's word for brackets, odd hosts, or too many fields
        source = None
    if source is None:
        printable = "".join(char for char in text[:MAX_LENGTH] if char.isprintable())
        raise UsageError("unsupported_url", url=nfc(printable.strip())[:200])
    return source


def _read(text: str, *, unwrap: bool) -> Source | None:
    if len(text) > MAX_LENGTH:
        return None
    text = nfc(text).strip(_EDGES)
    if not text.isprintable() or " " in text:  # urlsplit() would drop line ends and go on
        return None
    if _CHANNEL_ID.fullmatch(text):
        return Source("channel", text)
    if _VIDEO_ID.fullmatch(text):
        return Source("video", text)
    return _playlist(text) or _address(text, unwrap=unwrap)


def _address(text: str, *, unwrap: bool) -> Source | None:
    """Read an address. With `unwrap` another one may stand inside it, read by the same rules; it is the last."""
    if text.startswith(_AT):
        text = f"{SITE}/{text}"
    parts = urlsplit(text)
    if not parts.scheme and not parts.netloc:
        parts = urlsplit(f"//{text}")
    if parts.scheme not in ("", "http", "https"):
        return None
    host = parts.netloc.lower()  # user names and ports included: with either it is none of the hosts
    path = [name for part in parts.path.split("/") if (name := nfc(unquote(part)).strip())]
    query = parse_qs(parts.query.replace("&amp;", "&"), max_num_fields=100)
    if host in _SHORT_HOSTS:
        return _video(path[0], query) if len(path) == 1 else None
    if host in _EMBED_HOSTS:
        return _page(path, query) if path[:1] in (["embed"], ["v"], ["e"]) else None
    if host in _MAIN_HOSTS and path == ["attribution_link"]:
        return _read(SITE + _first(query, "u"), unwrap=False) if unwrap else None
    if host in _MAIN_HOSTS or host == "music.youtube.com":
        return _page(path, query) or _channel_page(path, query, old_names=host in _MAIN_HOSTS)
    if host == "consent.youtube.com" and path == ["m"] and unwrap:
        return _read(_first(query, "continue"), unwrap=False)
    return None


def _page(path: list[str], query: dict[str, list[str]]) -> Source | None:
    """Return the video or playlist at a path of one of YouTube's hosts."""
    match path:
        case ["watch" | "watch_popup"] if _first(query, "v"):
            return _video(_first(query, "v"), query)
        case ["watch" | "watch_popup" | "playlist" | "embed"] | ["embed", "videoseries"]:
            return _playlist(_head(_first(query, "list")))
        case ["shorts" | "live" | "embed" | "v" | "e", video]:
            return _video(video, query)
        case ["browse", name]:  # YouTube Music writes a playlist's page so
            return _playlist(name.removeprefix("VL"))
    return None


def _channel_page(path: list[str], query: dict[str, list[str]], *, old_names: bool) -> Source | None:
    match path:
        case ["channel" | "browse", name, *rest] | [name, *rest] if _CHANNEL_ID.fullmatch(name):
            return _channel(name, rest, query)
        case ["c" | "user" as kind, name, *rest] if _is_name(name):
            return _channel(f"{kind}/{name}", rest, query)
        case [name, *rest] if name.startswith(_AT):
            handle = _handle(name)
            return _channel(handle, rest, query) if handle else None
        case [name, *rest] if old_names and _is_name(name) and _is_free(name) and _KNOWN_TABS.issuperset(rest):
            return _channel(name, rest, query)
    return None


def _channel(key: str, rest: list[str], query: dict[str, list[str]]) -> Source | None:
    """Return the channel with the tab in the `rest` of the path; an unknown tab counts as one without videos."""
    tab = rest[0].lower() if rest else ""
    if len(rest) > 1 or not re.fullmatch(r"[a-z_]*", tab):
        return None
    if tab == "search":
        words = " ".join(nfc(_first(query, "query")).split())
        is_fit = len(words) <= MAX_NAME and words.isprintable()
        return Source("channel", key, (f"search?query={words}",) if words else ()) if is_fit else None
    tab = "streams" if tab == "live" else tab
    return Source("channel", key, (tab,) if tab in _LISTINGS else ())


def _video(id: str, query: dict[str, list[str]]) -> Source | None:
    id = _head(id)
    if not _VIDEO_ID.fullmatch(id):
        return None
    listed = _playlist(_head(_first(query, "list")))
    return Source("video", id, playlist=listed.key if listed else None)


def _playlist(id: str) -> Source | None:
    return Source("playlist", id) if _PLAYLIST_ID.fullmatch(id) else None


def _first(query: dict[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0].strip()


def _head(id: str) -> str:
    """Return an id without parameters that were typed behind the wrong mark: `youtu.be/ID&t=3`, `watch?v=ID?t=3`."""
    return re.split(r"[?&#/]", id, maxsplit=1)[0]


def _handle(text: str) -> str | None:
    """Return a handle in lower case. Case folding would make another name of `@straße`."""
    name = nfc(text.translate(_FULL_WIDTH)[1:].lower())
    return f"@{name}" if _is_name(name) else None


def _is_name(text: str) -> bool:
    """Letters of any script with their marks, digits, and the four signs that YouTube allows in names."""
    allowed = all(char in "_-.·" or unicodedata.category(char)[0] in "LMN" for char in text)
    return allowed and len(text) <= MAX_NAME and any(char.isalnum() for char in text)


def _is_free(name: str) -> bool:
    """Whether a bare first word of a path can be an old channel's name. yt-dlp sees `v%EB…` as `v` and refuses it."""
    word = re.split(r"[^A-Za-z0-9_]", quote(name), maxsplit=1)[0]
    return word.lower() not in _RESERVED and name.lower().partition(".")[0] not in _SITE_PAGES
