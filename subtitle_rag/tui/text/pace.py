"""Rates and remaining times."""

from subtitle_rag.i18n import _
from subtitle_rag.tui.keymap import key
from subtitle_rag.tui.state.stage_progress import WindowProgress


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
    """How fast a run is, and how long it still takes."""
    if not progress.rate:
        return []
    per_minute = progress.rate * 60
    rate = _("{rate}/min").format(rate=f"{per_minute:,.0f}" if per_minute >= 10 else f"{per_minute:.1f}")
    return [rate, remaining(max(0, progress.missing - progress.taken) / progress.rate)]
