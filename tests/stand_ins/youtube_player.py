"""Video pages of the YouTube stand-in: the player's response and the watch page's data."""

import time
from dataclasses import replace
from typing import Any

from tests.stand_ins.youtube_clips import LANGUAGE_NAMES, SCRIPTLESS, Caption, Channel, Clip, State
from tests.stand_ins.youtube_timedtext import address

Json = dict[str, Any]

VISITOR = "CgtzdGFuZGluMTIzNA%3D%3D"

_TRANSLATING = ("WEB", "MWEB")  # player clients that get translations
_NO_DETAILS = (
    "private",
    "deleted",
    "bot_check",
    "session_limit",
    "unavailable",
)  # states that hide everything about the video


def player(
    clip: Clip | None, channel: Channel | None, client: str, *, account: bool = False, token: bool = False
) -> Json:
    """Return the player's response to a client, for a guest or an account.

    Args:
        clip: the video.
        channel: its channel.
        client: name of the player client.
        account: whether somebody is logged in.
        token: whether tracks are empty without a PO token.
    """
    answer: Json = {"responseContext": {"visitorData": VISITOR}}
    if clip is None or channel is None:
        return answer | {"playabilityStatus": _error("ERROR", "This video is unavailable")}
    state = clip.state_for(client, account=account)
    answer["playabilityStatus"] = _playability(clip, state, client)
    if state in _NO_DETAILS:
        return answer
    answer["videoDetails"] = _details(clip, channel)
    if client in _TRANSLATING:
        answer["microformat"] = {"playerMicroformatRenderer": _microformat(clip, channel)}
    if answer["playabilityStatus"]["status"] != "OK" or state == "live":  # a live stream has no captions yet
        return answer
    answer["streamingData"] = {"expiresInSeconds": "21540", "formats": [_format(clip, client)]}
    if tracks := [caption for caption in clip.captions if caption.is_told(client)]:
        tracks = [replace(caption, exp="xpe") for caption in tracks] if token else tracks
        answer["captions"] = {"playerCaptionsTracklistRenderer": _tracklist(clip, tracks, client)}
    if client in _TRANSLATING and clip.duration:  # yt-dlp takes it for a format, which videos without media have too
        pictures = f"https://i.ytimg.com/sb/{clip.id}/storyboard3_L$L/$N.jpg|48#27#100#10#10#0#default#rs$standin"
        answer["storyboards"] = {"playerStoryboardSpecRenderer": {"spec": pictures, "recommendedLevel": 0}}
    return answer


def watch_data(clip: Clip | None, channel: Channel | None) -> Json:
    """Return `ytInitialData` of the watch page."""
    results: list[Json] = []
    if clip and channel and clip.state not in _NO_DETAILS:
        results = [
            {"videoPrimaryInfoRenderer": {"title": {"runs": [{"text": clip.title}]}}},
            {"videoSecondaryInfoRenderer": {"owner": {"videoOwnerRenderer": _owner(channel)}}},
        ]
    columns: Json = {"results": {"results": {"contents": results}}}
    data: Json = {"contents": {"twoColumnWatchNextResults": columns}}
    if clip is None:
        return data
    if clip.live_chat:
        reload = {"reloadContinuationData": {"continuation": "op2w0wQLaXZlLWNoYXQ%3D"}}
        columns["conversationBar"] = {"liveChatRenderer": {"continuations": [reload]}}
    if clip.chapters:
        data["engagementPanels"] = [_chapter_panel(clip)]
    if clip.heatmap:
        data["frameworkUpdates"] = {"entityBatchUpdate": {"mutations": [_heatmap(clip)]}}
    return data


def thumbnails(id: str) -> Json:
    sizes = (("default", 120, 90), ("mqdefault", 320, 180), ("hqdefault", 480, 360))
    return {
        "thumbnails": [
            {"url": f"https://i.ytimg.com/vi/{id}/{name}.jpg", "width": width, "height": height}
            for name, width, height in sizes
        ]
    }


def channel_endpoint(channel: Channel) -> Json:
    return {"browseEndpoint": {"browseId": channel.id, "canonicalBaseUrl": f"/{channel.handle}"}}


def _owner(channel: Channel) -> Json:
    return {"title": {"runs": [{"text": channel.name, "navigationEndpoint": channel_endpoint(channel)}]}}


def _error(status: str, reason: str, subreason: str = "") -> Json:
    screen: Json = {"reason": {"runs": [{"text": reason}]}, "icon": {"iconType": "ERROR_OUTLINE"}}
    if subreason:
        screen["subreason"] = {"runs": [{"text": subreason}]}
    return {"status": status, "reason": reason, "errorScreen": {"playerErrorMessageRenderer": screen}}


def _playability(clip: Clip, state: State, client: str) -> Json:
    if state == "public" and client == "WEB_EMBEDDED_PLAYER" and not clip.embeddable:
        elsewhere = "Playback on other websites has been disabled by the video owner"
        return _error("UNPLAYABLE", "Video unavailable", elsewhere)
    match state:
        case "private":
            return _error("LOGIN_REQUIRED", "Private video", "Sign in if you've been granted access to this video")
        case "deleted":
            return _error("ERROR", "Video unavailable", "This video has been removed by the uploader")
        case "members_only":
            perks = "members-only content like this video, and other exclusive perks."
            return _error("UNPLAYABLE", f"Join this channel to get access to {perks}")
        case "age_restricted":
            subreason = "This video may be inappropriate for some users."
            return _error("LOGIN_REQUIRED", "Sign in to confirm your age", subreason)
        case "bot_check":
            subreason = "This helps protect our community. Learn more"
            return _error("LOGIN_REQUIRED", "Sign in to confirm you’re not a bot", subreason)
        case "geo_blocked":
            country = "The uploader has not made this video available in your country"
            return _error("UNPLAYABLE", "Video unavailable", country)
        case "session_limit":
            return _error("UNPLAYABLE", "This content isn't available, try again later.")
        case "paid":
            return _error("UNPLAYABLE", "This video requires payment to watch")
        case "unavailable":
            return _error("UNPLAYABLE", "This video is not available")
        case "upcoming":
            return _upcoming(clip)
    return {"status": "OK", "playableInEmbed": clip.embeddable}


def _upcoming(clip: Clip) -> Json:
    hours = max(1, ((clip.starts_at or 0) - int(time.time())) // 3600)
    after = "in a few moments" if clip.starts_at is None else f"in {hours} hours"
    reason = f"This live event will begin {after}." if clip.kind == "stream" else f"Premieres {after}"
    return {"status": "LIVE_STREAM_OFFLINE", "reason": reason, "playableInEmbed": True}


def _details(clip: Clip, channel: Channel) -> Json:
    details: Json = {
        "videoId": clip.id,
        "title": clip.title,
        "lengthSeconds": _seconds(clip),
        "channelId": channel.id,
        "isOwnerViewing": False,
        "shortDescription": clip.description,
        "isCrawlable": True,
        "thumbnail": thumbnails(clip.id),
        "allowRatings": True,
        "viewCount": "12345",
        "author": channel.name,
        "isPrivate": False,
        "isUnpluggedCorpus": False,
        "isLiveContent": clip.over or clip.state == "live" or (clip.state == "upcoming" and clip.kind == "stream"),
    }
    if clip.state == "live":
        details["isLive"] = True
    if clip.state == "upcoming":
        details["isUpcoming"] = True
    return details


def _format(clip: Clip, client: str) -> Json:
    """Return a format. Without media, its address needs the player's script for most clients."""
    script = "" if clip.media or client in SCRIPTLESS else "?n=challenge"
    return {
        "itag": 18,
        "url": f"{clip.media_url}{script}",
        "mimeType": 'video/mp4; codecs="avc1.42001E, mp4a.40.2"',
        "bitrate": 500_000,
        "width": 320,
        "height": 240,
        "contentLength": str(len(clip.media)),
        "quality": "medium",
        "fps": 25,
        "qualityLabel": "240p",
        "audioQuality": "AUDIO_QUALITY_LOW",
        "approxDurationMs": str(clip.duration * 1000),
        "audioSampleRate": "44100",
        "audioChannels": 1,
    }


def _seconds(clip: Clip) -> str:
    return "0" if clip.state in ("live", "upcoming") else str(clip.duration)


def _microformat(clip: Clip, channel: Channel) -> Json:
    format: Json = {
        "title": {"simpleText": clip.title},
        "description": {"simpleText": clip.description},
        "thumbnail": thumbnails(clip.id),
        "lengthSeconds": _seconds(clip),
        "ownerProfileUrl": f"http://www.youtube.com/{channel.handle}",
        "externalChannelId": channel.id,
        "ownerChannelName": channel.name,
        "isFamilySafe": clip.state != "age_restricted",
        "isUnlisted": False,
        "isShortsEligible": clip.kind == "short",
        "availableCountries": ["US"] if clip.state == "geo_blocked" else ["KR", "US"],
        "viewCount": "12345",
        "category": "Howto & Style",
        "publishDate": clip.published,
        "uploadDate": clip.published,
    }
    if clip.state in ("live", "upcoming") or clip.over:
        format["liveBroadcastDetails"] = _broadcast(clip)
    return format


def _broadcast(clip: Clip) -> Json:
    started = time.gmtime(clip.starts_at) if clip.starts_at is not None else None
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", started) if started else clip.published
    details: Json = {"isLiveNow": clip.state == "live", "startTimestamp": stamp}
    if clip.over:
        details["endTimestamp"] = stamp
    return details


def _tracklist(clip: Clip, captions: list[Caption], client: str) -> Json:
    tracks = []
    for caption in captions:
        track: Json = {
            "baseUrl": address(clip, caption),
            "name": {"simpleText": caption.label},
            "vssId": caption.vss_id,
            "languageCode": caption.language,
            "isTranslatable": True,
            "trackName": caption.name,
        }
        tracks.append(track | {"kind": "asr"} if caption.kind == "asr" else track)
    answer: Json = {"captionTracks": tracks, "audioTracks": [{"captionTrackIndices": list(range(len(tracks)))}]}
    if client in _TRANSLATING:
        answer["translationLanguages"] = [
            {"languageCode": code, "languageName": {"simpleText": LANGUAGE_NAMES.get(code, code)}}
            for code in ("en", "ko", "ja")
        ]
    return answer


def _chapter_panel(clip: Clip) -> Json:
    items = []
    for start, title in clip.chapters:
        minutes, seconds = divmod(start, 60)
        shown = f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes}:{seconds:02d}"
        item = {"title": {"simpleText": title}, "timeDescription": {"simpleText": shown}}
        items.append({"macroMarkersListItemRenderer": item})
    content = {"macroMarkersListRenderer": {"contents": items}}
    name = "engagement-panel-macro-markers-description-chapters"
    return {"engagementPanelSectionListRenderer": {"panelIdentifier": name, "content": content}}


def _heatmap(clip: Clip) -> Json:
    step = clip.duration * 1000 // len(clip.heatmap)
    markers = [
        {"startMillis": str(place * step), "durationMillis": str(step), "intensityScoreNormalized": value}
        for place, value in enumerate(clip.heatmap)
    ]
    listed = {"markerType": "MARKER_TYPE_HEATMAP", "markers": markers}
    return {"payload": {"macroMarkersListEntity": {"externalVideoId": clip.id, "markersList": listed}}}
