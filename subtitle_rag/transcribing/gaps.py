"""Sentences on transcriptions: gaps, durations and times."""

from collections.abc import Iterator

from subtitle_rag.domain.values import GapReason, SpeechGap, byte_size
from subtitle_rag.i18n import _, n_
from subtitle_rag.listening.heard import GAP_SENTENCES
from subtitle_rag.transcribing.listening_plan import ListeningEstimate


def gap_line(gap: SpeechGap) -> str:
    """Return the text shown in place of a gap's speech."""
    line = _("{time} was not understood here.").format(time=duration_text(gap.end_ms - gap.start_ms))
    reasons = [_(GAP_SENTENCES[reason]) for reason in GapReason if reason == gap.reason]
    return " ".join([line, *reasons])


def duration_text(ms: int) -> str:
    """Return a duration in its two largest units: `1 h 20 min`, `1 min 20 s`, `8 s`."""
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("{h} h {m} min").format(h=hours, m=minutes)
    if minutes and seconds:
        return _("{m} min {s} s").format(m=minutes, s=seconds)
    return _("{m} min").format(m=minutes) if minutes else _("{s} s").format(s=seconds)


def pace_text(pace: float) -> str:
    """Return the time per minute of sound, for a pace in seconds of sound per second."""
    return _("1 min of sound in {time}").format(time=duration_text(max(1000, round(60_000 / max(pace, 0.01)))))


def estimate_lines(estimate: ListeningEstimate) -> Iterator[str]:
    """Yield lines on a plan's cost: sound, time and download."""
    count = n_("{n} video without captions", "{n} videos without captions", estimate.videos)
    if estimate.length_ms:
        sentence = _("{videos}: {length} of sound, about {time} of listening.")
        if not estimate.is_measured:
            sentence = _("{videos}: {length} of sound, about {time} of listening if it is as fast as speech.")
        time_text = duration_text(estimate.seconds * 1000)
        yield sentence.format(videos=count, length=duration_text(estimate.length_ms), time=time_text)
    else:
        yield f"{count}."
    if estimate.length_ms and estimate.unmeasured:
        yield n_(
            "The length of {n} of them is not known.", "The lengths of {n} of them are not known.", estimate.unmeasured
        )
    if estimate.sound_bytes:
        yield _("About {size} of audio is fetched, and deleted afterwards.").format(
            size=byte_size(estimate.sound_bytes)
        )
