"""Sentences on transcriptions: gaps, durations and times."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from subtitle_rag.base.domain.progress import duration_text
from subtitle_rag.base.domain.values import GapReason, SpeechGap, byte_size
from subtitle_rag.base.i18n import N_, _, n_
from subtitle_rag.listening.listening_plan import ListeningEstimate

GAP_SENTENCES: Mapping[GapReason, str] = MappingProxyType(
    {
        GapReason.LOOP: N_("The model repeated itself here."),
        GapReason.TOO_FEW_WORDS: N_("The model understood hardly a word here."),
        GapReason.INVENTED: N_("The model wrote here what nobody says."),
        GapReason.UNREADABLE: N_("The file is damaged here."),
    }
)
"""Message ids to show for a gap."""


def gap_line(gap: SpeechGap) -> str:
    """Return the text shown in place of a gap's speech."""
    line = _("{time} was not understood here.").format(time=duration_text(gap.end_ms - gap.start_ms))
    reasons = [_(GAP_SENTENCES[reason]) for reason in GapReason if reason == gap.reason]
    return " ".join([line, *reasons])


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
