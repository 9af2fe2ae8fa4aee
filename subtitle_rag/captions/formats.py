"""The caption formats, in one table for discovery, addresses and messages."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions import substation, timed_text
from subtitle_rag.captions.json3 import json_cues
from subtitle_rag.captions.json_segments import table_cues
from subtitle_rag.captions.lyrics import lyrics_cues
from subtitle_rag.captions.microdvd import microdvd_cues
from subtitle_rag.captions.sami import sami_cues
from subtitle_rag.captions.substation import substation_cues
from subtitle_rag.captions.timed_lines import is_transcript, transcript_cues
from subtitle_rag.captions.timed_text import has_arrow_times, subrip_cues, webvtt_cues
from subtitle_rag.captions.timed_xml import xml_cues

SAMPLE = 4_096
"""Characters read to recognize a format."""


@dataclass(frozen=True, slots=True)
class CaptionFormat:
    """A caption format.

    `limit_mb` is the size limit in MiB; `start` recognizes a text by its first characters, whatever the file's name.
    """

    name: str
    suffixes: tuple[str, ...]
    limit_mb: int
    read: Callable[[str, str], list[Cue] | None]
    """Parses a text in the wanted language; None if nothing in it has caption times."""
    start: re.Pattern[str] | None = None
    unread_times: Callable[[str], int] = lambda _text: 0
    """Counts the cues of a text with unreadable times."""
    sniffed: frozenset[str] = frozenset()
    """Suffixes that other files share: such a file is taken if its text begins like the format."""


_PROLOGUE = r"(?:<\?xml\b[^<>]*>\s*)?(?:<!--[^<>]*-->\s*)*(?:<!doctype\b[^<>]*>\s*)?"


def _start(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ALL = (
    CaptionFormat("json3", (".json3",), 32, json_cues, _start(r'\{\s*["}]|\[\s*[\[{"]')),
    CaptionFormat("vtt", (".vtt", ".webvtt"), 16, webvtt_cues, _start("WEBVTT"), timed_text.unread_times),
    CaptionFormat(
        "ass",
        (".ass", ".ssa"),
        16,
        substation_cues,
        _start(r"\[(?:Script Info|V4\+? Styles)\]"),
        substation.unread_times,
    ),
    CaptionFormat("smi", (".smi", ".sami"), 16, sami_cues, _start(r"<sami\b|<\s*sync\s")),
    CaptionFormat(
        "ttml",
        (".ttml", ".dfxp", ".itt", ".xml"),
        32,
        xml_cues,
        _start(_PROLOGUE + r"<(?:\w+:)?tt\b"),
        sniffed=frozenset({".xml"}),
    ),
    CaptionFormat(
        "srv",
        (".srv1", ".srv2", ".srv3"),
        32,
        xml_cues,
        _start(_PROLOGUE + r"<(?:timedtext|transcript)\b"),
    ),
    CaptionFormat(
        "lrc",
        (".lrc",),
        4,
        lyrics_cues,
        _start(r"\[(?:ti|ar|al|au|by|re|ve|la|length|offset|tool):|\[\d{1,3}:\d\d\.\d{1,3}\]"),
    ),
    CaptionFormat("sub", (".sub",), 16, microdvd_cues, _start(r"\{\d+\}\{\d*\}")),
    CaptionFormat("srt", (".srt",), 16, subrip_cues, unread_times=timed_text.unread_times),
    CaptionFormat("sbv", (".sbv",), 16, subrip_cues, unread_times=timed_text.unread_times),
    CaptionFormat("json", (".json",), 32, json_cues, sniffed=frozenset({".json"})),
    CaptionFormat(
        "tsv",
        (".tsv",),
        16,
        table_cues,
        _start(r"start\tend\ttext\s"),
        sniffed=frozenset({".tsv"}),
    ),
    CaptionFormat("txt", (".txt",), 4, transcript_cues, sniffed=frozenset({".txt"})),
)
"""Richest format first. Real tracks have less than 1 MB an hour; with a time per word, 13 MB in 12 hours."""

FORMATS = {format.name: format for format in _ALL}
"""The caption formats by name."""

_BY_SUFFIX = {suffix: format for format in _ALL for suffix in format.suffixes}


FAMILIAR = (".smi", ".srt", ".vtt", ".ass")
"""The best-known suffixes."""

LEFT_OUT = {
    **dict.fromkeys((".sup", ".idx"), "left_out_formats"),
    **dict.fromkeys(
        (".stl", ".scc", ".mcc", ".cap", ".usf", ".pac", ".ttxt", ".jss", ".mpl", ".mpl2", ".aqt", ".pjs", ".rt"),
        "left_out_formats",
    ),
    **dict.fromkeys((".zip", ".7z", ".rar", ".alz", ".egg", ".gz", ".tgz", ".tar"), "left_out_archives"),
}
"""Unread files that may hold captions, with the code of the notice that counts them."""


def format_of(suffix: str) -> CaptionFormat | None:
    """Return the format of a suffix in any case; None for other files."""
    return _BY_SUFFIX.get(suffix.lower())


def caption_suffixes(*, certain: bool = False) -> tuple[str, ...]:
    """Return the suffixes of caption files; with `certain`, only those no other kind of file has."""
    return tuple(suffix for suffix, each in _BY_SUFFIX.items() if not certain or suffix not in each.sniffed)


def suffix_list(most: int | None = None) -> str:
    """Return the suffixes of caption files for a sentence, at most the first `most`."""
    names = tuple(dict.fromkeys((*FAMILIAR, *_BY_SUFFIX)))
    return ", ".join(names[:most]) + (" …" if most else "")


def recognize(text: str, name: str) -> CaptionFormat:
    """Return the format of a text by its beginning, else by its name, unless only its times tell."""
    for each in _ALL:
        if each.start and each.start.match(text[:SAMPLE]):
            return each
    return FORMATS["srt"] if name != "vtt" and has_arrow_times(text) else FORMATS[name]


def holds_captions(text: str) -> bool:
    """Whether a text begins like captions, for suffixes that other files share; any file may be JSON."""
    begins = (each.start.match(text) for each in _ALL if each.start and each.name != "json3")
    return any(begins) or has_arrow_times(text) or is_transcript(text)
