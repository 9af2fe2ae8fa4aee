"""The cues of one video as SubRip and WebVTT."""

import re
from collections.abc import Sequence
from html import escape

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.sharing.export_formats import ExportFormat
from subtitle_rag.sharing.exported_scene import ExportedScene, distinct_cues

WORD_JOINER = "\u2060"
"""Zero-width character, placed between two characters that together would be markup."""
_SRT_MARKUP = re.compile(r"(?<=<)(?=[/\w])|(?<=\{)(?=[\\/\w])|(?<=--)(?=>)")
"""Places inside tags, a renderer's commands in braces, and the arrow. SubRip has no escapes."""
SHOWN_MS = 1000
"""Duration given to cues without one: WebVTT forbids zero, and players never show it."""


def srt(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write the cues of scenes of one video."""
    blocks = (
        f"{number}\n{_times(cue, ',')}\n{_SRT_MARKUP.sub(WORD_JOINER, _line(cue.named_text))}\n\n"
        for number, cue in enumerate(distinct_cues(scenes), start=1)
    )
    return "".join(blocks)


def vtt(scenes: Sequence[ExportedScene], title: str) -> str:  # noqa: ARG001 - as all formats
    """Write the cues of scenes of one video."""
    blocks = (
        f"{_times(cue, '.')}\n{_voice(cue)}{escape(_line(cue.text), quote=False)}\n\n" for cue in distinct_cues(scenes)
    )
    return "WEBVTT\n\n" + "".join(blocks)


def _voice(cue: Cue) -> str:
    """Return the markup of a cue's speaker."""
    return f"<v {escape(_line(cue.speaker), quote=False)}>" if cue.speaker else ""


def _line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())


def _times(cue: Cue, point: str) -> str:
    end_ms = cue.end_ms if cue.end_ms > cue.start_ms else cue.start_ms + SHOWN_MS
    return f"{_time(cue.start_ms, point)} --> {_time(end_ms, point)}"


def _time(ms: int, point: str) -> str:
    seconds, ms = divmod(max(0, ms), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{point}{ms:03d}"


SRT, VTT = ExportFormat(srt, one_video=True), ExportFormat(vtt, one_video=True)
