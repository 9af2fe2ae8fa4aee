"""Seeded mutations of caption files: file `number` of a seed is always the same."""

import json
import random
from collections.abc import Callable, Iterator

Mutation = Callable[[random.Random, bytes], bytes]

LINES = (
    "오늘은 김치찌개를 끓여 볼게요",
    ">> 네 [박수] 감사합니다",
    "국&amp;밥 3 < 5",
    "<i>바다</i>가 보여요",
    "E = mc\u00b2 🔥",
)


def _vtt(rng: random.Random) -> bytes:
    cues = (
        f"00:{at // 60:02d}:{at % 60:02d}.{rng.randrange(1000):03d} --> 00:{at // 60:02d}:{at % 60 + 1:02d}.500\n"
        f"{rng.choice(LINES)}<00:00:{at % 60:02d}.900><c> {rng.choice(LINES)}</c>\n"
        for at in range(0, 118, 2)
    )
    return "\n".join(["WEBVTT\nKind: captions\nLanguage: ko\n", *cues]).encode()


def _srt(rng: random.Random) -> bytes:
    cues = (f"{at}\n00:00:{at:02d},000 --> 00:00:{at + 1:02d},000\n{rng.choice(LINES)}\n" for at in range(59))
    return "\n".join(cues).encode(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp949"]), errors="ignore")


def _sbv(rng: random.Random) -> bytes:
    return "\n".join(f"0:00:{at:02d}.000,0:00:{at + 1:02d}.000\n{rng.choice(LINES)}\n" for at in range(59)).encode()


def _json3(rng: random.Random) -> bytes:
    events = [
        {
            "tStartMs": at * 2_000,
            "dDurationMs": 2_500,
            "segs": [
                {"utf8": f" {word}", "tOffsetMs": number * 300} for number, word in enumerate(rng.choice(LINES).split())
            ],
        }
        for at in range(40)
    ]
    return json.dumps({"wireMagic": "pb3", "events": events}, ensure_ascii=rng.random() < 0.5).encode()


def _ttml(rng: random.Random) -> bytes:
    lines = "".join(f'<p begin="{at}s" end="{at + 1}s">{rng.choice(LINES)}</p>' for at in range(40))
    return f'<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml"><body><div>{lines}</div></body></tt>'.encode()


ORIGINALS = {"vtt": _vtt, "srt": _srt, "sbv": _sbv, "json3": _json3, "ttml": _ttml}

TOKENS = tuple(
    token.encode("utf-8", "surrogatepass")
    for token in (
        *(
            "-->",
            "00:00:01.000 --> ",
            "\n\n",
            "WEBVTT",
            "NOTE ",
            "99999999:99:99.999",
            "-1:00",
            "<c>",
            "<00:00:00.000>",
        ),
        *("&#1114111;", "&amp;" * 9, "{\\an8}", "[br]", "\\N", "\x1b]0;x\x07", "\u202e", "\u0316\u0301" * 40, "\ud800"),
        *("\x00", "\ufeff", "\u3164", "\u1112", "9" * 400, "1e999", "-0", "NaN", "null", "true", '"', "{", "[", "]}"),
        *('{"events":', '"segs":[', '"utf8":', '"tStartMs":', "\\ud800", "\\u0000", "[" * 3_000, "가" * 3_000),
    )
)


def _place(rng: random.Random, raw: bytes) -> tuple[int, int]:
    start = rng.randrange(len(raw) + 1)
    return start, min(len(raw), start + rng.choice((1, 8, 100, 1_000)))


def _flip(rng: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _flipped in range(rng.choice((1, 5, 50)) if raw else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _delete(rng: random.Random, raw: bytes) -> bytes:
    start, end = _place(rng, raw)
    return raw[:start] + raw[end:]


def _repeat(rng: random.Random, raw: bytes) -> bytes:
    start, end = _place(rng, raw)
    return raw[:end] + raw[start:end] * min(rng.choice((1, 10, 1_000)), 200_000 // (end - start + 1)) + raw[end:]


def _insert(rng: random.Random, raw: bytes) -> bytes:
    start, _end = _place(rng, raw)
    return raw[:start] + rng.choice(TOKENS) * rng.choice((1, 1, 30)) + raw[start:]


def _replace(rng: random.Random, raw: bytes) -> bytes:
    token = rng.choice((b":", b",", b"\n", b"00:", b"<", b'"', b"0", b" "))
    return raw.replace(token, rng.choice(TOKENS), rng.choice((1, 5, 40)))


def _cut(rng: random.Random, raw: bytes) -> bytes:
    return raw[: _place(rng, raw)[0]]


def _swap(rng: random.Random, raw: bytes) -> bytes:
    start, end = _place(rng, raw)
    return raw[end:] + raw[start:end] + raw[:start]


MUTATIONS: tuple[Mutation, ...] = (_flip, _delete, _repeat, _insert, _insert, _replace, _cut, _swap)


def mutated(seed: int, number: int) -> tuple[str, bytes]:
    """Return the format by which file `number` is called, and its bytes."""
    rng = random.Random(f"{seed}-{number}")
    format = rng.choice(tuple(ORIGINALS))
    raw = ORIGINALS[format](rng)
    for _mutation in range(rng.choice((1, 1, 2, 4))):
        raw = rng.choice(MUTATIONS)(rng, raw)
    return (format if format != "ttml" and rng.random() < 0.9 else rng.choice(("vtt", "srt", "json3"))), raw


def mutations(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    return (mutated(seed, number) for number in range(count))
