"""Rates and remaining times."""

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.stage_progress import WindowProgress

WINDOWS_BEFORE_REMAINING = 20
"""Windows of a run after which the remaining time is shown; the rate comes earlier."""


def windows_rate(windows: float) -> str:
    """Return windows per second, or per minute if they are few."""
    if windows >= 1:
        return _("{rate} windows/s").format(rate=f"{windows:.0f}" if windows >= 10 else f"{windows:.1f}")
    return _("{rate}/min").format(rate=f"{windows * 60:.1f}")


def remaining(seconds: float) -> str:
    """Return the remaining time in minutes, or hours."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 60:
        return _("about {minutes} min left").format(minutes=minutes)
    return _("about {hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def with_counts(template: str, progress: WindowProgress) -> str:
    """Fill {done}, {all} and the {key} of pausing into `template`."""
    return template.format(done=f"{progress.done:,}", all=f"{progress.windows:,}", key=key("library.background"))


def pace(progress: WindowProgress) -> list[str]:
    """Return the rate of a run and, when enough windows are done, its remaining time: the same on all screens."""
    rate = progress.rate
    if not rate:
        return []
    if progress.processed < WINDOWS_BEFORE_REMAINING:
        return [windows_rate(rate)]
    return [windows_rate(rate), remaining(max(0, progress.missing - progress.processed) / rate)]
