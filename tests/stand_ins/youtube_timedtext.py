"""Caption files of the YouTube stand-in: their addresses and contents."""

import json
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import urlencode

from tests.stand_ins.youtube_clips import Caption, Clip, Lines
from tests.support.rolling import escape, stamp, to_json3

Found = tuple[int, str, bytes]  # status, content type, body


def address(clip: Clip, caption: Caption) -> str:
    """Return the signed address of a track; its query has the parameters."""
    seal = sha256(f"{clip.id} {caption.vss_id} {caption.exp}".encode()).hexdigest().upper()
    query = {
        "v": clip.id,
        "ei": seal[:22],
        "caps": "asr",
        "opi": "112496729",
        "xoaf": "5",
        "hl": "en",
        "ip": "0.0.0.0",
        "ipbits": "0",
        "expire": "1999999999",
        "sparams": "ip,ipbits,expire,v,ei,caps,opi,xoaf",
        "signature": f"{seal[:40]}.{seal[24:]}",
        "key": "yt8",
    }
    if caption.exp:
        query["exp"] = caption.exp
    if caption.kind == "asr":
        query["kind"] = "asr"
    if caption.name:
        query["name"] = caption.name
    query["lang"] = caption.language
    if caption.kind == "asr":
        query["variant"] = "punctuated"
    return f"https://www.youtube.com/api/timedtext?{urlencode(query)}"


def timedtext(clip: Clip | None, query: Mapping[str, str]) -> Found:
    """Return the response to an address."""
    caption = _track(clip, query)
    if caption is None:
        return 404, "text/html; charset=UTF-8", b""
    if caption.exp and "pot" not in query:
        return 200, "text/html; charset=UTF-8", b""
    kind = "text/vtt" if query.get("fmt") == "vtt" else "application/json"
    return 200, f"{kind}; charset=UTF-8", _body(caption, query)


def _track(clip: Clip | None, query: Mapping[str, str]) -> Caption | None:
    if clip is None or "signature" not in query:
        return None
    wanted = (query.get("lang"), query.get("kind", "manual"), query.get("name", ""), query.get("exp", ""))
    matching = (each for each in clip.captions if (each.language, each.kind, each.name, each.exp) == wanted)
    return next(matching, None)


def _body(caption: Caption, query: Mapping[str, str]) -> bytes:
    if caption.body is not None:
        return caption.body
    language = query.get("tlang", "")
    lines, spoken = caption.lines, caption.kind == "asr" and not language
    if language:
        lines = [(start, end, f"[MT {language}] {text}") for start, end, text in lines]
    if query.get("fmt") == "vtt":
        text = _plain_vtt(lines, language or caption.language)
    else:
        text = (
            to_json3(_words(lines), max((end for _start, end, _text in lines), default=0))
            if spoken
            else _plain_json3(lines)
        )
    return text.encode()


def _words(lines: Lines) -> list[list[tuple[int, str]]]:
    """Return the words of each line, evenly spread over its time."""
    spread = []
    for start, end, text in lines:
        words = text.split(" ")
        spread.append([(start + (end - start) * place // len(words), word) for place, word in enumerate(words)])
    return spread


def _plain_json3(lines: Lines) -> str:
    events = [{"tStartMs": start, "dDurationMs": end - start, "segs": [{"utf8": text}]} for start, end, text in lines]
    head = {"wireMagic": "pb3", "pens": [{}], "wsWinStyles": [{}], "wpWinPositions": [{}]}
    return json.dumps({**head, "events": events}, ensure_ascii=False)


def _plain_vtt(lines: Lines, language: str) -> str:
    cues = [f"{stamp(start)} --> {stamp(end)}\n{escape(text)}\n\n" for start, end, text in lines]
    return f"WEBVTT\nKind: captions\nLanguage: {language}\n\n" + "".join(cues)
