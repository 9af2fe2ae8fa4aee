"""The sites whose videos can be listened to: their addresses, and the hosts that requests for them may reach.

Nothing else is opened: an address is read by the pattern here and written again, yt-dlp gets the one extractor that is
named, and the request handler refuses every other host. A content network that a site shares with others is among the
hosts where its media lie; cookies never go there.
"""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from subtitle_rag.captions.addresses import is_video_id, video_url
from subtitle_rag.captions.request_rules import MEDIA_HOSTS
from subtitle_rag.domain import Video, nfc


@dataclass(frozen=True, slots=True)
class SoundSite:
    """A site. `extractor` is yt-dlp's name of its extractor, `key` that of the class without `IE`."""

    name: str
    prefix: str
    """In front of its own ids in the library; YouTube has none."""
    extractor: str
    key: str
    hosts: tuple[str, ...]
    address: str
    """The address of a video, with `{id}`."""
    pages: re.Pattern[str] = re.compile(r"(?!)")
    """Host and path of a video's address in all its forms, with the group `id`."""

    def url(self, id: str) -> str:
        """Return the address of a video by its own id."""
        return self.address.format(id=id)


def _pages(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


YOUTUBE = SoundSite("YouTube", "", "youtube", "Youtube", MEDIA_HOSTS, video_url("{id}"))
_NAVER = ("naver.com", "pstatic.net", "navercdn.com", "akamaized.net")
_SITES = (
    SoundSite(
        "Chzzk",
        "chzzk",
        "chzzk:video",
        "CHZZKVideo",
        _NAVER,
        "https://chzzk.naver.com/video/{id}",
        _pages(r"(?:m\.)?chzzk\.naver\.com/video/(?P<id>\d{1,20})/?"),
    ),
    SoundSite(
        "SOOP",
        "soop",
        "soop",
        "AfreecaTV",
        ("sooplive.com", "sooplive.co.kr", "afreecatv.com"),
        "https://vod.sooplive.com/player/{id}",
        _pages(r"vod\.(?:sooplive\.com|sooplive\.co\.kr|afreecatv\.com)/(?:PLAYER/STATION|player)/(?P<id>\d{1,20})/?"),
    ),
    SoundSite(
        "Naver TV",
        "navertv",
        "naver",
        "Naver",
        _NAVER,
        "https://tv.naver.com/v/{id}",
        _pages(r"(?:m\.)?tv\.naver\.com/(?:v|embed)/(?P<id>\d{1,20})/?"),
    ),
    SoundSite(
        "Vimeo",
        "vimeo",
        "vimeo",
        "Vimeo",
        ("vimeo.com", "vimeocdn.com", "akamaized.net"),
        "https://vimeo.com/{id}",
        _pages(r"(?:(?:www\.)?vimeo\.com/|player\.vimeo\.com/video/)(?P<id>\d{1,20})/?"),
    ),
    SoundSite(
        "Twitch",
        "twitch",
        "twitch:vod",
        "TwitchVod",
        ("twitch.tv", "ttvnw.net", "jtvnw.net", "cloudfront.net"),
        "https://www.twitch.tv/videos/{id}",
        _pages(r"(?:(?:www|m)\.)?twitch\.tv/videos/(?P<id>\d{1,20})/?"),
    ),
    SoundSite(
        "KakaoTV",
        "kakaotv",
        "kakao",
        "Kakao",
        ("kakao.com", "kakaocdn.net", "daumcdn.net"),
        "https://tv.kakao.com/embed/player/cliplink/{id}",
        _pages(r"(?:play-)?tv\.kakao\.com/(?:v/|(?:channel/\d{1,20}|embed/player)/cliplink/)(?P<id>\d{1,20})/?"),
    ),
)
SOUND_SITES = {site.prefix: site for site in _SITES}
"""The sites beside YouTube, by the prefix of their ids."""


def find_page(text: str) -> Video | None:
    """Return the video that an address of one of these sites names; None for any other text.

    Its title and channel are placeholders until the site is asked.
    """
    try:
        parts = urlsplit(nfc(text).strip())
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not text.isascii():
        return None
    for site in _SITES:
        if match := site.pages.fullmatch(f"{parts.netloc.lower()}{parts.path}"):
            url = site.url(match["id"])
            return Video(f"{site.prefix}-{match['id']}", url, f"{site.prefix}-site", site.name, url=url)
    return None


def site_of(video: Video) -> tuple[SoundSite, str] | None:
    """Return where a video's sound is fetched, and its address there; None for a film of this machine."""
    prefix, dash, id = video.id.partition("-")
    site = SOUND_SITES.get(prefix) if dash else None
    if site and video.url == site.url(id):
        return site, video.url
    id = parse_qs(urlsplit(video.url or "").query).get("v", [""])[0]
    is_youtube = is_video_id(id) and video.url == YOUTUBE.url(id)
    return (YOUTUBE, YOUTUBE.url(id)) if is_youtube and video.source is None else None
