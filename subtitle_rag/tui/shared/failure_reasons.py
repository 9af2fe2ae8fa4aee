"""Reasons for a missing video in a few words, its retry time, and other times in words.

The sentences of `errors` name the video; rows and totals need only a word or two.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from subtitle_rag.base.domain.errors import EXPECTED, AppError
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.tui.keys.keymap import key

WORDS = {
    "members_only": N_("members only"),
    "private": N_("private"),
    "age_restricted": N_("adults only"),
    "geo_blocked": N_("not in this country"),
    "not_found": N_("no longer available"),
    "payment_required": N_("to be paid for"),
    "not_served": N_("not handed out"),
    "captions_withheld": N_("captions withheld"),
    "script_required": N_("JavaScript needed"),
    "upcoming": N_("not begun yet"),
    "live": N_("live at the moment"),
    "processing": N_("still being processed"),
    "no_captions": N_("no captions"),
    "film_no_captions": N_("no captions"),
    "empty_tab": N_("no such tab"),
    "protected": N_("copy protected"),
    "sign_in_required": N_("sign-in needed"),
    "caption_blocked": N_("captions not sent"),
    "caption_damaged": N_("damaged captions"),
    "rate_limited": N_("too many requests (429)"),
    "bot_check": N_("robot check by YouTube"),
    "network": N_("no connection"),
    "yt_dlp_outdated": N_("yt-dlp is too old"),
    "unreadable": N_("cannot be read"),
    "not_captions": N_("no caption file"),
    "no_cues": N_("no spoken line"),
    "too_large": N_("file too large"),
}


def failure_words(code: str, details: Mapping[str, Any]) -> str:
    return _(WORDS[code]) if code in WORDS else AppError(code, **details).message


def sums(codes: Iterable[str]) -> str:
    """Count each code, most frequent first: "members only 12 · no captions 3"."""
    return " · ".join(f"{_(WORDS.get(code, code))} {n}" for code, n in Counter(codes).most_common())


def failed_count(n: int) -> list[str]:
    """Return the number of failures; empty without any."""
    return [n_("! {n} failed", "! {n} failed", n, n=f"{n:,}")] if n else []


def failure_sign(code: str) -> str:
    """Return "!" for an alarm, "–" for an expected reason."""
    return "–" if code in EXPECTED else "!"


def retry_text(retry_at: int | None) -> str:
    """Return when a failed video is retried (Unix seconds); empty without an automatic retry."""
    if retry_at is None:
        return ""
    now = time.time()
    if retry_at <= now:
        return _("asked again with {key}").format(key=key("library.sync"))
    return _("asked again {when}").format(when=short_moment(retry_at, now))


def short_moment(at: float, now: float) -> str:
    """Return local time: 14:05 today, 12-01 on another day of this year, else 2027-12-01."""
    moment_time, now_time = time.localtime(at), time.localtime(now)
    if moment_time[:3] == now_time[:3]:
        return time.strftime("%H:%M", moment_time)
    return time.strftime("%m-%d" if moment_time.tm_year == now_time.tm_year else "%Y-%m-%d", moment_time)


def age_text(at: float, now: float | None = None) -> str:
    """Return the age in the largest unit that fits: "3 hours ago"."""
    seconds = max(0, (time.time() if now is None else now) - at)
    minutes, hours, days = int(seconds // 60), int(seconds // 3_600), int(seconds // 86_400)
    if days:
        return n_("{n} day ago", "{n} days ago", days)
    if hours:
        return n_("{n} hour ago", "{n} hours ago", hours)
    return n_("{n} minute ago", "{n} minutes ago", minutes) if minutes else _("just now")


def rest_end_text(until: float) -> str:
    """Return 14:06, or 12-01 03:00 on another day; never a minute too early."""
    until = -(-until // 60) * 60
    clock = time.strftime("%H:%M", time.localtime(until))
    day = short_moment(until, time.time())
    return clock if day == clock else f"{day} {clock}"
