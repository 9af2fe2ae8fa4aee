"""Caption files of a size or shape that no video has; each is read within bounds, or refused in words."""

import json
from collections.abc import Callable
from itertools import chain

WORDS = (
    "오늘은",
    "김치를",
    "볶다가",
    "물을",
    "붓고",
    "오래",
    "끓여서",
    "먹어요",
    "아주",
    "맛있게",
    "네",
    "그래요",
    "좋아요",
)
MARKS = "\u0316\u0301"
"""Two combining marks in the wrong order: normalisation sorts a run of them."""


def _clock(at_ms: int) -> str:
    seconds, ms = divmod(at_ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}"


def _vtt(*texts: str, step_ms: int = 2_000) -> bytes:
    cues = (f"{_clock(at * step_ms)} --> {_clock((at + 1) * step_ms)}\n{text}\n" for at, text in enumerate(texts))
    return "\n".join(chain(["WEBVTT\n"], cues)).encode()


def _json3(*events: object) -> bytes:
    return json.dumps({"events": events}, ensure_ascii=False).encode()


def marks() -> bytes:
    """240 KB of combining marks on one letter."""
    return _vtt("가" + MARKS * 60_000)


def glued_pieces() -> bytes:
    """11 MB of pieces that all go on with one word."""
    return _json3({"tStartMs": 0, "dDurationMs": 9_000, "segs": [{"utf8": "가", "tOffsetMs": 1}] * 320_000})


def long_word() -> bytes:
    """10 MB without a space."""
    return _vtt("가나다라마바사아자차" * 350_000)


def long_cue() -> bytes:
    """62 MB in one cue."""
    return _vtt("오늘 김치 찌개 " * 2_900_000)


def speech() -> bytes:
    """15 MB in one cue."""
    return _vtt("오늘 김치 찌개 " * 700_000)


def many_cues() -> bytes:
    """A million cues."""
    return _vtt(*["네"] * 1_000_000, step_ms=10)


def dense_cues() -> bytes:
    """As many cues as are taken, all within two minutes."""
    return _vtt(*(chr(ord("가") + number % 11_000) for number in range(99_000)), step_ms=1)


def same_cues() -> bytes:
    """As many cues as are taken, all the same."""
    return _vtt(*["네"] * 99_000, step_ms=0)


def dense_words() -> bytes:
    """As many characters as are taken, a word each, all at once."""
    return _vtt("네 " * 990_000)


def many_objects() -> bytes:
    """24 MB of empty objects."""
    return b'{"events":[' + b"{}," * 8_000_000 + b'{"tStartMs":1}]}'


def deep_json() -> bytes:
    """A million brackets within each other."""
    return b'{"events":' + b"[" * 1_000_000


def long_number() -> bytes:
    """A time of 4,000 digits."""
    return b'{"events":[{"tStartMs":' + b"9" * 4_000 + b',"segs":[{"utf8":"\xea\xb0\x80"}]}]}'


def timed_words() -> bytes:
    """12 hours of timed words, as YouTube indents them: taken whole."""
    events = [
        {
            "tStartMs": at * 4_000,
            "dDurationMs": 6_000,
            "wWinId": 1,
            "segs": [
                {"utf8": " " * bool(number) + word, "tOffsetMs": number * 330, "acAsrConf": 0}
                for number, word in enumerate(WORDS)
            ],
        }
        for at in range(12 * 3600 // 4)
    ]
    return json.dumps({"events": events}, ensure_ascii=False, indent=2).encode()


GIANTS: dict[str, tuple[str, Callable[[], bytes]]] = {
    make.__name__: (format, make)
    for format, make in (
        ("vtt", marks),
        ("json3", glued_pieces),
        ("vtt", long_word),
        ("vtt", long_cue),
        ("srt", speech),
        ("vtt", many_cues),
        ("srt", dense_cues),
        ("vtt", same_cues),
        ("srt", dense_words),
        ("json3", many_objects),
        ("json3", deep_json),
        ("json3", long_number),
        ("json3", timed_words),
    )
}
"""Name → format and maker."""
