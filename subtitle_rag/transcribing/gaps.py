"""Sentences about what was heard: gaps, lengths and times."""

from subtitle_rag.domain import Gap
from subtitle_rag.i18n import _
from subtitle_rag.listening import GAP_SENTENCES, GapReason


def gap_line(gap: Gap) -> str:
    """Return what is shown in place of the speech of a gap."""
    line = _("{time} was not understood here.").format(time=duration_text(gap.end_ms - gap.start_ms))
    reasons = [_(GAP_SENTENCES[reason]) for reason in GapReason if reason == gap.reason]
    return " ".join([line, *reasons])


def duration_text(ms: int) -> str:
    """Return a length of time in its two largest units: `1 h 20 min`, `1 min 20 s`, `8 s`."""
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{h} h {m} min").format(h=hours, m=minutes)
    if minutes and seconds:
        return _("{m} min {s} s").format(m=minutes, s=seconds)
    return _("{m} min").format(m=minutes) if minutes else _("{s} s").format(s=seconds)
