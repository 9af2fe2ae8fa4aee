"""The bytes of a caption file → cues: one line of plain text each, in spoken order."""

import math

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import Cue
from subtitle_rag.base.i18n import _
from subtitle_rag.captions.cue_blocks import TooMuchTextError, UnusableTextError
from subtitle_rag.captions.formats import FORMATS, recognize
from subtitle_rag.captions.text_encoding import decode


def unread_times(text: str, format: str) -> int:
    """Count the cues of a decoded file with unreadable times; their text is placed between the others."""
    text = text.lstrip("\ufeff \t\n")
    return recognize(text, format).unread_times(text)


def oversized(path: str, size: int, limit_mb: int) -> CaptionError:
    reason = _("{size} MB, and {limit} MB are the most").format(size=math.ceil(size / 2**20), limit=limit_mb)
    return CaptionError("too_large", path=path, reason=reason)


def parse_captions(raw: bytes, format: str, *, path: str = "", language: str = "") -> list[Cue]:
    """Return the cues of a caption file, sorted by start, times in milliseconds.

    `format` is one of `FORMATS`; a file in another format than its name says is read all the same. From a file in
    several languages, the cues in `language` are returned. `path` is only for error details. Cues of rolling and json3
    tracks end where the next begins; others may overlap.

    Raises:
        CaptionError: `not_captions` for other files, `no_cues` without spoken lines, `unknown_encoding`, or `too_large`
            for more than any video has.
    """
    limit = FORMATS[format].limit_mb
    if len(raw) > limit * 2**20:
        raise oversized(path, len(raw), limit)
    text = decode(raw, path=path).text.lstrip("\ufeff \t\n")
    if not text:
        raise CaptionError("not_captions", path=path, reason=_("the file is empty"))
    if text[:64].lower().startswith(("<!doctype html", "<html", "<head", "<body", "<script")):
        raise CaptionError("not_captions", path=path, reason=_("it is a web page"))
    try:
        cues = recognize(text, format).read(text, language)
    except UnusableTextError as error:
        is_much = isinstance(error, TooMuchTextError)
        raise CaptionError("too_large" if is_much else "not_captions", path=path, reason=str(error)) from error
    if cues is None:
        raise CaptionError("not_captions", path=path, reason=_("no line in it has caption times"))
    if not cues:
        raise CaptionError("no_cues", path=path)
    return cues
