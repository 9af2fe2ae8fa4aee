"""The bytes of a caption file → cues: one line of text each, without markup, in the order they are spoken."""

import codecs
import math

from subtitle_rag.captions.formats import FORMATS, recognize
from subtitle_rag.domain import CaptionError, Cue, nfc
from subtitle_rag.i18n import _

_BINARY_BYTES = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))


def parse_captions(raw: bytes, format: str, *, path: str = "", language: str = "") -> list[Cue]:
    """Return the cues of a caption file, sorted by start, times in milliseconds.

    `format` is one of `FORMATS`; a file in another format than its name says is read all the same. Of a file in
    several languages the cues are in `language`. `path` only serves the details of errors. Cues of rolling and json3
    tracks end where the next begins; others may overlap.

    Raises:
        CaptionError: `not_captions` for anything that is no caption file, `no_cues` for one without spoken lines,
            `too_large` and `too_much_text` for more than any video has.
    """
    limit = FORMATS[format].limit_mb
    if len(raw) > limit * 2**20:
        raise CaptionError("too_large", path=path, size=math.ceil(len(raw) / 2**20), limit=limit)
    text = decode(raw, path=path).lstrip("\ufeff \t\n")
    _refuse_other_files(text, path)
    cues = recognize(text, format).read(text, path, language)
    if not cues:
        raise CaptionError("no_cues", path=path)
    return cues


def decode(raw: bytes, *, path: str = "") -> str:
    """Return the text of a caption file in NFC, with `\\n` line ends: UTF-8, UTF-16 (with or without BOM), else CP949.

    Invalid bytes are left out, so a file cut in the middle of a character keeps its encoding.

    Raises:
        CaptionError: `not_captions`, with `path` in its details, for a binary file.
    """
    encoding = _utf16(raw)
    if encoding is None:
        sample = raw[:4096].rstrip(b"\0")  # a crash leaves files that end in NULs
        if (raw and not sample) or len(sample) - len(sample.translate(None, _BINARY_BYTES)) > len(sample) // 20:
            raise CaptionError("not_captions", path=path, reason=_("it is a binary file"))
        encoding = "utf-8" if _looks_utf8(raw) else "cp949"
    text = raw.decode(encoding, errors="ignore").removeprefix("\ufeff")
    return nfc(text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n"))


def _utf16(raw: bytes) -> str | None:
    """Return UTF-16 in its byte order, told by the BOM or the NULs beside ASCII digits; None for another encoding."""
    if raw.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if raw.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = raw[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 20 < len(sample) or min(even, odd) * 3 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _looks_utf8(raw: bytes) -> bool:
    try:
        codecs.utf_8_decode(raw, "strict", False)  # False: the last character may be cut off
    except UnicodeDecodeError:
        # Korean in CP949 hardly ever forms valid UTF-8 sequences; a damaged UTF-8 file still has mostly valid ones
        ascii_count = len(raw.translate(None, bytes(range(128, 256))))
        valid = len(raw.decode("utf-8", errors="ignore")) - ascii_count
        invalid = raw.decode("utf-8", errors="replace").count("\ufffd")
        return valid >= invalid
    return True


def _refuse_other_files(text: str, path: str) -> None:
    start = text[:64].lower()
    if not text:
        reason = _("the file is empty")
    elif start.startswith(("<!doctype html", "<html", "<head", "<body", "<script")):
        reason = _("it is a web page")
    else:
        return
    raise CaptionError("not_captions", path=path, reason=reason)
