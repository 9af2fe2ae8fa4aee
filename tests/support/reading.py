"""Captions read the short way, for the tests of the parser."""

from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.domain import Cue

HEAD = "WEBVTT\n\n"
ONE = "00:00:01.000 --> 00:00:02.000\n"
TWO = "00:00:03.000 --> 00:00:04.500\n"


def texts(content: str | bytes, format: str = "vtt") -> list[str]:
    return [cue.text for cue in cues(content, format)]


def cues(content: str | bytes, format: str = "vtt") -> list[Cue]:
    return parse_captions(content.encode() if isinstance(content, str) else content, format)


def spans(content: str | bytes, format: str = "vtt") -> list[tuple[int, int, str]]:
    return [(cue.start_ms, cue.end_ms, cue.text) for cue in cues(content, format)]
