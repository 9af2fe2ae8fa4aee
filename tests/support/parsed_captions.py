"""One parse of each caption track, shared by all libraries of a test process.

Indexing mostly spends its time reading captions, and hundreds of tests index the same few tracks.
"""

from subtitle_rag.base.domain.values import Cue
from subtitle_rag.captions.parse import parse_captions
from subtitle_rag.index import indexing

LARGEST = 1 << 20
"""Maximum bytes of a track to keep its cues."""


def share_parsed_captions() -> None:
    """Let the indexers of this process share the cues of equal tracks; tracks with errors are parsed each time."""
    parsed: dict[tuple[bytes, str, str], list[Cue]] = {}

    def shared(raw: bytes, format: str, *, path: str = "", language: str = "") -> list[Cue]:
        cues = parsed.get((raw, format, language)) or parse_captions(raw, format, path=path, language=language)
        if len(raw) <= LARGEST:
            parsed[raw, format, language] = cues
        return list(cues)

    vars(indexing)["parse_captions"] = shared
