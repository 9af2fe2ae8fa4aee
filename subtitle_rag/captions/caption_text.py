"""Visible text of captions: without markup, entities and invisible characters."""

import html
import re

from subtitle_rag.base.domain.values import nfc

_BREAK = re.compile(r"<(?:br|p|div)\b[^<>]*>|\[br\]|\\N", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:[cibuvs]|lang|ruby|rt|rp|rb|rtc|font|span|p|div|em|strong)(?:[\s./][^<>]*)?>"
    r"|<\d[\d:.,]*>"
    r"|\{\\[^{}]*\}",
    re.IGNORECASE,
)
_RUBY = re.compile(r"<ruby\b[^<>]{0,100}>((?:(?!</?ruby\b).){0,1000})</ruby>", re.IGNORECASE)
_READING = re.compile(r"<rt\b[^<>]{0,100}>(.*?)(?:</rt>|(?=<)|\Z)", re.IGNORECASE)
_FALLBACK = re.compile(r"<rp\b[^<>]{0,100}>[^<>]{0,20}</rp>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INVISIBLES = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_FILLERS = "\u115f\u1160\u3164\uffa0"
_INVISIBLE = re.compile(f"[{_INVISIBLES}]")
_FILLER = re.compile(f"[{_FILLERS}]")
_HIDING = re.compile(f"[{_INVISIBLES}{_FILLERS}]")
UNCLEAN = re.compile(rf"[<&\[\\{_INVISIBLES}{_FILLERS}]")
"""First characters of markup, entities and invisible characters."""


def plain_text(text: str) -> str:
    """Return outside text as one printable line: in NFC, with single spaces, without invisible characters."""
    if not text.isascii() or not text.isprintable():
        text = _visible(text)
    return " ".join(text.split())


def _visible(text: str) -> str:
    """Return a text in NFC without invisible characters, with Hangul fillers as spaces."""
    if _HIDING.search(text):
        text = _INVISIBLE.sub("", _FILLER.sub(" ", text))
    return nfc(text)


def spell_readings(text: str) -> str:
    """Return a text with ruby readings in brackets after their characters: 東京(とうきょう)."""
    if "<r" not in text.lower():
        return text
    text = _RUBY.sub(_with_reading, _FALLBACK.sub("", text))
    return _READING.sub(r"(\1)", text)


def _with_reading(match: re.Match[str]) -> str:
    readings = "".join(_READING.findall(match[1])).strip()
    base = _READING.sub("", match[1])
    return f"{base}({readings})" if readings else base


def without_markup(text: str) -> str:
    """Return a text without markup and entities. Spaces stay: they separate the words of timed pieces."""
    if "<" in text or "[" in text or "\\" in text:
        text = spell_readings(text)
        text = _TAG.sub("", _BREAK.sub(" ", text))
    for _round in range(3):  # entities may be escaped twice, with tags after them
        if "&" not in text:
            break
        text = _TAG.sub("", _BREAK.sub(" ", _ENTITY.sub(lambda match: html.unescape(match[0]), text)))
    return text if text.isascii() and text.isprintable() else _visible(text)
