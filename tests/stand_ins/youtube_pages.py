"""Lists of the YouTube stand-in: channel tabs, playlists, and their further pages."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.stand_ins.youtube_clips import GONE_FROM_TABS, Channel, Clip, Playlist, Site
from tests.stand_ins.youtube_player import Json, channel_endpoint, thumbnails

TAB_PAGE = 30
PLAYLIST_PAGE = 100

_TABS = {"videos": ("Videos", "video"), "shorts": ("Shorts", "short"), "streams": ("Live", "stream")}
_ALL_VIDEOS = "wgYCCAA="  # yt-dlp's parameter to include a playlist's unavailable videos


@dataclass(frozen=True)
class Listing:
    """A channel's tab, or (if `tab` is empty) a playlist."""

    id: str
    tab: str = ""
    unavailable: bool = False

    @classmethod
    def of_address(cls, site: Site, address: str) -> "Listing | None":
        parts = urlsplit(address)
        return cls.of_path(site, unquote(parts.path), dict(parse_qsl(parts.query)))

    @classmethod
    def of_path(cls, site: Site, path: str, query: Mapping[str, str]) -> "Listing | None":
        """Return the list on a channel's or playlist's page; None if there is no such channel."""
        if path == "/playlist":
            return cls(query.get("list", ""))
        first, *rest = [each for each in path.split("/") if each] or [""]
        if first in ("channel", "c", "user") and rest:
            first, *rest = rest
        channel = site.channel(first)
        return cls(channel.id, rest[0] if rest else "featured") if channel else None

    @classmethod
    def of_endpoint(cls, endpoint: Json) -> "Listing":
        """Return the list of an innertube `browseEndpoint`."""
        id, params = str(endpoint.get("browseId", "")), str(endpoint.get("params", ""))
        if id.startswith("VL"):
            return cls(id[2:], unavailable=params == _ALL_VIDEOS)
        return cls(id, urlsafe_b64decode(params).decode() if params else "featured")

    @property
    def endpoint(self) -> Json:
        if not self.tab:
            return {"browseId": f"VL{self.id}"}
        return {"browseId": self.id, "params": urlsafe_b64encode(self.tab.encode()).decode()}

    def token(self, offset: int) -> str:
        meant = json.dumps([self.id, self.tab, self.unavailable, offset])
        return urlsafe_b64encode(meant.encode()).decode()


def listing_data(site: Site, listing: Listing) -> Json:
    """Return `ytInitialData` of a list's page."""
    if listing.tab:
        channel = site.channel(listing.id)
        return _channel_data(site, channel, listing) if channel else {}
    playlist = site.playlist(listing.id)
    if playlist is None or not _shown(playlist, listing):
        return _alert("ERROR", "The playlist does not exist.")
    return _playlist_data(site, playlist, listing)


def continuation_data(site: Site, token: str) -> Json:
    """Return the page for a continuation token; the server itself keeps no state between requests."""
    id, tab, unavailable, offset = json.loads(urlsafe_b64decode(token))
    items = _page(site, Listing(id, tab, unavailable), offset)
    action = {"appendContinuationItemsAction": {"continuationItems": items}}
    return {"responseContext": {}, "onResponseReceivedActions": [action]}


def _page(site: Site, listing: Listing, offset: int) -> list[Json]:
    """Return the items from `offset` on, and the token of the next page."""
    if listing.tab:
        channel = site.channel(listing.id)
        clips = _of_tab(channel, listing.tab) if channel else []
        items = [{"richItemRenderer": {"content": _tile(clip)}} for clip in clips[offset : offset + TAB_PAGE]]
    else:
        playlist = site.playlist(listing.id)
        clips = _shown(playlist, listing) if playlist else []
        page = clips[offset : offset + PLAYLIST_PAGE]
        items = [{"playlistVideoRenderer": _row(site, clip, offset + place)} for place, clip in enumerate(page, 1)]
    following = offset + len(items)
    if following < len(clips):
        command = {"continuationCommand": {"token": listing.token(following), "request": "CONTINUATION_REQUEST_TYPE"}}
        items.append({"continuationItemRenderer": {"continuationEndpoint": command}})
    return items


def _of_tab(channel: Channel, tab: str) -> list[Clip]:
    kind = _TABS[tab][1] if tab in _TABS else ""
    left_out = channel.left_out.get(tab, ())
    return [clip for clip in channel.listed if clip.kind == kind and clip.id not in left_out]


def _shown(playlist: Playlist, listing: Listing) -> list[Clip]:
    return [clip for clip in playlist.clips if listing.unavailable or clip.state not in GONE_FROM_TABS]


def _alert(type: str, text: str) -> Json:
    return {"alerts": [{"alertRenderer": {"type": type, "text": {"runs": [{"text": text}]}}}]}


def _channel_data(site: Site, channel: Channel, listing: Listing) -> Json:
    """Return a channel's tab, or its home if it has no such tab."""
    lists = [playlist for playlist in site.playlists if playlist.channel is channel]
    names = {"featured": "Home", **{tab: title for tab, (title, _kind) in _TABS.items() if _of_tab(channel, tab)}}
    if lists:
        names["playlists"] = "Playlists"
    chosen = listing.tab if listing.tab in names else "featured"
    tabs: list[Json] = []
    for tab, title in names.items():
        url = {"commandMetadata": {"webCommandMetadata": {"url": f"/{channel.handle}/{tab}"}}}
        tabs.append({"tabRenderer": {"title": title, "endpoint": url, "selected": tab == chosen}})
        if tab == chosen == "playlists":
            tabs[-1]["tabRenderer"]["content"] = _playlists_content(lists)
        elif tab == chosen:
            tabs[-1]["tabRenderer"]["content"] = {"richGridRenderer": {"contents": _page(site, listing, 0)}}
    metadata = {
        "title": channel.name,
        "description": channel.description,
        "externalId": channel.id,
        "channelUrl": f"https://www.youtube.com/channel/{channel.id}",
        "vanityChannelUrl": f"http://www.youtube.com/{channel.handle}",
        "ownerUrls": [f"http://www.youtube.com/{channel.handle}"],
    }
    return {
        "contents": {"twoColumnBrowseResultsRenderer": {"tabs": tabs}},
        "metadata": {"channelMetadataRenderer": metadata},
    }


def _tile(clip: Clip) -> Json:
    """Return a video in a tab."""
    title = clip.title if clip.flat_title is None else clip.flat_title
    if clip.kind == "short":
        watch = {"reelWatchEndpoint": {"videoId": clip.id}}
        shown = {"primaryText": {"content": title}, "secondaryText": {"content": "12345 views"}}
        tile = {
            "entityId": f"shorts-shelf-item-{clip.id}",
            "onTap": {"innertubeCommand": watch},
            "overlayMetadata": shown,
            "thumbnailViewModel": {"thumbnailViewModel": {"image": _sources(clip)}},
        }
        return {"shortsLockupViewModel": tile}
    overlay = {"thumbnailBottomOverlayViewModel": {"badges": [{"thumbnailBadgeViewModel": _time_badge(clip)}]}}
    tile = {
        "contentId": clip.id,
        "contentType": "LOCKUP_CONTENT_TYPE_VIDEO",
        "contentImage": {"thumbnailViewModel": {"image": _sources(clip), "overlays": [overlay]}},
        "metadata": {"lockupMetadataViewModel": {"title": {"content": title}, "metadata": _tile_metadata(clip)}},
    }
    return {"lockupViewModel": tile}


def _tile_metadata(clip: Clip) -> Json:
    badges = [{"badgeViewModel": {"badgeText": "Members only", "badgeStyle": "BADGE_MEMBERS_ONLY"}}]
    age = {"text": {"content": _age(clip)}, "accessibilityLabel": _age(clip)}
    row: Json = {"metadataParts": [{"text": {"content": "12345 views"}}, age]}
    rows = [row, {"badges": badges}] if clip.state == "members_only" else [row]
    return {"contentMetadataViewModel": {"metadataRows": rows, "delimiter": " • "}}


def _sources(clip: Clip) -> Json:
    return {"sources": thumbnails(clip.id)["thumbnails"]}


def _time_badge(clip: Clip) -> Json:
    if clip.state == "upcoming":
        return {"text": "Upcoming", "badgeStyle": "THUMBNAIL_OVERLAY_BADGE_STYLE_DEFAULT"}
    if clip.state == "live":
        return {"text": "LIVE", "badgeStyle": "THUMBNAIL_OVERLAY_BADGE_STYLE_LIVE"}
    return {"text": _clock(clip.duration), "badgeStyle": "THUMBNAIL_OVERLAY_BADGE_STYLE_DEFAULT"}


def _clock(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def _age(clip: Clip) -> str:
    if clip.state == "upcoming":
        return "Scheduled for 5/9/30, 9:00 AM"
    if clip.state == "live":
        return "Started streaming 5 minutes ago"
    return f"Streamed {clip.age}" if clip.over else clip.age


def _row(site: Site, clip: Clip, place: int) -> Json:
    """Return a video in a playlist."""
    if clip.state in GONE_FROM_TABS:
        title = {"private": "[Private video]"}.get(clip.state, "[Deleted video]")
        return {"videoId": clip.id, "title": {"runs": [{"text": title}]}, "isPlayable": False}
    channel = site.channel_of(clip)
    title = clip.title if clip.flat_title is None else clip.flat_title
    style = {"live": "LIVE", "upcoming": "UPCOMING"}.get(clip.state, "SHORTS" if clip.kind == "short" else "DEFAULT")
    row: Json = {
        "videoId": clip.id,
        "thumbnail": thumbnails(clip.id),
        "title": {"runs": [{"text": title}]},
        "index": {"simpleText": str(place)},
        "shortBylineText": {"runs": [{"text": channel.name, "navigationEndpoint": channel_endpoint(channel)}]},
        "thumbnailOverlays": [{"thumbnailOverlayTimeStatusRenderer": {"style": style}}],
        "isPlayable": True,
    }
    if clip.state not in ("upcoming", "live"):
        row["videoInfo"] = {"runs": [{"text": "12345 views"}, {"text": " • "}, {"text": _age(clip)}]}
    if clip.state == "upcoming":
        row["upcomingEventData"] = {"startTime": str(clip.starts_at or 1_999_999_999)}
    elif clip.state != "live":
        row["lengthSeconds"] = str(clip.duration)
    if clip.state == "members_only":
        row["badges"] = [{"metadataBadgeRenderer": {"style": "BADGE_STYLE_TYPE_MEMBERS_ONLY", "label": "Members only"}}]
    return row


def _playlist_data(site: Site, playlist: Playlist, listing: Listing) -> Json:
    contents = {"contents": _page(site, listing, 0), "playlistId": playlist.id}
    section = {"itemSectionRenderer": {"contents": [{"playlistVideoListRenderer": contents}]}}
    tab = {"selected": True, "content": {"sectionListRenderer": {"contents": [section]}}}
    header: Json = {"playlistId": playlist.id, "title": {"simpleText": playlist.title}, "privacy": "PUBLIC"}
    if playlist.channel:
        byline = {"text": playlist.channel.name, "navigationEndpoint": channel_endpoint(playlist.channel)}
        header["ownerText"] = {"runs": [byline]}
    if playlist.count is not None:
        text = {"runs": [{"text": f"{playlist.count:,}"}, {"text": " videos"}]}
        header["byline"] = [{"playlistBylineRenderer": {"text": text}}]
    data: Json = {
        "contents": {"twoColumnBrowseResultsRenderer": {"tabs": [{"tabRenderer": tab}]}},
        "metadata": {"playlistMetadataRenderer": {"title": playlist.title}},
        "header": {"playlistHeaderRenderer": header},
    }
    if len(_shown(playlist, listing)) < len(playlist.clips):
        data |= _alert("INFO", "Unavailable videos are hidden")
    return data


def _playlists_content(lists: list[Playlist]) -> Json:
    items = []
    for playlist in lists:
        title = {"lockupMetadataViewModel": {"title": {"content": playlist.title}}}
        lockup = {"contentId": playlist.id, "contentType": "LOCKUP_CONTENT_TYPE_PLAYLIST", "metadata": title}
        items.append({"lockupViewModel": lockup})
    section = {"itemSectionRenderer": {"contents": [{"gridRenderer": {"items": items}}]}}
    return {"sectionListRenderer": {"contents": [section]}}
