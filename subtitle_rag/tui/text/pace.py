"""Rates and remaining times."""

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.stage_progress import WindowProgress

WINDOWS_BEFORE_REMAINING = 20
"""Windows of a run after which the remaining time is shown; the rate is known earlier."""


def windows_rate(windows: float) -> str:
    """Windows in a second, or in a minute where they are few."""
    if windows >= 1:
        return _("{rate} windows/s").format(rate=f"{windows:.0f}" if windows >= 10 else f"{windows:.1f}")
    return _("{rate}/min").format(rate=f"{windows * 60:.1f}")


def remaining(seconds: float) -> str:
    """About how long it still takes."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute left")
    if minutes < 60:
        return _("about {minutes} min left").format(minutes=minutes)
    return _("about {hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def far(said: str, progress: WindowProgress) -> str:
    """`said` with {done} and {all} filled in, and {key}, which pauses and goes on."""
    return said.format(done=f"{progress.done:,}", all=f"{progress.windows:,}", key=key("library.background"))


def pace(progress: WindowProgress) -> list[str]:
    """How fast a run is and, when enough windows are done, how long it still takes: the same on all screens."""
    rate = progress.rate
    if not rate:
        return []
    if progress.taken < WINDOWS_BEFORE_REMAINING:
        return [windows_rate(rate)]
    return [windows_rate(rate), remaining(max(0, progress.missing - progress.taken) / rate)]
