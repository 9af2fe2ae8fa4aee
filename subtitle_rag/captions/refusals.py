"""Why YouTube did not give something: which of our codes it is, and when to ask again.

The texts are yt-dlp's and YouTube's own, in English, for yt-dlp asks in English.
"""

import re
from dataclasses import dataclass

MINUTE, HOUR, DAY, WEEK = 60, 3_600, 86_400, 604_800
BLOCKS = (429, 403)
"""HTTP statuses by which YouTube refuses whoever asks, not what is asked for."""
NOT_FOUND = 404
LONGEST_S = 30 * DAY
"""No failure that is asked for again waits longer."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from a code.

    `again`: seconds until the video is asked for again, doubled with every try; None: never by itself.
    `rests_after`: so many in a row say that it is not the video but the queue that is refused; 0: never.
    """

    again: int | None
    rests_after: int = 0


RULES = {
    "members_only": Rule(None),
    "private": Rule(None),
    "age_restricted": Rule(None),
    "geo_blocked": Rule(None),
    "not_found": Rule(None),
    "empty_tab": Rule(None),
    "upcoming": Rule(6 * HOUR),
    "live": Rule(3 * HOUR),
    "no_captions": Rule(WEEK),
    "caption_blocked": Rule(HOUR, rests_after=3),
    "caption_damaged": Rule(HOUR),
    "rate_limited": Rule(HOUR, rests_after=1),
    "bot_check": Rule(HOUR, rests_after=1),
    "network": Rule(MINUTE, rests_after=1),
    "yt_dlp_outdated": Rule(DAY, rests_after=5),
}

_TEXTS = [
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        ("members_only", r"members-only|channel.s members|join this channel"),
        ("bot_check", r"confirm you.re not a bot|captcha"),
        ("rate_limited", r"try again later|rate-limited|too many requests"),
        ("private", r"private video|video is private|playlist is private"),
        ("age_restricted", r"confirm your age|inappropriate for some|age-restricted"),
        ("geo_blocked", r"in your country|in your location|geo.?restrict"),
        ("upcoming", r"will begin in|premieres in|will begin shortly|premieres shortly"),
        ("live", r"recording is not available|live stream recording|processing this video"),
        ("empty_tab", r"does not have a \S+ tab|not currently live"),
        ("not_found", r"unavailable|is ?n.t available|removed|terminated|does not exist|not found|no longer available"),
    )
]
_STATUS = re.compile(r"HTTP ?Error \d{3}: [\w ]*")
"""A server's own words on a status: "Service Unavailable" is nothing that is said of a video."""
_BEGINS_IN = re.compile(r"(?:begin|premieres) in (\d+) (minute|hour|day)s?", re.IGNORECASE)
_UNITS = {"minute": MINUTE, "hour": HOUR, "day": DAY}


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is known of a failure: its text, the HTTP status of a refusal on the way, and whether the way broke."""

    text: str
    status: int | None = None
    retry_after: int | None = None
    """Seconds, as the answer's header has it."""
    transport: bool = False
    geo: bool = False


def recognise(trouble: Trouble) -> str:
    """The code of a failure: a key of `RULES`."""
    if trouble.status in BLOCKS:
        return "rate_limited"
    if trouble.geo:
        return "geo_blocked"
    text = _STATUS.sub("", trouble.text)
    for code, pattern in _TEXTS:
        if pattern.search(text):
            return code
    if trouble.status == NOT_FOUND:
        return "not_found"
    return "network" if trouble.transport or trouble.status is not None else "yt_dlp_outdated"


def begins_at(text: str, now: int) -> int | None:
    """When an announced video begins, from a text such as "Premieres in 3 hours"."""
    match = _BEGINS_IN.search(text)
    return now + int(match[1]) * _UNITS[match[2].lower()] if match else None


def retry_at(code: str, *, tries: int, now: int, stated_at: int | None = None) -> int | None:
    """Return the time of the retry after `tries` failures in a row: `stated_at`, if YouTube stated one."""
    if stated_at is not None:
        return max(stated_at, now)
    again = RULES[code].again
    return None if again is None else now + min(again << min(tries - 1, 16), LONGEST_S)
