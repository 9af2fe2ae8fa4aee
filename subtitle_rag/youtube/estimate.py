"""Sentences on a list: its size and time before the run, and missing videos after it."""

from subtitle_rag.base.domain.events import FetchEstimate, ListCutShort
from subtitle_rag.base.i18n import _, n_


def estimate_text(estimate: FetchEstimate) -> str:
    """Return number and time, such as "about 1,200 videos, fetched in about 4 h"."""
    # two significant digits: YouTube's count may be wrong, and the rest is an estimate
    n = round(estimate.videos, min(0, 2 - len(str(estimate.videos))))
    if estimate.at_most:
        videos = n_("at most {n} video", "at most {n} videos", n, n=f"{n:,}")
    else:
        videos = n_("about {n} video", "about {n} videos", n, n=f"{n:,}")
    return _("{videos}, fetched in {time}").format(videos=videos, time=time_text(estimate.seconds))


def cut_short_text(event: ListCutShort) -> str:
    """Return how many videos of a list are missing."""
    counted, listed = f"{event.counted:,}", f"{event.listed:,}"
    template = _(
        "YouTube counts {counted} videos in {source} and lists {listed}. The others are hidden, private or left out."
    )
    return template.format(source=event.source, counted=counted, listed=listed)


def time_text(seconds: int) -> str:
    """Return a time in minutes, in half hours, or in days."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute")
    if minutes < 55:
        return _("about {n} min").format(n=minutes)
    halves = round(seconds / 1_800)
    hours, half = divmod(halves, 2)
    if hours >= 48:
        return n_("about {n} day", "about {n} days", round(hours / 24))
    if half and hours < 10:
        return _("about {n} h 30 min").format(n=hours)
    return _("about {n} h").format(n=round(seconds / 3_600) if hours >= 10 else hours)
