"""One parse of each caption track for all libraries of a test process.

Most of what indexing costs is reading captions, and hundreds of tests index the same few tracks.
"""

from subtitle_rag import indexing
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.domain.values import Cue

LARGEST = 1 << 20
"""Bytes of a track whose cues are kept."""


def share_parsed_captions() -> None:
    """Let the indexers of this process share the cues of equal tracks; what is refused is read each time."""
    parsed: dict[tuple[bytes, str, str], list[Cue]] = {}

    def shared(raw: bytes, format: str, *, path: str = "", language: str = "") -> list[Cue]:
        cues = parsed.get((raw, format, language)) or parse_captions(raw, format, path=path, language=language)
        if len(raw) <= LARGEST:
            parsed[raw, format, language] = cues
        return list(cues)

    vars(indexing)["parse_captions"] = shared
