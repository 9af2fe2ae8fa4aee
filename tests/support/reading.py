"""Short functions to read captions, for the tests of the parser and of files."""

from pathlib import Path

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.files import CaptionGroup, discover
from subtitle_rag.captions.parse import parse_captions

HEAD = "WEBVTT\n\n"
SUBRIP = "1\n00:00:01,000 --> 00:00:02,000\n국수를 삶아요\n"
ONE = "00:00:01.000 --> 00:00:02.000\n"
TWO = "00:00:03.000 --> 00:00:04.500\n"


def texts(content: str | bytes, format: str = "vtt") -> list[str]:
    return [cue.text for cue in cues(content, format)]


def cues(content: str | bytes, format: str = "vtt") -> list[Cue]:
    return parse_captions(content.encode() if isinstance(content, str) else content, format)


def spans(content: str | bytes, format: str = "vtt") -> list[tuple[int, int, str]]:
    return [(cue.start_ms, cue.end_ms, cue.text) for cue in cues(content, format)]


def put(folder: Path, *names: str, text: str = SUBRIP) -> None:
    """Write files with the same text, and create their folders."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def groups(folder: Path) -> list[CaptionGroup]:
    """Return the videos in a folder's caption files."""
    return [entry for entry in discover([folder]) if isinstance(entry, CaptionGroup)]
