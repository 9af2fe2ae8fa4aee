"""YouTube's refusals: the error code of a failure, and the delay before the retry.

The patterns match English messages of yt-dlp and YouTube, because yt-dlp requests English.
"""

import re
from dataclasses import dataclass

from subtitle_rag.base.domain.errors import FetchError

MINUTE, HOUR, DAY, WEEK = 60, 3_600, 86_400, 604_800
TOO_MANY = 429
FORBIDDEN = 403
BLOCKS = (TOO_MANY, FORBIDDEN)
"""HTTP statuses that mean this machine is blocked, whatever the request."""
NOT_FOUND = 404
MAX_DELAY_S = 30 * DAY
"""Maximum delay before a retry."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Consequences of an error code.

    `delay_s`: seconds before the retry; None: no retry. `growth`: factor of the delay after each try. `rests_after`:
    failures in a row after which the queue rests, as if blocked; 0: never.
    """

    delay_s: int | None
    rests_after: int = 0
    growth: int = 2


FINAL = (
    "members_only",
    "private",
    "age_restricted",
    "geo_blocked",
    "payment_required",
    "not_found",
    "empty_tab",
    "script_required",
)
"""Codes that are final if the video's page or a list has them; from a player client they mean `not_served`."""
RULES = dict.fromkeys(FINAL, Rule(None)) | {
    # after a day, a week, then every month
    "not_served": Rule(DAY, growth=7),
    "captions_withheld": Rule(DAY, growth=7),
    "upcoming": Rule(6 * HOUR),
    "live": Rule(3 * HOUR),
    "processing": Rule(HOUR),
    "no_captions": Rule(WEEK),
    "caption_blocked": Rule(HOUR, rests_after=3),
    "caption_damaged": Rule(HOUR),
    "rate_limited": Rule(HOUR, rests_after=1),
    "bot_check": Rule(HOUR, rests_after=1),
    "network": Rule(MINUTE, rests_after=1),
    "yt_dlp_outdated": Rule(DAY, rests_after=5),
    "protected": Rule(None),
    "sign_in_required": Rule(None),
}

STORED_RESTS = ("rate_limited", "bot_check", "caption_blocked")
"""Codes of blocks that also pause later runs."""

_TEXTS = [
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        ("members_only", r"members-only|channel.s members|join this channel"),
        ("bot_check", r"confirm you.re not a bot|captcha"),
        ("rate_limited", r"try again later|rate-limited|too many requests|likely being blocked"),
        ("private", r"private video|video is private|playlist is private|been granted access"),
        ("payment_required", r"requires? (?:a )?(?:payment|purchase|rental)|available for (?:rent|purchase)"),
        ("age_restricted", r"confirm your age|inappropriate for some|age-restricted"),
        ("geo_blocked", r"in your country|in your location|geo.?restrict"),
        ("upcoming", r"will begin in|premieres in|will begin shortly|premieres shortly"),
        ("live", r"recording is not available|live stream recording"),
        ("processing", r"processing this video"),
        ("script_required", r"requested format is not available"),
        ("empty_tab", r"does not have a \S+ tab|not currently live"),
        ("protected", r"drm protected|\bdrm\b"),
        ("sign_in_required", r"registered users|account credentials|requires? (?:a )?(?:log ?in|authentication)"),
        ("not_found", r"unavailable|is ?n.t available|removed|terminated|does not exist|not found|no longer available"),
    )
]
_STATUS = re.compile(r"HTTP ?Error \d{3}: [\w ]*")
"""An HTTP reason phrase: "Service Unavailable" says nothing about a video."""
_BEGINS_IN = re.compile(r"(?:begin|premieres) in (\d+) (minute|hour|day)s?", re.IGNORECASE)
_UNITS = {"minute": MINUTE, "hour": HOUR, "day": DAY}


def failure_code(text: str, status: int | None = None, *, transport: bool = False, geo: bool = False) -> str:
    """Return the code of yt-dlp's failure, a key of `RULES`.

    `status` is an HTTP status, `transport` a broken connection, `geo` a refusal of this country.
    """
    if status in BLOCKS:
        return "rate_limited"
    if geo:
        return "geo_blocked"
    text = _STATUS.sub("", text)
    for code, pattern in _TEXTS:
        if pattern.search(text):
            return code
    if status == NOT_FOUND:
        return "not_found"
    return "network" if transport or status is not None else "yt_dlp_outdated"


def is_ambiguous(error: FetchError) -> bool:
    """Whether a block or broken connection may concern only this request; another request will tell."""
    is_unclear = error.code == "network" or (error.code == "rate_limited" and error.details.get("status") == FORBIDDEN)
    return is_unclear and "retry_at" not in error.details


def begins_at(text: str, now: int) -> int | None:
    """Return the time in a text such as "Premieres in 3 hours"."""
    match = _BEGINS_IN.search(text)
    return now + int(match[1]) * _UNITS[match[2].lower()] if match else None


def retry_at(code: str, *, tries: int, now: int, stated_at: int | None = None) -> int | None:
    """Return the time of the retry after `tries` failures in a row: `stated_at`, if YouTube gave one."""
    if stated_at is not None:
        return max(stated_at, now)
    rule = RULES[code]
    return None if rule.delay_s is None else now + min(rule.delay_s * rule.growth ** min(tries - 1, 16), MAX_DELAY_S)
