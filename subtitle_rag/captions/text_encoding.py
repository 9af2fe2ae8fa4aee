"""Encoding of a caption file: byte order mark, UTF-16 by its NULs, UTF-8, CP949, then Windows-1252.

A text saved in the wrong encoding is repaired, or refused if letters are lost.
"""

import codecs
import re
from dataclasses import dataclass

from subtitle_rag.base.domain.errors import CaptionError
from subtitle_rag.base.domain.values import nfc
from subtitle_rag.base.i18n import _

LOST, LEAST_LOST = 0.1, 3
"""Share of U+FFFD among non-ASCII characters, and their number, that make a text useless."""
LOST_TWICE = 0.05
"""The same share for 占쏙옙, which is U+FFFD read as Korean."""
LEAST_MARKS = 20
"""Minimum number of question marks of a text whose letters were all lost."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_BINARY_BYTES = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x1b"))
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_PAIR = re.compile(rb"([\xb0-\xc8][\xa1-\xfe])|[\xa1-\xac][\xa1-\xfe]|([\x81-\xfe][A-Za-z\x81-\xfe])")
"""Characters of CP949: common syllables, signs and single letters, then all others."""
_ASCII_LETTER = re.compile(rb"[A-Za-z]")
_UNSAID = re.compile(r"<[^<>]*>|^.*-->.*$", re.MULTILINE)
"""Markup, and timing lines with their settings."""
_WESTERN = re.compile("[\u00a1-\u00ff]")
"""A character that every text decoded as a Western encoding has: `_TWICE` and the common `_PAIR`s begin with one."""
_TWICE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]")
_EASTERN = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u4e00-\u9fff\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class DecodedText:
    r"""A file's text in NFC with `\n` line ends, and the Python name of its encoding.

    `is_sure`: every byte could be decoded; `is_repaired`: it had been saved in the wrong encoding.
    """

    text: str
    encoding: str
    is_sure: bool = True
    is_repaired: bool = False


def decode(raw: bytes, *, path: str = "") -> DecodedText:
    """Return the text of a caption file.

    Invalid bytes are left out, so a file cut in the middle of a character keeps its encoding.

    Raises:
        CaptionError: `not_captions` for a binary file, `unknown_encoding` for an encoding not listed above, `garbled`
            if the letters are lost.
    """
    decoded = decode_part(raw, path=path)
    if reason := _loss(decoded.text):
        raise CaptionError("garbled", path=path, reason=reason)
    return decoded


def decode_part(raw: bytes, *, path: str = "") -> DecodedText:
    """Return the text of a file's beginning, even if letters are lost.

    Raises:
        CaptionError: `not_captions` and `unknown_encoding`, as `decode` does.
    """
    text, encoding, is_whole = _decoded(raw, path)
    text = text.removeprefix("\ufeff").replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    repaired = _repaired(text) if _WESTERN.search(text) else text
    is_repaired = repaired != text
    is_sure = is_whole and "\ufffd" not in repaired
    return DecodedText(nfc(repaired.replace("\ufffd", "") if is_repaired else text), encoding, is_sure, is_repaired)


def _decoded(raw: bytes, path: str) -> tuple[str, str, bool]:
    """Return the text, the encoding, and whether every byte could be decoded."""
    if wide := next((name for mark, name in _MARKS.items() if raw.startswith(mark)), _utf16(raw)):
        return raw.decode(wide, errors="ignore"), wide, True
    sample = raw[:4096].rstrip(b"\0")  # after a crash, files end in NULs
    if (raw and not sample) or len(sample) - len(sample.translate(None, _BINARY_BYTES)) > len(sample) // 20:
        raise CaptionError("not_captions", path=path, reason=_("it is a binary file"))
    try:
        return codecs.utf_8_decode(raw, "strict", False)[0], "utf-8", True  # False: the last character may be cut off
    except UnicodeDecodeError:
        return _by_lines(raw, path)


def _utf16(raw: bytes) -> str | None:
    """Return the byte order of UTF-16, judged by NULs; None for another encoding."""
    sample = raw[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 20 < len(sample) or min(even, odd) * 3 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _by_lines(raw: bytes, path: str) -> tuple[str, str, bool]:
    """Decode a file that is not all UTF-8: damaged, in another encoding, or joined from two files."""
    lines = raw.split(b"\n")
    is_utf8 = [_is_utf8(line) for line in lines]
    invalid_lines = b"\n".join(line for line, is_valid in zip(lines, is_utf8, strict=True) if not is_valid)
    if _is_damaged_utf8(invalid_lines):
        return raw.decode("utf-8", errors="ignore"), "utf-8", False
    encoding = "cp949" if _is_korean(invalid_lines) else "cp1252"
    beyond = len(_BEYOND_ASCII.findall(invalid_lines))
    if encoding == "cp1252" and beyond > max(len(_ASCII_LETTER.findall(raw)), len(_BEYOND_ASCII.findall(raw)) // 2):
        raise CaptionError("unknown_encoding", path=path)
    decoded = [
        line.decode("utf-8" if is_valid else encoding, errors="replace")
        for line, is_valid in zip(lines, is_utf8, strict=True)
    ]
    text = "\n".join(decoded)
    return text.replace("\ufffd", ""), encoding, "\ufffd" not in text


def _is_utf8(line: bytes) -> bool:
    """Whether a line is UTF-8 with three-byte characters; two-byte ones are often another encoding by chance."""
    try:
        return bool(_EASTERN.search(line.decode("utf-8")))
    except UnicodeDecodeError:
        return False


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether more UTF-8 characters are whole than broken: other encodings hardly ever form any."""
    text = raw.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", errors="ignore")) > 2 * broken


def _is_korean(raw: bytes) -> bool:
    """Whether bytes are CP949, with common syllables and single letters; other encodings form rare ones too."""
    pairs = list(_PAIR.finditer(raw))
    rare = sum(pair[2] is not None for pair in pairs)
    beyond = len(_BEYOND_ASCII.findall(raw))
    return 4 * (len(pairs) - rare) > beyond


def _repaired(text: str) -> str:
    """Return a text with its UTF-8 or CP949 lines repaired that were decoded as a Western encoding.

    U+FFFD marks lost letters, because Windows-1252 has no character for some bytes.
    """
    lines = [_decoded_again(line) for line in text.split("\n")]
    raws = [_western_bytes(line) for line in lines]
    if not _is_korean(b"".join(raws)):
        return "\n".join(lines)
    pairs = zip(raws, lines, strict=True)
    return "\n".join(raw.decode("cp949", errors="replace") if _is_korean(raw) else line for raw, line in pairs)


def _decoded_again(line: str) -> str:
    """Return a line decoded again if it was encoded as UTF-8 twice or more, else unchanged."""
    again = _western_bytes(line).decode("utf-8", errors="replace") if _TWICE.search(line) else line
    if again == line or (deeper := _decoded_again(again)) == again:
        return again if len(_EASTERN.findall(again)) > again.count("\ufffd") else line
    return deeper


def _western_bytes(line: str) -> bytes:
    """Return the bytes that a Western encoding turned into this line; b"" if it was another encoding."""
    try:
        return b"" if line.isascii() else b"".join(map(_byte, line))
    except UnicodeEncodeError:
        return b""


def _byte(char: str) -> bytes:
    try:
        return char.encode("cp1252")
    except UnicodeEncodeError:
        return char.encode("latin-1")


def _loss(text: str) -> str | None:
    """Return why the letters of a text are lost, or None."""
    beyond = len(text) - len(text.encode("ascii", errors="ignore"))
    lost, lost_twice, boxes = map(text.count, ("\ufffd", "占", "□"))
    if (
        lost >= max(LEAST_LOST, LOST * beyond)
        or lost_twice >= max(LEAST_LOST, LOST_TWICE * beyond)
        or (boxes >= LEAST_MARKS and 2 * boxes > beyond)
    ):
        return _("most of its letters were lost when it was saved in another encoding")
    speech = "" if beyond else _UNSAID.sub("", text)
    marks = speech.count("?")
    is_lost = marks >= LEAST_MARKS and marks > 3 * sum(map(str.isalpha, speech))
    return _("only question marks are left of its letters") if is_lost else None
