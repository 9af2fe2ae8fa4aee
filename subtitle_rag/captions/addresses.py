"""Parser of typed or pasted text for YouTube channels, playlists and videos.

The input itself is never passed on. A `Source` has only ids and names that passed the checks here, and its address is
built again on www.youtube.com, so no other host can be reached through it. Look-alike letters, ports, user names and
second redirects are refused, never repaired. `find_addresses` strips the text around addresses; `parse_address` reads
one.
"""

import re
import string
import unicodedata
from dataclasses import dataclass
from typing import Literal, NoReturn
from urllib.parse import parse_qs, quote, unquote, urlsplit

from subtitle_rag.base.domain.errors import UsageError
from subtitle_rag.base.domain.values import TABS, nfc
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.formats import caption_suffixes

Kind = Literal["channel", "playlist", "video"]

MAX_LENGTH = 4096  # characters of an address
MAX_TEXT = 100_000  # characters of a text with addresses
MAX_NAME = 100  # characters of a handle, a channel name or a search

SITE = "https://www.youtube.com"
_MAIN_HOSTS = {"youtube.com", "www.youtube.com", "m.youtube.com"}
_SHORT_HOSTS = {"youtu.be", "www.youtu.be"}
_SEARCH_HOST = re.compile(r"(?:www\.)?google\.(?:com?\.)?[a-z]{2,3}")
"""Google's hosts, whose search results link through `/url?q=`."""
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
"""First path segments that yt-dlp never reads as a channel name, unless a letter or digit follows."""

_PAGE_WORDS = """
    activate ads apps artists attribution_link channels community create_channel creators gaming getpremium
    howyoutubeworks intl jobs kids learning library live_chat live_stream music my_videos new news paid_memberships
    player playables podcasts post premium press profile redirect reporthistory sports tv verify videos watch_videos yt
"""
_SITE_PAGES = frozenset(_PAGE_WORDS.split())
"""YouTube's own pages, at paths where an old channel's bare name could be."""

_VIDEO_ID = re.compile(r"(?!videoseries|live_stream)[A-Za-z0-9_-]{11}")
_CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{22}")
_PLAYLIST_ID = re.compile(r"(?:PL|UU|FL|EC|PU|OLAK5uy_)[A-Za-z0-9_-]{10,100}")
"""Finite public playlists: no mixes (`RD…`, `UL…`), no lists of a signed-in user (`WL`, `LL`)."""
_BARE_IDS: dict[Kind, re.Pattern[str]] = {"channel": _CHANNEL_ID, "video": _VIDEO_ID, "playlist": _PLAYLIST_ID}

_LONG_ID = re.compile(
    r"(?:UC|FL|UU(?:[A-Z]{2})?)[A-Za-z0-9_-]{22}|PL(?:[0-9A-F]{16}|[A-Za-z0-9_-]{32})|OLAK5uy_[A-Za-z0-9_-]{33}"
)
_OUTSIDE = r"\s<>\"'`|\\^()\[\]{}“”‘’«»‹›「」『』〈〉《》【】（）［］｛｝，、；！。…"
"""Characters that end an address in a text: no YouTube address has them unescaped."""
_TAIL = rf"(?:(?![,;]+(?:https?:|www\.|youtu))[^{_OUTSIDE}])*"
_URL = re.compile(
    r"(?:https?|(?<![a-z0-9+.-])(?!file:)[a-z][a-z0-9+.-]{1,20})://"
    + _TAIL
    # without a scheme: not inside a name, a path or an e-mail address
    + r"|(?<![\w@./\\-])(?:(?<!:)//)?(?:[a-z0-9-]+\.)*(?:youtube(?:-nocookie)?\.com|youtu\.be)(?![\w.-]*\w)"
    + rf"(?:[/?#:]{_TAIL})?",
    re.IGNORECASE | re.ASCII,
)
_BEHIND = ".,;:!?~*·"
"""Punctuation after an address that belongs to the sentence."""
_ESCAPE = re.compile(r"\\(?=[?=&%#~!@:/.,_+*$;-])")
"""The backslash that a shell adds before a character of a pasted address."""
_PARTICLE = re.compile(
    "(?<=[A-Za-z0-9_-])(?:은|는|이|가|을|를|의|에|에서|에는|에서는|에도|로|으로|와|과|도|만|까지|부터|처럼|보다|하고|"
    "(?:이)?(?:랑|라고|라는|에요|예요|야|네요)|입니다|인데|인데요)$"
)
"""A particle after Latin letters; after Hangul it could be part of the name."""

_AT = ("@", "＠")
_EDGES = string.whitespace + "\"'`<>“”‘’«»‹›「」『』〈〉《》\u00a0\u3000\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_FULL_WIDTH = {0xFF01 + offset: 0x21 + offset for offset in range(94)}
_MARKS = str.maketrans("：／？＝＆＃％．", ":/?=&#%.")
"""Full-width punctuation in addresses typed on Korean and Japanese keyboards."""


@dataclass(frozen=True, slots=True)
class Source:
    """A channel, playlist or video on YouTube.

    `key` is a channel's `@handle` (lower case), `UC…` id, `c/name`, `user/name` or old bare `name`; a playlist's id; or
    a video's id. `tabs` are the tabs in a channel's address, in readable form (`search?query=김치 찌개`); if empty, the
    user's choice applies. `playlist` is the list in a video's link, kept out of `url` because only the user knows which
    of the two was meant.
    """

    kind: Kind
    key: str
    tabs: tuple[str, ...] = ()
    playlist: str | None = None

    @property
    def url(self) -> str:
        """The canonical address, percent-encoded, with the tab if there is exactly one."""
        if self.kind != "channel":
            return video_url(self.key) if self.kind == "video" else f"{SITE}/playlist?list={self.key}"
        path = f"channel/{self.key}" if _CHANNEL_ID.fullmatch(self.key) else self.key
        url = f"{SITE}/{quote(path, safe='@/')}"
        if len(self.tabs) == 1:
            tab, mark, words = self.tabs[0].partition("?query=")
            url += f"/{quote(tab, safe='')}{mark}{quote(words, safe='')}"
        return url


def video_url(id: str) -> str:
    """Return the address of a video's page."""
    return f"{SITE}/watch?v={id}"


def is_video_id(text: str) -> bool:
    """Whether a text could be the id of a YouTube video."""
    return re.fullmatch(r"[A-Za-z0-9_-]{11}", text) is not None


class _UnusableError(ValueError):
    """The reason why an address names no source."""


def find_addresses(text: str) -> list[str]:
    """Return the addresses in a text, in order and without the text around them. They may be unusable.

    An address is: anything with a scheme and `://` except `file`; a YouTube host with or without a path; an `@handle`,
    alone or with a channel tab; or a channel or playlist id of the usual length. In a text with other words only URLs
    count, and among several URLs only YouTube's. Bare video ids and `@name.vtt` do not count: any eleven letters could
    be a folder (`my-captions`).

    Raises:
        UsageError: `unsupported_url`, for a text longer than `MAX_TEXT` characters.
    """
    if len(text) > MAX_TEXT:
        _refuse(text, _("it is longer than {limit} characters").format(limit=MAX_TEXT))
    text = _clean(text)
    urls = {match.start(): _trim(match[0]) for match in _URL.finditer(text)}
    rest = _URL.sub(lambda match: " " * len(match[0]), text)
    words = {match.start(): _trim(match[0]) for match in re.finditer(rf"[^{_OUTSIDE},;]+", rest)}
    distinct_words = set(words.values())
    bare_names = {word for word in distinct_words if _is_name_alone(word)}
    names = {offset: word for offset, word in words.items() if word in bare_names}
    if any(any(map(str.isalnum, word)) for word in distinct_words - bare_names):
        return [url for url in urls.values() if _is_youtube(url)] or list(urls.values())
    return [address for _position, address in sorted({**urls, **names}.items())]


def parse_addresses(text: str) -> tuple[Source, ...]:
    """Return the sources of all addresses in a text, without repeats, or of a bare id; empty if there are none.

    Raises:
        UsageError: `unsupported_url`, for the first address that names no source.
    """
    addresses = find_addresses(text)
    if not addresses:
        bare = text.strip(_EDGES)
        return tuple(Source(kind, bare) for kind, pattern in _BARE_IDS.items() if pattern.fullmatch(bare))
    return tuple(dict.fromkeys(source for address in dict.fromkeys(addresses) for source in _sources(address)))


def addresses_in(text: str) -> tuple[Source, ...]:
    """Return the sources that `parse_addresses` finds, or none if an address is unusable."""
    try:
        return parse_addresses(text)
    except UsageError:
        return ()


def parse_address(text: str) -> Source:
    """Return the source in a text: a YouTube address in any form, an `@handle`, or a bare id.

    The tab of live broadcasts counts as streams, and a tab without videos as the channel itself. A mix next to a
    video's id is dropped.

    Raises:
        UsageError: `unsupported_url`, for everything else.
    """
    sources = _sources(text)
    if len(sources) > 1:
        _refuse(text, _("it names {count} videos").format(count=len(sources)))
    return sources[0]


def _sources(text: str) -> tuple[Source, ...]:
    try:
        return _read(text, unwrap=True)
    except _UnusableError as error:
        _refuse(text, str(error))
    except ValueError:  # raised by urllib for brackets, odd hosts or too many fields
        _refuse(text, _("it is no address"))


def _refuse(text: str, reason: str) -> NoReturn:
    printable = "".join(char for char in text[:MAX_LENGTH] if char.isprintable())
    raise UsageError("unsupported_url", url=nfc(printable.strip())[:200], reason=reason)


def _clean(text: str) -> str:
    """Remove invisible characters and shell backslashes, and replace control characters with spaces."""
    text = "".join(
        " "
        if char.isspace() or (category := unicodedata.category(char)) in ("Cc", "Cs")
        else ""
        if category == "Cf"
        else char
        for char in text
    )
    return _ESCAPE.sub("", nfc(text).translate(_MARKS))


def _trim(address: str) -> str:
    """Remove the punctuation and the particle after an address."""
    address = address.rstrip(_BEHIND)
    return address if "search?" in address else _PARTICLE.sub("", address).rstrip(_BEHIND)


def _is_name_alone(word: str) -> bool:
    """Whether a word is a handle, with or without a tab, or a long id."""
    if not word.startswith(_AT):
        return bool(_LONG_ID.fullmatch(word))
    name, slash, tab = word.partition("?")[0].partition("/")
    is_page = not slash or tab.rstrip("/").lower() in _KNOWN_TABS | {""}
    return is_page and _handle(unquote(name)) is not None and not name.lower().endswith(caption_suffixes())


def _is_youtube(address: str) -> bool:
    """Whether a URL leads to YouTube, directly or through a Google search result."""
    host = re.split(r"[/?#]", address.partition("://")[2] or address.removeprefix("//"), maxsplit=1)[0].lower()
    is_own = re.fullmatch(r"(?:[a-z0-9-]+\.)*(?:youtube(?:-nocookie)?\.com|youtu\.be)", host)
    return bool(is_own or (_SEARCH_HOST.fullmatch(host) and "youtu" in address))


def _read(text: str, *, unwrap: bool) -> tuple[Source, ...]:
    if len(text) > MAX_LENGTH:
        raise _UnusableError(_("it is longer than {limit} characters").format(limit=MAX_LENGTH))
    text = nfc(text).strip(_EDGES)
    if not text.isprintable() or " " in text:  # urlsplit() would drop line breaks silently
        raise _UnusableError(_("it is no address"))
    bare = tuple(Source(kind, text) for kind, pattern in _BARE_IDS.items() if pattern.fullmatch(text))
    return bare or _address(text, unwrap=unwrap)


def _address(text: str, *, unwrap: bool) -> tuple[Source, ...]:
    """Read an address. With `unwrap`, follow one address inside it under the same rules."""
    if text.startswith(_AT):
        text = f"{SITE}/{text}"
    parts = urlsplit(text)
    if not parts.scheme and not parts.netloc:
        parts = urlsplit(f"//{text}")
    if parts.scheme not in ("", "http", "https"):
        raise _UnusableError(_("it begins with {scheme}: and not with https:").format(scheme=parts.scheme))
    host = parts.netloc.lower()  # with a user name or a port it matches no host
    path = [name for part in parts.path.split("/") if (name := nfc(unquote(part)).strip())]
    query = parse_qs(parts.query.replace("&amp;", "&"), max_num_fields=100)
    if inner := _inner(host, path, query):
        if not unwrap:
            raise _UnusableError(_("one redirect leads to another"))
        return _read(inner, unwrap=False)
    if host in _SHORT_HOSTS and len(path) == 1:
        return (_video(path[0], query),)
    if host in _EMBED_HOSTS and path[:1] in (["embed"], ["v"], ["e"]):
        return _page(path, query) or _no_source(path)
    if host in _MAIN_HOSTS or host == "music.youtube.com":
        sources = _page(path, query) or _channel_page(path, query, old_names=host in _MAIN_HOSTS)
        return sources or _no_source(path)
    raise _UnusableError(_fault(host, (parts.hostname or "")[:100]))


def _fault(host: str, name: str) -> str:
    """Return why a host has no videos; `name` is the host without user and port."""
    if host in {*_SHORT_HOSTS, *_EMBED_HOSTS, "consent.youtube.com"}:
        return _("it names no video")
    if "@" in host:
        return _("a user name stands before its host")
    if name in _MAIN_HOSTS | _SHORT_HOSTS and host != name:
        return _("its host has a port")
    if "." not in name:
        return _("it is no address")
    return _("{host} is not YouTube").format(host=name)


def _inner(host: str, path: list[str], query: dict[str, list[str]]) -> str:
    """Return the address that a YouTube or Google redirect leads to, or ""."""
    match path:
        case ["attribution_link"] if host in _MAIN_HOSTS:
            return SITE + _first(query, "u")
        case ["redirect"] if host in _MAIN_HOSTS:
            return _first(query, "q")
        case ["m" | "ml"] if host == "consent.youtube.com":
            return _first(query, "continue")
        case ["url"] if _SEARCH_HOST.fullmatch(host):
            return _first(query, "q") or _first(query, "url")
    return ""


def _page(path: list[str], query: dict[str, list[str]]) -> tuple[Source, ...]:
    """Return the video or playlist at a path of a YouTube host, or all videos of a video list."""
    match path:
        case ["watch" | "watch_popup"] if _first(query, "v"):
            return (_video(_first(query, "v"), query),)
        case ["watch" | "watch_popup" | "playlist" | "embed"] | ["embed", "videoseries"] if _first(query, "list"):
            return (_playlist(_head(_first(query, "list"))),)
        case ["shorts" | "live" | "embed" | "v" | "e", video] if video not in ("videoseries", "live_stream"):
            return (_video(video, query),)
        case ["browse", name] if name.startswith("VL"):  # the form of a playlist page on YouTube Music
            return (_playlist(_head(name.removeprefix("VL"))),)
        case ["watch_videos"] if _first(query, "video_ids"):
            ids = [id for id in _first(query, "video_ids").split(",") if id]
            return tuple(dict.fromkeys(_video(id, {}) for id in ids))
        case ["feeds", "videos.xml"] if _first(query, "channel_id"):
            return _channel_page(["channel", _first(query, "channel_id")], {}, old_names=False)
        case ["feeds", "videos.xml"] if _first(query, "playlist_id"):
            return (_playlist(_head(_first(query, "playlist_id"))),)
        case ["feeds", "videos.xml"] if _first(query, "user"):
            return _channel_page(["user", _first(query, "user")], {}, old_names=False)
    return ()


def _channel_page(path: list[str], query: dict[str, list[str]], *, old_names: bool) -> tuple[Source, ...]:
    match path:
        case ["channel" | "browse", name, *rest] | [name, *rest] if _CHANNEL_ID.fullmatch(_head(name)):
            return _channel(_head(name), rest, query)
        case ["channel", name, *_rest]:
            raise _UnusableError(
                _("a channel's id begins with UC and has 24 characters, “{id}” does not").format(id=name[:50])
            )
        case ["c" | "user" as kind, name, *rest] if _is_name(name):
            return _channel(f"{kind}/{name}", rest, query)
        case [name, *rest] if name.startswith(_AT):
            if handle := _handle(name):
                return _channel(handle, rest, query)
            raise _UnusableError(_("“{name}” cannot be a channel's handle").format(name=name[:50]))
        case [name, *rest] if old_names and _is_name(name) and _is_free(name) and _KNOWN_TABS.issuperset(rest):
            return _channel(name, rest, query)
    return ()


def _no_source(path: list[str]) -> NoReturn:
    """Raise `_UnusableError` for a YouTube page that names no source."""
    match path:
        case ["clip", *_rest]:
            reason = _("a clip does not name its video: open it in a browser and copy the video's address")
        case ["post", *_rest]:
            reason = _("a post is no video")
        case ["results" | "search" | "hashtag", *_rest]:
            reason = _("a search names no channel, playlist or video")
        case ["watch" | "watch_popup" | "shorts" | "embed" | "v" | "e" | "watch_videos", *_rest]:
            reason = _("it names no video")
        case ["playlist", *_rest]:
            reason = _("it names no playlist")
        case _:
            reason = _("it is a page of YouTube that belongs to no channel")
    raise _UnusableError(reason)


def _channel(key: str, rest: list[str], query: dict[str, list[str]]) -> tuple[Source, ...]:
    """Return the channel with the tab in `rest` of the path; an unknown tab counts as none."""
    tab = re.sub(r"[^\x00-\x7f]+$", "", rest[0].lower()) if rest else ""
    if len(rest) > 1 or not re.fullmatch(r"[a-z_]*", tab):
        return ()
    if tab == "search":
        words = " ".join(nfc(_first(query, "query")).split())
        if len(words) > MAX_NAME or not words.isprintable():
            raise _UnusableError(_("the words of its search are too long"))
        return (Source("channel", key, (f"search?query={words}",) if words else ()),)
    tab = "streams" if tab == "live" else tab
    return (Source("channel", key, (tab,) if tab in _LISTINGS else ()),)


def _video(id: str, query: dict[str, list[str]]) -> Source:
    id = _head(id)
    if not _VIDEO_ID.fullmatch(id):
        count = len(id)
        sentence = _("a video's id has 11 letters, digits, - or _, “{id}” has {count} characters")
        raise _UnusableError(sentence.format(id=id[:50], count=count))
    listed = _head(_first(query, "list"))
    return Source("video", id, playlist=listed if _PLAYLIST_ID.fullmatch(listed) else None)


def _playlist(id: str) -> Source:
    if _PLAYLIST_ID.fullmatch(id):
        return Source("playlist", id)
    if id in ("WL", "LL", "LM", "HL") or id.startswith("LL"):
        raise _UnusableError(_("{id} is a list that only its owner sees").format(id=id[:50]))
    if id.startswith(("RD", "UL")):
        raise _UnusableError(_("a mix has no end, and is another one for everybody"))
    raise _UnusableError(_("“{id}” is no id of a playlist").format(id=id[:50]))


def _first(query: dict[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0].strip()


def _head(id: str) -> str:
    """Return an id without text typed after it: `youtu.be/ID&t=3`, `watch?v=ID?t=3`, `youtu.be/ID에서`."""
    return re.split(r"[?&#/]|[^\x00-\x7f]", id, maxsplit=1)[0]


def _handle(text: str) -> str | None:
    """Return a handle in lower case. Case folding would turn `@straße` into another name."""
    name = nfc(text.translate(_FULL_WIDTH)[1:].lower())
    return f"@{name}" if _is_name(name) else None


def _is_name(text: str) -> bool:
    """Whether a text has only letters of any script with their marks, digits, and the four signs YouTube allows."""
    allowed = all(char in "_-.·" or unicodedata.category(char)[0] in "LMN" for char in text)
    return allowed and len(text) <= MAX_NAME and any(char.isalnum() for char in text)


def _is_free(name: str) -> bool:
    """Whether the first word of a path could be an old channel's name. yt-dlp reads `v%EB…` as `v` and refuses it."""
    word = re.split(r"[^A-Za-z0-9_]", quote(name), maxsplit=1)[0]
    return word.lower() not in _RESERVED and name.lower().partition(".")[0] not in _SITE_PAGES
